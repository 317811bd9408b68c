//! Spike train statistics that are common in comparisons of simulators: rates, irregularity, correlation.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Spike;

/// The length of the bins in which spikes are counted for the correlation, in ms.
pub const CORRELATION_BIN: f64 = 2.0;
/// The largest number of neurons of a population, evenly spaced, that the correlation is computed from.
pub const CORRELATION_NEURONS: usize = 200;

/// Statistics of the spikes of a population.
///
/// ```
/// use kvrm_spiking::{Spike, Statistics};
///
/// // Neuron 3 fires every 10 steps of 1 ms.
/// let spikes: Vec<Spike> = (0..100).map(|k| Spike { step: 10 * k, neuron: 3 }).collect();
/// let statistics = Statistics::new(&spikes, 3..4, 0..1000, 1.0);
/// assert_eq!((statistics.spikes, statistics.rate, statistics.cv), (100, 100.0, Some(0.0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Statistics {
    /// The number of neurons.
    pub neurons: u32,
    /// The number of spikes.
    pub spikes: u64,
    /// The mean rate per neuron, in spikes a second; 0 if there are no neurons or no steps.
    pub rate: f64,
    /// The coefficient of variation of the intervals between a neuron's spikes (standard deviation by mean), averaged
    /// over neurons with at least three spikes. It is 0 for a regular train and 1 for a Poisson process.
    pub cv: Option<f64>,
    /// Pearson's correlation coefficient of spike counts in bins of [`CORRELATION_BIN`] ms, averaged over all pairs
    /// among at most [`CORRELATION_NEURONS`] neurons. Neurons whose counts never vary, such as silent ones, are left
    /// out.
    pub correlation: Option<f64>,
}

impl Statistics {
    /// Computes the statistics of the spikes of `neurons` in `steps`. `spikes` is sorted by step, and a step takes `dt`
    /// ms.
    #[must_use]
    pub fn new(spikes: &[Spike], neurons: Range<u32>, steps: Range<u64>, dt: f64) -> Self {
        let chosen = within(spikes, &neurons, &steps);
        let count = chosen.clone().count() as u64;
        let seconds = duration(&steps) as f64 * dt / 1000.0;
        let neuron_seconds = neurons.len() as f64 * seconds;
        Self {
            neurons: neurons.len() as u32,
            spikes: count,
            rate: if neuron_seconds > 0.0 { count as f64 / neuron_seconds } else { 0.0 },
            cv: cv_of_intervals(chosen.clone(), &neurons),
            correlation: correlation(chosen, &neurons, &steps, dt),
        }
    }
}

/// Returns the mean rate per neuron over time, in spikes a second, in consecutive bins of `bin` steps. The last bin may
/// be shorter.
#[must_use]
pub fn rates(spikes: &[Spike], neurons: Range<u32>, steps: Range<u64>, bin: u64, dt: f64) -> Vec<f64> {
    let bin = bin.max(1);
    let mut counts = vec![0_u64; duration(&steps).div_ceil(bin) as usize];
    for spike in within(spikes, &neurons, &steps) {
        counts[((spike.step - steps.start) / bin) as usize] += 1;
    }
    let lengths = (0..).step_by(bin as usize).map(|begin: u64| bin.min(duration(&steps) - begin));
    let seconds = |length: u64| length as f64 * dt / 1000.0;
    let rate = |count: u64, length| count as f64 / (neurons.len().max(1) as f64 * seconds(length));
    counts.into_iter().zip(lengths).map(|(count, length)| rate(count, length)).collect()
}

const fn duration(steps: &Range<u64>) -> u64 {
    steps.end.saturating_sub(steps.start)
}

fn within<'a>(
    spikes: &'a [Spike],
    neurons: &Range<u32>,
    steps: &Range<u64>,
) -> impl Iterator<Item = &'a Spike> + Clone {
    let begin = spikes.partition_point(|spike| spike.step < steps.start);
    let end = spikes.partition_point(|spike| spike.step < steps.end).max(begin);
    let neurons = neurons.clone();
    spikes[begin..end].iter().filter(move |spike| neurons.contains(&spike.neuron))
}

fn cv_of_intervals<'a>(spikes: impl Iterator<Item = &'a Spike>, neurons: &Range<u32>) -> Option<f64> {
    #[derive(Clone, Copy, Default)]
    struct Intervals {
        last: Option<u64>,
        count: f64,
        sum: f64,
        squares: f64,
    }
    let mut all = vec![Intervals::default(); neurons.len()];
    for spike in spikes {
        let neuron = &mut all[(spike.neuron - neurons.start) as usize];
        if let Some(last) = neuron.last.replace(spike.step) {
            let interval = (spike.step - last) as f64;
            neuron.count += 1.0;
            neuron.sum += interval;
            neuron.squares += interval * interval;
        }
    }
    let cv = |intervals: &Intervals| {
        let mean = intervals.sum / intervals.count;
        (intervals.squares / intervals.count - mean * mean).max(0.0).sqrt() / mean
    };
    mean(all.iter().filter(|intervals| intervals.count >= 2.0).map(cv))
}

/// Returns the mean correlation. The sum over all pairs follows from the variance of the sum of standardised counts, so
/// pairs need not be visited.
fn correlation<'a>(
    spikes: impl Iterator<Item = &'a Spike>,
    neurons: &Range<u32>,
    steps: &Range<u64>,
    dt: f64,
) -> Option<f64> {
    let bin = (CORRELATION_BIN / dt).round().max(1.0) as u64;
    // Whole bins only.
    let bins = (duration(steps) / bin) as usize;
    let every = neurons.len().div_ceil(CORRELATION_NEURONS).max(1) as u32;
    let mut counts = vec![Vec::<u32>::new(); neurons.len().div_ceil(every as usize)];
    for spike in spikes {
        let (index, at) = (spike.neuron - neurons.start, ((spike.step - steps.start) / bin) as usize);
        if index % every == 0 && at < bins {
            let counts = &mut counts[(index / every) as usize];
            counts.resize(bins, 0);
            counts[at] += 1;
        }
    }
    let mut sums = vec![0.0; bins];
    let mut chosen = 0.0;
    for counts in counts.iter().filter(|counts| !counts.is_empty()) {
        let mean = counts.iter().map(|&count| f64::from(count)).sum::<f64>() / bins as f64;
        let variance =
            counts.iter().map(|&count| (f64::from(count) - mean).powi(2)).sum::<f64>() / bins as f64;
        if variance > 0.0 {
            chosen += 1.0;
            for (sum, &count) in sums.iter_mut().zip(counts) {
                *sum += (f64::from(count) - mean) / variance.sqrt();
            }
        }
    }
    let together = sums.iter().map(|sum| sum * sum).sum::<f64>() / bins as f64;
    (chosen > 1.0).then(|| (together - chosen) / (chosen * (chosen - 1.0)))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    (count > 0.0).then_some(sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spikes(of: impl IntoIterator<Item = (u64, u32)>) -> Vec<Spike> {
        let mut spikes: Vec<Spike> = of.into_iter().map(|(step, neuron)| Spike { step, neuron }).collect();
        spikes.sort_unstable();
        spikes
    }

    #[test]
    fn statistics_and_spikes_that_were_written_are_read_unchanged() {
        let all = spikes((0..9).map(|k| (11 * k * k, 3)));
        let whole = Statistics::new(&all, 3..4, 0..1000, 0.1);
        assert!(whole.cv.is_some_and(|cv| cv > 0.1), "intervals differ: {whole:?}");
        for statistics in [whole, Statistics::new(&[], 0..5, 0..10, 1.0)] {
            let text = serde_json::to_string(&statistics).expect("statistics are JSON");
            let read: Statistics = serde_json::from_str(&text).expect("the JSON is statistics");
            assert_eq!(read, statistics, "from {text}");
        }
        let text = serde_json::to_string(&all).expect("spikes are JSON");
        assert_eq!(
            serde_json::from_str::<Vec<Spike>>(&text).expect("the JSON is spikes"),
            all,
            "from {text}"
        );
    }

    #[test]
    fn rates_count_only_the_given_neurons_and_steps() {
        // Steps of 1 ms: in one second, 10 spikes of neuron 3 and 5 of neuron 4; the others lie outside.
        let all = spikes(
            (0..10).map(|k| (100 * k, 3)).chain((0..5).map(|k| (200 * k, 4))).chain([(1000, 3), (5, 7)]),
        );
        let found = Statistics::new(&all, 3..5, 0..1000, 1.0);
        assert_eq!(
            (found.neurons, found.spikes, found.rate),
            (2, 15, 7.5),
            "15 spikes of two neurons in a second"
        );
        assert_eq!(rates(&all, 3..5, 0..1000, 600, 1.0), [7.5, 7.5], "9 in 0.6 s, 6 in 0.4 s");
        let none = Statistics::new(&all, 3..3, 0..0, 1.0);
        assert_eq!((none.spikes, none.rate, none.cv, none.correlation), (0, 0.0, None, None), "no neurons");
        assert_eq!(rates(&all, 0..0, 0..0, 0, 1.0), [0.0; 0], "no time, no bins");
    }

    #[test]
    fn regular_trains_have_a_cv_of_zero_and_alternating_intervals_a_known_one() {
        let regular = spikes((0..9).map(|k| (7 * k, 0)));
        assert_eq!(Statistics::new(&regular, 0..2, 0..100, 0.1).cv, Some(0.0), "equal intervals");
        // Intervals of 1 and 3: mean 2, deviation 1.
        let mixed = spikes([(0, 0), (1, 0), (4, 0), (0, 1), (9, 1)]);
        assert_eq!(
            Statistics::new(&mixed, 0..2, 0..10, 0.1).cv,
            Some(0.5),
            "the neuron with two spikes does not count"
        );
    }

    #[test]
    fn poisson_trains_have_a_cv_of_one_and_no_correlation() {
        let mut state = 1_u64;
        let mut fires = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).is_multiple_of(50)
        };
        let all: Vec<Spike> = (0..20_000)
            .flat_map(|step| (0..40).map(move |neuron| Spike { step, neuron }))
            .filter(|_| fires())
            .collect();
        let found = Statistics::new(&all, 0..40, 0..20_000, 1.0);
        assert!((found.rate - 20.0).abs() < 0.5, "{found:?}");
        assert!((found.cv.unwrap_or(0.0) - 1.0).abs() < 0.03, "{found:?}");
        assert!(found.correlation.is_some_and(|found| found.abs() < 0.002), "{found:?}");
    }

    #[test]
    fn correlation_is_averaged_over_pairs() {
        // Bins of two steps. Neurons 0 and 1 fire alike, neuron 2 oppositely, and neuron 3 is silent.
        let all = spikes((0..8).flat_map(|k| {
            let neurons: &[u32] = if k % 2 == 0 { &[0, 1] } else { &[2] };
            neurons.iter().map(move |&neuron| (2 * k, neuron))
        }));
        let of = |neurons| Statistics::new(&all, neurons, 0..16, 1.0).correlation;
        let is =
            |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-9);
        assert!(is(of(0..2), 1.0), "equal trains: {:?}", of(0..2));
        assert!(is(of(1..3), -1.0), "opposite trains: {:?}", of(1..3));
        assert!(is(of(0..4), -1.0 / 3.0), "one pair of 1, two of -1: {:?}", of(0..4));
        assert_eq!(of(2..4), None, "silent neurons have no correlation");
    }
}
