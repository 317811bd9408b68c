//! The state of the translation of hot code: the regions, the ways to run lanes with them, and the choice among these.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kvrm_shaders::variants::FramePools;
use kvrm_translate::{Region, Samples};

use super::compiler::Compiler;
use super::drift::Drift;
use super::remembered::ChoiceFile;
use super::tuner::{Tuner, Turn};
use crate::machine::kernels::{InterpreterVariant, StepKernel};
use crate::machine::store::regions::RegionCode;
use crate::machine::translation::{RegionBounds, Translation};

/// Samples of program counters. Lanes with different images may have different code at the same address.
#[derive(Debug, Default)]
pub(super) struct HotCode {
    /// The samples of each image, by its address in memory, and a lane with the image.
    pub(super) images: BTreeMap<usize, (usize, Samples)>,
}

impl HotCode {
    /// Returns the number of samples, and the number of those in regions. An image may have other code at the address of a
    /// region; its samples there count, too.
    pub(super) fn count(&self, regions: &[Region]) -> (u64, u64) {
        let samples = || self.images.values().map(|(_, samples)| samples);
        let inside = samples().flat_map(|samples| regions.iter().map(|region| samples.count_in(region)));
        (samples().map(Samples::total).sum(), inside.sum())
    }
}

/// A choice of regions.
#[derive(Debug)]
pub(super) struct RegionSet {
    pub(super) text: Arc<str>,
    pub(super) code: RegionCode,
    pub(super) regions: Vec<Region>,
    pub(super) instructions: usize,
    /// The share of samples in the regions.
    pub(super) covered: f64,
    /// The samples, and the largest number of instructions and of edges between hot blocks and others, from which the regions
    /// were made.
    pub(super) hot: Arc<HotCode>,
    pub(super) size: (usize, usize),
    /// Whether the samples are those of an earlier process.
    pub(super) is_remembered: bool,
}

/// A way to run lanes.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// The regions, or `None` for the interpreter.
    pub(super) set: Option<Arc<RegionSet>>,
    /// The number of lanes in a workgroup.
    pub(super) workgroup: u32,
    /// Whether lanes vote on the stages.
    pub(super) votes: bool,
    /// The compiled interpreter. The store has that of the first way.
    pub(super) kernel: Option<StepKernel>,
}

impl Way {
    /// Returns a way that is not compiled yet, and whose lanes do not vote.
    pub(super) const fn new(set: Option<Arc<RegionSet>>, workgroup: u32) -> Self {
        Self { set, workgroup, votes: false, kernel: None }
    }

    /// Whether both run lanes in the same way.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.id() == other.id()
    }

    /// Returns what tells the way from others.
    pub(super) fn id(&self) -> (Option<*const RegionSet>, u32, bool) {
        (self.set.as_ref().map(Arc::as_ptr), self.workgroup, self.votes)
    }
}

/// What an interpreter with regions is compiled for, beside the size of workgroups. It changes when lanes need more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) variant: InterpreterVariant,
    pub(super) pools: FramePools,
}

/// What is found out about a program.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// Lanes have just begun.
    #[default]
    Beginning,
    /// Lanes have not run for long yet, and no choice is remembered.
    Warming,
    /// Program counters are sampled, so many more times.
    Sampling(u32, HotCode),
    /// Regions were made from samples, if there was hot code.
    Sampled,
}

/// The translation of the hot code of a machine.
#[derive(Debug)]
pub(super) struct Translator {
    pub(super) translation: Translation,
    /// The sizes of regions, if they are given.
    pub(super) bounds: Option<RegionBounds>,
    pub(super) phase: Phase,
    /// The ways that are compiled. The first is the interpreter as it is without translation.
    pub(super) ways: Vec<Way>,
    /// The ways that the last samples, or a remembered choice, led to, compiled or not.
    pub(super) plan: Vec<Way>,
    /// What the ways are compiled for.
    pub(super) target: Option<Target>,
    pub(super) compiler: Option<Compiler<StepKernel>>,
    /// The reason for which a way could not be compiled.
    pub(super) failure: Option<String>,
    pub(super) tuner: Tuner,
    pub(super) drift: Drift,
    /// The samples with which drift is measured while the interpreter is chosen, and the time of the last one.
    pub(super) probe: HotCode,
    pub(super) probed: Duration,
    /// The number of samplings that have begun, and the time at which the last one did.
    pub(super) samplings: u32,
    pub(super) sampling_began: Duration,
    /// Where the choice is remembered.
    pub(super) file: Option<ChoiceFile>,
    /// Whether a remembered choice has not been measured yet.
    pub(super) is_unproven: bool,
    /// The way that was last remembered.
    pub(super) noted: Option<Way>,
    /// The regions whose markers are in the code pages.
    pub(super) marked: Option<Arc<RegionSet>>,
    /// The slices since markers were set.
    pub(super) slices: u32,
    /// The time that lanes have run.
    pub(super) busy: Duration,
    /// The steps of all lanes in regions.
    pub(super) steps: u64,
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
    /// The translation for `lanes` lanes, of which the interpreter runs `workgroup` in a workgroup.
    pub(super) fn new(
        translation: Translation,
        bounds: Option<RegionBounds>,
        lanes: usize,
        workgroup: u32,
    ) -> Self {
        let window = bounds.and_then(|bounds| bounds.window);
        Self {
            translation,
            bounds,
            phase: Phase::default(),
            ways: vec![Way::new(None, workgroup)],
            plan: Vec::new(),
            target: None,
            compiler: None,
            failure: None,
            tuner: Tuner::new(lanes),
            drift: window.map_or_else(Drift::new, Drift::without_pauses),
            probe: HotCode::default(),
            probed: Duration::ZERO,
            samplings: 0,
            sampling_began: Duration::ZERO,
            file: None,
            is_unproven: false,
            noted: None,
            marked: None,
            slices: 0,
            busy: Duration::ZERO,
            steps: 0,
        }
    }

    /// Returns the way that runs lanes between trials.
    pub(super) fn chosen(&self) -> usize {
        match self.translation {
            Translation::Always => self.ways.len() - 1,
            _ => self.tuner.chosen(),
        }
    }

    /// Returns how to run the next slice.
    pub(super) fn turn(&self) -> Turn {
        // Samples are of what lanes usually do.
        let is_usual = self.translation == Translation::Always || self.is_sampling();
        if is_usual { Turn { way: self.chosen(), is_trial: false } } else { self.tuner.turn() }
    }

    /// Whether ways take turns.
    pub(super) fn is_trying(&self) -> bool {
        self.turn().is_trial
    }

    /// Whether the next slice should end soon, for a sample.
    pub(super) const fn is_sampling(&self) -> bool {
        matches!(self.phase, Phase::Sampling(..))
    }

    /// Whether ways are being compiled.
    pub(super) fn is_compiling(&self) -> bool {
        self.compiler.as_ref().is_some_and(Compiler::is_busy)
    }

    /// Whether all ways that the last samples led to were tried, or could not be compiled.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Sampled) && !self.is_compiling() && !self.is_trying()
    }

    /// Returns the measured speeds of the interpreter and of the chosen way, if it has regions.
    pub(super) fn speeds(&self) -> Option<[f64; 2]> {
        let chosen = self.chosen();
        self.ways[chosen].set.as_ref()?;
        Some([self.tuner.speed(0)?, self.tuner.speed(chosen)?])
    }

    /// Removes ways that are not planned any more, except for the chosen one.
    pub(super) fn remove_old_ways(&mut self) {
        for way in (1..self.ways.len()).rev() {
            if way != self.chosen() && !self.plan.iter().any(|planned| planned.is_same(&self.ways[way])) {
                self.ways.remove(way);
                self.tuner.remove_way(way);
            }
        }
    }
}
