//! Loads and stores of SIMD&FP registers.

use super::vector::{set_v, v};
use crate::semantics::load_store::Address;
use crate::{Cpu, Memory, Stop, Word};

/// Reads a little-endian number of up to sixteen bytes.
#[inline(always)]
pub(super) fn read<const BYTES: usize>(memory: &mut impl Memory, address: u64) -> Result<u128, Stop> {
    let mut bytes = [0; 16];
    bytes[..BYTES].copy_from_slice(&memory.read::<BYTES>(address)?);
    Ok(u128::from_le_bytes(bytes))
}

/// Writes the low bytes of a number in little-endian order.
#[inline(always)]
pub(super) fn write<const BYTES: usize>(
    memory: &mut impl Memory,
    address: u64,
    value: u128,
) -> Result<(), Stop> {
    let mut bytes = [0; BYTES];
    bytes.copy_from_slice(&value.to_le_bytes()[..BYTES]);
    memory.write(address, bytes)
}

/// LDR and LDUR.
pub fn load<const BYTES: usize, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = Address::of::<MODE>(cpu, w, BYTES);
    let value = read::<BYTES>(memory, address.address)?;
    set_v(cpu, w.rt(), value);
    address.finish(cpu, w);
    Ok(())
}

/// STR and STUR.
pub fn store<const BYTES: usize, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = Address::of::<MODE>(cpu, w, BYTES);
    write::<BYTES>(memory, address.address, v(cpu, w.rt()))?;
    address.finish(cpu, w);
    Ok(())
}

/// LDR (literal).
pub fn literal<const BYTES: usize>(cpu: &mut Cpu, memory: &mut impl Memory, w: Word) -> Result<(), Stop> {
    let value = read::<BYTES>(memory, cpu.pc.wrapping_add_signed(w.offset19()))?;
    set_v(cpu, w.rt(), value);
    Ok(())
}

/// LDP and LDNP. Both registers are one access.
pub fn load_pair<const BYTES: usize, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = Address::with_offset::<MODE>(cpu, w, w.imm7() * BYTES as i64);
    let at = address.address;
    let (first, second) = match BYTES {
        16 => {
            let both = memory.read::<32>(at)?;
            let half = |from: usize| {
                let mut bytes = [0; 16];
                bytes.copy_from_slice(&both[from..from + 16]);
                u128::from_le_bytes(bytes)
            };
            (half(0), half(16))
        }
        8 => {
            let both = read::<16>(memory, at)?;
            (both & u128::from(u64::MAX), both >> 64)
        }
        _ => {
            let both = read::<8>(memory, at)?;
            (both & u128::from(u32::MAX), both >> 32)
        }
    };
    // If both registers are the same, the result is CONSTRAINED UNPREDICTABLE; here the second value wins.
    set_v(cpu, w.rt(), first);
    set_v(cpu, w.rt2(), second);
    address.finish(cpu, w);
    Ok(())
}

/// STP and STNP. Both registers are one access.
pub fn store_pair<const BYTES: usize, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = Address::with_offset::<MODE>(cpu, w, w.imm7() * BYTES as i64);
    let (at, first, second) = (address.address, v(cpu, w.rt()), v(cpu, w.rt2()));
    match BYTES {
        16 => {
            let mut both = [0; 32];
            both[..16].copy_from_slice(&first.to_le_bytes());
            both[16..].copy_from_slice(&second.to_le_bytes());
            memory.write(at, both)?;
        }
        8 => write::<16>(memory, at, first & u128::from(u64::MAX) | second << 64)?,
        _ => write::<8>(memory, at, first & u128::from(u32::MAX) | second << 32)?,
    }
    address.finish(cpu, w);
    Ok(())
}
