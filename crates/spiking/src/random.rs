//! Random numbers that need no state: hashes of what they are for.
//!
//! So a number does not depend on the order in which numbers are asked for, and engines can draw them anywhere.

/// The hash of FEAGI, 32 bits of a PCG (O'Neill, 2014): a permutation of the 32-bit numbers.
#[must_use]
pub const fn pcg(value: u32) -> u32 {
    let state = value.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (word >> 22) ^ word
}

/// The number that decides whether an excitable FEAGI neuron fires, as FEAGI computes it.
#[must_use]
pub const fn excitability(neuron: u32, burst: u32) -> u32 {
    pcg(neuron.wrapping_mul(2_654_435_761).wrapping_add(burst.wrapping_mul(1_597_334_677)))
}

/// What random numbers of a run are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// The counts of Poisson inputs.
    Input = 1,
    /// The spikes of Poisson sources.
    Source = 2,
}

/// A purpose's share of the seed, the same for a whole run.
#[must_use]
pub const fn base(seed: u64, purpose: Purpose) -> u32 {
    pcg(purpose as u32 ^ pcg((seed >> 32) as u32 ^ pcg(seed as u32)))
}

/// The key of a step, the same for all neurons.
#[must_use]
pub const fn step_key(base: u32, step: u64) -> u32 {
    pcg((step >> 32) as u32 ^ pcg(step as u32 ^ base))
}

/// The random number of a neuron in the step that has this key.
#[must_use]
pub const fn draw(key: u32, neuron: u32) -> u32 {
    pcg(pcg(neuron) ^ key)
}

/// Random numbers for building: `SplitMix64` (Steele, Lea and Flood, 2014) from a place that depends on what they are
/// for. Runs do not use it.
#[derive(Clone, Debug)]
pub(crate) struct Stream(u64);

impl Stream {
    /// The numbers of this row of this projection.
    pub(crate) const fn new(seed: u64, projection: u64, row: u64) -> Self {
        Self(mix(mix(mix(seed) ^ projection) ^ row))
    }

    /// The next 64 bits.
    pub(crate) const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `limit`; the bias is at most `limit` / 2^64.
    pub(crate) const fn below(&mut self, limit: u32) -> u32 {
        ((self.bits() as u128 * limit as u128) >> 64) as u32
    }

    /// A number above 0 and at most 1.
    pub(crate) const fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

const fn mix(value: u64) -> u64 {
    let z = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
