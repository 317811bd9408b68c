//! Plots of runs: rasters of spikes, and rates over time. They need the Cargo feature `plots`.

use std::ops::Range;

use anyhow::Result;
use kvrm::spiking::{Spike, rates};

use super::recording::Recording;
use crate::picture::{Corner, Figure, Marks, Picture};

/// The largest number of spikes in a raster. With more, the raster shows only every n-th neuron, to keep files small.
const SPIKES_MAX: usize = 100_000;
/// The approximate number of bins of rates.
const BINS: u64 = 200;

impl Recording<'_> {
    /// Returns the time at which a step begins, in ms.
    fn time(&self, step: u64) -> f64 {
        step as f64 * self.dt
    }

    /// Returns a diagram of curves over time, one for each population.
    fn figure<'a>(
        &self,
        title: String,
        (y, y_label): (Range<f64>, &'a str),
        marks: Marks,
        curves: Vec<(&'a str, Vec<(f64, f64)>)>,
    ) -> Figure<'a> {
        let steps = &self.steps;
        let x = self.time(steps.start)..self.time(steps.end.max(steps.start + 1));
        Figure { title, x, x_label: "ms", y, y_label, marks, key: Corner::UpperRight, curves }
    }
}

/// Draws a point for each spike, with neurons from top to bottom and no gaps between populations.
pub(crate) fn raster(picture: &Picture, recording: &Recording<'_>) -> Result<()> {
    let every = recording.spikes.len().div_ceil(SPIKES_MAX).max(1) as u32;
    let mut title = format!("{}: {} spikes", recording.title, recording.spikes.len());
    if every > 1 {
        title += &format!(", one neuron in {every} shown");
    }
    let mut row = 0;
    let mut curves = Vec::new();
    for population in recording.populations() {
        let neurons = &population.neurons;
        let shown = |spike: &&Spike| neurons.contains(&spike.neuron) && spike.neuron.is_multiple_of(every);
        let place =
            |spike: &Spike| (recording.time(spike.step), f64::from(row + spike.neuron - neurons.start));
        let points = recording.spikes.iter().filter(shown).map(place).collect();
        curves.push((population.name.as_str(), points));
        row += neurons.end - neurons.start;
    }
    let y = f64::from(row.max(1))..0.0;
    recording.figure(title, (y, "neuron"), Marks::Points, curves).write(picture)
}

/// Draws the rate of each population over time.
pub(crate) fn rate_curves(picture: &Picture, recording: &Recording<'_>) -> Result<()> {
    let steps = &recording.steps;
    let bin = (steps.end - steps.start).div_ceil(BINS).max(1);
    let middle =
        |index: usize| recording.time(steps.start + bin * index as u64) + bin as f64 * recording.dt / 2.0;
    let curves: Vec<(&str, Vec<(f64, f64)>)> = recording
        .populations()
        .map(|population| {
            let rates = rates(recording.spikes, population.neurons.clone(), steps.clone(), bin, recording.dt);
            let points = rates.into_iter().enumerate().map(|(index, rate)| (middle(index), rate));
            (population.name.as_str(), points.collect())
        })
        .collect();
    let largest = curves.iter().flat_map(|(_, points)| points).map(|point| point.1).fold(0.0, f64::max);
    let title = format!("{}: rates in bins of {} ms", recording.title, bin as f64 * recording.dt);
    let y = 0.0..if largest > 0.0 { 1.05 * largest } else { 1.0 };
    recording.figure(title, (y, "spikes/s"), Marks::Line, curves).write(picture)
}
