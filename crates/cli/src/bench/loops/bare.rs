//! Loops without a program around them.

mod drawing;

use std::hint::black_box;
use std::time::Instant;

use anyhow::bail;
use kvrm::{Error, LaneSetup, Machine, PAGE_BYTES, Permissions, Program};

use self::drawing::Drawing;
use super::native::{self, Memory, Native};

/// The largest number of iterations.
pub(super) const ITERATIONS_MAX: u64 = 1 << 28;
/// The largest number of bytes that a loop writes.
const BYTES_MAX: u64 = 1 << 32;
/// The largest number of pixels of a column or row.
const PIXELS_MAX: u64 = 1 << 20;
/// The largest number of pixels that a loop draws in an iteration, of which those of a column or row are a multiple.
const PIXELS_UNIT: u64 = 8;
/// The address of the first instruction.
const CODE: u64 = 0x1_0000;
/// The address of a table of 256 bytes.
const TABLE: u64 = 0x2_0000;
/// The address of the bytes that are read.
const SOURCE: u64 = 0x1000_0000;

/// A loop. x0 is the address of the bytes to write, x1 that of the bytes to read, x2 that of the table, and x4 is the number of
/// iterations.
#[derive(Clone, Copy, Debug)]
pub(super) struct BareLoop {
    pub(super) name: &'static str,
    words: &'static [u32],
    /// The number of bytes that an iteration reads, and those that it writes.
    reads: u64,
    writes: u64,
    /// Whether the last byte that is read is zero, and all others are not; else all bytes are zero.
    ends_with_zero: bool,
    /// Whether the bytes that the loop writes begin as random numbers rather than zeros.
    sorts: bool,
    /// Whether the loop has no end, so that the budget ends it.
    is_endless: bool,
    /// What it draws, if it is one of those of DOOM, with a loop around it.
    drawing: Option<Drawing>,
    /// The same loop for the host, if that takes time for each iteration.
    native: Option<Native>,
}

const PLAIN: BareLoop = BareLoop {
    name: "",
    words: &[],
    reads: 0,
    writes: 0,
    ends_with_zero: false,
    sorts: false,
    is_endless: false,
    drawing: None,
    native: None,
};

/// The loops to measure.
pub(super) const BARE: &[BareLoop] = &[
    BareLoop {
        name: "memset",
        words: &[0x3800_1403, 0xf100_0484, 0x54ff_ffc1], // strb w3, [x0], #1; subs x4, x4, #1; b.ne
        writes: 1,
        native: Some(native::fill),
        ..PLAIN
    },
    BareLoop {
        name: "memcpy",
        words: &[0x3840_1423, 0x3800_1403, 0xf100_0484, 0x54ff_ffa1], // ldrb w3, [x1], #1; strb w3, [x0], #1; ...
        reads: 1,
        writes: 1,
        native: Some(native::copy),
        ..PLAIN
    },
    BareLoop {
        name: "memcpy-16",
        // ldp x3, x5, [x1], #16; stp x3, x5, [x0], #16; subs x4, x4, #1; b.ne
        words: &[0xa8c1_1423, 0xa881_1403, 0xf100_0484, 0x54ff_ffa1],
        reads: 16,
        writes: 16,
        native: Some(native::copy),
        ..PLAIN
    },
    BareLoop {
        name: "strlen",
        words: &[0x3840_1423, 0x35ff_ffe3], // ldrb w3, [x1], #1; cbnz w3
        reads: 1,
        ends_with_zero: true,
        native: Some(native::length),
        ..PLAIN
    },
    BareLoop {
        name: "sum",
        words: &[0xb840_4423, 0x8b03_0042, 0xf100_0484, 0x54ff_ffa1], // ldr w3, [x1], #4; add x2, x2, x3; ...
        reads: 4,
        native: Some(native::sum),
        ..PLAIN
    },
    BareLoop {
        name: "maximum",
        // ldr w3, [x1], #4; cmp w3, w2; csel w2, w3, w2, gt; subs x4, x4, #1; b.ne
        words: &[0xb840_4423, 0x6b02_007f, 0x1a82_c062, 0xf100_0484, 0x54ff_ff81],
        reads: 4,
        native: Some(native::maximum),
        ..PLAIN
    },
    BareLoop { name: "countdown", words: &[0xf100_0484, 0x54ff_ffe1], ..PLAIN }, // subs x4, x4, #1; b.ne
    BareLoop {
        name: "polling",
        words: &[0xb940_0023, 0x34ff_ffe3], // ldr w3, [x1]; cbz w3
        is_endless: true,
        ..PLAIN
    },
    BareLoop {
        name: "bubble",
        // ldp w3, w5, [x0]; cmp w3, w5; b.le to the add; stp w5, w3, [x0]; add x0, x0, #4; subs x4, x4, #1; b.ne
        words: &[0x2940_1403, 0x6b05_007f, 0x5400_004d, 0x2900_0c05, 0x9100_1000, 0xf100_0484, 0x54ff_ff41],
        writes: 4,
        sorts: true,
        native: Some(native::pass),
        ..PLAIN
    },
    BareLoop {
        name: "gather",
        // ldrb w3, [x1], #1; ldrb w3, [x2, x3]; strb w3, [x0], #1; subs x4, x4, #1; b.ne
        words: &[0x3840_1423, 0x3863_6843, 0x3800_1403, 0xf100_0484, 0x54ff_ff81],
        reads: 1,
        writes: 1,
        native: Some(native::gather),
        ..PLAIN
    },
    BareLoop {
        name: "iota",
        // str x5, [x0], #8; add x5, x5, #3; subs x4, x4, #1; b.ne
        words: &[0xf800_8405, 0x9100_0ca5, 0xf100_0484, 0x54ff_ffa1],
        writes: 8,
        native: Some(native::progression),
        ..PLAIN
    },
    BareLoop {
        name: "doom-column",
        words: drawing::COLUMN_WORDS,
        drawing: Some(drawing::COLUMN),
        native: Some(drawing::columns),
        ..PLAIN
    },
    BareLoop {
        name: "doom-column-8",
        words: drawing::COLUMN_OF_8_WORDS,
        drawing: Some(drawing::COLUMN_OF_8),
        native: Some(drawing::columns),
        ..PLAIN
    },
    BareLoop {
        name: "doom-span",
        words: drawing::SPAN_WORDS,
        drawing: Some(drawing::SPAN),
        native: Some(drawing::spans),
        ..PLAIN
    },
    BareLoop {
        name: "doom-span-4",
        words: drawing::SPAN_OF_4_WORDS,
        drawing: Some(drawing::SPAN_OF_4),
        native: Some(drawing::spans),
        ..PLAIN
    },
    BareLoop {
        name: "doom-fill",
        words: drawing::FILL_WORDS,
        drawing: Some(drawing::FILL),
        native: Some(drawing::fills),
        ..PLAIN
    },
];

/// Returns the bytes of the table.
fn table() -> Vec<u8> {
    (0..=255_u8).map(|byte| byte.wrapping_mul(7)).collect()
}

/// Returns the bytes of some iterations, in whole pages with one more.
const fn whole_pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(PAGE_BYTES as u64) + PAGE_BYTES as u64
}

impl BareLoop {
    /// Returns the loop with so many pixels in each column or row, if it draws, for so many iterations or pixels.
    pub(super) fn sized(mut self, iterations: u64, pixels: Option<u64>) -> anyhow::Result<Self> {
        if iterations == 0 || iterations > ITERATIONS_MAX {
            bail!("--iterations {iterations}: expected 1 to {ITERATIONS_MAX}");
        }
        if let Some((drawing, pixels)) = self.drawing.as_mut().zip(pixels) {
            if pixels == 0 || pixels > PIXELS_MAX || !pixels.is_multiple_of(PIXELS_UNIT) {
                bail!("--pixels {pixels}: expected a multiple of {PIXELS_UNIT} up to {PIXELS_MAX}");
            }
            drawing.pixels = pixels;
        }
        let bytes = self.write_bytes(iterations);
        if bytes > BYTES_MAX {
            bail!(
                "--iterations {iterations}: {} writes {bytes} bytes, at most {BYTES_MAX} are expected",
                self.name
            );
        }
        Ok(self)
    }

    /// Returns the number of pixels of a column or row, if it draws.
    pub(super) fn pixels(&self) -> Option<u64> {
        self.drawing.map(|drawing| drawing.pixels)
    }

    /// Returns the number of bytes that are read without the table.
    const fn read_bytes(&self, iterations: u64) -> u64 {
        match &self.drawing {
            Some(drawing) => drawing.texels,
            None => self.reads * iterations,
        }
    }

    /// Returns the number of bytes from the first one that is written to the last one.
    const fn write_bytes(&self, iterations: u64) -> u64 {
        match &self.drawing {
            Some(drawing) => drawing.bytes(iterations),
            None => self.writes * iterations,
        }
    }

    /// Returns the address of the bytes that are written.
    const fn target(&self, iterations: u64) -> u64 {
        SOURCE + whole_pages(self.read_bytes(iterations))
    }

    /// Returns the number of pages that a lane may write. Before iterations are executed at once, the engine makes sure that there are
    /// pages for each store of an iteration, even if several stores share them.
    pub(super) fn frames(&self, iterations: u64) -> usize {
        let stores = self.drawing.map_or(1, |drawing| drawing.unrolled) as usize;
        stores * whole_pages(self.write_bytes(iterations)) as usize / PAGE_BYTES + 1
    }

    /// Returns the loop as a program, for a number of iterations.
    pub(super) fn program(&self, iterations: u64) -> Result<Program, Error> {
        let halt = 0xd440_0000; // hlt #0
        let words: Vec<u32> = self.words.iter().copied().chain([halt]).collect();
        let mut program =
            Program::builder().name(self.name).code(CODE, &words).data(TABLE, table(), Permissions::R);
        program = match self.source(iterations) {
            Some(source) => program.data(SOURCE, source, Permissions::R),
            None => program.zeros(SOURCE, whole_pages(self.read_bytes(iterations)), Permissions::R),
        };
        let bytes = self.write_bytes(iterations);
        let whole = whole_pages(bytes);
        if let Some(numbers) = self.unsorted(whole) {
            program = program.data(self.target(iterations), numbers, Permissions::RW);
        } else if bytes > 0 {
            program = program.zeros(self.target(iterations), whole, Permissions::RW);
        }
        program.build()
    }

    /// Returns the bytes that are read, if not all of them are zero.
    fn source(&self, iterations: u64) -> Option<Vec<u8>> {
        if self.drawing.is_some_and(|drawing| drawing.texels > 0) {
            let numbers = 0..self.read_bytes(iterations) as u32;
            return Some(numbers.map(|number| (number.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect());
        }
        self.ends_with_zero.then(|| {
            let mut source = vec![0x55; self.read_bytes(iterations) as usize];
            source.last_mut().into_iter().for_each(|last| *last = 0);
            source
        })
    }

    /// Returns the bytes that are written as they are before, if not all of them are zero.
    fn unsorted(&self, bytes: u64) -> Option<Vec<u8>> {
        let numbers = (0..bytes as u32 / 4).map(|number| number.wrapping_mul(0x9e37_79b9));
        self.sorts.then(|| numbers.flat_map(u32::to_le_bytes).collect())
    }

    /// Runs the same loop as code of the host. Its time includes that of copies of the pages that it writes, as in a lane. Returns it in
    /// seconds, and the bytes that were written; `None` if there is no such code.
    pub(super) fn run_native(&self, iterations: u64) -> Option<(f64, Vec<u8>)> {
        let native = self.native?;
        let source = self.source(iterations).unwrap_or_else(|| vec![0; self.read_bytes(iterations) as usize]);
        let written = self.write_bytes(iterations);
        let bytes = whole_pages(written);
        let before = self.unsorted(bytes).unwrap_or_else(|| vec![0; bytes as usize]);
        let (table, before) = (table(), black_box(&before[..]));
        let pixels = self.drawing.map_or(1, |drawing| drawing.pixels);
        let begin = Instant::now();
        let mut target = if written > 0 { before.to_vec() } else { Vec::new() };
        black_box(native(Memory {
            source: black_box(&source),
            table: &table,
            target: &mut target,
            iterations: iterations.next_multiple_of(pixels),
            pixels,
        }));
        let seconds = begin.elapsed().as_secs_f64();
        target.truncate(written as usize);
        Some((seconds, target))
    }

    /// Sets the registers of a lane.
    pub(super) fn prepare(&self, lane: &mut LaneSetup<'_>, iterations: u64) {
        lane.set_x(0, self.target(iterations));
        lane.set_x(1, SOURCE);
        lane.set_x(2, TABLE);
        lane.set_x(4, iterations);
        if let Some(drawing) = &self.drawing {
            lane.set_x(3, drawing::COLOUR.into());
            lane.set_x(4, drawing.pieces(iterations));
            lane.set_x(5, drawing::POSITION.into());
            lane.set_x(6, drawing.step.into());
            lane.set_x(8, drawing.pixels);
            lane.set_x(9, self.target(iterations));
        }
    }

    /// Returns the bytes that the loop has written in a lane.
    pub(super) fn written(
        &self,
        machine: &mut Machine,
        lane: usize,
        iterations: u64,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.write_bytes(iterations) as usize];
        machine.read(lane, self.target(iterations), &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the steps that end the loop, or are enough for its end.
    pub(super) const fn budget(&self, iterations: u64) -> u64 {
        let instructions = self.words.len() as u64;
        match &self.drawing {
            Some(drawing) => drawing.steps(iterations, instructions) + 1,
            None if self.is_endless => instructions * iterations,
            None => instructions * iterations + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use kvrm::{Engine, Loops, Stop};

    use super::*;

    /// Runs a loop in one lane.
    fn run(of: &BareLoop, iterations: u64, loops: Option<Loops>) -> Machine {
        let builder = Machine::builder(of.program(iterations).expect("the program is valid"));
        let builder = builder.engine(Engine::Reference).loops(loops).frames_max(of.frames(iterations));
        let builder = builder.stack_bytes(0).heap_bytes(0);
        let mut machine = builder.prepare(|lane| of.prepare(lane, iterations)).build().expect("it has room");
        machine.run(of.budget(iterations)).expect("the engine is fine");
        machine
    }

    #[test]
    fn loops_at_once_are_those_that_are_stepped_and_those_of_the_host() {
        for of in BARE {
            // Columns and rows of the game are too short to be found in so few steps.
            let (of, iterations) = (of.sized(100_000, Some(4096)).expect("it is small"), 100_000);
            let loops = Loops::checker();
            let mut stepped = run(&of, iterations, None);
            let mut at_once = run(&of, iterations, Some(loops.clone()));
            let ends = stepped.stops().expect("there is a lane");
            assert_eq!(ends, at_once.stops().expect("there is a lane"), "{}", of.name);
            let halts = matches!(ends[0], Some(Stop::Halt { .. }));
            assert_ne!(halts, of.is_endless, "{}: {ends:?}", of.name);
            assert_eq!(stepped.cpu(0).unwrap(), at_once.cpu(0).unwrap(), "{}", of.name);
            let written = of.written(&mut stepped, 0, iterations).unwrap();
            assert_eq!(written, of.written(&mut at_once, 0, iterations).unwrap(), "{}", of.name);
            if let Some((_, expected)) = of.run_native(iterations) {
                assert_eq!(written, expected, "{}", of.name);
            }
            let (credited, steps) = (loops.report().credited_steps, stepped.cpu(0).unwrap().steps);
            // Where the position of a span in its texture wraps around, few iterations are executed at once.
            let least = if of.drawing.is_some() { 1 } else { steps / 2 };
            assert!(credited > least, "{}: {credited} of {steps} steps", of.name);
        }
    }

    #[test]
    fn short_columns_and_rows_are_drawn_too() {
        for of in BARE.iter().filter(|of| of.drawing.is_some()) {
            for pixels in [8, 16, 168] {
                let of = of.sized(1000, Some(pixels)).expect("it is small");
                let mut machine = run(&of, 1000, Some(Loops::checker()));
                let written = of.written(&mut machine, 0, 1000).unwrap();
                assert_eq!(
                    Some(written),
                    of.run_native(1000).map(|(_, bytes)| bytes),
                    "{} of {pixels}",
                    of.name
                );
            }
        }
    }
}
