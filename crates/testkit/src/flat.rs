//! A flat memory: consecutive bytes, some of them read-only.
//!
//! The functions of `kvrm_arm64` that execute instructions are large, and generic over the memory. Those of this file are compiled once,
//! for all tests.

use std::ops::Range;

use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Instruction, Memory, Op, Stop, Word};

/// The address of the first byte of a [`Flat`].
pub const BASE: u64 = 0x1_0000;

/// A flat memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Flat {
    /// The bytes from [`BASE`] on.
    pub bytes: Vec<u8>,
    /// The addresses that may be written.
    pub writable: Range<u64>,
    /// The features of the machine.
    pub features: Features,
}

impl Flat {
    /// Returns writable memory of `size` bytes that begins with `code`, for a machine with all features.
    ///
    /// # Panics
    ///
    /// If the code has more bytes.
    #[must_use]
    pub fn new(code: &[u32], size: usize) -> Self {
        let mut bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(bytes.len() <= size, "{size} bytes are too few for the code");
        bytes.resize(size, 0);
        Self { bytes, writable: BASE..BASE + size as u64, features: Features::ALL }
    }

    /// Returns a processor whose pc is at the first word of this memory.
    #[must_use]
    pub fn cpu(&self) -> Cpu {
        Cpu::new(BASE, BASE + self.bytes.len() as u64)
    }

    /// Returns `count` bytes from `address` as one access. A fault has the address of the first byte that fails.
    fn bytes(&mut self, address: u64, count: usize, access: Access) -> Result<&mut [u8], Stop> {
        let addresses = (0..count as u64).map(|i| address.wrapping_add(i));
        for address in addresses {
            let mapped = address.wrapping_sub(BASE) < self.bytes.len() as u64;
            let kind = match access {
                _ if !mapped => FaultKind::Translation,
                Access::Write if !self.writable.contains(&address) => FaultKind::Permission,
                _ => continue,
            };
            return Err(Fault { kind, access, address }.into());
        }
        let at = (address - BASE) as usize;
        Ok(&mut self.bytes[at..at + count])
    }
}

impl Memory for Flat {
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        if !pc.is_multiple_of(4) {
            return Err(Fault { kind: FaultKind::Alignment, access: Access::Execute, address: pc }.into());
        }
        let features = self.features;
        let bytes = self.bytes(pc, 4, Access::Execute)?;
        Ok(Instruction::new(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), features))
    }

    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        let mut copy = [0; N];
        copy.copy_from_slice(self.bytes(address, N, Access::Read)?);
        Ok(copy)
    }

    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        self.bytes(address, N, Access::Write)?.copy_from_slice(&bytes);
        Ok(())
    }

    fn check_write(&mut self, address: u64, bytes: u64) -> Result<(), Stop> {
        self.bytes(address, bytes as usize, Access::Write).map(|_| ())
    }
}

/// Runs a processor, as [`kvrm_arm64::run`] does.
#[inline(never)]
pub fn run(cpu: &mut Cpu, memory: &mut Flat, budget: u64) -> Stop {
    kvrm_arm64::run(cpu, memory, budget)
}

/// Runs a single step, as [`kvrm_arm64::step`] does.
///
/// # Errors
///
/// The stop, if there is one.
pub fn step(cpu: &mut Cpu, memory: &mut Flat) -> Result<(), Stop> {
    match run(cpu, memory, 1) {
        Stop::Budget => Ok(()),
        stop => Err(stop),
    }
}

/// Executes a decoded instruction, as [`kvrm_arm64::execute`] does.
///
/// # Errors
///
/// The stop, if there is one.
#[inline(never)]
pub fn execute(cpu: &mut Cpu, memory: &mut Flat, op: Op, word: Word) -> Result<(), Stop> {
    kvrm_arm64::execute(cpu, memory, op, word)
}
