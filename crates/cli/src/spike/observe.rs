//! A run with observation: its spikes, samples of the firing neurons, and its progress.

use std::num::NonZeroU64;
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Error as Failure, Result};
use indicatif::{ProgressBar, ProgressStyle};
use kvrm::spiking::{Error, Executor, Recorder, SampledSpike, Spike, sample};

use super::inject::Injections;
use super::source::Source;

/// The time after which a run shows its progress.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);
/// The approximate time of a part of a run. Progress is shown after each part.
const PART: Duration = Duration::from_millis(200);
/// The number of steps of the first part.
const FIRST_STEPS: u64 = 16;

/// The network to run, its input, and what to record.
pub(crate) struct Plan<'a> {
    pub(crate) source: &'a Source,
    pub(crate) injections: &'a Injections,
    /// The numbers of the populations that are recorded and sampled, sorted.
    pub(crate) shown: &'a [u32],
    /// The largest number of spikes that are recorded.
    pub(crate) capacity: usize,
    /// The interval of samples: steps whose numbers are multiples of it are sampled. `None` for no samples.
    pub(crate) every: Option<NonZeroU64>,
}

impl Plan<'_> {
    /// Returns the range from the first recorded neuron to the last one.
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

    /// Returns the first sampled step that is not before `step`.
    fn next_sample(&self, step: u64) -> Option<u64> {
        step.checked_next_multiple_of(self.every?.get())
    }
}

/// The observations of a run.
pub(crate) struct Observations {
    /// The recorded spikes, sorted by step.
    pub(crate) spikes: Vec<Spike>,
    /// The samples, sorted by step.
    pub(crate) sampled: Vec<SampledSpike>,
    /// The time of the steps with their samples, in seconds.
    pub(crate) seconds: f64,
}

/// Runs part by part. On a terminal, a progress bar appears if the run takes longer than [`PROGRESS_AFTER`].
pub(crate) fn observe(
    executor: &mut dyn Executor,
    plan: &Plan<'_>,
    steps: Range<u64>,
) -> Result<Observations> {
    let neurons = plan.neurons();
    let mut recorder = Recorder::new(plan.capacity).for_neurons(neurons.clone());
    let mut sampled = Vec::new();
    let bar = ProgressBar::new(steps.end - steps.start);
    let style = "{elapsed_precise} {wide_bar} {human_pos}/{human_len} steps {per_sec}";
    bar.set_style(ProgressStyle::with_template(style)?);
    let whole = Instant::now();
    let mut took = Duration::ZERO;
    let (mut at, mut part) = (steps.start, FIRST_STEPS);
    while at < steps.end {
        let next_sample = plan.next_sample(at);
        let is_sampled = next_sample == Some(at);
        // A sampled step is a part of its own, so other parts end before the next one.
        let end = if is_sampled { at + 1 } else { next_sample.unwrap_or(steps.end).min(steps.end) };
        let count = part.min(end - at);
        let input = plan.injections.input(at, count, plan.source.input(at, count)?)?;
        let begin = Instant::now();
        let result = if is_sampled {
            let sample = sample(executor, &plan.source.network, &input, Some(&mut recorder), neurons.clone());
            sample.map(|sample| sampled.extend(sample))
        } else {
            executor.run(count, &input, Some(&mut recorder))
        };
        took += begin.elapsed();
        result.map_err(|error| {
            bar.finish_and_clear();
            let is_full = matches!(error, Error::RecordingOverflow { .. });
            let failure = Failure::new(error);
            if is_full {
                failure.context("--capacity: there is room for too few spikes; raise it, or record fewer populations with --record")
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
    sampled.retain(|spike| plan.is_shown(spike.neuron));
    Ok(Observations { spikes, sampled, seconds: took.as_secs_f64() })
}
