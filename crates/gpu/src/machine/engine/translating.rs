//! The translation of hot code while lanes run.
//!
//! Program counters are sampled, the regions of hot code are translated, and interpreters with these regions are compiled
//! in the background. The tuner measures which way is the fastest. If lanes get to other code, it is sampled again.

mod compilation;
mod hot_code;
mod memory;
mod plan;
mod report;

use std::sync::Arc;
use std::time::Duration;

use super::lanes::GpuExecutor;
use super::translator::{HotCode, Phase, RegionSet, Slice, Target, Translator, Way};
use crate::device::error::Error;
use crate::machine::kernels::InterpreterVariant;
use crate::machine::translation::Translation;

/// The time that lanes have run before a remembered choice is looked for. Shorter runs never wait for a compiler.
const SHORT_WARM_UP: Duration = Duration::from_millis(100);
/// The time that lanes have run before hot code is looked for. Shorter runs would hardly gain.
const WARM_UP: Duration = Duration::from_secs(1);
/// The number of slices at whose ends program counters are sampled.
const SAMPLES: u32 = 256;
/// The part of a usual slice that one with a sample takes. All together take some seconds: games and other programs with
/// rounds have hot code that is executed in a part of each round, and a round may take a tenth of a second.
const SAMPLE_SHARE: u32 = 8;
/// The largest number of steps that a lane takes in a region before it leaves it.
const QUANTUM: u32 = 1 << 13;
/// The time that lanes run between two samples if the interpreter is chosen.
const PROBE: Duration = Duration::from_millis(500);
/// The number of samples of program counters that show where lanes are.
const PROBE_SAMPLES: u64 = 64;
/// The number of slices between two renewals of markers, beside those after changes that the host knows of.
const RENEWAL: u32 = 16;

/// Returns the time that tests assume for a slice, so that their choices do not depend on the device: 1 us for a step, and
/// a tenth of it for a step in a region.
fn assumed_time(steps: u64, translated: u64) -> Duration {
    Duration::from_nanos(1000 * (steps - translated) + 100 * translated)
}

impl GpuExecutor {
    /// Returns how to run the next slice.
    pub(super) fn next_slice(&mut self) -> Result<Slice, Error> {
        let limits_loops = self.slices.are_limited();
        let variant = self.store.interpreter_variant(self.workgroup, limits_loops);
        let turn = if self.can_translate(variant) {
            self.advance(Target { variant, pools: self.store.frame_pools() })?;
            Some(self.translator.turn())
        } else {
            None
        };
        let Way { set, workgroup, kernel, .. } =
            self.translator.ways[turn.map_or(0, |turn| turn.way)].clone();
        self.set_markers(set)?;
        let kernel = match kernel {
            Some(kernel) => kernel,
            None => self.store.interpreter(workgroup, limits_loops)?,
        };
        let Translator { bounds, tuner, .. } = &self.translator;
        let quantum = bounds.map_or(QUANTUM, |bounds| bounds.quantum);
        let steps = turn.and_then(|turn| {
            let turn_steps = || tuner.turn_steps(turn.way, self.slices.steps, self.slices.target());
            if turn.is_trial { Some(turn_steps()) } else { self.sample_steps() }
        });
        Ok(Slice { kernel, workgroup, steps, quantum, turn })
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
        let took = translator.bounds.map_or(took, |_| assumed_time(steps, translated));
        translator.busy += took;
        translator.slices += 1;
        translator.steps += translated;
        let Some(turn) = slice.turn else { return Ok(()) };
        if let Some(set) = &translator.ways[turn.way].set
            && !turn.is_trial
        {
            translator.drift.add(set.covered, [steps, translated], took);
        }
        // While code is sampled, slices are too short to say anything about speeds.
        if translator.translation == Translation::Auto && !translator.is_sampling() {
            let before = translator.chosen();
            translator.tuner.add(turn, limit, steps, took);
            let chosen = translator.chosen();
            if chosen != before && translator.ways[chosen].set.is_some() {
                // The shares so far are those of other regions.
                translator.drift.begin_again();
            }
        }
        if let Phase::Sampling(left, hot) = &mut translator.phase {
            let (left, mut hot) = (left.saturating_sub(1), std::mem::take(hot));
            self.sample(&mut hot)?;
            self.translator.phase = Phase::Sampling(left, hot);
        }
        self.probe()
    }

    /// Samples program counters now and then while the interpreter is chosen: no slice shows then whether lanes are still
    /// in the regions.
    fn probe(&mut self) -> Result<(), Error> {
        let translator = &mut self.translator;
        let pause = translator.bounds.and_then(|bounds| bounds.window).unwrap_or(PROBE);
        let is_due = translator.is_settled() && translator.busy - translator.probed >= pause;
        if !is_due || translator.ways[translator.chosen()].set.is_some() {
            return Ok(());
        }
        // The share that the regions cover is that of the samples they were made from.
        let sets = translator.plan.iter().filter_map(|way| way.set.clone());
        let Some(set) = sets.max_by(|a, b| a.covered.total_cmp(&b.covered)) else { return Ok(()) };
        translator.probed = translator.busy;
        let mut probe = std::mem::take(&mut translator.probe);
        self.sample(&mut probe)?;
        let (total, inside) = probe.count(&set.regions);
        if total < PROBE_SAMPLES {
            self.translator.probe = probe;
        } else if set.covered > 0.0 {
            self.translator.drift.note(inside as f64 / (set.covered * total as f64));
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
            Translation::Auto => self.translator.bounds.is_some() || !self.store.device.info().is_software(),
            Translation::Always => true,
        };
        // Drivers that limit loops would count those of regions, too.
        is_wanted && variant.network.is_none() && !variant.limits_loops && self.store.hooks.is_none()
    }

    /// Goes on with the translation.
    fn advance(&mut self, target: Target) -> Result<(), Error> {
        self.follow(target);
        let Translator { translation, bounds, busy, .. } = self.translator;
        let is_warm = |time| translation == Translation::Always || bounds.is_some() || busy >= time;
        if matches!(self.translator.phase, Phase::Beginning) && is_warm(SHORT_WARM_UP) {
            self.translator.phase = if self.recall()? { Phase::Sampled } else { Phase::Warming };
        }
        if matches!(self.translator.phase, Phase::Warming) && is_warm(WARM_UP) {
            self.begin_sampling()?;
        }
        if let Phase::Sampling(0, hot) = &mut self.translator.phase {
            let hot = std::mem::take(hot);
            self.translator.phase = Phase::Sampled;
            self.plan(hot)?;
        }
        self.collect();
        if self.translator.is_settled() { self.settle() } else { Ok(()) }
    }

    /// Begins to sample program counters.
    fn begin_sampling(&mut self) -> Result<(), Error> {
        let samples = self.translator.bounds.map_or(SAMPLES, |bounds| bounds.samples);
        let mut hot = HotCode::default();
        if samples == 0 {
            self.sample(&mut hot)?;
        }
        self.translator.phase = Phase::Sampling(samples, hot);
        self.translator.samplings += 1;
        self.translator.sampling_began = self.translator.busy;
        Ok(())
    }

    /// Uses the result of a trial. Samples again if lanes have got to other code, or if the interpreter is faster than a
    /// remembered choice.
    fn settle(&mut self) -> Result<(), Error> {
        let translator = &mut self.translator;
        if std::mem::take(&mut translator.is_unproven) && translator.speeds().is_none() {
            if let Some(file) = &translator.file {
                file.write(None);
            }
            return self.begin_sampling();
        }
        let is_other_code = translator.plan.is_empty() || translator.drift.has_fallen();
        let is_repeated = translator.bounds.is_none_or(|bounds| bounds.window.is_some());
        if is_repeated && is_other_code && translator.drift.is_rested(translator.busy) {
            return self.begin_sampling();
        }
        translator.remove_old_ways();
        self.remember();
        Ok(())
    }

    /// Sets the markers of regions, or removes all.
    fn set_markers(&mut self, set: Option<Arc<RegionSet>>) -> Result<(), Error> {
        let Translator { marked, slices, .. } = &mut self.translator;
        let is_marked = marked.as_ref().map(Arc::as_ptr) == set.as_ref().map(Arc::as_ptr);
        if !is_marked && let Some(old) = marked.take() {
            self.store.unmark(&old.code)?;
        }
        if let Some(set) = set
            && (!is_marked || self.store.marks_are_old() || *slices >= RENEWAL)
        {
            self.store.mark(&set.code)?;
            (*marked, *slices) = (Some(set), 0);
        }
        Ok(())
    }

    /// Returns the number of steps of the next slice if it has a sample. It varies, so that samples do not fall into step
    /// with loops of the program.
    fn sample_steps(&self) -> Option<u32> {
        let Phase::Sampling(left, _) = self.translator.phase else { return None };
        let usual = (self.slices.steps / SAMPLE_SHARE).max(64);
        Some(usual / 2 + left.wrapping_mul(0x9e37_79b9) % usual)
    }
}
