//! Random registers, and memory that has only code and data.

use kvrm_arm64::lowering::lower;
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

impl kvrm_loops::Memory for Code<'_> {
    fn readable(&self, address: u64) -> Option<&[u8]> {
        let place = self.place(address, 1)?;
        Some(&self.data[place..])
    }
    fn write(&mut self, address: u64, bytes: &[u8]) {
        let place = self.place(address, bytes.len() as u64).expect("the plan is within the data");
        self.data[place..place + bytes.len()].copy_from_slice(bytes);
    }
    fn fill(&mut self, address: u64, bytes: u64, with: &[u8]) {
        let place = self.place(address, bytes).expect("the plan is within the data");
        for (byte, value) in self.data[place..place + bytes as usize].iter_mut().zip(with.iter().cycle()) {
            *byte = *value;
        }
    }
    fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        let [to, from] = [to, from].map(|at| self.place(at, bytes).expect("the plan is within the data"));
        let from = self.data[from..from + bytes as usize].to_vec();
        self.data[to..to + bytes as usize].copy_from_slice(&from);
    }
}

pub(crate) fn body(words: &[u32]) -> Option<Loop> {
    let fetch = |pc: u64| Some(lower(*words.get(pc.checked_sub(HEAD)? as usize / 4)?, Features::BASE));
    Loop::find(HEAD + 4 * (words.len() as u64 - 1), fetch).ok()
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
