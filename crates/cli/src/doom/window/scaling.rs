//! How a frame lies in a window: as large as an integer factor allows, in the middle.

use crate::doom::frame::Frame;

/// Returns the largest integer factor by which a frame fits, but at least 1.
fn factor(frame: (usize, usize), window: (usize, usize)) -> usize {
    (window.0 / frame.0).min(window.1 / frame.1).max(1)
}

/// Draws a frame into the pixels of a window, which are words 0x00RRGGBB. Around the frame they are black.
/// What a window is too small for is cut off.
pub(super) fn draw(frame: &Frame, pixels: &mut [u32], window: (usize, usize)) {
    pixels.fill(0);
    if frame.width == 0 || frame.height == 0 {
        return;
    }
    let factor = factor((frame.width, frame.height), window);
    let (width, height) = (frame.width * factor, frame.height * factor);
    let (left, top) = (window.0.saturating_sub(width) / 2, window.1.saturating_sub(height) / 2);
    let columns = width.min(window.0);
    let mut row = vec![0; columns];
    let mut drawn = None;
    for (y, line) in pixels.chunks_exact_mut(window.0).skip(top).take(height).enumerate() {
        // The rows of a pixel are the same.
        if drawn != Some(y / factor) {
            drawn = Some(y / factor);
            for (x, pixel) in row.iter_mut().enumerate() {
                let [red, green, blue] = frame.pixel(x / factor, y / factor);
                *pixel = u32::from_be_bytes([0, red, green, blue]);
            }
        }
        line[left..left + columns].copy_from_slice(&row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_integers_and_keep_the_aspect() {
        let of = |width, height| factor((320, 200), (width, height));
        assert_eq!([of(320, 200), of(960, 600), of(959, 600), of(960, 599), of(1920, 1080)], [1, 3, 2, 2, 5]);
        assert_eq!(of(100, 100), 1, "smaller than the frame");
    }

    #[test]
    fn a_frame_lies_in_the_middle() {
        let frame = Frame { width: 2, height: 1, rgb: vec![1, 2, 3, 4, 5, 6] };
        let mut pixels = [9; 6 * 4];
        draw(&frame, &mut pixels, (6, 4));
        let (a, b) = (0x01_0203, 0x04_0506);
        #[rustfmt::skip] // As it looks.
        let expected = [
            a, a, a, b, b, b,
            a, a, a, b, b, b,
            a, a, a, b, b, b,
            0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(pixels, expected);
        let mut pixels = [9; 5 * 3];
        draw(&frame, &mut pixels, (5, 3));
        assert_eq!(pixels, [a, a, b, b, 0, a, a, b, b, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn small_windows_show_a_part() {
        let frame = Frame { width: 2, height: 2, rgb: (0..12).collect() };
        let mut pixels = [9];
        draw(&frame, &mut pixels, (1, 1));
        assert_eq!(pixels, [0x00_0102]);
        draw(&Frame::default(), &mut pixels, (1, 1));
        assert_eq!(pixels, [0], "no frame");
    }
}
