//! PNG files of frames. A frame of the game has at most 256 colours, so the file has a palette.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, Filter};

use crate::doom::frame::Frame;

/// The file of a screenshot.
#[derive(Clone, Debug)]
pub(in crate::doom) struct Screenshot(PathBuf);

/// Parses the value of `--screenshot`.
pub(in crate::doom) fn screenshot(path: &str) -> Result<Screenshot, String> {
    let path = PathBuf::from(path);
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(Screenshot(path)),
        _ => Err("expected the name of a PNG file, such as doom.png".to_owned()),
    }
}

impl Screenshot {
    /// Writes a frame, each pixel of which becomes a square of `scale` pixels.
    pub(in crate::doom) fn write(&self, frame: &Frame, scale: usize) -> Result<()> {
        let name = || format!("--screenshot '{}'", self.0.display());
        let mut file = BufWriter::new(File::create(&self.0).with_context(name)?);
        encode(&mut file, frame, scale).with_context(name)?;
        file.flush().with_context(name)
    }
}

fn encode(file: &mut impl Write, frame: &Frame, scale: usize) -> Result<(), EncodingError> {
    let (palette, pixels) = scaled(frame, scale);
    let size = |pixels: usize| u32::try_from(pixels * scale).unwrap_or(u32::MAX);
    let mut encoder = Encoder::new(file, size(frame.width), size(frame.height));
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    // Neighbours in a palette have nothing to do with each other.
    encoder.set_filter(Filter::NoFilter);
    encoder.set_color(if palette.is_some() { ColorType::Indexed } else { ColorType::Rgb });
    if let Some(palette) = palette {
        encoder.set_palette(palette.concat());
    }
    encoder.write_header()?.write_image_data(&pixels)
}

/// Returns the pixels of a larger frame, as numbers in a palette; or as bytes of colours without one, if
/// there are more than 256 colours.
fn scaled(frame: &Frame, scale: usize) -> (Option<Vec<[u8; 3]>>, Vec<u8>) {
    let (width, height) = (frame.width * scale, frame.height * scale);
    let colour = |at: usize| frame.pixel(at % width / scale, at / width / scale);
    let mut palette: Vec<[u8; 3]> = (0..width * height).map(colour).collect();
    palette.sort_unstable();
    palette.dedup();
    if palette.len() > 256 {
        return (None, (0..width * height).flat_map(colour).collect());
    }
    let index = |at| palette.binary_search(&colour(at)).map_or(0, |index| index as u8);
    let pixels = (0..width * height).map(index).collect();
    (Some(palette), pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_become_squares_of_palette_colours() {
        let frame = Frame { width: 2, height: 1, rgb: vec![9, 9, 9, 1, 2, 3] };
        let (palette, pixels) = scaled(&frame, 2);
        assert_eq!(palette, Some(vec![[1, 2, 3], [9, 9, 9]]), "sorted");
        assert_eq!(pixels, [1, 1, 0, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn files_can_be_read_back() {
        let many = (0..=u8::MAX).flat_map(|n| [n, n, 0]).chain([0, 0, 9]).collect();
        for (rgb, colours) in [(vec![7; 3 * 257], ColorType::Indexed), (many, ColorType::Rgb)] {
            let frame = Frame { width: 257, height: 1, rgb };
            let mut file = Vec::new();
            encode(&mut file, &frame, 3).expect("it can be encoded");
            let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
            assert_eq!(decoder.read_header_info().expect("a header").color_type, colours);
            decoder.set_transformations(png::Transformations::EXPAND);
            let mut reader = decoder.read_info().expect("a PNG file");
            let mut pixels = vec![0; reader.output_buffer_size().expect("it is small")];
            let info = reader.next_frame(&mut pixels).expect("pixels");
            assert_eq!((info.width, info.height), (771, 3));
            let row: Vec<u8> = frame.rgb.chunks(3).flat_map(|pixel| pixel.repeat(3)).collect();
            assert_eq!(pixels, row.repeat(3));
        }
    }

    #[test]
    fn names_of_other_files_are_refused() {
        assert!(screenshot("a/b.PNG").is_ok());
        for name in ["", "png", "a.jpg", "a/.png"] {
            assert!(screenshot(name).is_err(), "{name:?}");
        }
    }
}
