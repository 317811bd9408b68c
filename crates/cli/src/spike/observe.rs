//! A run that is watched: its spikes, samples of what fires, and its progress.

use std::num::NonZeroU64;
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Error as Failure, Result};
use indicatif::{ProgressBar, ProgressStyle};
use kvrm::spiking::{Error, Executor, Firing, Recorder, Spike, sample};

use super::inject::Injections;
use super::source::Source;

/// Shorter runs show no progress.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);
/// About how long a part of a run takes, after which progress is shown.
const PART: Duration = Duration::from_millis(200);
/// Steps of the first part.
const FIRST_STEPS: u64 = 16;

/// What is run, and what is watched.
pub(crate) struct Plan<'a> {
    pub(crate) source: &'a Source,
    pub(crate) injections: &'a Injections,
    /// The numbers of the populations that are recorded and sampled, in order.
    pub(crate) shown: &'a [u32],
    /// The most spikes that are recorded.
    pub(crate) capacity: usize,
    /// The steps whose numbers are multiples of this are sampled.
    pub(crate) every: Option<NonZeroU64>,
}

impl Plan<'_> {
    /// The neurons from the first that is shown to the last one.
    fn neurons(&self) -> Range<u32> {
        let populations = self.source.network.populations();
        let range = |number: &u32| populations[*number as usize].neurons.clone();
        let first = self.shown.first().map_or(0, |number| range(number).start);
        first..self.shown.last().map_or(0, |number| range(number).end)
    }

    fn is_shown(&self, neuron: u32) -> bool {
        let populations = self.source.network.populations();
        let number = populations.partition_point(|population| population.neurons.end <= neuron);
        self.shown.binary_search(&(number as u32)).is_ok()
    }

    /// The first step to be sampled that is not before this one.
    fn next_sample(&self, step: u64) -> Option<u64> {
        step.checked_next_multiple_of(self.every?.get())
    }
}

/// What was seen.
pub(crate) struct Observed {
    /// Sorted by step.
    pub(crate) spikes: Vec<Spike>,
    /// Sorted by step.
    pub(crate) firings: Vec<Firing>,
    /// How long the steps took, with their samples.
    pub(crate) seconds: f64,
}

/// Runs part by part, with a progress bar that appears on terminals once the run turns out to be long.
pub(crate) fn observe(executor: &mut dyn Executor, plan: &Plan<'_>, steps: Range<u64>) -> Result<Observed> {
    let neurons = plan.neurons();
    let mut recorder = Recorder::new(plan.capacity).of(neurons.clone());
    let mut firings = Vec::new();
    let bar = ProgressBar::new(steps.end - steps.start);
    let style = "{elapsed_precise} {wide_bar} {human_pos}/{human_len} steps {per_sec}";
    bar.set_style(ProgressStyle::with_template(style)?);
    let whole = Instant::now();
    let mut took = Duration::ZERO;
    let (mut at, mut part) = (steps.start, FIRST_STEPS);
    while at < steps.end {
        let next_sample = plan.next_sample(at);
        let is_sampled = next_sample == Some(at);
        // A sample is a part of one step; others end before it.
        let end = if is_sampled { at + 1 } else { next_sample.unwrap_or(steps.end).min(steps.end) };
        let count = part.min(end - at);
        let input = plan.injections.input(at, count, plan.source.input(at, count)?)?;
        let begin = Instant::now();
        let result = if is_sampled {
            let sample = sample(executor, &plan.source.network, &input, Some(&mut recorder), neurons.clone());
            sample.map(|sample| firings.extend(sample))
        } else {
            executor.run(count, &input, Some(&mut recorder))
        };
        took += begin.elapsed();
        result.map_err(|error| {
            bar.finish_and_clear();
            let is_full = matches!(error, Error::RecordingOverflow { .. });
            let failure = Failure::new(error);
            if is_full {
                failure.context("--capacity: there is room for too few; raise it, or --record less")
            } else {
                failure
            }
        })?;
        at += count;
        if count == part && begin.elapsed() < PART / 2 {
            part = part.saturating_mul(2);
        }
        if whole.elapsed() >= PROGRESS_AFTER {
            bar.set_position(at - steps.start);
        }
    }
    bar.finish_and_clear();
    let mut spikes = recorder.take();
    spikes.retain(|spike| plan.is_shown(spike.neuron));
    firings.retain(|firing| plan.is_shown(firing.neuron));
    Ok(Observed { spikes, firings, seconds: took.as_secs_f64() })
}
