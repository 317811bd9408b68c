//! `kvrm verify memory-oracle`: compares the memory oracle on the host and on a device.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result};
use kvrm::gpu::Device;
use kvrm::gpu::memory_oracle::MemoryOracleKernels;
use kvrm::models::inputs::{Access, WINDOW_ACCESSES_MAX};
use kvrm::models::{AccessPrediction, Architecture, MemoryOracle};

use super::comparison::{Answer, Comparison, Inputs, OnDevice, Units};
use super::networks::load;
use super::random::Random;

/// The units of windows.
const UNITS: Units = Units { inputs: "windows", tokens: "accesses", timed: 1024 };

/// The options of the comparison.
pub(crate) struct Options<'a> {
    /// The file of weights. Without it the network has the weights that come with KVRM, or random ones.
    pub(crate) weights: &'a [PathBuf],
    /// The number of windows.
    pub(crate) windows: usize,
    /// The number of accesses of each window; `None` for windows of all lengths, mostly long ones.
    pub(crate) accesses: Option<usize>,
    /// The seed of windows and random weights.
    pub(crate) seed: u64,
}

impl Answer for AccessPrediction {
    fn outputs(&self) -> Vec<(&'static str, &[f32])> {
        vec![
            ("deltas", &self.encoded_deltas[..]),
            ("confidences", &self.confidences),
            ("pattern logits", &self.pattern_logits),
        ]
    }

    fn choices(&self) -> Vec<(&'static str, &[f32])> {
        vec![("pattern", &self.pattern_logits[..])]
    }
}

/// Evaluates the network on the host and, if there is one, on a device.
pub(crate) fn compare(options: &Options<'_>, device: Option<&Device>) -> Result<Comparison> {
    let ([network], [flat]) = load(options.weights, [Architecture::MemoryOracle], options.seed)?;
    let oracle = MemoryOracle::from_flat(&flat)?.rounded_to_half()?;
    let mut random = Random::new(options.seed);
    let windows: Vec<Vec<Access>> =
        (0..options.windows).map(|_| window(&mut random, options.accesses)).collect();

    let begin = Instant::now();
    let expected: Option<Vec<AccessPrediction>> =
        windows.iter().map(|window| oracle.predict(window)).collect();
    let host_time = begin.elapsed();
    let expected = expected.context("a window has no accesses or more than 32")?;
    let on_device = |device| {
        OnDevice::measure(
            device,
            &expected,
            || Ok(MemoryOracleKernels::new(device, &oracle)?),
            |there| Ok(there.evaluate(&windows)?),
            |prediction| prediction,
        )
    };
    Ok(Comparison {
        networks: vec![network],
        inputs: Inputs {
            units: UNITS,
            source: format!("generated, seed {}", options.seed),
            count: windows.len(),
            tokens: windows.iter().map(Vec::len).sum(),
        },
        host_time,
        on_device: device.map(on_device).transpose()?,
    })
}

/// The form of the accesses of a window.
enum Form {
    /// One page after the other.
    Sequential,
    /// The same distance each time.
    Strided(i64),
    /// A tour of a few pages.
    Tour(Vec<i64>),
    /// Any distances.
    Random,
}

impl Form {
    fn random(random: &mut Random) -> Self {
        match random.below(4) {
            0 => Self::Sequential,
            1 => Self::Strided(delta(random)),
            2 => Self::Tour((0..2 + random.below(6)).map(|_| delta(random)).collect()),
            _ => Self::Random,
        }
    }

    fn delta(&self, index: usize, random: &mut Random) -> i64 {
        match self {
            Self::Sequential => 1,
            Self::Strided(stride) => *stride,
            Self::Tour(deltas) => deltas[index % deltas.len()],
            Self::Random => delta(random),
        }
    }
}

/// Returns a random delta: mostly small, sometimes as large as there are.
fn delta(random: &mut Random) -> i64 {
    let shift = if random.below(8) == 0 { 0 } else { 48 };
    random.bits() as i64 >> (shift + random.below(16))
}

/// Returns a random window, of so many accesses if this is given. Now and then an access does not have the form of the
/// others.
fn window(random: &mut Random, accesses: Option<usize>) -> Vec<Access> {
    let any = match random.below(4) {
        0 => 1 + random.below(WINDOW_ACCESSES_MAX as u64) as usize,
        _ => WINDOW_ACCESSES_MAX,
    };
    let (form, loads) = (Form::random(random), random.below(9));
    let first_pc = 4 * random.below(1 << 20);
    let access = |index: usize| {
        let is_other = random.below(16) == 0;
        Access {
            delta: if is_other { delta(random) } else { form.delta(index, random) },
            size: 1 << random.below(5),
            is_load: random.below(8) < loads,
            pc: first_pc + 4 * random.below(16),
        }
    };
    (0..accesses.unwrap_or(any)).map(access).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_windows_have_all_lengths_and_forms() {
        let mut random = Random::new(1);
        let windows: Vec<Vec<Access>> = (0..500).map(|_| window(&mut random, None)).collect();
        let count = |is: &dyn Fn(&[Access]) -> bool| windows.iter().filter(|window| is(window)).count();
        assert!(windows.iter().all(|window| (1..=WINDOW_ACCESSES_MAX).contains(&window.len())), "all fit");
        assert!(count(&|window| window.len() == WINDOW_ACCESSES_MAX) > 300, "most are full");
        assert!(count(&|window| window.len() < 16) > 30, "some are short");
        let ones = |window: &[Access]| window.iter().filter(|access| access.delta == 1).count();
        assert!(count(&|window| 2 * ones(window) > window.len()) > 50, "sequential ones");
        assert!(
            count(&|window| window.iter().any(|access| access.delta.unsigned_abs() > 1 << 40)) > 100,
            "large deltas"
        );
        assert_eq!(window(&mut random, Some(7)).len(), 7, "the given length");
    }
}
