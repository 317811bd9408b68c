//! Loops without a program around them.

use std::hint::black_box;
use std::time::Instant;

use kvrm::{Error, LaneSetup, Machine, PAGE_BYTES, Permissions, Program};

use super::native::{self, Memory, Native};

/// The largest number of iterations.
pub(super) const ITERATIONS_MAX: u64 = 1 << 28;
/// The largest number of bytes that an iteration moves on.
const BYTES_MAX: u64 = 16;
/// The address of the first instruction.
const CODE: u64 = 0x1_0000;
/// The address of a table of 256 bytes.
const TABLE: u64 = 0x2_0000;
/// The address of the bytes that are read.
const SOURCE: u64 = 0x1000_0000;

/// A loop. x0 is the address of the bytes to write, x1 that of the bytes to read, x2 that of the table, and x4 is the number of
/// iterations.
#[derive(Debug)]
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
];

/// Returns the bytes of the table.
fn table() -> Vec<u8> {
    (0..=255_u8).map(|byte| byte.wrapping_mul(7)).collect()
}

/// Returns the number of pages that a lane may write.
pub(super) fn frames(iterations: u64) -> usize {
    (iterations * BYTES_MAX).div_ceil(PAGE_BYTES as u64) as usize + 2
}

/// Returns the bytes of some iterations, in whole pages with one more.
const fn whole_pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(PAGE_BYTES as u64) + PAGE_BYTES as u64
}

impl BareLoop {
    /// Returns the address of the bytes that are written.
    const fn target(&self, iterations: u64) -> u64 {
        SOURCE + whole_pages(self.reads * iterations)
    }

    /// Returns the loop as a program, for a number of iterations.
    pub(super) fn program(&self, iterations: u64) -> Result<Program, Error> {
        let halt = 0xd440_0000; // hlt #0
        let words: Vec<u32> = self.words.iter().copied().chain([halt]).collect();
        let mut program =
            Program::builder().name(self.name).code(CODE, &words).data(TABLE, table(), Permissions::R);
        program = match self.source(iterations) {
            Some(source) => program.data(SOURCE, source, Permissions::R),
            None => program.zeros(SOURCE, whole_pages(self.reads * iterations), Permissions::R),
        };
        let bytes = whole_pages(self.writes * iterations);
        if let Some(numbers) = self.unsorted(bytes) {
            program = program.data(self.target(iterations), numbers, Permissions::RW);
        } else if self.writes > 0 {
            program = program.zeros(self.target(iterations), bytes, Permissions::RW);
        }
        program.build()
    }

    /// Returns the bytes that are read, if not all of them are zero.
    fn source(&self, iterations: u64) -> Option<Vec<u8>> {
        self.ends_with_zero.then(|| {
            let mut source = vec![0x55; (self.reads * iterations) as usize];
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
        let source = self.source(iterations).unwrap_or_else(|| vec![0; (self.reads * iterations) as usize]);
        let bytes = whole_pages(self.writes * iterations);
        let before = self.unsorted(bytes).unwrap_or_else(|| vec![0; bytes as usize]);
        let (table, before) = (table(), black_box(&before[..]));
        let begin = Instant::now();
        let mut target = if self.writes > 0 { before.to_vec() } else { Vec::new() };
        black_box(native(Memory {
            source: black_box(&source),
            table: &table,
            target: &mut target,
            iterations,
        }));
        let seconds = begin.elapsed().as_secs_f64();
        target.truncate((self.writes * iterations) as usize);
        Some((seconds, target))
    }

    /// Sets the registers of a lane.
    pub(super) fn prepare(&self, lane: &mut LaneSetup<'_>, iterations: u64) {
        lane.set_x(0, self.target(iterations));
        lane.set_x(1, SOURCE);
        lane.set_x(2, TABLE);
        lane.set_x(4, iterations);
    }

    /// Returns the bytes that the loop has written in a lane.
    pub(super) fn written(
        &self,
        machine: &mut Machine,
        lane: usize,
        iterations: u64,
    ) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; (self.writes * iterations) as usize];
        machine.read(lane, self.target(iterations), &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the steps that end the loop, or are enough for its end.
    pub(super) const fn budget(&self, iterations: u64) -> u64 {
        let steps = self.words.len() as u64 * iterations;
        if self.is_endless { steps } else { steps + 1 }
    }
}
