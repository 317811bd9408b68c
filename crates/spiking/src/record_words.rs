//! Which word of a record is what, by model, and the flags in them.
//!
//! `spiking/record_words.wgsl` is written from here by `cargo xtask codegen`.

/// Defines places of words, flags, and the list of all of them.
macro_rules! record_words { (
    words { $($(#[doc = $doc:literal])+ $name:ident = $value:expr;)* }
    flags { $($(#[doc = $flag_doc:literal])+ $flag:ident = $flag_value:expr;)* }
) => {
    $($(#[doc = $doc])+ pub const $name: usize = $value;)*
    $($(#[doc = $flag_doc])+ pub const $flag: u32 = $flag_value;)*

    /// Name, value and meaning of each.
    pub const ALL: &[(&str, u32, &str)] = &[
        $((stringify!($name), $value, concat!($($doc),+).trim_ascii()),)*
        $((stringify!($flag), $flag_value, concat!($($flag_doc),+).trim_ascii()),)*
    ];
} }

record_words! {
    words {
        /// Word: the population.
        WORD_POPULATION = 0;
        /// Word: input of every step, in weight units.
        WORD_DRIVE = 1;
        /// Word: where the table of Poisson input begins; then come its length, and the weight in mV.
        WORD_POISSON = 11;
        /// Word: what weight units are shifted by to become units of the membrane.
        WORD_SHIFT = 14;

        /// Word: fires at this potential or more; two words.
        FEAGI_THRESHOLD = 2;
        /// Word: does not fire above this potential; two words.
        FEAGI_LIMIT = 4;
        /// Word: what is kept of a potential.
        FEAGI_KEEP = 6;
        /// Word: the probability to fire.
        FEAGI_EXCITABILITY = 7;
        /// Word: refractory steps, and from bit 16 on what is added to them after too many spikes in a row.
        FEAGI_PERIODS = 8;
        /// Word: so many spikes in a row are too many; 0 if none are.
        FEAGI_CONSECUTIVE_LIMIT = 9;
        /// Word: the postsynaptic potential.
        FEAGI_PSP = 10;
        /// Word: flags.
        FEAGI_FLAGS = 11;

        /// Word: what is left of V.
        LIF_DECAY = 2;
        /// Word: what of J excitatory gets into V.
        LIF_EXCITATORY = 3;
        /// Word: what of J inhibitory gets into V.
        LIF_INHIBITORY = 4;
        /// Word: what is left of J excitatory.
        LIF_DECAY_EXCITATORY = 5;
        /// Word: what is left of J inhibitory.
        LIF_DECAY_INHIBITORY = 6;
        /// Word: what a constant current adds to V.
        LIF_BIAS = 7;
        /// Word: fires at this potential or more.
        LIF_THRESHOLD = 8;
        /// Word: the potential after a spike.
        LIF_RESET = 9;
        /// Word: how many steps it then stays there.
        LIF_REFRACTORY = 10;

        /// Word: how much of its way u goes in a step.
        IZHIKEVICH_A_DT = 2;
        /// Word: where u goes, as a share of v.
        IZHIKEVICH_B = 3;
        /// Word: v after a spike.
        IZHIKEVICH_C = 4;
        /// Word: what a spike adds to u.
        IZHIKEVICH_D = 5;
        /// Word: v of a spike.
        IZHIKEVICH_PEAK = 6;
        /// Word: a constant current.
        IZHIKEVICH_BIAS = 7;
        /// Word: the length of a substep in ms, with 24 fraction bits.
        IZHIKEVICH_SUBSTEP = 8;
        /// Word: how many substeps a step has.
        IZHIKEVICH_SUBSTEPS = 9;

        /// Word: the probability to fire.
        SOURCE_PROBABILITY = 2;
        /// Word: 1 if the source fires always.
        SOURCE_ALWAYS = 3;
    }
    flags {
        /// Flag: what a spike brings is divided by the number of the neuron's synapses.
        FEAGI_DIVIDED = 1;
        /// Flag: the postsynaptic potential is the potential at firing.
        FEAGI_MP_DRIVEN = 1 << 1;
        /// Flag: the potential is kept from step to step.
        FEAGI_ACCUMULATES = 1 << 2;
        /// Flag: the countdown ticks in every step.
        FEAGI_TICKS_ALWAYS = 1 << 3;
        /// Flag: the test of excitability always passes.
        FEAGI_EXCITABLE = 1 << 4;
    }
}
