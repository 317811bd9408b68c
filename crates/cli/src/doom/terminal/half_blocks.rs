//! Frames as half blocks: each cell of the terminal shows two pixels, one above the other.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::widgets::Widget;

use crate::doom::frame::Frame;

/// A frame, as large as fits without a change of its aspect, in the middle of an area.
pub(super) struct HalfBlocks<'a>(pub(super) &'a Frame);

impl Widget for HalfBlocks<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let Self(frame) = self;
        let (width, height) =
            fit((frame.width, frame.height), (area.width.into(), 2 * usize::from(area.height)));
        if width == 0 || height == 0 {
            return;
        }
        let rows = height / 2;
        let left = area.x + (area.width - width as u16) / 2;
        let top = area.y + (area.height - rows as u16) / 2;
        let pixels = scaled(frame, width, height);
        let colour = |x: usize, y: usize| {
            let [red, green, blue] = pixels[y * width + x];
            Color::Rgb(red, green, blue)
        };
        for row in 0..rows {
            for column in 0..width {
                let cell = &mut buffer[(left + column as u16, top + row as u16)];
                cell.set_symbol("▀").set_fg(colour(column, 2 * row)).set_bg(colour(column, 2 * row + 1));
            }
        }
    }
}

/// Returns the largest size with the aspect of a frame that fits into an area. Its height is even.
fn fit(frame: (usize, usize), area: (usize, usize)) -> (usize, usize) {
    if frame.0 == 0 || frame.1 == 0 {
        return (0, 0);
    }
    let width = area.0.min(area.1 * frame.0 / frame.1);
    (width, (width * frame.1 / frame.0).next_multiple_of(2).min(area.1 / 2 * 2))
}

/// Returns the pixels of a frame in another size. Each is the average of the pixels that it covers, or the
/// one in which it lies.
fn scaled(frame: &Frame, width: usize, height: usize) -> Vec<[u8; 3]> {
    let span = |at: usize, size: usize, of: usize| {
        let begin = at * of / size;
        begin..((at + 1) * of / size).max(begin + 1)
    };
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let mut sums = [0; 3];
            let mut count = 0;
            for row in span(y, height, frame.height) {
                for column in span(x, width, frame.width) {
                    for (sum, part) in sums.iter_mut().zip(frame.pixel(column, row)) {
                        *sum += u32::from(part);
                    }
                    count += 1;
                }
            }
            pixels.push(sums.map(|sum| ((sum + count / 2) / count) as u8));
        }
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aspect_is_kept() {
        let fit = |columns, rows| fit((320, 200), (columns, 2 * rows));
        assert_eq!(fit(80, 23), (73, 46), "as high as the terminal");
        assert_eq!(fit(80, 50), (80, 50), "as wide as the terminal");
        assert_eq!(fit(640, 300), (640, 400), "larger than the frame");
        assert_eq!([fit(0, 10), fit(10, 0)], [(0, 0); 2]);
        for (columns, rows) in [(1, 1), (7, 3), (200, 1)] {
            let (width, height) = fit(columns, rows);
            assert!(width <= columns && height <= 2 * rows && height % 2 == 0, "{columns} by {rows}");
        }
    }

    #[test]
    fn smaller_pixels_are_averages() {
        let frame = Frame { width: 4, height: 1, rgb: vec![0, 0, 0, 10, 20, 30, 255, 255, 255, 254, 0, 0] };
        assert_eq!(scaled(&frame, 2, 1), [[5, 10, 15], [255, 128, 128]]);
        assert_eq!(scaled(&frame, 1, 1), [[130, 69, 71]]);
        let twice = scaled(&frame, 8, 2);
        assert_eq!(twice[..8], twice[8..], "rows are repeated");
        assert_eq!((twice[1], twice[2], twice[7]), ([0; 3], [10, 20, 30], [254, 0, 0]));
    }

    #[test]
    fn cells_show_two_pixels() {
        let frame = Frame { width: 1, height: 2, rgb: vec![1, 2, 3, 4, 5, 6] };
        let area = Rect::new(0, 0, 3, 1);
        let mut buffer = Buffer::empty(area);
        HalfBlocks(&frame).render(area, &mut buffer);
        let cell = &buffer[(1, 0)];
        assert_eq!((cell.symbol(), cell.fg, cell.bg), ("▀", Color::Rgb(1, 2, 3), Color::Rgb(4, 5, 6)));
        assert_eq!((buffer[(0, 0)].symbol(), buffer[(2, 0)].symbol()), (" ", " "), "around it");
    }
}
