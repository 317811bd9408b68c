//! Records: the parameters of neurons as engines read them.

use bytemuck::{Pod, Zeroable};

use crate::record_words::{WORD_DRIVE, WORD_POISSON, WORD_POPULATION, WORD_SHIFT};

/// Words of state a neuron has, whatever its model.
pub const STATE_WORDS: usize = 4;

/// The model of a neuron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Kind {
    /// The neuron of FEAGI.
    Feagi = 0,
    /// Leaky integrate-and-fire with exponential currents.
    Lif = 1,
    /// Izhikevich's neuron of 2003.
    Izhikevich = 2,
    /// A source of spikes at random.
    Poisson = 3,
}

impl Kind {
    /// All models, with the names of their numbers in shaders.
    pub const ALL: [(Self, &str); 4] = [
        (Self::Feagi, "KIND_FEAGI"),
        (Self::Lif, "KIND_LIF"),
        (Self::Izhikevich, "KIND_IZHIKEVICH"),
        (Self::Poisson, "KIND_POISSON"),
    ];

    /// The model of a number.
    #[must_use]
    pub const fn of(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Feagi,
            1 => Self::Lif,
            2 => Self::Izhikevich,
            3 => Self::Poisson,
            _ => return None,
        })
    }
}

/// The parameters of a neuron, in fixed point, 64 bytes; neurons with the same parameters share one.
///
/// | word | all | FEAGI | LIF | Izhikevich | Poisson source |
/// | --- | --- | --- | --- | --- | --- |
/// | 0 | population | | | | |
/// | 1 | drive, weight units | | | | |
/// | 2 | | threshold, low | decay of V | a dt | probability, 32 fraction bits |
/// | 3 | | threshold, high | V of 1 mV excitatory | b | 1: fires always |
/// | 4 | | limit, low | V of 1 mV inhibitory | c | |
/// | 5 | | limit, high | decay, excitatory | d | |
/// | 6 | | keep | decay, inhibitory | peak | |
/// | 7 | | excitability, 32 fraction bits | bias, a step | bias | |
/// | 8 | | refractory, snooze << 16 | threshold | substep, ms, 24 fraction bits | |
/// | 9 | | consecutive limit, 0: none | reset | substeps | |
/// | 10 | | psp | refractory steps | | |
/// | 11 | | flags | Poisson table, start | the same | |
/// | 12 | | | Poisson table, length | the same | |
/// | 13 | | | Poisson weight, mV | the same | |
/// | 14 | shift from weight units | to 32 fraction bits | to 20 | to 20 | |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Record {
    /// The number of the [`Kind`].
    pub kind: u32,
    /// The parameters.
    pub words: [u32; 15],
}

impl Record {
    /// Where the number of the population is.
    pub const POPULATION: usize = WORD_POPULATION;
    /// Where the drive is: input of every step, in weight units.
    pub const DRIVE: usize = WORD_DRIVE;
    /// Where the Poisson input of LIF and Izhikevich neurons is: start and length of its table, and its weight.
    pub const POISSON: usize = WORD_POISSON;
    /// Where the shift from weight units to the membrane's is.
    pub const SHIFT: usize = WORD_SHIFT;

    /// Start and length of its Poisson table; `None` if it has none.
    pub(crate) const fn poisson_table(&self) -> Option<[u32; 2]> {
        let is_drawn = self.kind == Kind::Lif as u32 || self.kind == Kind::Izhikevich as u32;
        let [start, length] = [self.words[Self::POISSON], self.words[Self::POISSON + 1]];
        if is_drawn && length != 0 { Some([start, length]) } else { None }
    }

    /// A word as a signed number.
    #[must_use]
    pub const fn signed(&self, word: usize) -> i32 {
        self.words[word] as i32
    }

    /// Two words as a signed number, the low one first.
    #[must_use]
    pub const fn wide(&self, word: usize) -> i64 {
        join(self.words[word], self.words[word + 1])
    }
}

/// The number whose low and high words these are.
#[must_use]
pub const fn join(low: u32, high: u32) -> i64 {
    ((high as u64) << 32 | low as u64) as i64
}

/// Low and high word of a number.
#[must_use]
pub const fn split(value: i64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}
