//! Which modules may be linked in place of others: families of variants, each an enum.
//!
//! A kernel has those families whose modules it comes to by its imports; `cargo xtask codegen` finds out which.

/// A module, and the one that is linked in its place.
pub type Substitution = (&'static str, &'static str);

/// A family of variants, as data.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name of the enum.
    pub name: &'static str,
    /// Each variant: its name, and what it substitutes.
    pub variants: &'static [(&'static str, &'static [Substitution])],
}

impl Family {
    /// The modules that some variant takes the place of.
    pub fn replaced(&self) -> impl Iterator<Item = &'static str> {
        self.variants.iter().flat_map(|(_, substitutions)| substitutions.iter().map(|(from, _)| *from))
    }
}

/// Defines enums, and [`FAMILIES`].
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

            /// What is linked in place of what.
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
    /// In how many bindings the frames of a machine lie.
    FramePools {
        /// In one.
        One,
        /// In two.
        Two = ["machine::frames" => "machine::frames_2"],
        /// In four.
        Four = ["machine::frames" => "machine::frames_4"],
        /// In eight.
        Eight = ["machine::frames" => "machine::frames_8"],
        /// In sixteen.
        Sixteen = ["machine::frames" => "machine::frames_16"],
    }

    /// What chooses the kernel class of a word that is lowered.
    Choice {
        /// The table of classes.
        Table,
        /// A network, each time a word is lowered.
        ByWord = ["machine::choice" => "machine::choice_by_word"],
        /// The answers of a network to all tuples.
        ByDomain = ["machine::choice" => "machine::choice_by_domain"],
        /// A network, in each step.
        ByStep = ["machine::choice" => "machine::choice_by_step"],
    }

    /// The network that chooses kernel classes, and how it is evaluated.
    ClassNetwork {
        /// The dispatch network, by each invocation alone.
        Alone,
        /// The dispatch network, by the invocations of a subgroup together.
        Subgroups = ["networks::dispatch" => "networks::dispatch_subgroups"],
        /// The small dispatch network.
        Small = [
            "networks::dispatch" => "networks::small_dispatch",
            "networks::dispatch_together" => "networks::small_dispatch_together"
        ],
    }

    /// Which instructions on SIMD registers an interpreter has. Each variant has those of the one before.
    SimdUnit {
        /// None.
        None,
        /// Loads, stores, moves and integers.
        Integers = [
            "machine::simd::unit" => "machine::simd::unit_integers",
            "machine::simd::no_transfers" => "machine::simd::transfers"
        ],
        /// Floating point.
        Floats = [
            "machine::simd::unit" => "machine::simd::unit_floats",
            "machine::simd::no_transfers" => "machine::simd::transfers"
        ],
        /// Cryptography.
        All = [
            "machine::simd::unit" => "machine::simd::unit_all",
            "machine::simd::no_transfers" => "machine::simd::transfers"
        ],
    }

    /// Whether an interpreter serves frequent system calls of Linux programs.
    LinuxCalls {
        /// It leaves all calls to the host.
        Host,
        /// It serves what needs no host.
        Served = ["machine::linux::no_calls" => "machine::linux::calls"],
    }

    /// In how many bindings the synapses of a spiking network lie.
    SynapseParts {
        /// In one.
        One,
        /// In two.
        Two = ["spiking::synapses" => "spiking::synapses_2"],
        /// In four.
        Four = ["spiking::synapses" => "spiking::synapses_4"],
        /// In eight.
        Eight = ["spiking::synapses" => "spiking::synapses_8"],
    }

    /// Whether inputs that sum to zero are told from none, as the neurons of FEAGI need it.
    InputMarks {
        /// They are.
        Kept,
        /// No neuron asks.
        Absent = ["spiking::marks" => "spiking::marks_none"],
    }

    /// Whether weights learn.
    Plasticity {
        /// They do.
        On,
        /// They stay as they are.
        Off = ["spiking::learn" => "spiking::learn_nothing"],
    }

    /// Whether spikes are recorded.
    SpikeRecording {
        /// They are.
        On,
        /// They are not.
        Off = ["spiking::spikes" => "spiking::spikes_unrecorded"],
    }

    /// Whether each piece of a row knows the neuron it is of.
    PieceSources {
        /// It does.
        Known,
        /// Nobody asks.
        Unknown = ["spiking::sources" => "spiking::sources_unknown"],
    }

    /// Whether targets see which of their sources have fired.
    VisibleSpikes {
        /// They do.
        Seen,
        /// Spikes are brought to them.
        Unseen = ["spiking::spiked" => "spiking::spiked_unseen"],
    }
}

impl FramePools {
    /// How many bindings there are.
    #[must_use]
    pub const fn bindings(self) -> usize {
        1 << self as u32
    }

    /// The variant with at least so many bindings; the largest if none has.
    #[must_use]
    pub fn of(bindings: usize) -> Self {
        let found = Self::ALL.iter().find(|pools| pools.bindings() >= bindings);
        found.copied().unwrap_or(Self::Sixteen)
    }
}

impl SimdUnit {
    /// The unit that a lane asks for by its number; the one that has all instructions if there is none of that number.
    #[must_use]
    pub fn with(number: u64) -> Self {
        let found = Self::ALL.iter().find(|unit| **unit as u64 == number);
        found.copied().unwrap_or(Self::All)
    }
}

impl SynapseParts {
    /// How many bindings there are.
    #[must_use]
    pub const fn bindings(self) -> usize {
        1 << self as u32
    }

    /// The variant with at least so many bindings; the largest if none has.
    #[must_use]
    pub fn of(bindings: usize) -> Self {
        let found = Self::ALL.iter().find(|parts| parts.bindings() >= bindings);
        found.copied().unwrap_or(Self::Eight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MODULES;
    use crate::module::path;

    #[test]
    fn families_name_modules_and_replace_each_once() {
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
        assert_eq!(replaced.len(), count, "a module belongs to one family");
    }

    #[test]
    fn numbers_of_bindings_are_those_that_the_modules_declare() {
        let declared = |substitutions: &[Substitution], base: &str, binding: &str| {
            let module = substitutions.first().map_or(base, |(_, to)| *to);
            let text = MODULES.iter().find(|(there, _)| *there == path(module)).expect("it is there").1;
            text.lines().filter(|line| line.starts_with("@group") && line.contains(binding)).count()
        };
        for pools in FramePools::ALL {
            let declared = declared(pools.substitutions(), "machine::frames", " pool_");
            assert_eq!((declared, FramePools::of(declared)), (pools.bindings(), *pools), "{pools:?}");
        }
        for parts in SynapseParts::ALL {
            let declared = declared(parts.substitutions(), "spiking::synapses", " synapses_");
            assert_eq!((declared, SynapseParts::of(declared)), (parts.bindings(), *parts), "{parts:?}");
        }
    }
}
