//! Loads and stores of a pair of registers.
//!
//! A pair is one access of twice the size. If its second half faults, the first half is not accessed either.

use super::load_store::{Address, extend_loaded};
use crate::{Cpu, Memory, Stop, Word};

/// Reads two adjacent little-endian numbers of `BYTES` bytes, 4 or 8.
#[inline(always)]
pub(super) fn read_pair<const BYTES: usize>(
    memory: &mut impl Memory,
    address: u64,
) -> Result<(u64, u64), Stop> {
    if BYTES == 4 {
        let both = u64::from_le_bytes(memory.read::<8>(address)?);
        Ok((both & 0xffff_ffff, both >> 32))
    } else {
        let both = u128::from_le_bytes(memory.read::<16>(address)?);
        Ok((both as u64, (both >> 64) as u64))
    }
}

/// Writes two adjacent little-endian numbers of `BYTES` bytes, 4 or 8.
#[inline(always)]
pub(super) fn write_pair<const BYTES: usize>(
    memory: &mut impl Memory,
    address: u64,
    (first, second): (u64, u64),
) -> Result<(), Stop> {
    if BYTES == 4 {
        memory.write(address, (first & 0xffff_ffff | second << 32).to_le_bytes())
    } else {
        memory.write(address, (u128::from(first) | u128::from(second) << 64).to_le_bytes())
    }
}

/// LDP, LDPSW, LDNP.
#[inline(always)]
pub fn load<const BYTES: usize, const EXTEND: u32, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = Address::with_offset::<MODE>(cpu, w, w.imm7() * BYTES as i64);
    let (first, second) = read_pair::<BYTES>(memory, address.address)?;
    // If both registers are the same, the result is CONSTRAINED UNPREDICTABLE; here the first value wins, as in QEMU.
    cpu.set_x(w.rt2(), extend_loaded(second, BYTES.ilog2(), EXTEND));
    cpu.set_x(w.rt(), extend_loaded(first, BYTES.ilog2(), EXTEND));
    address.finish(cpu, w);
    Ok(())
}

/// STP, STNP.
#[inline(always)]
pub fn store<const BYTES: usize, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = Address::with_offset::<MODE>(cpu, w, w.imm7() * BYTES as i64);
    write_pair::<BYTES>(memory, address.address, (cpu.x(w.rt()), cpu.x(w.rt2())))?;
    address.finish(cpu, w);
    Ok(())
}
