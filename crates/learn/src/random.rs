//! The random number generator for initial weights and batches.

/// The generator `SplitMix64` (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns a generator that always gives the same numbers for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a number below `limit`. The bias is at most `limit` / 2^32.
    pub const fn below(&mut self, limit: usize) -> usize {
        (((self.bits() >> 32) * limit as u64) >> 32) as usize
    }

    /// Returns a number from 1 to about 2^`bits`, whose logarithm is uniform.
    pub const fn magnitude(&mut self, bits: usize) -> u64 {
        let bits = self.below(bits) as u32;
        (1 << bits) + (self.bits() & ((1 << bits) - 1))
    }

    /// Returns a number whose distribution is close to normal, with mean 0 and variance 1. It is a sum of uniform
    /// numbers, which is the same on every platform.
    pub fn normal(&mut self) -> f32 {
        let sum: u64 = (0..12).map(|_| self.bits() >> 40).sum();
        sum as f32 / (1 << 24) as f32 - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut random = Random::new(1);
        let numbers: Vec<f32> = (0..100_000).map(|_| random.normal()).collect();
        let mean = numbers.iter().sum::<f32>() / 1e5;
        let variance = numbers.iter().map(|x| x * x).sum::<f32>() / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} and {variance}");
    }

    #[test]
    fn numbers_reach_all_values_below_the_limit() {
        let mut random = Random::new(1);
        let mut seen = [false; 10];
        (0..1_000).for_each(|_| seen[random.below(10)] = true);
        assert_eq!(seen, [true; 10], "all values below 10");
    }
}
