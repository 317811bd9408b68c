//! Random loops and registers, and memory that has nothing else.

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::{REGISTERS, SP};
use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Instruction, Memory, Stop};
use kvrm_loops::Loop;
use proptest::prelude::*;

/// The address of the first instruction.
pub(crate) const HEAD: u64 = 0x1000;
/// The address of the data.
pub(crate) const DATA: u64 = 0x10_0000;
/// The largest number of iterations that are stepped.
pub(crate) const ITERATIONS_MAX: u64 = 200;

/// The loop, and memory for data if there is any.
pub(crate) struct Code<'a> {
    pub(crate) words: &'a [u32],
    pub(crate) data: Vec<u8>,
}

impl<'a> Code<'a> {
    pub(crate) const fn new(words: &'a [u32]) -> Self {
        Self { words, data: Vec::new() }
    }

    /// Returns the place in the data of bytes at an address.
    fn place(&self, address: u64, bytes: u64) -> Option<usize> {
        let place = address.checked_sub(DATA)?;
        (place.checked_add(bytes)? <= self.data.len() as u64).then_some(place as usize)
    }
}

fn fault(access: Access, address: u64) -> Stop {
    Stop::Fault(Fault { kind: FaultKind::Translation, access, address })
}

impl Memory for Code<'_> {
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        let word = self.words.get(pc.wrapping_sub(HEAD) as usize / 4).ok_or(fault(Access::Execute, pc))?;
        Ok(Instruction::new(*word, Features::BASE))
    }
    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        let place = self.place(address, N as u64).ok_or(fault(Access::Read, address))?;
        Ok(self.data[place..place + N].try_into().expect("as many bytes"))
    }
    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        let place = self.place(address, N as u64).ok_or(fault(Access::Write, address))?;
        self.data[place..place + N].copy_from_slice(&bytes);
        Ok(())
    }
    fn check_write(&mut self, address: u64, bytes: u64) -> Result<(), Stop> {
        self.place(address, bytes).map(|_| ()).ok_or(fault(Access::Write, address))
    }
}

pub(crate) fn body(words: &[u32]) -> Option<Loop> {
    let fetch = |pc: u64| Some(lower(*words.get(pc.checked_sub(HEAD)? as usize / 4)?, Features::BASE));
    Loop::find(HEAD + 4 * (words.len() as u64 - 1), fetch).ok()
}

/// The registers of micro-ops.
pub(crate) fn registers(cpu: &Cpu) -> Vec<u64> {
    (0..REGISTERS)
        .map(|register| match register {
            0..=30 => cpu.x(register),
            SP => cpu.sp,
            _ => 0,
        })
        .collect()
}

/// A few registers, so that instructions depend on each other.
pub(crate) fn register() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..5_u32, 1 => Just(31)]
}

/// An instruction without a branch and without memory.
pub(crate) fn instruction() -> impl Strategy<Value = u32> {
    let registers = || (register(), register(), register());
    prop_oneof![
        // ADD, SUB, ADDS, SUBS with an immediate.
        4 => (0..8_u32, 0..2_u32, prop_oneof![0..5_u32, 0..4096_u32], registers()).prop_map(
            |(kind, shift, imm, (d, n, _))| kind << 29 | 0x1100_0000 | shift << 22 | imm << 10 | n << 5 | d
        ),
        // With a shifted register.
        4 => (0..8_u32, 0..3_u32, 0..64_u32, registers()).prop_map(|(kind, shift, amount, (d, n, m))| {
            let amount = if kind < 4 { amount % 32 } else { amount };
            kind << 29 | 0x0b00_0000 | shift << 22 | m << 16 | (amount % 5) << 10 | n << 5 | d
        }),
        // With an extended register.
        2 => (0..8_u32, 0..8_u32, 0..5_u32, registers()).prop_map(|(kind, option, amount, (d, n, m))| {
            kind << 29 | 0x0b20_0000 | m << 16 | option << 13 | amount << 10 | n << 5 | d
        }),
        // Logical instructions with a shifted register, MOV among them.
        2 => (0..8_u32, 0..8_u32, registers()).prop_map(|(kind, shift, (d, n, m))| {
            kind << 29 | 0x0a00_0000 | shift << 21 | m << 16 | n << 5 | d
        }),
        // UBFM and SBFM.
        2 => (any::<bool>(), any::<bool>(), 0..64_u32, 0..64_u32, registers()).prop_map(
            |(wide, unsigned, r, s, (d, n, _))| {
                let [r, s] = [r, s].map(|number| if wide { number } else { number % 32 });
                u32::from(wide) << 31 | u32::from(wide) << 22 | u32::from(unsigned) << 30
                    | 0x1300_0000 | r << 16 | s << 10 | n << 5 | d
            }
        ),
        // MADD and MSUB, MOVZ, CSEL.
        1 => (any::<bool>(), 0..2_u32, registers(), register()).prop_map(|(wide, sub, (d, n, m), a)| {
            u32::from(wide) << 31 | 0x1b00_0000 | m << 16 | sub << 15 | a << 10 | n << 5 | d
        }),
        1 => (any::<bool>(), 0..0x1_0000_u32, register()).prop_map(|(wide, imm, d)| {
            u32::from(wide) << 31 | 0x5280_0000 | imm << 5 | d
        }),
        1 => (any::<bool>(), 0..16_u32, registers()).prop_map(|(wide, cond, (d, n, m))| {
            u32::from(wide) << 31 | 0x1a80_0000 | m << 16 | cond << 12 | n << 5 | d
        }),
    ]
}

/// A branch by `words` instructions: B.cond, CBZ, CBNZ, TBZ or TBNZ.
pub(crate) fn branch(words: i32) -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => (0..16_u32).prop_map(move |cond| 0x5400_0000 | (words as u32 & 0x7_ffff) << 5 | cond),
        2 => (0..2_u32, 0..2_u32, register()).prop_map(move |(wide, not, t)| {
            wide << 31 | 0x3400_0000 | not << 24 | (words as u32 & 0x7_ffff) << 5 | t
        }),
        1 => (0..32_u32, 0..2_u32, register()).prop_map(move |(bit, not, t)| {
            0x3600_0000 | not << 24 | bit << 19 | (words as u32 & 0x3fff) << 5 | t
        }),
    ]
}

/// The code of a loop whose last instruction branches to the first, perhaps with another exit.
pub(crate) fn code() -> impl Strategy<Value = Vec<u32>> {
    let body = (prop::collection::vec(instruction(), 1..6), prop::option::of((0..6_usize, branch(1000))));
    body.prop_flat_map(|(mut words, exit)| {
        if let Some((place, exit)) = exit {
            words.insert(place.min(words.len()), exit);
        }
        let back = branch(-(words.len() as i32));
        (Just(words), back)
    })
    .prop_map(|(mut words, back)| {
        words.push(back);
        words
    })
}

/// ADD or SUB of a small number to a register, 32 or 64 bits wide.
pub(crate) fn induction() -> impl Strategy<Value = u32> {
    (0..2_u32, 0..2_u32, 1..20_u32, 0..3_u32)
        .prop_map(|(wide, sub, imm, r)| wide << 31 | sub << 30 | 0x1100_0000 | imm << 10 | r << 5 | r)
}

/// A compare: SUBS of two registers, the second perhaps extended, or of a register and an immediate.
pub(crate) fn compare() -> impl Strategy<Value = u32> {
    prop_oneof![
        (0..2_u32, register(), register())
            .prop_map(|(wide, n, m)| wide << 31 | 0x6b00_001f | m << 16 | n << 5),
        (0..2_u32, register(), register(), 0..8_u32, 0..5_u32).prop_map(|(wide, n, m, option, amount)| {
            wide << 31 | 0x6b20_001f | m << 16 | option << 13 | amount << 10 | n << 5
        }),
        (0..2_u32, register(), 0..500_u32)
            .prop_map(|(wide, n, imm)| wide << 31 | 0x7100_001f | imm << 10 | n << 5),
    ]
}

/// The code of a loop as programs have it: inductions, a compare and other instructions in any order, and a branch.
pub(crate) fn counted() -> impl Strategy<Value = Vec<u32>> {
    let others = prop::collection::vec(prop_oneof![2 => induction(), 1 => instruction()], 0..3);
    (induction(), others, prop::option::of(compare()))
        .prop_map(|(induction, others, compare)| {
            [induction].into_iter().chain(others).chain(compare).collect::<Vec<_>>()
        })
        .prop_shuffle()
        .prop_flat_map(|words| {
            let back = branch(-(words.len() as i32));
            (Just(words), back)
        })
        .prop_map(|(mut words, back)| {
            words.push(back);
            words
        })
}

/// Numbers at whose neighbours something wraps, and others.
pub(crate) fn number() -> impl Strategy<Value = u64> {
    const EDGES: &[u64] = &[0, 1 << 31, 1 << 32, 1 << 63, 0x1_8000_0000];
    prop_oneof![
        4 => (prop::sample::select(EDGES), -60..60_i64).prop_map(|(edge, near)| edge.wrapping_add(near as u64)),
        1 => any::<u64>(),
    ]
}

pub(crate) fn cpu() -> impl Strategy<Value = Cpu> {
    (prop::array::uniform5(number()), 0..16_u32).prop_map(|(numbers, nzcv)| {
        let mut cpu = Cpu::new(HEAD, 0x8000);
        for (register, number) in numbers.into_iter().enumerate() {
            cpu.set_x(register as u32, number);
        }
        cpu.nzcv = nzcv;
        cpu
    })
}
