//! The report of the translation.

use kvrm_machine::{TranslationReport, TranslationTrial};

use super::super::lanes::GpuExecutor;
use super::super::translator::{Phase, Way};

impl GpuExecutor {
    /// Returns the report of the translation, or `None` if code is never translated.
    pub(in super::super) fn translation_report(&self) -> Option<TranslationReport> {
        let variant = self.store.interpreter_variant(self.workgroup, self.slices.are_limited());
        if !self.can_translate(variant) {
            return None;
        }
        let translator = &self.translator;
        let state = match translator.phase {
            Phase::Beginning | Phase::Warming => "waiting",
            Phase::Sampling(..) => "sampling",
            Phase::Sampled if translator.is_trying() => "trying",
            Phase::Sampled if translator.is_compiling() => "compiling",
            // Whether the remembered choice is kept shows before the next slice.
            Phase::Sampled if translator.is_unproven => "trying",
            Phase::Sampled if translator.ways.iter().any(|way| way.set.is_some()) => "chosen",
            Phase::Sampled => "none",
        };
        let chosen = translator.chosen();
        let trial = |(number, way): (usize, &Way)| {
            let (regions, instructions) =
                way.set.as_ref().map_or((0, 0), |set| (set.regions.len(), set.instructions));
            let speed = translator.tuner.speed(number);
            let mut trial =
                TranslationTrial::new(regions, instructions, way.workgroup, speed, number == chosen);
            trial.has_votes = way.votes;
            trial
        };
        let ways = translator.ways.iter().enumerate().map(trial).collect();
        let mut report = TranslationReport::new(state, ways, translator.steps);
        report.failure.clone_from(&translator.failure);
        report.samplings = translator.samplings;
        report.is_remembered = translator.ways[chosen].set.as_ref().is_some_and(|set| set.is_remembered);
        Some(report)
    }
}
