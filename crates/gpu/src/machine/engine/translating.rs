//! The translation of hot code while lanes run.
//!
//! Program counters are sampled, the regions of hot code are translated, and an interpreter with these regions is
//! compiled in the background. Then the [`Tuner`] measures whether it is faster than the plain one.

mod hot_code;
mod tuner;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use kvrm_machine::{TranslationReport, TranslationTrial};
use kvrm_shaders::variants::FramePools;
use kvrm_translate::{Region, to_wgsl};

use self::hot_code::HotCode;
use self::tuner::{Tuner, Turn};
use super::lanes::GpuExecutor;
use crate::device::error::Error;
use crate::machine::kernels::{InterpreterVariant, Kernels, NetworkVariant, StepKernel};
use crate::machine::store::regions::RegionCode;
use crate::machine::translation::{RegionBounds, Translation};

/// The time that lanes have run before hot code is looked for.
const WARM_UP: Duration = Duration::from_millis(500);
/// The number of slices at whose ends program counters are sampled.
const SAMPLES: u32 = 128;
/// The part of a usual slice that one with a sample takes.
const SAMPLE_SHARE: u32 = 64;
/// The largest number of edges between hot blocks and others of their region.
const DISTANCE: usize = 3;
/// The largest number of steps that a lane takes in a region before it leaves it.
const QUANTUM: u32 = 1 << 13;
/// The number of slices between two renewals of markers, beside those after changes that the host knows of.
const RENEWAL: u32 = 16;
/// The numbers of lanes up to which regions may have so many instructions together. Fewer lanes have more of the GPU's
/// registers, and programs are measured with the smaller and the larger number.
const SIZES: [(usize, [usize; 2]); 2] = [(4096, [300, 1200]), (usize::MAX, [150, 400])];

/// The regions of a way to run lanes.
#[derive(Debug)]
struct Translated {
    text: Arc<str>,
    code: RegionCode,
    regions: usize,
    instructions: usize,
    kernel: Option<StepKernel>,
}

/// What an interpreter with regions is compiled for. It changes when lanes need more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    variant: InterpreterVariant,
    pools: FramePools,
}

/// The state of the translation.
#[derive(Debug, Default)]
enum Phase {
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
    translation: Translation,
    /// The sizes of regions, if they are given.
    bounds: Option<RegionBounds>,
    phase: Phase,
    /// The ways to run lanes, beside the interpreter.
    ways: Vec<Translated>,
    tuner: Tuner,
    /// The way whose markers are in the code pages.
    marked: Option<usize>,
    /// The slices since markers were set.
    slices: u32,
    /// The time that lanes have run.
    busy: Duration,
    /// The steps of all lanes in regions.
    steps: u64,
}

/// A slice to run.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) kernel: StepKernel,
    /// The largest number of steps of a lane, if it is not the usual one.
    pub(super) steps: Option<u32>,
    /// The largest number of steps of a lane in a region.
    pub(super) quantum: u32,
    turn: Option<Turn>,
}

impl Translator {
    pub(super) fn new(translation: Translation, bounds: Option<RegionBounds>) -> Self {
        Self {
            translation,
            bounds,
            phase: Phase::default(),
            ways: Vec::new(),
            tuner: Tuner::new(1),
            marked: None,
            slices: 0,
            busy: Duration::ZERO,
            steps: 0,
        }
    }

    /// Whether ways take turns.
    fn is_trying(&self) -> bool {
        self.translation == Translation::Auto && self.tuner.turn().is_trial
    }

    /// Whether the next slice should end soon, for a sample.
    const fn is_sampling(&self) -> bool {
        matches!(self.phase, Phase::Sampling(..))
    }
}

impl Drop for Translator {
    fn drop(&mut self) {
        // A driver may crash if the process ends while it compiles.
        if let Phase::Compiling(_, thread) = std::mem::take(&mut self.phase) {
            drop(thread.join());
        }
    }
}

impl GpuExecutor {
    /// Returns the report of the translation, or `None` if code is never translated.
    pub(super) fn translation_report(&self) -> Option<TranslationReport> {
        let variant = self.store.interpreter_variant(self.workgroup, self.slices.are_limited());
        if !self.can_translate(variant) {
            return None;
        }
        let Translator { phase, ways, tuner, steps, .. } = &self.translator;
        let state = match phase {
            Phase::Warming => "waiting",
            Phase::Sampling(..) => "sampling",
            Phase::Compiling(..) => "compiling",
            Phase::Ready(_) if self.translator.is_trying() => "trying",
            Phase::Ready(_) => "chosen",
            Phase::Ended(_) => "none",
        };
        let is_ready = matches!(phase, Phase::Ready(_));
        let chosen = match (is_ready, self.translator.translation) {
            (false, _) => 0,
            (true, Translation::Always) => ways.len(),
            (true, _) => tuner.chosen(),
        };
        let sizes = ways.iter().map(|way| (way.regions, way.instructions));
        let ways = std::iter::once((0, 0)).chain(sizes).enumerate().map(|(way, (regions, instructions))| {
            let speed = tuner.speed(way).filter(|_| is_ready);
            TranslationTrial::new(regions, instructions, speed, way == chosen)
        });
        let mut report = TranslationReport::new(state, ways.collect(), *steps);
        if let Phase::Ended(failure) = phase {
            report.failure.clone_from(failure);
        }
        Some(report)
    }

    /// Returns how to run the next slice.
    pub(super) fn next_slice(&mut self) -> Result<Slice, Error> {
        let variant = self.store.interpreter_variant(self.workgroup, self.slices.are_limited());
        let target = Target { variant, pools: self.store.frame_pools() };
        let way = if self.can_translate(variant) { self.advance(target)? } else { None };
        self.set_markers(way)?;
        let kernel = way.and_then(|way| self.translator.ways[way].kernel.clone());
        let kernel = match kernel {
            Some(kernel) => kernel,
            None => self.store.interpreter(self.workgroup, self.slices.are_limited())?,
        };
        let Translator { bounds, tuner, .. } = &self.translator;
        let turn = matches!(self.translator.phase, Phase::Ready(_)).then(|| tuner.turn());
        let steps = match turn {
            Some(Turn { way, is_trial: true }) if self.translator.translation == Translation::Auto => {
                Some(tuner.trial_steps(way, self.slices.steps, self.slices.target()))
            }
            _ if self.translator.is_sampling() => Some(self.sample_steps()),
            _ => None,
        };
        Ok(Slice { kernel, steps, quantum: bounds.map_or(QUANTUM, |bounds| bounds.quantum), turn })
    }

    /// Notes the result of a slice in which each lane took at most `limit` steps: the steps of all lanes together, and
    /// those of them in regions.
    pub(super) fn end_slice(
        &mut self,
        slice: &Slice,
        limit: u32,
        [steps, translated]: [u64; 2],
        took: Duration,
    ) -> Result<(), Error> {
        let translator = &mut self.translator;
        translator.busy += took;
        translator.slices += 1;
        translator.steps += translated;
        if let Some(turn) = slice.turn {
            translator.tuner.add(turn, limit, steps, took);
        }
        if let Phase::Sampling(left, hot) = &mut self.translator.phase {
            let (left, mut hot) = (left.saturating_sub(1), std::mem::take(hot));
            self.sample(&mut hot)?;
            self.translator.phase = Phase::Sampling(left, hot);
        }
        Ok(())
    }

    /// Removes all markers, so that code pages have the micro-ops of their words.
    pub(super) fn remove_markers(&mut self) -> Result<(), Error> {
        self.set_markers(None)
    }

    /// Whether translated code can take the place of the interpreter.
    fn can_translate(&self, variant: InterpreterVariant) -> bool {
        let asks = variant.network.is_some_and(NetworkVariant::is_asked_in_steps);
        let is_wanted = match self.translator.translation {
            Translation::Off => false,
            Translation::Auto => !self.store.device.info().is_software(),
            Translation::Always => true,
        };
        // Drivers that limit loops would count those of regions, too.
        is_wanted && !asks && !variant.limits_loops && self.store.hooks.is_none()
    }

    /// Goes on with the translation. Returns the way to run the next slice, or `None` for the interpreter.
    fn advance(&mut self, target: Target) -> Result<Option<usize>, Error> {
        let is_always = self.translator.translation == Translation::Always;
        loop {
            match std::mem::replace(&mut self.translator.phase, Phase::Ended(None)) {
                Phase::Warming if is_always || self.translator.busy >= WARM_UP => {
                    let samples = self.translator.bounds.map_or(SAMPLES, |bounds| bounds.samples);
                    let mut hot = HotCode::default();
                    if samples == 0 {
                        self.sample(&mut hot)?;
                    }
                    self.translator.phase = Phase::Sampling(samples, hot);
                }
                Phase::Sampling(0, hot) => {
                    self.translate(&hot)?;
                    if !self.translator.ways.is_empty() {
                        self.begin_compilation(target);
                    }
                }
                Phase::Compiling(of, thread) if is_always || thread.is_finished() => {
                    let kernels = match thread.join() {
                        Ok(Ok(kernels)) => kernels,
                        Ok(Err(error)) => {
                            self.translator.phase = Phase::Ended(Some(error.to_string()));
                            continue;
                        }
                        Err(_) => {
                            self.translator.phase = Phase::Ended(Some("the compiler panicked".to_owned()));
                            continue;
                        }
                    };
                    let ways = &mut self.translator.ways;
                    ways.iter_mut().zip(kernels).for_each(|(way, kernel)| way.kernel = Some(kernel));
                    self.translator.tuner = Tuner::new(1 + ways.len());
                    self.translator.phase = Phase::Ready(of);
                }
                Phase::Ready(of) if of == target => {
                    self.translator.phase = Phase::Ready(of);
                    let way =
                        if is_always { self.translator.ways.len() } else { self.translator.tuner.turn().way };
                    return Ok(way.checked_sub(1));
                }
                Phase::Ready(_) => self.begin_compilation(target),
                phase => {
                    self.translator.phase = phase;
                    return Ok(None);
                }
            }
        }
    }

    /// Translates the regions of hot code: one way for each size of regions.
    fn translate(&mut self, hot: &HotCode) -> Result<(), Error> {
        if hot.is_empty() {
            return Ok(());
        }
        let (sizes, distance) = match self.translator.bounds {
            Some(bounds) => (vec![bounds.instructions], bounds.distance),
            None => {
                let of = SIZES.iter().find(|(lanes, _)| self.store.lanes <= *lanes);
                (of.map_or(Vec::new(), |(_, sizes)| sizes.to_vec()), DISTANCE)
            }
        };
        self.remove_markers()?;
        self.translator.ways.clear();
        for size in sizes {
            let regions = self.hot_regions(hot, size, distance)?;
            let translation = to_wgsl(&regions);
            let is_new = self.translator.ways.iter().all(|way| *way.text != *translation.text);
            if is_new && !regions.is_empty() {
                self.translator.ways.push(Translated {
                    code: RegionCode::new(&self.store.device, &translation)?,
                    text: translation.text.into(),
                    regions: regions.len(),
                    instructions: regions.iter().map(Region::instructions).sum(),
                    kernel: None,
                });
            }
        }
        Ok(())
    }

    /// Compiles the ways for a target in the background.
    fn begin_compilation(&mut self, target: Target) {
        let texts: Vec<Arc<str>> = self.translator.ways.iter().map(|way| Arc::clone(&way.text)).collect();
        let (device, kernels) = (self.store.device.clone(), Arc::clone(&self.store.kernels));
        let compile = move || {
            let kernel = |text: &Arc<str>| Kernels::run_translated(&kernels, &device, target.variant, text);
            texts.iter().map(kernel).collect()
        };
        self.translator.ways.iter_mut().for_each(|way| way.kernel = None);
        self.translator.phase = Phase::Compiling(target, std::thread::spawn(compile));
    }

    /// Sets the markers of a way, or removes all.
    fn set_markers(&mut self, way: Option<usize>) -> Result<(), Error> {
        let Translator { marked, ways, slices, .. } = &mut self.translator;
        if *marked != way
            && let Some(old) = marked.take()
        {
            self.store.unmark(&ways[old].code)?;
        }
        if let Some(way) = way
            && (*marked != Some(way) || self.store.marks_are_old() || *slices >= RENEWAL)
        {
            self.store.mark(&ways[way].code)?;
            (*marked, *slices) = (Some(way), 0);
        }
        Ok(())
    }

    /// Returns the number of steps of the next slice with a sample. It varies, so that samples do not fall into step with
    /// loops of the program.
    fn sample_steps(&self) -> u32 {
        let Phase::Sampling(left, _) = self.translator.phase else { return self.slices.steps };
        let usual = (self.slices.steps / SAMPLE_SHARE).max(64);
        usual / 2 + left.wrapping_mul(0x9e37_79b9) % usual
    }
}
