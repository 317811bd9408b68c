//! Pictures in guest memory, and views of them: cropped, smaller, in other formats.

use std::ops::Range;

use kvrm_arm64::{Access, Fault};

use crate::error::Error;
use crate::page_map::PageMap;
use crate::pages::ADDRESS_BITS;

/// The largest binary logarithm of a downscale.
const SHIFT_MAX: u32 = 6;
/// The bits of a channel in a sum of colors. A square has up to 2^(2 * `SHIFT_MAX`) pixels, whose channels are at most 255.
const SUM_BITS: u32 = 21;
const _: () = assert!((255 << (2 * SHIFT_MAX)) + (1 << (2 * SHIFT_MAX)) < 1 << SUM_BITS, "sums fit");
/// The bytes of a palette.
pub(crate) const PALETTE_BYTES: usize = 1024;

/// The format of the pixels of a [`Picture`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// A byte a pixel: an index into a palette of 256 words `0x00RRGGBB` at this address.
    Palette {
        /// The address of the palette, a multiple of 4.
        address: u64,
    },
    /// A word of 32 bits a pixel: `0x00RRGGBB`.
    Xrgb,
    /// A byte a pixel, from black to white.
    Grey,
}

impl PictureFormat {
    /// Returns the bytes of a pixel.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Xrgb => 4,
            Self::Palette { .. } | Self::Grey => 1,
        }
    }
}

/// A picture in the memory of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The address of the first pixel of the first row.
    pub address: u64,
    /// The pixels of a row.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// The bytes from the beginning of a row to that of the next.
    pub stride: u32,
    /// The format of the pixels. Words are little-endian and at multiples of 4.
    pub format: PictureFormat,
}

/// The format of the pixels of a [`View`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewFormat {
    /// The byte of the picture as it is. In a smaller view it is that of the upper left pixel of each square.
    Index,
    /// A byte: (77 red + 150 green + 29 blue + 128) / 256, rounded down.
    Grey,
    /// Three bytes: red, green, blue.
    Rgb,
}

impl ViewFormat {
    /// Returns the bytes of a pixel.
    #[must_use]
    pub const fn channels(self) -> usize {
        match self {
            Self::Index | Self::Grey => 1,
            Self::Rgb => 3,
        }
    }
}

/// What is read of a [`Picture`]: a part of it, made smaller, in another format.
///
/// A pixel of the view is the average of a square of pixels of the picture, in each of red, green and blue: their sum
/// and half of their number, divided by their number, rounded down. Grey is computed from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    picture: Picture,
    left: u32,
    top: u32,
    width: u32,
    height: u32,
    shift: u32,
    format: ViewFormat,
}

impl View {
    /// Creates the view of the pixels in `columns` and `rows` of a picture, in squares of 2^`shift` pixels.
    ///
    /// ```
    /// use kvrm_machine::{Picture, PictureFormat, View, ViewFormat};
    ///
    /// let format = PictureFormat::Palette { address: 0x2000 };
    /// let picture = Picture { address: 0x1_0000, width: 320, height: 200, stride: 320, format };
    /// let view = View::new(picture, 0..320, 0..168, 2, ViewFormat::Grey)?;
    /// assert_eq!((view.width(), view.height(), view.bytes()), (80, 42, 80 * 42));
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::View`]: the picture has no such pixels or no such bytes, the part is not a whole number of squares, squares
    /// are larger than 64 pixels, or [`ViewFormat::Index`] is asked of a picture without bytes.
    pub fn new(
        picture: Picture,
        columns: Range<u32>,
        rows: Range<u32>,
        shift: u32,
        format: ViewFormat,
    ) -> Result<Self, Error> {
        let fail = |reason: String| Err(Error::View { reason });
        let Picture { address, width, height, stride, format: pixels } = picture;
        let row = u64::from(width) * u64::from(pixels.bytes());
        if row > u64::from(stride) {
            return fail(format!(
                "a row of {width} pixels has {row} bytes, and the next begins after {stride}"
            ));
        }
        let bytes = u64::from(stride) * u64::from(height.saturating_sub(1)) + row;
        if address.checked_add(bytes).is_none_or(|end| end > 1 << ADDRESS_BITS) {
            return fail(format!(
                "a picture at {address:#x} with {height} rows of {stride} bytes ends beyond the address space"
            ));
        }
        let palette = if let PictureFormat::Palette { address } = pixels { address } else { 0 };
        let words_at = if pixels == PictureFormat::Xrgb { address | u64::from(stride) } else { 0 };
        if (palette | words_at) % 4 != 0 {
            return fail(format!("words of {picture:x?} are not at multiples of 4"));
        }
        if shift > SHIFT_MAX {
            return fail(format!("squares of 2^{shift} pixels; expected at most 2^{SHIFT_MAX}"));
        }
        for (range, size, name) in [(&columns, width, "columns"), (&rows, height, "rows")] {
            let length = range.end.saturating_sub(range.start);
            if length == 0 || range.end > size {
                return fail(format!("{name} {range:?} of a picture with {size} {name}"));
            }
            if length % (1 << shift) != 0 {
                let side = 1 << shift;
                return fail(format!("{name} {range:?} are {length}, which is not a multiple of {side}"));
            }
        }
        if format == ViewFormat::Index && pixels == PictureFormat::Xrgb {
            return fail("the picture has no indices; expected grey or RGB".into());
        }
        Ok(Self {
            picture,
            left: columns.start,
            top: rows.start,
            width: (columns.end - columns.start) >> shift,
            height: (rows.end - rows.start) >> shift,
            shift,
            format,
        })
    }

    /// Returns the picture.
    #[must_use]
    pub const fn picture(&self) -> Picture {
        self.picture
    }

    /// Returns the first column and the first row of the picture that the view has.
    #[must_use]
    pub const fn origin(&self) -> (u32, u32) {
        (self.left, self.top)
    }

    /// Returns the pixels of a row.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.width
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Returns the binary logarithm of the side of the squares of the picture that become a pixel.
    #[must_use]
    pub const fn shift(&self) -> u32 {
        self.shift
    }

    /// Returns the format of the pixels.
    #[must_use]
    pub const fn format(&self) -> ViewFormat {
        self.format
    }

    /// Returns the number of bytes: rows from top to bottom, pixels from left to right, their channels.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.width as usize * self.height as usize * self.format.channels()
    }

    /// Returns the addresses that have to be mapped of the picture: from the first pixel of the view to the
    /// last, with the pixels beside the view in the rows between them.
    #[must_use]
    pub fn source(&self) -> Range<u64> {
        let Picture { address, stride, format, .. } = self.picture;
        let (pixel, stride) = (u64::from(format.bytes()), u64::from(stride));
        let first = address + u64::from(self.top) * stride + u64::from(self.left) * pixel;
        let rows = u64::from(self.height) << self.shift;
        let row = (u64::from(self.width) << self.shift) * pixel;
        first..first + (rows - 1) * stride + row
    }

    /// Returns the address of the palette if the view needs it.
    #[must_use]
    pub fn palette(&self) -> Option<u64> {
        match self.picture.format {
            PictureFormat::Palette { address } if self.format != ViewFormat::Index => Some(address),
            _ => None,
        }
    }

    /// Checks whether a lane with this page map has the view: [`View::source`] and the 1,024 bytes of the
    /// palette have to be mapped.
    ///
    /// # Errors
    /// The fault at the first byte that is not mapped.
    pub fn check(&self, map: &PageMap) -> Result<(), Fault> {
        let source = self.source();
        map.check(source.start, source.end - source.start, Access::Read, None)?;
        self.palette().map_or(Ok(()), |palette| map.check(palette, PALETTE_BYTES as u64, Access::Read, None))
    }

    /// Computes the view. `read` fills a buffer with the bytes at an address.
    pub(crate) fn compute<E>(
        &self,
        out: &mut [u8],
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let source = self.source();
        let mut pixels = vec![0; (source.end - source.start) as usize];
        read(source.start, &mut pixels)?;
        let mut palette = [0; PALETTE_BYTES / 4];
        if let Some(address) = self.palette() {
            let mut words = [0; PALETTE_BYTES];
            read(address, &mut words)?;
            for (color, word) in palette.iter_mut().zip(words.as_chunks().0) {
                *color = spread(u32::from_le_bytes(*word));
            }
        }
        if self.format == ViewFormat::Index {
            self.copy_indices(&pixels, out);
            return Ok(());
        }
        match self.picture.format {
            PictureFormat::Palette { .. } => {
                self.average(&pixels, out, |[index]| palette[usize::from(*index)]);
            }
            PictureFormat::Grey => self.average(&pixels, out, |[byte]| spread(u32::from(*byte) * 0x01_01_01)),
            PictureFormat::Xrgb => self.average(&pixels, out, |word| spread(u32::from_le_bytes(*word))),
        }
        Ok(())
    }

    /// Copies the upper left pixel of each square to `out`. Pixels are bytes.
    fn copy_indices(&self, pixels: &[u8], out: &mut [u8]) {
        let side = 1 << self.shift;
        let rows = pixels.chunks(self.picture.stride as usize).step_by(side);
        for (row, out) in rows.zip(out.chunks_exact_mut(self.width as usize)) {
            out.iter_mut().zip(row.iter().step_by(side)).for_each(|(to, from)| *to = *from);
        }
    }

    /// Writes the average of each square to `out`. `color` returns the color of a pixel in the form of [`spread`].
    fn average<const BYTES: usize>(
        &self,
        pixels: &[u8],
        out: &mut [u8],
        color: impl Fn(&[u8; BYTES]) -> u64,
    ) {
        let (side, doubled) = (1 << self.shift, 2 * self.shift);
        let half = (1 << doubled) >> 1;
        let mut rows = pixels.chunks(self.picture.stride as usize);
        let mut sums = vec![0; self.width as usize];
        for out in out.chunks_exact_mut(sums.len() * self.format.channels()) {
            sums.fill(half << (2 * SUM_BITS) | half << SUM_BITS | half);
            for row in rows.by_ref().take(side) {
                let squares = row.as_chunks().0.chunks_exact(side);
                for (sum, square) in sums.iter_mut().zip(squares) {
                    *sum += square.iter().map(&color).sum::<u64>();
                }
            }
            for (sum, pixel) in sums.iter().zip(out.chunks_exact_mut(self.format.channels())) {
                let [red, green, blue] =
                    [2, 1, 0].map(|channel| (sum >> (channel * SUM_BITS + doubled)) as u32 & 255);
                if let [grey] = pixel {
                    *grey = ((77 * red + 150 * green + 29 * blue + 128) >> 8) as u8;
                } else {
                    pixel.copy_from_slice(&[red as u8, green as u8, blue as u8]);
                }
            }
        }
    }
}

/// Returns a color with [`SUM_BITS`] bits for each of red, green and blue, so that one addition of words adds all three.
fn spread(color: u32) -> u64 {
    let channel = |shift: u32| u64::from(color >> shift & 255);
    channel(16) << (2 * SUM_BITS) | channel(8) << SUM_BITS | channel(0)
}
