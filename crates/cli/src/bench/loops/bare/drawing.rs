//! Loops of the form of those with which DOOM draws: columns of walls, spans of floors, and rectangles of a colour.
//!
//! A column or a row is short, so the loops are entered again and again. The compiler of the game executes several pixels in an
//! iteration, so there are loops of this form, too.

use super::super::native::Memory;

/// The bytes of a row of the screen.
const ROW: u64 = 320;
/// The first position in a texture.
pub(super) const POSITION: u32 = 0x1234_5678;
/// The distance of the positions of two pixels of a column: 1.3 texels with 16 bits of fraction.
const COLUMN_STEP: u32 = 0x0001_4ccd;
/// That of a span, with 6 bits and 10 bits of fraction for each of two directions.
const SPAN_STEP: u32 = 0x0123_0456;
/// The colour of rectangles, in the register from which other loops store their pixels.
pub(super) const COLOUR: u8 = 0x4f;
/// The number of instructions around a loop: two before it, three after it.
const AROUND: usize = 5;
/// The number of instructions of an iteration without its pixels.
const COUNT: usize = 3;
/// The instruction `strb w3, [x0]`.
const STORE: u32 = 0x3900_0003;
/// The instructions of a pixel of a column: ubfx w3, w5, #16, #7; ldrb w3, [x1, x3]; ldrb w3, [x2, x3]; strb; add w5, w5, w6.
const COLUMN_PIXEL: [u32; 5] = [0x5310_58a3, 0x3863_6823, 0x3863_6843, STORE, 0x0b06_00a5];
/// Those of a span: lsr w3, w5, #4; and w3, w3, #0xfc0; orr w3, w3, w5, lsr #26; then as in a column.
const SPAN_PIXEL: [u32; 7] =
    [0x5304_7ca3, 0x121a_1463, 0x2a45_6863, 0x3863_6823, 0x3863_6843, STORE, 0x0b06_00a5];

/// How a loop draws columns or rows, one after the other. x4 is their number. w5 is the position in the texture, w6 the distance to the
/// next one, x8 the number of pixels of a column or row, and x9 the address of its first pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawing {
    /// The number of pixels of a column or row.
    pub(super) pixels: u64,
    /// The number of pixels of an iteration.
    pub(super) unrolled: u64,
    /// The distance of two pixels in bytes, and that of two columns or rows.
    distances: [u64; 2],
    /// The number of bytes of the texture.
    pub(super) texels: u64,
    /// The distance of two positions in the texture.
    pub(super) step: u32,
}

pub(super) const COLUMN: Drawing =
    Drawing { pixels: 168, unrolled: 1, distances: [ROW, 1], texels: 128, step: COLUMN_STEP };
pub(super) const COLUMN_OF_8: Drawing = Drawing { unrolled: 8, ..COLUMN };
pub(super) const SPAN: Drawing =
    Drawing { pixels: ROW, unrolled: 1, distances: [1, ROW], texels: 1 << 12, step: SPAN_STEP };
pub(super) const SPAN_OF_4: Drawing = Drawing { unrolled: 4, ..SPAN };
pub(super) const FILL: Drawing = Drawing { pixels: 256, texels: 0, ..SPAN };

pub(super) const COLUMN_WORDS: &[u32] = &COLUMN.words::<{ AROUND + COUNT + 5 }>(&COLUMN_PIXEL);
pub(super) const COLUMN_OF_8_WORDS: &[u32] = &COLUMN_OF_8.words::<{ AROUND + COUNT + 8 * 5 }>(&COLUMN_PIXEL);
pub(super) const SPAN_WORDS: &[u32] = &SPAN.words::<{ AROUND + COUNT + 7 }>(&SPAN_PIXEL);
pub(super) const SPAN_OF_4_WORDS: &[u32] = &SPAN_OF_4.words::<{ AROUND + COUNT + 4 * 7 }>(&SPAN_PIXEL);
pub(super) const FILL_WORDS: &[u32] = &FILL.words::<{ AROUND + COUNT + 1 }>(&[STORE]);

impl Drawing {
    /// Returns the instructions of the loop, with a loop around it. `pixel` are those of a pixel at x0.
    const fn words<const N: usize>(&self, pixel: &[u32]) -> [u32; N] {
        let [within, between] = [self.distances[0] as u32, self.distances[1] as u32];
        let unrolled = self.unrolled as u32;
        let mut words = [0; N];
        (words[0], words[1]) = (0x2a08_03e7, 0xaa09_03e0); // mov w7, w8; mov x0, x9
        let mut place = 2;
        while place < N - AROUND - COUNT + 2 {
            let number = (place - 2) / pixel.len();
            let word = pixel[(place - 2) % pixel.len()];
            words[place] = if word == STORE { immediate(word, number as u32 * within) } else { word };
            place += 1;
        }
        words[place] = immediate(0x9100_0000, unrolled * within); // add x0, x0
        words[place + 1] = immediate(0x7100_00e7, unrolled); // subs w7, w7
        words[place + 2] = back(place as u32); // b.ne to the first pixel
        words[place + 3] = immediate(0x9100_0129, between); // add x9, x9
        words[place + 4] = 0xf100_0484; // subs x4, x4, #1
        words[place + 5] = back(place as u32 + 5); // b.ne to the first instruction
        words
    }

    /// Returns the number of columns or rows with so many pixels in all, or a few more.
    pub(super) const fn pieces(&self, pixels: u64) -> u64 {
        pixels.div_ceil(self.pixels)
    }

    /// Returns the number of bytes from the first pixel to the last one.
    pub(super) const fn bytes(&self, pixels: u64) -> u64 {
        let [within, between] = self.distances;
        (self.pixels - 1) * within + (self.pieces(pixels) - 1) * between + 1
    }

    /// Returns the steps of the loop with that around it, which have so many instructions.
    pub(super) const fn steps(&self, pixels: u64, instructions: u64) -> u64 {
        let around = AROUND as u64;
        self.pieces(pixels) * (around + self.pixels / self.unrolled * (instructions - around))
    }
}

/// Returns an instruction with an immediate of 12 bits.
const fn immediate(word: u32, value: u32) -> u32 {
    word | value << 10
}

/// Returns the instruction `b.ne` to so many instructions before it.
const fn back(instructions: u32) -> u32 {
    0x5400_0001 | (instructions.wrapping_neg() & 0x7_ffff) << 5
}

pub(super) fn columns(memory: Memory<'_>) -> u64 {
    draw(memory, &COLUMN, |position| position >> 16 & 127)
}

pub(super) fn spans(memory: Memory<'_>) -> u64 {
    draw(memory, &SPAN, |position| position >> 26 | position >> 4 & 0xfc0)
}

/// Draws columns or rows. `place` returns the place of a position in the texture.
#[inline]
fn draw(memory: Memory<'_>, of: &Drawing, place: impl Fn(u32) -> u32) -> u64 {
    let [within, between] = of.distances.map(|distance| distance as usize);
    let mut position = POSITION;
    for piece in 0..(memory.iterations / memory.pixels) as usize {
        let pixels = memory.target[piece * between..].iter_mut().step_by(within);
        for pixel in pixels.take(memory.pixels as usize) {
            let texel = memory.source[place(position) as usize];
            *pixel = memory.table[usize::from(texel)];
            position = position.wrapping_add(of.step);
        }
    }
    position.into()
}

pub(super) fn fills(memory: Memory<'_>) -> u64 {
    for row in 0..(memory.iterations / memory.pixels) as usize {
        memory.target[row * ROW as usize..][..memory.pixels as usize].fill(COLOUR);
    }
    0
}
