//! Random numbers without state: hashes of the seed, the purpose, the step and the neuron.
//!
//! A number does not depend on the order of draws, so engines can draw in any order and in parallel.

/// Returns FEAGI's hash, a 32-bit PCG (O'Neill, 2014), which is a permutation of the 32-bit numbers.
#[must_use]
pub const fn pcg(value: u32) -> u32 {
    let state = value.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (word >> 22) ^ word
}

/// Returns the random number that decides whether an excitable FEAGI neuron fires, as FEAGI computes it.
#[must_use]
pub const fn excitability(neuron: u32, burst: u32) -> u32 {
    pcg(neuron.wrapping_mul(2_654_435_761).wrapping_add(burst.wrapping_mul(1_597_334_677)))
}

/// The use of the random numbers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// The event counts of Poisson inputs.
    Input = 1,
    /// The spikes of Poisson sources.
    Source = 2,
}

/// Returns the hash of seed and purpose, which is the same for a whole run.
#[must_use]
pub const fn base(seed: u64, purpose: Purpose) -> u32 {
    pcg(purpose as u32 ^ pcg((seed >> 32) as u32 ^ pcg(seed as u32)))
}

/// Returns the key of a step, which is the same for all neurons.
#[must_use]
pub const fn step_key(base: u32, step: u64) -> u32 {
    pcg((step >> 32) as u32 ^ pcg(step as u32 ^ base))
}

/// Returns the random number of a neuron in the step with this key.
#[must_use]
pub const fn draw(key: u32, neuron: u32) -> u32 {
    pcg(pcg(neuron) ^ key)
}

/// A stream of random numbers for building networks: `SplitMix64` (Steele, Lea and Flood, 2014) that starts from a hash
/// of its purpose. Runs do not use it.
#[derive(Clone, Debug)]
pub(crate) struct Stream(u64);

impl Stream {
    /// Returns the stream of a row of a projection.
    pub(crate) const fn new(seed: u64, projection: u64, row: u64) -> Self {
        Self(mix(mix(mix(seed) ^ projection) ^ row))
    }

    /// Returns the next 64 random bits.
    pub(crate) const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number below `limit`; the bias is at most `limit` / 2^64.
    pub(crate) const fn below(&mut self, limit: u32) -> u32 {
        ((self.bits() as u128 * limit as u128) >> 64) as u32
    }

    /// Returns a number above 0 and at most 1.
    pub(crate) const fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

const fn mix(value: u64) -> u64 {
    let z = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
