//! The layout of records: the index of each word, by model, and the flags.
//!
//! `cargo xtask codegen` writes `spiking/record_words.wgsl` from this file.

/// Defines the indices of words, the flags, and the list of all of them.
macro_rules! record_words { (
    words { $($(#[doc = $doc:literal])+ $name:ident = $value:expr;)* }
    flags { $($(#[doc = $flag_doc:literal])+ $flag:ident = $flag_value:expr;)* }
) => {
    $($(#[doc = $doc])+ pub const $name: usize = $value;)*
    $($(#[doc = $flag_doc])+ pub const $flag: u32 = $flag_value;)*

    /// The name, value and meaning of each word and flag.
    pub const ALL: &[(&str, u32, &str)] = &[
        $((stringify!($name), $value, concat!($($doc),+).trim_ascii()),)*
        $((stringify!($flag), $flag_value, concat!($($flag_doc),+).trim_ascii()),)*
    ];
} }

record_words! {
    words {
        /// Word: the number of the population.
        WORD_POPULATION = 0;
        /// Word: the drive, input in every step, in weight units.
        WORD_DRIVE = 1;
        /// Word: the start of the table of the Poisson input; the next two are its length and the weight in mV.
        WORD_POISSON = 11;
        /// Word: the shift from weight units to units of the membrane potential.
        WORD_SHIFT = 14;

        /// Word: the firing threshold, inclusive; two words.
        FEAGI_THRESHOLD = 2;
        /// Word: the potential above which the neuron does not fire; two words.
        FEAGI_LIMIT = 4;
        /// Word: the part of the potential that remains after a leak.
        FEAGI_KEEP = 6;
        /// Word: the excitability, a probability of firing.
        FEAGI_EXCITABILITY = 7;
        /// Word: the refractory steps, and from bit 16 the steps that are added to them at the limit of consecutive
        /// spikes.
        FEAGI_PERIODS = 8;
        /// Word: the limit of consecutive spikes; 0 if there is none.
        FEAGI_CONSECUTIVE_LIMIT = 9;
        /// Word: the postsynaptic potential.
        FEAGI_PSP = 10;
        /// Word: flags.
        FEAGI_FLAGS = 11;

        /// Word: the decay factor of V.
        LIF_DECAY = 2;
        /// Word: the contribution of excitatory J to V in a step.
        LIF_EXCITATORY = 3;
        /// Word: the contribution of inhibitory J to V in a step.
        LIF_INHIBITORY = 4;
        /// Word: the decay factor of excitatory J.
        LIF_DECAY_EXCITATORY = 5;
        /// Word: the decay factor of inhibitory J.
        LIF_DECAY_INHIBITORY = 6;
        /// Word: the increase of V by the constant current in a step.
        LIF_BIAS = 7;
        /// Word: the firing threshold, inclusive.
        LIF_THRESHOLD = 8;
        /// Word: the reset potential.
        LIF_RESET = 9;
        /// Word: the refractory steps, during which V stays at the reset potential.
        LIF_REFRACTORY = 10;

        /// Word: the rate a of u times the step.
        IZHIKEVICH_A_DT = 2;
        /// Word: the sensitivity b of u to v.
        IZHIKEVICH_B = 3;
        /// Word: the reset potential c.
        IZHIKEVICH_C = 4;
        /// Word: the increase d of u by a spike.
        IZHIKEVICH_D = 5;
        /// Word: the potential at which the neuron fires.
        IZHIKEVICH_PEAK = 6;
        /// Word: the constant current.
        IZHIKEVICH_BIAS = 7;
        /// Word: the length of a substep in ms, with 24 fraction bits.
        IZHIKEVICH_SUBSTEP = 8;
        /// Word: the number of substeps in a step.
        IZHIKEVICH_SUBSTEPS = 9;

        /// Word: the probability of firing in a step.
        SOURCE_PROBABILITY = 2;
        /// Word: 1 if the source fires in every step.
        SOURCE_ALWAYS = 3;
    }
    flags {
        /// Flag: the postsynaptic potential is divided by the neuron's fan-out.
        FEAGI_DIVIDED = 1;
        /// Flag: the postsynaptic potential is the potential at firing.
        FEAGI_MP_DRIVEN = 1 << 1;
        /// Flag: the potential persists from step to step.
        FEAGI_ACCUMULATES = 1 << 2;
        /// Flag: the refractory countdown ticks in every step.
        FEAGI_TICKS_ALWAYS = 1 << 3;
        /// Flag: the excitability test always passes.
        FEAGI_EXCITABLE = 1 << 4;
    }
}
