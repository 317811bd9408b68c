//! [`Record`]: the parameters of neurons in the form that engines read.

use bytemuck::{Pod, Zeroable};

use crate::record_words::{WORD_DRIVE, WORD_POISSON, WORD_POPULATION, WORD_SHIFT};

/// The number of 32-bit words in the state of a neuron, for every model.
pub const STATE_WORDS: usize = 4;

/// The kind of a neuron model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Kind {
    /// The neuron of FEAGI.
    Feagi = 0,
    /// Leaky integrate-and-fire with exponential synaptic currents.
    Lif = 1,
    /// Izhikevich's neuron (2003).
    Izhikevich = 2,
    /// A Poisson spike source.
    Poisson = 3,
}

impl Kind {
    /// All kinds, with the names of their numbers in shaders.
    pub const ALL: [(Self, &str); 4] = [
        (Self::Feagi, "KIND_FEAGI"),
        (Self::Lif, "KIND_LIF"),
        (Self::Izhikevich, "KIND_IZHIKEVICH"),
        (Self::Poisson, "KIND_POISSON"),
    ];

    /// Returns the kind with this number.
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

/// The parameters of a neuron, in fixed point, 64 bytes. Neurons with the same parameters share a record.
///
/// | word | all | FEAGI | LIF | Izhikevich | Poisson source |
/// | --- | --- | --- | --- | --- | --- |
/// | 0 | population | | | | |
/// | 1 | drive, weight units | | | | |
/// | 2 | | threshold, low | decay of V | a dt | firing probability, 32 fraction bits |
/// | 3 | | threshold, high | V per mV of excitatory J | b | 1 if it fires in every step |
/// | 4 | | limit, low | V per mV of inhibitory J | c | |
/// | 5 | | limit, high | decay of excitatory J | d | |
/// | 6 | | keep (1 - leak) | decay of inhibitory J | peak | |
/// | 7 | | excitability, 32 fraction bits | bias per step | bias | |
/// | 8 | | refractory, snooze << 16 | threshold | substep, ms, 24 fraction bits | |
/// | 9 | | consecutive limit, 0: none | reset | substeps per step | |
/// | 10 | | psp | refractory steps | | |
/// | 11 | | flags | start of Poisson table | start of Poisson table | |
/// | 12 | | | length of Poisson table | length of Poisson table | |
/// | 13 | | | Poisson weight, mV | Poisson weight, mV | |
/// | 14 | shift from weight units | to 32 fraction bits | to 20 fraction bits | to 20 fraction bits | |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct Record {
    /// The number of the [`Kind`].
    pub kind: u32,
    /// The parameters, by the table above.
    pub words: [u32; 15],
}

impl Record {
    /// The index of the word with the number of the population.
    pub const POPULATION: usize = WORD_POPULATION;
    /// The index of the word with the drive: input in every step, in weight units.
    pub const DRIVE: usize = WORD_DRIVE;
    /// The index of the first of three words with the Poisson input of LIF and Izhikevich neurons: start and length of
    /// its table, and its weight.
    pub const POISSON: usize = WORD_POISSON;
    /// The index of the word with the shift from weight units to the fixed-point format of the membrane potential.
    pub const SHIFT: usize = WORD_SHIFT;

    /// Returns start and length of the Poisson table; `None` if the neuron has no Poisson input.
    pub(crate) const fn poisson_table(&self) -> Option<[u32; 2]> {
        let is_drawn = self.kind == Kind::Lif as u32 || self.kind == Kind::Izhikevich as u32;
        let [start, length] = [self.words[Self::POISSON], self.words[Self::POISSON + 1]];
        if is_drawn && length != 0 { Some([start, length]) } else { None }
    }

    /// Returns a word as a signed number.
    #[must_use]
    pub const fn signed(&self, word: usize) -> i32 {
        self.words[word] as i32
    }

    /// Returns two words as a signed number, the low one first.
    #[must_use]
    pub const fn wide(&self, word: usize) -> i64 {
        join(self.words[word], self.words[word + 1])
    }
}

/// Returns the number with these low and high words.
#[must_use]
pub const fn join(low: u32, high: u32) -> i64 {
    ((high as u64) << 32 | low as u64) as i64
}

/// Returns the low and the high word of a number.
#[must_use]
pub const fn split(value: i64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}
