//! Checks that iterations of loops that are executed at once give what stepping gives.
//!
//! The input decides the body of a loop, the registers with which a lane enters it, the frames that it has, and budgets. After each
//! budget, the stop, registers, flags, steps and the pages that were written are those of the reference.

#![no_main]

use std::sync::Arc;

use kvrm_machine::{AddressSpace, Cpu, Interpreter, LoopRunner, Loops, Runner as _};
use kvrm_testkit::loops::memory::{CODE, DATA, image};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// The largest number of instructions before the branch back.
const WORDS_MAX: usize = 24;
/// The registers that instructions of templates use: x0 to x5, x7 and the zero register become these.
const REGISTERS: [u32; 8] = [0, 1, 2, 3, 4, 5, 3, 31];

/// Instructions whose registers and other bits come from the input: the fixed bits, and the mask of the others.
const TEMPLATES: &[(u32, u32)] = &[
    (0x1100_0000, 0xe000_ffff), // ADD, SUB, ADDS, SUBS with a small number
    (0x0b00_0000, 0xe0df_1fff), // with a register
    (0x0b20_0000, 0xe01f_ffff), // with an extended register
    (0x0a00_0000, 0xe0ff_1fff), // logical
    (0x1300_0000, 0x40ff_ffff), // SBFM, UBFM of words
    (0x9340_0000, 0x40ff_ffff), // SBFM, UBFM
    (0x1b00_0000, 0x801f_ffff), // MADD, MSUB
    (0x1a80_0000, 0xc01f_f7ff), // CSEL and others
    (0x7a40_0000, 0x801f_fbef), // CCMP
    (0x3800_0400, 0xc0df_ffff), // loads and stores with write-back
    (0x3900_0000, 0xc0c0_0fff), // with an offset
    (0x3820_6800, 0xc0df_1fff), // with a register
    (0x2880_0000, 0x807f_ffff), // pairs with write-back
    (0x5400_0000, 0x0000_006f), // a branch ahead
    (0x3400_0000, 0x8100_007f), // CBZ, CBNZ ahead
];

/// A loop and how a lane enters it.
#[derive(Arbitrary, Debug)]
struct Entry {
    /// Instructions: the number of the template, and the bits that are not fixed; or any word.
    words: Vec<(u8, u32)>,
    /// The branch back, and whether it is taken if x4 is not zero.
    branch: u8,
    /// Where x0 to x2 are in the data.
    places: [u16; 3],
    x3: u64,
    /// The number of iterations of most loops.
    x4: u16,
    nzcv: u8,
    frames: u8,
    budgets: [u16; 3],
    slice: u8,
}

impl Entry {
    /// Returns the instructions of the loop.
    fn code(&self) -> Vec<u32> {
        let word = |(kind, bits): &(u8, u32)| match TEMPLATES.get(usize::from(*kind) % (TEMPLATES.len() + 1))
        {
            Some((fixed, mask)) => few_registers(fixed | bits & mask),
            None => *bits,
        };
        let mut words: Vec<u32> = self.words.iter().take(WORDS_MAX).map(word).collect();
        let subtracts = self.branch & 1 == 1;
        if subtracts {
            words.push(0xf100_0484); // subs x4, x4, #1
        }
        let back = (words.len() as u32).wrapping_neg() & 0x7_ffff;
        words.push(match (subtracts, self.branch >> 1) {
            (true, cond) if cond < 14 => 0x5400_0000 | back << 5 | u32::from(cond),
            (true, _) => 0xb500_0004 | back << 5,
            (false, bits) => 0x3400_0000 | u32::from(bits & 1) << 24 | back << 5 | u32::from(bits >> 1) % 6,
        });
        words
    }
}

/// Replaces the registers of an instruction of a template by a few.
fn few_registers(word: u32) -> u32 {
    let few = |place: u32| REGISTERS[(word >> place) as usize % 8] << place;
    let is_branch = word >> 26 & 0x1f == 0x15 || word >> 24 & 0x7e == 0x34;
    if is_branch {
        return word & !31 | if word >> 24 & 0x7e == 0x34 { few(0) } else { word & 15 };
    }
    word & !(31 | 31 << 5) | few(0) | few(5)
}

fuzz_target!(|entry: Entry| {
    let words = entry.code();
    let image = image(&words);
    let mut start = Cpu::new(CODE, 0x8000);
    for (register, place) in (0..).zip(entry.places) {
        start.set_x(register, DATA + u64::from(place));
    }
    start.set_x(3, entry.x3);
    start.set_x(4, entry.x4.into());
    start.nzcv = u32::from(entry.nzcv & 15);
    let [mut cpu, mut stepped] = [start.clone(), start];
    let [mut memory, mut stepped_memory] =
        [0, 1].map(|_| AddressSpace::new(Arc::clone(&image), usize::from(entry.frames % 32)));
    let mut runner = LoopRunner::with_slices(Interpreter, Some(Loops::checker()), u64::from(entry.slice) + 1);
    let pages = |memory: &AddressSpace| -> Vec<(u64, Vec<u8>)> {
        memory.private_pages().map(|(page, bytes)| (page, bytes.to_vec())).collect()
    };
    for budget in entry.budgets {
        let stop = runner.run(&mut cpu, &mut memory, budget.into());
        let expected = Interpreter.run(&mut stepped, &mut stepped_memory, budget.into());
        assert_eq!((stop, &cpu), (expected, &stepped), "the loop {words:x?}");
        assert!(pages(&memory) == pages(&stepped_memory), "memory after the loop {words:x?}");
    }
});
