//! Armv8.1 atomics (`FEAT_LSE`).
//!
//! An atomic needs permission to read and to write, even if it does not write.

use super::load_store::{read, write};
use super::ordered::aligned_base;
use super::pair::{read_pair, write_pair};
use super::{sign_extend, truncate};
use crate::{Access, Cpu, Memory, Stop, Word};

/// `MemAtomicOp_ADD`.
pub const MEM_ADD: u32 = 0;
/// `MemAtomicOp_BIC`: clears the bits of the operand (LDCLR).
pub const MEM_BIC: u32 = 1;
/// `MemAtomicOp_EOR`.
pub const MEM_EOR: u32 = 2;
/// `MemAtomicOp_ORR` (LDSET).
pub const MEM_ORR: u32 = 3;
/// `MemAtomicOp_SMAX`.
pub const MEM_SMAX: u32 = 4;
/// `MemAtomicOp_SMIN`.
pub const MEM_SMIN: u32 = 5;
/// `MemAtomicOp_UMAX`.
pub const MEM_UMAX: u32 = 6;
/// `MemAtomicOp_UMIN`.
pub const MEM_UMIN: u32 = 7;
/// `MemAtomicOp_SWP`.
pub const MEM_SWP: u32 = 8;

/// Returns the low `8 * bytes` bits of a value.
#[inline(always)]
const fn low(value: u64, bytes: usize) -> u64 {
    value & (u64::MAX >> (64 - 8 * bytes))
}

/// `MemAtomicOp()`: returns the new value in memory. Only its low `bytes` bytes count.
#[must_use]
#[inline(always)]
pub const fn mem_atomic_op(op: u32, old: u64, operand: u64, bytes: usize) -> u64 {
    let bits = 8 * bytes as u32;
    let signed_less = (sign_extend(old, bits) as i64) < (sign_extend(operand, bits) as i64);
    let unsigned_less = low(old, bytes) < low(operand, bytes);
    match op {
        MEM_ADD => old.wrapping_add(operand),
        MEM_BIC => old & !operand,
        MEM_EOR => old ^ operand,
        MEM_ORR => old | operand,
        MEM_SMAX => {
            if signed_less {
                operand
            } else {
                old
            }
        }
        MEM_SMIN => {
            if signed_less {
                old
            } else {
                operand
            }
        }
        MEM_UMAX => {
            if unsigned_less {
                operand
            } else {
                old
            }
        }
        MEM_UMIN => {
            if unsigned_less {
                old
            } else {
                operand
            }
        }
        _ => operand,
    }
}

/// LDADD, LDCLR, LDEOR, LDSET, LDSMAX, LDSMIN, LDUMAX, LDUMIN, SWP in all sizes and orderings.
#[inline(always)]
pub fn memop<const BYTES: usize, const OP: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = aligned_base(cpu, w, BYTES as u64, Access::Read)?;
    let old = read::<BYTES>(memory, address)?;
    write::<BYTES>(memory, address, mem_atomic_op(OP, old, cpu.x(w.rs()), BYTES))?;
    cpu.set_x(w.rt(), old);
    Ok(())
}

/// CAS, CASB, CASH in all orderings.
#[inline(always)]
pub fn compare_and_swap<const BYTES: usize>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = aligned_base(cpu, w, BYTES as u64, Access::Read)?;
    let old = read::<BYTES>(memory, address)?;
    if old == low(cpu.x(w.rs()), BYTES) {
        write::<BYTES>(memory, address, cpu.x(w.rt()))?;
    } else {
        memory.check_write(address, BYTES as u64)?;
    }
    cpu.set_x(w.rs(), old);
    Ok(())
}

/// CASP in all orderings. A pair is an even register and the next odd one; the even one is first in memory.
#[inline(always)]
pub fn compare_and_swap_pair<const BYTES: usize>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = aligned_base(cpu, w, 2 * BYTES as u64, Access::Read)?;
    let old = read_pair::<BYTES>(memory, address)?;
    let datasize = 8 * BYTES as u32;
    let pair = |cpu: &Cpu, n| (truncate(cpu.x(n), datasize), truncate(cpu.x(n + 1), datasize));
    if old == pair(cpu, w.rs()) {
        write_pair::<BYTES>(memory, address, pair(cpu, w.rt()))?;
    } else {
        memory.check_write(address, 2 * BYTES as u64)?;
    }
    cpu.set_x(w.rs(), old.0);
    cpu.set_x(w.rs() + 1, old.1);
    Ok(())
}
