//! Measures of the networks that look at loops, with the forward passes of `kvrm-models`.

use kvrm_models::inputs::iteration_input;
use kvrm_models::{IterationPredictor, LoopDetector, LoopKind, LoopPattern, PatternMatch, PatternRecogniser};
use rayon::prelude::*;

use super::estimate::estimate;
use super::label::{Analysis, LoopLabels};
use super::metrics::{Confusion, Errors};
use super::record::{Entry, LoopRecord};

/// The measures of a loop detector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DetectorScores {
    /// Kinds, in the order of [`LoopKind::ALL`]; each body counts once.
    pub kinds: Confusion<4>,
    /// The number of bodies with a counter.
    pub counters: u32,
    /// The number of them whose counter is right.
    pub right_counters: u32,
    /// Iterations of entries whose number the checker proves.
    pub countable: Errors,
    /// Iterations of all entries.
    pub all: Errors,
}

impl DetectorScores {
    /// Measures a network.
    #[must_use]
    pub fn new(network: &LoopDetector, records: &[LoopRecord]) -> Self {
        let of_record = |record: &LoopRecord| {
            let analysis = Analysis::new(&record.words);
            let proposals = record.entries.iter().map(|entry| {
                let proposal = network.propose(&record.words, &entry.registers)?;
                let guess = (proposal.kind(), proposal.counter_register());
                Some((analysis.labels(&entry.registers), guess, f64::from(proposal.iterations())))
            });
            proposals.collect::<Vec<_>>()
        };
        let proposals: Vec<_> = records.par_iter().map(of_record).collect();
        let mut scores = Self::default();
        for (record, proposals) in records.iter().zip(proposals) {
            let proposals = record.entries.iter().zip(proposals).enumerate();
            for (number, (entry, proposal)) in proposals {
                let Some((labels, (kind, counter), iterations)) = proposal else { continue };
                if number == 0 {
                    scores.kinds.add(labels.kind as usize, kind as usize);
                    if let Some(right) = labels.counter {
                        scores.counters += 1;
                        scores.right_counters += u32::from(right == counter);
                    }
                }
                add(&mut scores.countable, &mut scores.all, entry, &labels, iterations);
            }
        }
        scores
    }

    /// Measures the matcher of opcodes, which knows nothing of iterations.
    #[must_use]
    pub fn of_rules(records: &[LoopRecord]) -> Self {
        let mut scores = Self::default();
        for (words, labels) in first_labels(records) {
            let (kind, counter) = super::baseline::rule_kind(words);
            scores.kinds.add(labels.kind as usize, kind as usize);
            if let Some(right) = labels.counter {
                scores.counters += 1;
                scores.right_counters += u32::from(right == counter);
            }
        }
        scores
    }

    /// Returns the share of bodies with a counter whose counter is right.
    #[must_use]
    pub fn counter_accuracy(&self) -> f64 {
        f64::from(self.right_counters) / f64::from(self.counters.max(1))
    }
}

/// Returns the labels of each body for its first entry.
pub fn first_labels(records: &[LoopRecord]) -> Vec<(&[u32], LoopLabels)> {
    let labels = records.par_iter().filter_map(|record| {
        let entry = record.entries.first()?;
        Some((&record.words[..], Analysis::new(&record.words).labels(&entry.registers)))
    });
    labels.collect()
}

/// Counts a prediction of iterations, unless the entry is cut.
fn add(countable: &mut Errors, all: &mut Errors, entry: &Entry, labels: &LoopLabels, predicted: f64) {
    if !entry.is_cut {
        all.add(entry.iterations as f64, predicted);
        if labels.kind != LoopKind::None {
            countable.add(entry.iterations as f64, predicted);
        }
    }
}

/// A point of the rejection curve of a recogniser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rejection {
    /// The least cosine with the prototype of a pattern that is accepted.
    pub threshold: f32,
    /// The macro F1 score.
    pub macro_f1: f64,
    /// The share of bodies without a pattern that are accepted as one.
    pub false_accepts: f64,
    /// The share of bodies with a pattern that are rejected.
    pub false_rejects: f64,
}

/// The measures of a pattern recogniser; each body counts once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecogniserScores {
    /// Patterns, in the order of [`LoopPattern::ALL`], with the threshold 0.
    pub patterns: Confusion<6>,
    /// The rejection curve.
    pub curve: Vec<Rejection>,
}

impl RecogniserScores {
    /// Measures a network.
    #[must_use]
    pub fn new(network: &PatternRecogniser, records: &[LoopRecord]) -> Self {
        let matches: Vec<(LoopPattern, PatternMatch)> = records
            .par_iter()
            .filter_map(|record| {
                Some((Analysis::new(&record.words).pattern(), network.recognise(&record.words)?))
            })
            .collect();
        let confusion = |threshold: f32| {
            let mut confusion = Confusion::default();
            for (label, found) in &matches {
                let pattern = found.pattern();
                let is_accepted = found.cosines[pattern as usize] >= threshold;
                let pattern = if is_accepted { pattern } else { LoopPattern::Unknown };
                confusion.add(*label as usize, pattern as usize);
            }
            confusion
        };
        let point = |step: u8| {
            let threshold = f32::from(step) * 0.05;
            let confusion = confusion(threshold);
            let unknown = LoopPattern::Unknown as usize;
            let share = |part: u32, all: u32| f64::from(part) / f64::from(all.max(1));
            let row = confusion.counts[unknown];
            let patterns = &confusion.counts[..unknown];
            Rejection {
                threshold,
                macro_f1: confusion.macro_f1(),
                false_accepts: share(row[..unknown].iter().sum(), row.iter().sum()),
                false_rejects: share(
                    patterns.iter().map(|row| row[unknown]).sum(),
                    patterns.iter().flatten().sum(),
                ),
            }
        };
        Self { patterns: confusion(0.0), curve: (0..20).map(point).collect() }
    }

    /// Measures a function of words.
    #[must_use]
    pub fn of_function(records: &[LoopRecord], function: impl Fn(&[u32]) -> LoopPattern) -> Confusion<6> {
        let mut confusion = Confusion::default();
        for record in records {
            let label = Analysis::new(&record.words).pattern();
            confusion.add(label as usize, function(&record.words) as usize);
        }
        confusion
    }
}

/// The measures of an iteration predictor; each entry counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictorScores {
    /// Entries of loops whose iterations the checker proves.
    pub countable: Errors,
    /// All entries.
    pub all: Errors,
}

impl PredictorScores {
    /// Measures a network with the embeddings of a recogniser.
    #[must_use]
    pub fn new(network: &IterationPredictor, recogniser: &PatternRecogniser, records: &[LoopRecord]) -> Self {
        Self::of_function(records, |record| {
            let embedding = recogniser.recognise(&record.words).map_or([0.0; 128], |found| found.embedding);
            move |record: &LoopRecord, entry: &Entry| {
                let of = estimate(&record.words, &entry.registers);
                let input = iteration_input(&embedding, of.distance, of.step, record.head);
                f64::from(network.iterations(&input))
            }
        })
    }

    /// Measures the prediction that an entry has as many iterations as the one before.
    #[must_use]
    pub fn of_last_values(records: &[LoopRecord]) -> Self {
        Self::of_function(records, |_| |_: &LoopRecord, entry: &Entry| entry.previous as f64)
    }

    /// Measures the quotient of the estimate, without a network.
    #[must_use]
    pub fn of_quotients(records: &[LoopRecord]) -> Self {
        Self::of_function(records, |_| {
            |record: &LoopRecord, entry: &Entry| {
                let of = estimate(&record.words, &entry.registers);
                1.0 + of.distance as f64 / of.step.max(1) as f64
            }
        })
    }

    /// Measures the median of the iterations of all entries of the same body. No function of the body alone is much better.
    #[must_use]
    pub fn of_medians(records: &[LoopRecord]) -> Self {
        Self::of_function(records, |record| {
            let mut counts: Vec<u64> =
                record.entries.iter().filter(|entry| !entry.is_cut).map(|entry| entry.iterations).collect();
            counts.sort_unstable();
            let median = counts.get(counts.len() / 2).copied().unwrap_or(1);
            move |_: &LoopRecord, _: &Entry| median as f64
        })
    }

    fn of_function<F: Fn(&LoopRecord, &Entry) -> f64>(
        records: &[LoopRecord],
        function: impl Fn(&LoopRecord) -> F + Sync,
    ) -> Self {
        let of_record = |record: &LoopRecord| {
            let (analysis, function) = (Analysis::new(&record.words), function(record));
            let predict = |entry: &Entry| (analysis.labels(&entry.registers), function(record, entry));
            record.entries.iter().map(predict).collect::<Vec<_>>()
        };
        let predictions: Vec<_> = records.par_iter().map(of_record).collect();
        let mut scores = Self::default();
        for (record, predictions) in records.iter().zip(predictions) {
            for (entry, (labels, predicted)) in record.entries.iter().zip(predictions) {
                add(&mut scores.countable, &mut scores.all, entry, &labels, predicted);
            }
        }
        scores
    }
}
