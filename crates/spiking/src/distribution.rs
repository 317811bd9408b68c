//! [`Distribution`]: random integers by table, so that a draw needs no floating point.

use crate::Error;

/// The cut-off of normal distributions, in standard deviations: the probability beyond it is below 2^-32.
const REACH: f64 = 6.5;

/// The largest number of entries of a table. With more values than that, neighbouring values share an entry.
const ENTRIES_MAX: f64 = 4096.0;

/// The number of leading bits of a random number that select an entry of the guide.
const GUIDE_BITS: u32 = 10;

/// A distribution of integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Distribution {
    first: i64,
    last: i64,
    /// The number of consecutive integers that share an entry, all equally likely.
    width: u64,
    /// The cumulative distribution function after each entry, with 32 fraction bits. The last one, which is 1, is left
    /// out.
    thresholds: Vec<u32>,
    /// The first possible entry, by the leading bits of the random number.
    guide: Vec<u16>,
}

impl Distribution {
    /// Returns the distribution of a constant.
    pub(crate) const fn constant(value: i64) -> Self {
        Self { first: value, last: value, width: 1, thresholds: Vec::new(), guide: Vec::new() }
    }

    /// Returns the uniform distribution over the integers from `first` to `last`.
    pub(crate) fn uniform(first: i64, last: i64) -> Result<Self, Error> {
        if first > last {
            return Err(Error::parameter("lower limit", first, format!("at most the upper limit, {last}")));
        }
        let width = first.abs_diff(last) + 1;
        Ok(Self { width, last, ..Self::constant(first) })
    }

    /// Returns the rounded normal distribution, truncated to a range of integers that includes both ends.
    pub(crate) fn normal(mean: f64, std: f64, range: [f64; 2]) -> Result<Self, Error> {
        if !(0.0..=f64::from(i32::MAX)).contains(&std) {
            return Err(Error::parameter(
                "standard deviation",
                std,
                "0 or more, and in the range of weights or delays",
            ));
        }
        let nearest = libm::floor(mean + 0.5).clamp(range[0], range[1]);
        if std == 0.0 {
            return Ok(Self::constant(nearest as i64));
        }
        let low = libm::floor(mean - REACH * std + 0.5).max(range[0]).min(nearest);
        let high = libm::floor(mean + REACH * std + 0.5).min(range[1]).max(nearest);
        let width = libm::ceil((high - low + 1.0) / ENTRIES_MAX);
        let entries = libm::ceil((high - low + 1.0) / width) as usize;
        // The normal distribution function at the lower end of the interval that is rounded to `number`.
        let below =
            |number: f64| 0.5 * libm::erfc((mean - (number - 0.5)) / (std * core::f64::consts::SQRT_2));
        let (start, whole) = (below(low), below(high + 1.0) - below(low));
        let threshold = |entry: usize| {
            let part = (below(low + entry as f64 * width) - start) / whole;
            libm::round(part * (1_u64 << 32) as f64).min(f64::from(u32::MAX)) as u32
        };
        let thresholds: Vec<u32> = (1..entries).map(threshold).collect();
        let guide = (0..1_u32 << GUIDE_BITS).map(|bits| {
            let number = bits << (32 - GUIDE_BITS);
            thresholds.partition_point(|&threshold| threshold <= number) as u16
        });
        Ok(Self {
            first: low as i64,
            last: high as i64,
            width: width as u64,
            guide: guide.collect(),
            thresholds,
        })
    }

    /// Returns the lowest and the highest integer.
    pub(crate) const fn range(&self) -> [i64; 2] {
        [self.first, self.last]
    }

    /// Maps 64 random bits to an integer. A constant draws none.
    #[inline]
    pub(crate) fn draw(&self, bits: impl FnOnce() -> u64) -> i64 {
        if self.first == self.last {
            return self.first;
        }
        let bits = bits();
        let mut entry = 0;
        if !self.thresholds.is_empty() {
            let number = (bits >> 32) as u32;
            entry = usize::from(self.guide[(number >> (32 - GUIDE_BITS)) as usize]);
            while self.thresholds.get(entry).is_some_and(|&threshold| threshold <= number) {
                entry += 1;
            }
        }
        let within = ((bits & 0xffff_ffff) * self.width) >> 32;
        (self.first + (entry as u64 * self.width + within) as i64).min(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn moments_match_the_parameters() {
        let cases = [(100.0, 10.0, [0.0, 1e6], 100.0, 10.0), (-5e6, 4e5, [-1e9, 0.0], -5e6, 4e5)];
        for (mean, std, range, expected_mean, expected_std) in cases {
            let distribution = Distribution::normal(mean, std, range).expect("parameters in range");
            let mut stream = Stream::new(1, 2, 3);
            let draws: Vec<f64> = (0..100_000).map(|_| distribution.draw(|| stream.bits()) as f64).collect();
            let average = draws.iter().sum::<f64>() / 1e5;
            let variance = draws.iter().map(|draw| (draw - average) * (draw - average)).sum::<f64>() / 1e5;
            assert!((average - expected_mean).abs() < 4.0 * std / 316.0, "mean {average} of {mean}");
            assert!((variance.sqrt() / expected_std - 1.0).abs() < 0.01, "std {} of {std}", variance.sqrt());
        }
    }

    #[test]
    fn numbers_stay_within_their_range() {
        let distribution = Distribution::normal(15.0, 7.5, [1.0, 64.0]).expect("parameters in range");
        assert_eq!(distribution.range(), [1, 64], "the truncated range");
        assert_eq!(distribution.draw(|| 0), 1, "the lowest number");
        assert_eq!(distribution.draw(|| u64::MAX), 64, "the highest number");
        let uniform = Distribution::uniform(-3, 5).expect("a valid range");
        assert_eq!([uniform.draw(|| 0), uniform.draw(|| u64::MAX)], [-3, 5], "both ends");
        assert!(Distribution::uniform(1, 0).is_err(), "an empty range");
        assert!(Distribution::normal(0.0, f64::NAN, [0.0, 1.0]).is_err(), "not a number");
    }
}
