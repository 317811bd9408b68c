//! The families of variants: enums whose values select the modules that are linked in place of others.
//!
//! A kernel has a family if it imports a module that the family replaces, directly or through others.
//! `cargo xtask codegen` finds the families of each kernel.

/// A module, and the module that is linked in its place.
pub type Substitution = (&'static str, &'static str);

/// The description of a family as a value, for code that visits all families.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name of the enum.
    pub name: &'static str,
    /// The name and the substitutions of each variant.
    pub variants: &'static [(&'static str, &'static [Substitution])],
}

impl Family {
    /// Returns the modules that any of the variants replaces, with repetitions.
    pub fn replaced(&self) -> impl Iterator<Item = &'static str> {
        self.variants.iter().flat_map(|(_, substitutions)| substitutions.iter().map(|(from, _)| *from))
    }
}

/// Defines an enum for each family, and [`FAMILIES`].
macro_rules! families { ($(
    $(#[doc = $doc:literal])+
    $family:ident {
        $(#[doc = $first_doc:literal])+ $first:ident,
        $($(#[doc = $variant_doc:literal])+ $variant:ident = [$($from:literal => $to:literal),+],)+
    }
)+) => {
    $(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $family {
            $(#[doc = $first_doc])+
            #[default]
            $first,
            $($(#[doc = $variant_doc])+ $variant,)+
        }

        impl $family {
            /// All variants; the first one substitutes nothing.
            pub const ALL: &'static [Self] = &[Self::$first, $(Self::$variant),+];

            /// Returns the substitutions of the variant.
            #[must_use]
            pub const fn substitutions(self) -> &'static [Substitution] {
                match self {
                    Self::$first => &[],
                    $(Self::$variant => &[$(($from, $to)),+],)+
                }
            }
        }
    )+

    /// All families.
    pub const FAMILIES: &[Family] = &[$(Family {
        name: stringify!($family),
        variants: &[(stringify!($first), &[]), $((stringify!($variant), $family::$variant.substitutions())),+],
    }),+];
} }

families! {
    /// The buffers over which the frames of a machine are split.
    FramePools {
        /// One binding.
        One,
        /// Two bindings.
        Two = ["machine::frames" => "machine::frames_2"],
        /// Four bindings.
        Four = ["machine::frames" => "machine::frames_4"],
        /// Eight bindings.
        Eight = ["machine::frames" => "machine::frames_8"],
        /// Sixteen bindings.
        Sixteen = ["machine::frames" => "machine::frames_16"],
        /// Thirty-two bindings.
        ThirtyTwo = ["machine::frames" => "machine::frames_32"],
        /// Sixty-four bindings.
        SixtyFour = ["machine::frames" => "machine::frames_64"],
        /// One binding of an array of buffers, as many as handles of frames can select.
        Array = ["machine::frames" => "machine::frames_array"],
    }

    /// Whether frames move between the pools and the host.
    FramePlaces {
        /// Each frame has a place of its own.
        Fixed,
        /// Frames move.
        Moving = ["machine::fixed_places" => "machine::moving_places"],
    }

    /// The source of the class of a word that is lowered.
    ClassSource {
        /// The table of classes.
        Table,
        /// A network, evaluated each time a word is lowered.
        ByWord = ["machine::class_source" => "machine::class_source_by_word"],
        /// A table of a network's answers for all tuples.
        ByDomain = ["machine::class_source" => "machine::class_source_by_domain"],
        /// The table of classes; the interpreter evaluates a network in each step and compares.
        ByStep = ["machine::class_source" => "machine::class_source_by_step"],
    }

    /// The network that selects classes, and the invocations that evaluate it.
    ClassNetwork {
        /// The dispatch network, evaluated by each invocation alone.
        Alone,
        /// The dispatch network, evaluated by the invocations of a subgroup together if they have the same tuple.
        Subgroups = ["networks::dispatch" => "networks::dispatch_subgroups"],
        /// The small dispatch network.
        Small = [
            "networks::dispatch" => "networks::small_dispatch",
            "networks::dispatch_together" => "networks::small_dispatch_together"
        ],
    }

    /// The order of the stages of the interpreter for wide workgroups.
    StageOrder {
        /// Always the same stages.
        Fixed,
        /// Stages that the lanes of a subgroup choose by votes.
        Votes = ["machine::stage_order" => "machine::stage_votes"],
    }

    /// The instructions on SIMD registers that an interpreter has. Each variant includes those of the one before.
    SimdUnit {
        /// No instructions on SIMD registers.
        None,
        /// Loads, stores, moves and integer arithmetic.
        Integers = [
            "machine::simd::unit" => "machine::simd::unit_integers",
            "machine::simd::no_transfers" => "machine::simd::transfers"
        ],
        /// Floating-point arithmetic, too.
        Floats = [
            "machine::simd::unit" => "machine::simd::unit_floats",
            "machine::simd::no_transfers" => "machine::simd::transfers"
        ],
        /// All instructions: cryptography, too.
        All = [
            "machine::simd::unit" => "machine::simd::unit_all",
            "machine::simd::no_transfers" => "machine::simd::transfers"
        ],
    }

    /// The system calls of Linux programs that an interpreter serves itself.
    LinuxCalls {
        /// No calls: the host serves all of them.
        Host,
        /// Frequent calls that do not need the host.
        Served = ["machine::linux::no_calls" => "machine::linux::calls"],
    }

    /// Whether lanes stop at hooks of the host.
    Hooks {
        /// There are no hooks.
        Absent,
        /// There are hooks.
        Present = ["machine::no_hooks" => "machine::hooks"],
    }

    /// Whether hot code is translated.
    Regions {
        /// All code is interpreted.
        Absent,
        /// There are translated regions. The module of their code takes the place of `machine::translated`.
        Present = ["machine::no_regions" => "machine::regions"],
    }

    /// The number of bindings over which the synapses of a spiking network are split.
    SynapseParts {
        /// One binding.
        One,
        /// Two bindings.
        Two = ["spiking::synapses" => "spiking::synapses_2"],
        /// Four bindings.
        Four = ["spiking::synapses" => "spiking::synapses_4"],
        /// Eight bindings.
        Eight = ["spiking::synapses" => "spiking::synapses_8"],
    }

    /// The number of bindings over which the synapses that are sorted by block are split.
    BlockParts {
        /// One binding.
        One,
        /// Two bindings.
        Two = ["spiking::blocks" => "spiking::blocks_2"],
        /// Four bindings.
        Four = ["spiking::blocks" => "spiking::blocks_4"],
        /// Eight bindings.
        Eight = ["spiking::blocks" => "spiking::blocks_8"],
    }

    /// The way in which the segment of a source in a block is found.
    Segments {
        /// In a table; then it is staged in workgroup memory.
        Table,
        /// In a line of its own, whose place is known.
        Lines = ["spiking::staged" => "spiking::lines"],
    }

    /// The sums of a block's input.
    Sums {
        /// One word for each port of a neuron.
        Wide,
        /// One word for both ports of a neuron. Each has 16 bits, which count multiples of a divisor of its weights.
        Narrow = ["spiking::wide_sums" => "spiking::narrow_sums"],
    }

    /// The marks of inputs that sum to zero, by which FEAGI's neurons distinguish them from no input.
    InputMarks {
        /// The network has marks.
        Present,
        /// The network has no marks, because it has no neurons of FEAGI.
        Absent = ["spiking::marks" => "spiking::no_marks"],
    }

    /// Whether weights change.
    Plasticity {
        /// Weights change by the rules of the network.
        On,
        /// Weights are constant.
        Off = ["spiking::learn" => "spiking::no_learning"],
    }

    /// The models of the neurons of a network.
    Models {
        /// Any models.
        Any,
        /// LIF neurons alone.
        Lif = ["spiking::models" => "spiking::lif_model"],
    }

    /// Whether spikes are recorded.
    SpikeRecording {
        /// Spikes are recorded.
        On,
        /// Spikes are not recorded.
        Off = ["spiking::spike_recording" => "spiking::no_spike_recording"],
    }
}

impl FramePools {
    /// Returns the largest number of pools.
    #[must_use]
    pub const fn pools(self) -> usize {
        1 << self as u32
    }

    /// Returns the smallest variant with at least `pools` pools, or the largest variant if none has as many. Pools are
    /// elements of an array if there are at least `array_min`, and have a binding each otherwise.
    #[must_use]
    pub fn of(pools: usize, array_min: usize) -> Self {
        if pools >= array_min {
            return Self::Array;
        }
        let found = Self::ALL.iter().find(|variant| **variant != Self::Array && variant.pools() >= pools);
        found.copied().unwrap_or(Self::SixtyFour)
    }
}

impl SimdUnit {
    /// Returns the unit with a number, as lanes ask for it, or the one with all instructions if no unit has the number.
    #[must_use]
    pub fn with(number: u64) -> Self {
        let found = Self::ALL.iter().find(|unit| **unit as u64 == number);
        found.copied().unwrap_or(Self::All)
    }
}

/// Gives a family whose variants have 1, 2, 4 and 8 bindings the relation to their number.
macro_rules! parts { ($($family:ident)+) => { $(
    impl $family {
        /// Returns the number of bindings.
        #[must_use]
        pub const fn bindings(self) -> usize {
            1 << self as u32
        }

        /// Returns the smallest variant with at least `bindings` bindings, or the largest variant if none has as many.
        #[must_use]
        pub fn of(bindings: usize) -> Self {
            let found = Self::ALL.iter().find(|parts| parts.bindings() >= bindings);
            found.copied().unwrap_or(Self::Eight)
        }
    }
)+ } }

parts! { SynapseParts BlockParts }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MODULES;
    use crate::module::path;

    #[test]
    fn families_name_existing_modules_and_each_module_has_one_family() {
        let mut replaced = Vec::new();
        for family in FAMILIES {
            for (variant, substitutions) in family.variants {
                for (from, to) in *substitutions {
                    for module in [from, to] {
                        let is_there = MODULES.iter().any(|(there, _)| *there == path(module));
                        assert!(is_there, "{}::{variant} names `{module}`", family.name);
                    }
                }
            }
            let mut of_family: Vec<&str> = family.replaced().collect();
            of_family.sort_unstable();
            of_family.dedup();
            replaced.extend(of_family);
        }
        let count = replaced.len();
        replaced.sort_unstable();
        replaced.dedup();
        assert_eq!(replaced.len(), count, "each replaced module belongs to one family");
    }

    #[test]
    fn variants_have_as_many_bindings_as_their_modules_declare() {
        let declared = |substitutions: &[Substitution], base: &str, binding: &str| {
            let module = substitutions.first().map_or(base, |(_, to)| *to);
            let text = MODULES.iter().find(|(there, _)| *there == path(module)).expect("the module exists").1;
            text.lines().filter(|line| line.starts_with("@group") && line.contains(binding)).count()
        };
        for pools in FramePools::ALL.iter().filter(|pools| **pools != FramePools::Array) {
            let declared = declared(pools.substitutions(), "machine::frames", " pool_");
            assert_eq!(
                (declared, FramePools::of(declared, usize::MAX)),
                (pools.pools(), *pools),
                "{pools:?}"
            );
        }
        let array = FramePools::Array;
        let text = format!(" pool: binding_array<Part, {}>;", array.pools());
        assert_eq!(declared(array.substitutions(), "machine::frames", &text), 1, "one binding of {text}");
        assert_eq!(
            [1, 2, 3, array.pools()].map(|pools| FramePools::of(pools, 3)),
            [FramePools::One, FramePools::Two, array, array],
            "three pools are an array"
        );
        for parts in SynapseParts::ALL {
            let declared = declared(parts.substitutions(), "spiking::synapses", " synapses_");
            assert_eq!((declared, SynapseParts::of(declared)), (parts.bindings(), *parts), "{parts:?}");
        }
        for parts in BlockParts::ALL {
            let module = parts.substitutions().first().map_or("spiking::blocks", |(_, to)| *to);
            let text = MODULES.iter().find(|(there, _)| *there == path(module)).expect("the module exists").1;
            let read = text.matches("return blocks_").count();
            assert_eq!((read, BlockParts::of(read)), (parts.bindings(), *parts), "{parts:?}");
        }
    }
}
