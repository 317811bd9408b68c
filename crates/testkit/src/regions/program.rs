//! A program and a lane that runs it on the reference.

use std::collections::HashMap;

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Instruction, Memory, Stop, step};
use kvrm_machine::vectors::Vector;
use kvrm_translate::{Limits, Region};

use crate::programs;
use crate::random::Random;

/// A program whose code never changes.
#[derive(Clone, Debug)]
pub struct Program {
    /// The address of the first instruction.
    pub pc: u64,
    /// The registers with which it begins.
    pub cpu: Cpu,
    words: Vec<u32>,
    features: Features,
    is_wanted: fn(MicroOp) -> bool,
}

/// A lane: its registers, and the bytes that it has stored. All addresses can be read and written.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    /// The registers.
    pub cpu: Cpu,
    memory: Bytes<'a>,
}

#[derive(Clone, Debug)]
struct Bytes<'a> {
    program: &'a Program,
    stored: HashMap<u64, u8>,
}

impl Program {
    /// Returns the program of a test vector. `is_wanted` says which micro-ops regions may have.
    #[must_use]
    pub fn new(vector: &Vector, is_wanted: fn(MicroOp) -> bool) -> Self {
        let words = vector.code.iter().map(|word| word.0).collect();
        let (pc, features) = (vector.pc.0, vector.machine_features());
        Self { pc, cpu: vector.cpu(), words, features, is_wanted }
    }

    /// Returns a random program. Its regions may have all micro-ops.
    pub fn random(random: &mut Random) -> Self {
        let features = *random.pick(&[Features::ARMV8_0, Features::GENERAL, Features::ALL]);
        Self::new(&programs::with_features("region", features, 40, 1000, random), |_| true)
    }

    fn word(&self, pc: u64) -> Option<u32> {
        self.words.get(usize::try_from(pc.checked_sub(self.pc)? / 4).ok()?).copied()
    }

    /// Returns the micro-op at an address that a region may have.
    #[must_use]
    pub fn fetch(&self, pc: u64) -> Option<MicroOp> {
        Some(lower(self.word(pc)?, self.features)).filter(|op| (self.is_wanted)(*op))
    }

    /// Returns the number of instructions.
    #[must_use]
    pub const fn instructions(&self) -> usize {
        self.words.len()
    }

    /// Returns the region from some instructions on, given by their numbers.
    #[must_use]
    pub fn region(&self, entries: &[u64], limits: &Limits) -> Region {
        let entries: Vec<u64> = entries.iter().map(|entry| self.pc + 4 * entry).collect();
        Region::find(&entries, limits, |pc| self.fetch(pc))
    }

    /// Returns the region from the first instruction on, and possibly others, with random limits.
    pub fn random_region(&self, random: &mut Random) -> Region {
        let limits = Limits {
            instructions: 1 + random.below(50) as usize,
            pages: 1 + random.below(2) as usize,
            distance: random.below(12) as usize,
        };
        let mut entries = vec![0];
        for _ in 0..random.below(3) {
            entries.push(random.below(self.words.len() as u64));
        }
        self.region(&entries, &limits)
    }

    /// Returns a lane at the first instruction.
    #[must_use]
    pub fn lane(&self) -> Lane<'_> {
        Lane { cpu: self.cpu.clone(), memory: Bytes { program: self, stored: HashMap::new() } }
    }
}

impl Lane<'_> {
    /// Executes an instruction. Returns whether it retired.
    pub fn step(&mut self) -> bool {
        step(&mut self.cpu, &mut self.memory).is_ok()
    }

    /// Returns the bytes that the lane has stored.
    #[must_use]
    pub const fn memory(&self) -> &HashMap<u64, u8> {
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
