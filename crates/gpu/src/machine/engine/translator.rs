//! The state of the translation of hot code: the regions, the ways to run lanes with them, and the choice among these.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use kvrm_shaders::variants::FramePools;
use kvrm_translate::Samples;

use super::tuner::{Tuner, Turn};
use crate::device::error::Error;
use crate::machine::kernels::{InterpreterVariant, StepKernel};
use crate::machine::store::regions::RegionCode;
use crate::machine::translation::{RegionBounds, Translation};

/// The longest time that the end of a machine waits for a compiler.
const PATIENCE: Duration = Duration::from_secs(10);

/// Samples of program counters. Lanes with different images may have different code at the same address.
#[derive(Debug, Default)]
pub(super) struct HotCode {
    /// The samples of each image, by its address in memory, and a lane with the image.
    pub(super) images: BTreeMap<usize, (usize, Samples)>,
}

impl HotCode {
    /// Whether there are no samples.
    pub(super) fn is_empty(&self) -> bool {
        self.images.is_empty()
    }
}

/// A choice of regions.
#[derive(Debug)]
pub(super) struct RegionSet {
    pub(super) text: Arc<str>,
    pub(super) code: RegionCode,
    pub(super) regions: usize,
    pub(super) instructions: usize,
}

/// A way to run lanes.
#[derive(Debug)]
pub(super) struct Way {
    /// The number of the regions, or `None` for the interpreter.
    pub(super) set: Option<usize>,
    /// The number of lanes in a workgroup.
    pub(super) workgroup: u32,
    pub(super) kernel: Option<StepKernel>,
}

/// What an interpreter with regions is compiled for, beside the size of workgroups. It changes when lanes need more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) variant: InterpreterVariant,
    pub(super) pools: FramePools,
}

/// The state of the translation.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// Lanes have not run for long yet.
    #[default]
    Warming,
    /// Program counters are sampled, so many more times.
    Sampling(u32, HotCode),
    /// The ways are compiled in the background, for a target.
    Compiling(Target, JoinHandle<Result<Vec<StepKernel>, Error>>),
    /// The ways are compiled for a target.
    Ready(Target),
    /// There is no hot code that can be translated, or it cannot be compiled for a reason.
    Ended(Option<String>),
}

/// The translation of the hot code of a machine.
#[derive(Debug)]
pub(super) struct Translator {
    pub(super) translation: Translation,
    /// The sizes of regions, if they are given.
    pub(super) bounds: Option<RegionBounds>,
    pub(super) phase: Phase,
    pub(super) sets: Vec<RegionSet>,
    /// The ways to run lanes. The first is the interpreter as it is without translation.
    pub(super) ways: Vec<Way>,
    pub(super) tuner: Tuner,
    /// The regions whose markers are in the code pages.
    pub(super) marked: Option<usize>,
    /// The slices since markers were set.
    pub(super) slices: u32,
    /// The time that lanes have run.
    pub(super) busy: Duration,
    /// The steps of all lanes in regions.
    pub(super) steps: u64,
    /// Whether nobody waits for the compiler any more.
    pub(super) is_dropped: Arc<AtomicBool>,
}

/// A slice to run.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) kernel: StepKernel,
    /// The number of lanes in a workgroup.
    pub(super) workgroup: u32,
    /// The largest number of steps of a lane, if it is not the usual one.
    pub(super) steps: Option<u32>,
    /// The largest number of steps of a lane in a region.
    pub(super) quantum: u32,
    pub(super) turn: Option<Turn>,
}

impl Slice {
    /// Whether the slice runs as if code were never translated.
    pub(super) const fn is_usual(&self) -> bool {
        matches!(self.turn, None | Some(Turn { way: 0, .. }))
    }
}

impl Translator {
    pub(super) fn new(translation: Translation, bounds: Option<RegionBounds>) -> Self {
        Self {
            translation,
            bounds,
            phase: Phase::default(),
            sets: Vec::new(),
            ways: Vec::new(),
            tuner: Tuner::new(1, 1),
            marked: None,
            slices: 0,
            busy: Duration::ZERO,
            steps: 0,
            is_dropped: Arc::default(),
        }
    }

    /// Whether ways take turns.
    pub(super) fn is_trying(&self) -> bool {
        self.turn().is_trial
    }

    /// Returns how to run the next slice if the ways are compiled.
    pub(super) fn turn(&self) -> Turn {
        match self.translation {
            Translation::Always => Turn { way: self.ways.len().saturating_sub(1), is_trial: false },
            _ => self.tuner.turn(),
        }
    }

    /// Whether the next slice should end soon, for a sample.
    pub(super) const fn is_sampling(&self) -> bool {
        matches!(self.phase, Phase::Sampling(..))
    }
}

impl Drop for Translator {
    fn drop(&mut self) {
        // A driver may crash if the process ends while it compiles, so the kernel in work is completed. But no compiler is
        // worth a long wait.
        self.is_dropped.store(true, Ordering::Relaxed);
        if let Phase::Compiling(_, thread) = std::mem::take(&mut self.phase) {
            let begin = Instant::now();
            while !thread.is_finished() && begin.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
