//! A small generator of random numbers, so that a seed always gives the same bodies and weights.

/// The generator `SplitMix64` (Steele, Lea and Flood, 2014).
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns another generator, which does not depend on later numbers of this one.
    pub(super) const fn split(&mut self) -> Self {
        Self(self.bits())
    }

    /// Returns the next 64 bits.
    pub(super) const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a number below `limit`, which must not be zero.
    pub(super) const fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// Returns a random element of a slice, which must not be empty.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}
