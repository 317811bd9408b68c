//! A random program and a lane that runs it on the reference.

use std::collections::HashMap;

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Instruction, Memory, Stop, step};
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;
use kvrm_translate::{Limits, Region};

/// A program whose code never changes.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) pc: u64,
    words: Vec<u32>,
    features: Features,
}

/// A lane: its registers, and the bytes that it has stored. All addresses can be read and written.
#[derive(Clone)]
pub(crate) struct Lane<'a> {
    pub(crate) cpu: Cpu,
    memory: Bytes<'a>,
}

#[derive(Clone)]
struct Bytes<'a> {
    program: &'a Program,
    stored: HashMap<u64, u8>,
}

impl Program {
    /// Returns a random program and the registers with which it begins.
    pub(crate) fn random(random: &mut Random) -> (Self, Cpu) {
        let features = *random.pick(&[Features::ARMV8_0, Features::GENERAL, Features::ALL]);
        let vector = programs::with_features("region", features, 40, 1000, random);
        let words = vector.code.iter().map(|word| word.0).collect();
        let mut cpu = Cpu::new(vector.pc.0, vector.init.sp.map_or(0, |sp| sp.0));
        for (register, value) in &vector.init.x {
            cpu.set_x(register.0, value.0);
        }
        for (register, value) in &vector.init.v {
            cpu.v[register.0 as usize] = value.0;
        }
        cpu.nzcv = vector.init.nzcv.map_or(0, |nzcv| nzcv.0);
        (Self { pc: vector.pc.0, words, features }, cpu)
    }

    fn word(&self, pc: u64) -> Option<u32> {
        self.words.get(usize::try_from(pc.checked_sub(self.pc)? / 4).ok()?).copied()
    }

    /// Returns the micro-op at an address.
    pub(crate) fn fetch(&self, pc: u64) -> Option<MicroOp> {
        Some(lower(self.word(pc)?, self.features))
    }

    /// Returns the region of the program from its first instruction on, and possibly others.
    pub(crate) fn region(&self, random: &mut Random) -> Region {
        let limits = Limits {
            instructions: 1 + random.below(50) as usize,
            pages: 1 + random.below(2) as usize,
            distance: random.below(12) as usize,
        };
        let mut entries = vec![self.pc];
        for _ in 0..random.below(3) {
            entries.push(self.pc + 4 * random.below(self.words.len() as u64));
        }
        Region::find(&entries, &limits, |pc| self.fetch(pc))
    }

    /// Returns a lane at the first instruction.
    pub(crate) fn lane(&self, cpu: Cpu) -> Lane<'_> {
        Lane { cpu, memory: Bytes { program: self, stored: HashMap::new() } }
    }
}

impl Lane<'_> {
    /// Executes an instruction. Returns whether it retired.
    pub(crate) fn step(&mut self) -> bool {
        step(&mut self.cpu, &mut self.memory).is_ok()
    }

    /// Returns the bytes that the lane has stored.
    pub(crate) fn memory(&self) -> &HashMap<u64, u8> {
        &self.memory.stored
    }
}

impl Memory for Bytes<'_> {
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        let fault = Fault { kind: FaultKind::Translation, access: Access::Execute, address: pc };
        let word = self.program.word(pc).filter(|_| pc.is_multiple_of(4)).ok_or(fault)?;
        Ok(Instruction::new(word, self.program.features))
    }

    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        // Bytes that were never stored have values that depend on their address.
        let byte = |address: u64| {
            self.stored.get(&address).copied().unwrap_or((address.wrapping_mul(37) >> 3) as u8)
        };
        Ok(std::array::from_fn(|n| byte(address.wrapping_add(n as u64))))
    }

    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        self.stored.extend(bytes.iter().enumerate().map(|(n, byte)| (address.wrapping_add(n as u64), *byte)));
        Ok(())
    }

    fn check_write(&mut self, _: u64, _: u64) -> Result<(), Stop> {
        Ok(())
    }
}
