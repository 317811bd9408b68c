//! The state that translated code shares with the runner of a lane, besides registers and memory.

use std::mem::offset_of;
use std::sync::atomic::AtomicPtr;

use kvrm_arm64::semantics::flags::{add_with_carry, nz};
use kvrm_arm64::{Cpu, Stop};
use kvrm_machine::AddressSpace;

/// The state of a call of translated code.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Context {
    /// The first slot of the table in which branches look up their target.
    pub(crate) table: *const AtomicPtr<Entry>,
    /// The number of slots minus one.
    pub(crate) mask: u64,
    /// The steps that the lane will have retired when no fuel is left.
    pub(crate) end: u64,
    /// What set the flags; one of the `FLAGS_*`.
    pub(crate) flags: u64,
    /// The operands of what set the flags.
    pub(crate) operands: [u64; 2],
    /// What the last helper returned: 0 if the code has to be left, else the host's address of the bytes that it read,
    /// or just not 0.
    pub(crate) answer: u64,
    /// If the code has to be left, the steps that have retired since the last check.
    pub(crate) retired: u64,
    /// The bytes that a helper has read or will write.
    pub(crate) buffer: [u8; BUFFER_BYTES],
    /// The registers of the lane.
    pub(crate) cpu: *mut Cpu,
    /// The memory of the lane.
    pub(crate) memory: *mut AddressSpace,
    /// The stop, if a helper stopped the lane.
    pub(crate) stop: Option<Stop>,
}

/// The largest access to memory in bytes: a pair of vectors.
pub(crate) const BUFFER_BYTES: usize = 32;

/// The address of a program and the translated code for it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Entry {
    pub(crate) pc: u64,
    /// The host's address of the code.
    pub(crate) code: u64,
}

/// An instruction, as helpers are told: its address, and in the bits above it the steps from the last check up to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site(pub(crate) u64);

impl Site {
    /// The bits of an address.
    const PC_BITS: u32 = 48;

    pub(crate) fn new(pc: u64, steps: u64) -> Self {
        debug_assert!(pc >> Self::PC_BITS == 0 && steps >> (64 - Self::PC_BITS) == 0, "{pc:x} {steps}");
        Self(pc | steps << Self::PC_BITS)
    }

    pub(crate) const fn pc(self) -> u64 {
        self.0 & ((1 << Self::PC_BITS) - 1)
    }

    pub(crate) const fn steps(self) -> u64 {
        self.0 >> Self::PC_BITS
    }
}

/// `flags`: the flags are in the registers of the lane.
pub(crate) const FLAGS_PACKED: u64 = 0;
/// `flags`: the flags of a difference of 32 bits.
pub(crate) const FLAGS_SUB_32: u64 = 1;
/// `flags`: the flags of a difference of 64 bits.
pub(crate) const FLAGS_SUB_64: u64 = 2;
/// `flags`: the flags of a sum of 32 bits.
pub(crate) const FLAGS_ADD_32: u64 = 3;
/// `flags`: the flags of a sum of 64 bits.
pub(crate) const FLAGS_ADD_64: u64 = 4;
/// `flags`: N and Z of the first operand, which has 32 bits; C and V are clear.
pub(crate) const FLAGS_LOGIC_32: u64 = 5;
/// `flags`: N and Z of the first operand, which has 64 bits; C and V are clear.
pub(crate) const FLAGS_LOGIC_64: u64 = 6;

/// Returns the offset of a field of [`Context`], for code that is generated.
macro_rules! context_offset {
    ($field:ident) => {
        i32::try_from(offset_of!(Context, $field)).unwrap_or(i32::MAX)
    };
}

/// The offsets of the fields of [`Context`] in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offsets {
    pub(crate) table: i32,
    pub(crate) mask: i32,
    pub(crate) end: i32,
    pub(crate) flags: i32,
    pub(crate) operands: i32,
    pub(crate) answer: i32,
    pub(crate) retired: i32,
    pub(crate) buffer: i32,
}

/// Returns the offsets of the fields of [`Context`] in bytes.
pub(crate) fn offsets() -> Offsets {
    Offsets {
        table: context_offset!(table),
        mask: context_offset!(mask),
        end: context_offset!(end),
        flags: context_offset!(flags),
        operands: context_offset!(operands),
        answer: context_offset!(answer),
        retired: context_offset!(retired),
        buffer: context_offset!(buffer),
    }
}

impl Context {
    /// Returns the flags of what set them last, or `None` if the registers of the lane have them.
    pub(crate) fn nzcv(&self) -> Option<u32> {
        let [a, b] = self.operands;
        match self.flags {
            FLAGS_SUB_32 => Some(add_with_carry(a, !b & u64::from(u32::MAX), 1, 32).nzcv),
            FLAGS_SUB_64 => Some(add_with_carry(a, !b, 1, 64).nzcv),
            FLAGS_ADD_32 => Some(add_with_carry(a, b, 0, 32).nzcv),
            FLAGS_ADD_64 => Some(add_with_carry(a, b, 0, 64).nzcv),
            FLAGS_LOGIC_32 => Some(nz(a, false)),
            FLAGS_LOGIC_64 => Some(nz(a, true)),
            _ => None,
        }
    }
}
