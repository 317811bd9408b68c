//! The translation of hot code while lanes run.
//!
//! Program counters are sampled, the regions of hot code are translated, and an interpreter with these regions is
//! compiled in the background. Then the tuner measures whether it is faster than the plain one.

mod hot_code;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kvrm_machine::{TranslationReport, TranslationTrial};
use kvrm_translate::{Region, to_wgsl};

use super::lanes::GpuExecutor;
use super::translator::{HotCode, Phase, RegionSet, Slice, Target, Translator, Way};
use super::tuner::Tuner;
use crate::device::error::Error;
use crate::machine::kernels::InterpreterVariant;
use crate::machine::store::regions::RegionCode;
use crate::machine::translation::Translation;

/// The time that lanes have run before hot code is looked for. Shorter runs would hardly gain.
const WARM_UP: Duration = Duration::from_secs(1);
/// The number of slices at whose ends program counters are sampled.
const SAMPLES: u32 = 256;
/// The part of a usual slice that one with a sample takes.
const SAMPLE_SHARE: u32 = 64;
/// The largest number of steps that a lane takes in a region before it leaves it.
const QUANTUM: u32 = 1 << 13;
/// The number of slices between two renewals of markers, beside those after changes that the host knows of.
const RENEWAL: u32 = 16;
/// The largest number of instructions in regions together, and the largest number of edges between hot blocks and others
/// of their region, for up to so many lanes: of a small and of a large choice of regions. Fewer lanes have more of the
/// GPU's registers.
const SIZES: [(usize, [(usize, usize); 2]); 2] =
    [(4096, [(300, 3), (1200, 16)]), (usize::MAX, [(150, 3), (400, 12)])];
/// The number of workgroups of a few lanes each. Translated code gains more than the interpreter if lanes do not share
/// workgroups.
const SMALL_WORKGROUPS: usize = 1 << 14;

impl GpuExecutor {
    /// Returns the report of the translation, or `None` if code is never translated.
    pub(super) fn translation_report(&self) -> Option<TranslationReport> {
        let variant = self.store.interpreter_variant(self.workgroup, self.slices.are_limited());
        if !self.can_translate(variant) {
            return None;
        }
        let Translator { phase, sets, ways, tuner, steps, .. } = &self.translator;
        let state = match phase {
            Phase::Warming => "waiting",
            Phase::Sampling(..) => "sampling",
            Phase::Compiling(..) => "compiling",
            Phase::Ready(_) if self.translator.is_trying() => "trying",
            Phase::Ready(_) => "chosen",
            Phase::Ended(_) => "none",
        };
        let is_ready = matches!(phase, Phase::Ready(_));
        let chosen = if is_ready { self.translator.turn().way } else { 0 };
        let interpreter = Way { set: None, workgroup: self.workgroup, kernel: None };
        let ways = if ways.is_empty() { std::slice::from_ref(&interpreter) } else { ways };
        let trial = |(number, way): (usize, &Way)| {
            let set = way.set.map(|set| &sets[set]);
            let (regions, instructions) = set.map_or((0, 0), |set| (set.regions, set.instructions));
            let speed = tuner.speed(number).filter(|_| is_ready);
            TranslationTrial::new(regions, instructions, way.workgroup, speed, number == chosen)
        };
        let ways: Vec<TranslationTrial> = ways.iter().enumerate().map(trial).collect();
        let mut report = TranslationReport::new(state, ways, *steps);
        if let Phase::Ended(failure) = phase {
            report.failure.clone_from(failure);
        }
        Some(report)
    }

    /// Returns how to run the next slice.
    pub(super) fn next_slice(&mut self) -> Result<Slice, Error> {
        let variant = self.store.interpreter_variant(self.workgroup, self.slices.are_limited());
        let target = Target { variant, pools: self.store.frame_pools() };
        let is_ready = self.can_translate(variant) && self.advance(target)?;
        let Translator { bounds, tuner, ways, .. } = &self.translator;
        let quantum = bounds.map_or(QUANTUM, |bounds| bounds.quantum);
        let turn = self.translator.turn();
        if let Some(way) = ways.get(turn.way).filter(|_| is_ready)
            && let Some(kernel) = way.kernel.clone()
        {
            let (workgroup, set) = (way.workgroup, way.set);
            let steps = || tuner.turn_steps(turn.way, self.slices.steps, self.slices.target());
            let steps = turn.is_trial.then(steps);
            self.set_markers(set)?;
            return Ok(Slice { kernel, workgroup, steps, quantum, turn: Some(turn) });
        }
        self.set_markers(None)?;
        let kernel = self.store.interpreter(self.workgroup, self.slices.are_limited())?;
        let steps = self.translator.is_sampling().then(|| self.sample_steps());
        Ok(Slice { kernel, workgroup: self.workgroup, steps, quantum, turn: None })
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
        if let Some(turn) = slice.turn.filter(|_| translator.translation == Translation::Auto) {
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
        let is_wanted = match self.translator.translation {
            Translation::Off => false,
            Translation::Auto => !self.store.device.info().is_software(),
            Translation::Always => true,
        };
        // Drivers that limit loops would count those of regions, too.
        is_wanted && variant.network.is_none() && !variant.limits_loops && self.store.hooks.is_none()
    }

    /// Goes on with the translation. Returns whether the ways are compiled.
    fn advance(&mut self, target: Target) -> Result<bool, Error> {
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
                    if !self.translator.sets.is_empty() {
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
                    self.translator.tuner = Tuner::new(ways.len(), self.store.lanes);
                    self.translator.phase = Phase::Ready(of);
                }
                Phase::Ready(of) if of == target => {
                    self.translator.phase = Phase::Ready(of);
                    return Ok(true);
                }
                Phase::Ready(_) => self.begin_compilation(target),
                phase => {
                    self.translator.phase = phase;
                    return Ok(false);
                }
            }
        }
    }

    /// Translates the regions of hot code, and decides which ways to try.
    fn translate(&mut self, hot: &HotCode) -> Result<(), Error> {
        if hot.is_empty() {
            return Ok(());
        }
        let sizes = match self.translator.bounds {
            Some(bounds) => vec![(bounds.instructions, bounds.distance)],
            None => {
                let of = SIZES.iter().find(|(lanes, _)| self.store.lanes <= *lanes);
                of.map_or(Vec::new(), |(_, sizes)| sizes.to_vec())
            }
        };
        self.remove_markers()?;
        self.translator.sets.clear();
        for (instructions, distance) in sizes {
            let regions = self.hot_regions(hot, instructions, distance)?;
            let translation = to_wgsl(&regions);
            let is_new = self.translator.sets.iter().all(|set| *set.text != *translation.text);
            if is_new && !regions.is_empty() {
                self.translator.sets.push(RegionSet {
                    code: RegionCode::new(&self.store.device, &translation)?,
                    text: translation.text.into(),
                    regions: regions.len(),
                    instructions: regions.iter().map(Region::instructions).sum(),
                });
            }
        }
        self.translator.ways = self.ways(self.translator.sets.len());
        Ok(())
    }

    /// Returns the ways to run lanes with some sets of regions.
    fn ways(&self, sets: usize) -> Vec<Way> {
        let way = |set, workgroup| Way { set, workgroup, kernel: None };
        let usual = self.workgroup;
        let lanes = self.store.lanes.div_ceil(SMALL_WORKGROUPS).next_power_of_two();
        let small = usual.min(u32::try_from(lanes).unwrap_or(usual));
        let mut ways = vec![way(None, usual)];
        if self.translator.translation == Translation::Always {
            ways.extend(sets.checked_sub(1).map(|last| way(Some(last), usual)));
            return ways;
        }
        if usual > 2 {
            ways.push(way(None, usual / 2));
        }
        for set in 0..sets {
            if small < usual {
                ways.push(way(Some(set), small));
            }
            ways.push(way(Some(set), usual));
        }
        ways
    }

    /// Compiles the ways for a target in the background.
    fn begin_compilation(&mut self, target: Target) {
        let Translator { ways, sets, .. } = &mut self.translator;
        let jobs: Vec<(InterpreterVariant, Option<Arc<str>>)> = ways
            .iter_mut()
            .map(|way| {
                way.kernel = None;
                let text = way.set.map(|set| Arc::clone(&sets[set].text));
                (InterpreterVariant { workgroup: way.workgroup, ..target.variant }, text)
            })
            .collect();
        let (device, kernels) = (self.store.device.clone(), Arc::clone(&self.store.kernels));
        let is_dropped = Arc::clone(&self.translator.is_dropped);
        let compile = move || {
            let kernel = |(variant, text): &(InterpreterVariant, Option<Arc<str>>)| match text {
                Some(text) => kernels.run_translated(&device, *variant, text),
                None => kernels.run_unlocked(&device, *variant),
            };
            jobs.iter().take_while(|_| !is_dropped.load(Ordering::Relaxed)).map(kernel).collect()
        };
        self.translator.phase = match std::thread::Builder::new().spawn(compile) {
            Ok(thread) => Phase::Compiling(target, thread),
            Err(error) => Phase::Ended(Some(error.to_string())),
        };
    }

    /// Sets the markers of regions, or removes all.
    fn set_markers(&mut self, set: Option<usize>) -> Result<(), Error> {
        let Translator { marked, sets, slices, .. } = &mut self.translator;
        if *marked != set
            && let Some(old) = marked.take()
        {
            self.store.unmark(&sets[old].code)?;
        }
        if let Some(set) = set
            && (*marked != Some(set) || self.store.marks_are_old() || *slices >= RENEWAL)
        {
            self.store.mark(&sets[set].code)?;
            (*marked, *slices) = (Some(set), 0);
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
