//! Plots as SVG or PNG.
//!
//! The font is linked in, so pictures are the same on all hosts.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow};
use kvrm::models::files;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use super::{Corner, Figure, Marks};

/// The width and the height of a picture, in pixels.
const SIZE: (u32, u32) = (1200, 700);
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

impl Figure<'_> {
    /// Draws the diagram into a file.
    pub(crate) fn write(&self, picture: &Picture) -> Result<()> {
        let font = register_font(FONT, FontStyle::Normal, epaint_default_fonts::HACK_REGULAR);
        font.map_err(|_| anyhow!("the font that comes with kvrm cannot be read"))?;
        let failed = || format!("cannot draw {}", picture.path.display());
        let bytes = match picture.format {
            Format::Svg => {
                let mut text = String::new();
                let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
                self.draw(&area).with_context(failed)?;
                drop(area);
                text.into_bytes()
            }
            Format::Png => {
                let mut pixels = vec![0; 3 * SIZE.0 as usize * SIZE.1 as usize];
                let area = BitMapBackend::with_buffer(&mut pixels, SIZE).into_drawing_area();
                self.draw(&area).with_context(failed)?;
                drop(area);
                encode(&pixels).with_context(failed)?
            }
        };
        Ok(files::write(&picture.path, &bytes)?)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<()>
    where
        B::ErrorType: 'static,
    {
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, 20))
            .margin(15)
            .x_label_area_size(45)
            .y_label_area_size(80)
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        let mut mesh = chart.configure_mesh();
        let label = |value: &f64| format!("{value}");
        mesh.disable_mesh().x_desc(self.x_label).y_desc(self.y_label).label_style((FONT, 15));
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
        let corner = match self.key {
            Corner::UpperLeft => SeriesLabelPosition::UpperLeft,
            Corner::UpperRight => SeriesLabelPosition::UpperRight,
        };
        key.position(corner).draw()?;
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
