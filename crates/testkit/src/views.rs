//! Random views of pictures in guest memory.

use std::ops::Range;

use kvrm_machine::{Picture, PictureFormat, View, ViewFormat};

use crate::random::Random;

/// The bytes of a palette.
const PALETTE_BYTES: u64 = 1024;

/// Returns a random view of a picture whose bytes and palette are at addresses of `area`, at least 256 KiB.
///
/// # Panics
/// If the area is smaller.
pub fn view(random: &mut Random, area: &Range<u64>) -> View {
    let bytes = area.end - area.start;
    let palette = area.start.next_multiple_of(4) + 4 * random.below((bytes - PALETTE_BYTES) / 4);
    let format = *random.pick(&[
        PictureFormat::Palette { address: palette },
        PictureFormat::Palette { address: palette },
        PictureFormat::Xrgb,
        PictureFormat::Grey,
    ]);
    let pixel = u64::from(format.bytes());
    let shift = random.below(7) as u32;
    // A part of up to 160 pixels or two squares in each direction, and some pixels around it.
    let side = 1 << shift;
    let mut sizes = || (1 + random.below((160 / side).max(2))) * side;
    let (columns, rows) = (sizes(), sizes());
    let mut margin = || if random.below(3) == 0 { 0 } else { random.below(12) };
    let (left, top) = (margin(), margin());
    let (width, height) = (left + columns + margin(), top + rows + margin());
    let stride = pixel * (width + margin());
    let room = bytes - (stride * height).min(bytes);
    let address = area.start + random.below(room / pixel + 1) * pixel;
    let picture = Picture {
        address: address.next_multiple_of(pixel),
        width: width as u32,
        height: height as u32,
        stride: stride as u32,
        format,
    };
    let formats = [ViewFormat::Grey, ViewFormat::Rgb, ViewFormat::Index];
    let views = if format == PictureFormat::Xrgb { 2 } else { 3 };
    let columns = left as u32..(left + columns) as u32;
    let rows = top as u32..(top + rows) as u32;
    View::new(picture, columns, rows, shift, *random.pick(&formats[..views])).expect("the picture has them")
}
