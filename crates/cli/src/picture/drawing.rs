//! Plots as SVG or PNG.
//!
//! The font is linked in, so pictures are the same on all hosts.

use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow};
use kvrm::models::files;
use kvrm::spiking::{Spike, rates};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use crate::spike::recording::Recording;

/// The width and the height of a picture, in pixels.
const SIZE: (u32, u32) = (1200, 700);
/// The largest number of spikes in a raster. With more, the raster shows only every n-th neuron, to keep files small.
const SPIKES_MAX: usize = 100_000;
/// The approximate number of bins of rates.
const BINS: u64 = 200;
const FONT: &str = "sans-serif";
/// Colours that are distinguishable with colour blindness, too (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(120, 120, 120),
];

impl Recording<'_> {
    /// Returns the time at which a step begins, in ms.
    fn time(&self, step: u64) -> f64 {
        step as f64 * self.dt
    }
}

/// The file of a picture.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    path: PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Svg,
    Png,
}

/// Parses the name of a picture, whose extension gives the format.
pub(crate) fn picture(text: &str) -> Result<Picture, String> {
    let path = PathBuf::from(text);
    let format = match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Format::Svg,
        Some("png") => Format::Png,
        _ => return Err("expected the name of a file in .svg or .png".to_owned()),
    };
    Ok(Picture { path, format })
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
    let figure =
        Figure { title, y: f64::from(row.max(1))..0.0, y_label: "neuron", marks: Marks::Points, curves };
    figure.write(picture, recording)
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
    Figure { title, y, y_label: "spikes/s", marks: Marks::Line, curves }.write(picture, recording)
}

#[derive(Clone, Copy, PartialEq)]
enum Marks {
    Points,
    Line,
}

/// A diagram of curves over time, one for each population.
struct Figure<'a> {
    title: String,
    y: Range<f64>,
    y_label: &'a str,
    marks: Marks,
    curves: Vec<(&'a str, Vec<(f64, f64)>)>,
}

impl Figure<'_> {
    fn write(&self, picture: &Picture, recording: &Recording<'_>) -> Result<()> {
        let font = register_font(FONT, FontStyle::Normal, epaint_default_fonts::HACK_REGULAR);
        font.map_err(|_| anyhow!("the font that comes with kvrm cannot be read"))?;
        let steps = &recording.steps;
        let x = recording.time(steps.start)..recording.time(steps.end.max(steps.start + 1));
        let failed = || format!("cannot draw {}", picture.path.display());
        let bytes = match picture.format {
            Format::Svg => {
                let mut text = String::new();
                let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
                self.draw(&area, x).with_context(failed)?;
                drop(area);
                text.into_bytes()
            }
            Format::Png => {
                let mut pixels = vec![0; 3 * SIZE.0 as usize * SIZE.1 as usize];
                let area = BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area();
                self.draw(&area, x).with_context(failed)?;
                drop(area);
                encode(&pixels).with_context(failed)?
            }
        };
        Ok(files::write(&picture.path, &bytes)?)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>, x: Range<f64>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, 20))
            .margin(15)
            .x_label_area_size(45)
            .y_label_area_size(80)
            .build_cartesian_2d(x, self.y.clone())?;
        let mut mesh = chart.configure_mesh();
        let label = |value: &f64| format!("{value}");
        mesh.disable_mesh().x_desc("ms").y_desc(self.y_label).label_style((FONT, 15));
        mesh.y_label_formatter(&label).x_label_formatter(&label).draw()?;
        for ((name, points), colour) in self.curves.iter().zip(COLOURS.iter().cycle()) {
            let points = points.iter().copied();
            let series = match self.marks {
                Marks::Points => chart.draw_series(points.map(|at| Circle::new(at, 1, colour.filled())))?,
                Marks::Line => chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?,
            };
            let key = |(x, y)| Rectangle::new([(x, y - 4), (x + 12, y + 4)], colour.filled());
            series.label(*name).legend(key);
        }
        let mut key = chart.configure_series_labels();
        key.label_font((FONT, 15)).background_style(WHITE.mix(0.85)).border_style(BLACK);
        key.position(SeriesLabelPosition::UpperRight).draw()?;
        area.present()?;
        Ok(())
    }
}

fn encode(pixels: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(bytes)
}
