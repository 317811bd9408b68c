//! [`Synapses`]: the synapses of a network, packed into 4 or 8 bytes each.

use std::collections::BTreeMap;

use crate::Error;

/// A synapse without its source, which is the row that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Synapse {
    /// The postsynaptic neuron.
    pub target: u32,
    /// The synaptic delay: steps from the spike to its arrival, at least 1.
    pub delay: u32,
    /// The weight, in weight units.
    pub weight: i32,
}

/// The bit layout of a packed synapse: `words` 32-bit words, low word first. The lowest bits are the weight (two's
/// complement); then follow `delay - min_delay` and the target.
///
/// ```
/// use kvrm_spiking::{Packing, Synapse};
///
/// // Targets below 1000, delays of 1 to 15 steps, weights of -100 to 100.
/// let packing = Packing::new(1000, [1, 15], [-100, 100])?;
/// assert_eq!((packing.target_bits, packing.delay_bits, packing.words), (10, 4, 1));
/// let synapse = Synapse { target: 999, delay: 3, weight: -7 };
/// assert_eq!(packing.unpack(packing.pack(&synapse)), synapse);
/// # Ok::<(), kvrm_spiking::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The bits of the target.
    pub target_bits: u32,
    /// The bits of the delay.
    pub delay_bits: u32,
    /// The bits of the weight, 1 to 32.
    pub weight_bits: u32,
    /// The 32-bit words of a synapse, 1 or 2.
    pub words: u32,
    /// The delay that is packed as 0.
    pub min_delay: u32,
}

impl Packing {
    /// Returns the smallest packing for targets below `neurons`, and for delays and weights in these ranges, which
    /// include both ends. Spare bits go to the weight.
    ///
    /// # Errors
    /// [`Error::Packing`] if a synapse needs more than 64 bits.
    pub fn new(neurons: u32, delays: [u32; 2], weights: [i32; 2]) -> Result<Self, Error> {
        let target_bits = bits(neurons.saturating_sub(1));
        let delay_bits = bits(delays[1].saturating_sub(delays[0]));
        let weight_bits = weights.map(|weight| 1 + bits((weight ^ (weight >> 31)) as u32)).into_iter().max();
        let weight_bits = weight_bits.unwrap_or(1);
        let words = (target_bits + delay_bits + weight_bits).div_ceil(32).max(1);
        if words > 2 {
            return Err(Error::Packing { target: target_bits, delay: delay_bits, weight: weight_bits });
        }
        let weight_bits = (32 * words - target_bits - delay_bits).min(32);
        Ok(Self { target_bits, delay_bits, weight_bits, words, min_delay: delays[0] })
    }

    /// Checks a packing that may not come from [`Packing::new`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Self { target_bits, delay_bits, weight_bits, words, min_delay } = *self;
        let is_possible = matches!(words, 1 | 2)
            && target_bits <= 32
            && delay_bits <= 16
            && min_delay < 1 << 16
            && (1..=32).contains(&weight_bits)
            && target_bits + delay_bits + weight_bits <= 32 * words
            && (words == 2 || target_bits + delay_bits + weight_bits == 32);
        let bits = || format!("{target_bits}, {delay_bits} and {weight_bits} bits in {words} words");
        if is_possible {
            Ok(())
        } else {
            Err(Error::invalid(format!("impossible bits of target, delay and weight: {}", bits())))
        }
    }

    /// Returns whether a synapse can be packed.
    #[must_use]
    pub const fn fits(&self, synapse: &Synapse) -> bool {
        let weight = (synapse.weight as i64) << (64 - self.weight_bits) >> (64 - self.weight_bits);
        synapse.delay >= self.min_delay
            && bits(synapse.delay - self.min_delay) <= self.delay_bits
            && bits(synapse.target) <= self.target_bits
            && weight == synapse.weight as i64
    }

    /// Packs a synapse, which must fit.
    #[must_use]
    pub const fn pack(&self, synapse: &Synapse) -> u64 {
        let weight = synapse.weight as u64 & self.weight_mask();
        let delay = (synapse.delay - self.min_delay) as u64;
        let high = (synapse.target as u64) << self.delay_bits | delay;
        high << self.weight_bits | weight
    }

    /// Unpacks a synapse.
    #[must_use]
    pub const fn unpack(&self, packed: u64) -> Synapse {
        let high = packed >> self.weight_bits;
        Synapse {
            target: (high >> self.delay_bits) as u32,
            delay: (high & ((1 << self.delay_bits) - 1)) as u32 + self.min_delay,
            weight: self.weight(packed),
        }
    }

    /// Returns the weight of a packed synapse.
    #[must_use]
    pub const fn weight(&self, packed: u64) -> i32 {
        (((packed << (64 - self.weight_bits)) as i64) >> (64 - self.weight_bits)) as i32
    }

    /// Returns a packed synapse with another weight, which must fit.
    #[must_use]
    pub const fn with_weight(&self, packed: u64, weight: i32) -> u64 {
        packed & !self.weight_mask() | weight as u64 & self.weight_mask()
    }

    const fn weight_mask(&self) -> u64 {
        (1 << self.weight_bits) - 1
    }

    /// Returns the packed synapse at this index of a row.
    #[must_use]
    pub fn read(&self, row: &[u32], index: usize) -> u64 {
        match self.words {
            1 => u64::from(row[index]),
            _ => u64::from(row[2 * index + 1]) << 32 | u64::from(row[2 * index]),
        }
    }

    /// Returns the index of the first synapse with at least this target, in a sorted row of `length` synapses.
    #[must_use]
    pub fn find(&self, row: &[u32], length: usize, target: u32) -> usize {
        let (mut low, mut high) = (0, length);
        while low < high {
            let middle = low.midpoint(high);
            if self.unpack(self.read(row, middle)).target < target {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Writes a packed synapse at this index of a row.
    pub fn write(&self, row: &mut [u32], index: usize, packed: u64) {
        match self.words {
            1 => row[index] = packed as u32,
            _ => row[2 * index..2 * index + 2].copy_from_slice(&[packed as u32, (packed >> 32) as u32]),
        }
    }
}

/// Returns the number of bits that numbers up to `value` need.
const fn bits(value: u32) -> u32 {
    32 - value.leading_zeros()
}

/// The synapses of all neurons, in one row per source. The number of a neuron is the index of its row, so there is no
/// search.
///
/// A new row is sorted by target, delay and weight. Plasticity changes weights in place. A row that grows moves to the
/// end, so some words may be unused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synapses {
    /// The index in `words` at which the row of each neuron begins.
    pub starts: Vec<u64>,
    /// The number of synapses in the row of each neuron.
    pub lengths: Vec<u32>,
    /// The packed synapses of all rows.
    pub words: Vec<u32>,
    /// The bit layout of a packed synapse.
    pub packing: Packing,
}

impl Synapses {
    /// Returns the number of synapses.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.lengths.iter().map(|&length| u64::from(length)).sum()
    }

    /// Returns the range of `words` with the row of a neuron.
    #[must_use]
    pub fn range(&self, source: u32) -> std::ops::Range<usize> {
        let start = self.starts[source as usize] as usize;
        start..start + self.lengths[source as usize] as usize * self.packing.words as usize
    }

    /// Returns the synapses of a source, in order.
    pub fn row(&self, source: u32) -> impl Iterator<Item = Synapse> + '_ {
        let row = &self.words[self.range(source)];
        (0..self.lengths[source as usize] as usize)
            .map(move |index| self.packing.unpack(self.packing.read(row, index)))
    }

    /// Returns the synapses of a network without neurons.
    pub(crate) const fn none() -> Self {
        let packing = Packing { target_bits: 0, delay_bits: 0, weight_bits: 32, words: 1, min_delay: 1 };
        Self { starts: Vec::new(), lengths: Vec::new(), words: Vec::new(), packing }
    }

    /// Returns the row of a source, which is empty if the source is new.
    pub(crate) fn row_of(&self, source: u32) -> Vec<Synapse> {
        if (source as usize) < self.starts.len() { self.row(source).collect() } else { Vec::new() }
    }

    /// Replaces rows, in place if they have not grown. With a new packing, writes all rows anew.
    pub(crate) fn take_rows(
        &mut self,
        neurons: usize,
        mut rows: BTreeMap<u32, Vec<Synapse>>,
        repacking: Option<Packing>,
    ) {
        let Some(packing) = repacking else {
            self.starts.resize(neurons, 0);
            self.lengths.resize(neurons, 0);
            rows.into_iter().for_each(|(source, row)| self.take_row(source, row));
            return;
        };
        let empty = Self { starts: vec![0; neurons], lengths: vec![0; neurons], words: Vec::new(), packing };
        let old = std::mem::replace(self, empty);
        for source in 0..neurons as u32 {
            let row = rows.remove(&source).unwrap_or_else(|| old.row_of(source));
            self.take_row(source, row);
        }
    }

    /// Replaces the row of a source, in place if it has not grown.
    fn take_row(&mut self, source: u32, row: Vec<Synapse>) {
        let mut packed: Vec<u64> = row.iter().map(|synapse| self.packing.pack(synapse)).collect();
        packed.sort_unstable();
        if packed.len() > self.lengths[source as usize] as usize {
            self.starts[source as usize] = self.words.len() as u64;
            self.words.resize(self.words.len() + packed.len() * self.packing.words as usize, 0);
        }
        self.lengths[source as usize] = packed.len() as u32;
        let range = self.range(source);
        for (index, &packed) in packed.iter().enumerate() {
            self.packing.write(&mut self.words[range.clone()], index, packed);
        }
    }
}
