//! Loads and stores of one register, and the addressing modes.

use super::operand::extend_reg;
use super::{sign_extend, truncate};
use crate::{Cpu, Memory, Stop, Word};

/// `EXTEND`: the loaded value is zero-extended.
pub const UNSIGNED: u32 = 0;
/// `EXTEND`: the loaded value is sign-extended to 32 bits.
pub const SIGNED32: u32 = 1;
/// `EXTEND`: the loaded value is sign-extended to 64 bits.
pub const SIGNED64: u32 = 2;

/// `MODE`: base plus an unsigned immediate times the access size.
pub const SCALED_OFFSET: u32 = 0;
/// `MODE`: base plus a signed immediate.
pub const OFFSET: u32 = 1;
/// `MODE`: base; a signed immediate is added to the base register afterwards.
pub const POST_INDEX: u32 = 2;
/// `MODE`: base plus a signed immediate; the sum is written back to the base register.
pub const PRE_INDEX: u32 = 3;
/// `MODE`: base plus an extended and possibly scaled register.
pub const REGISTER_OFFSET: u32 = 4;

/// The address of an access, and the new value of the base register if it changes.
pub(in crate::semantics) struct Address {
    pub(in crate::semantics) address: u64,
    write_back: Option<u64>,
}

impl Address {
    /// Returns the address for base Rn and a byte offset, in one of the immediate modes.
    #[inline(always)]
    pub(in crate::semantics) fn with_offset<const MODE: u32>(cpu: &Cpu, w: Word, offset: i64) -> Self {
        let base = cpu.x_or_sp(w.rn());
        let indexed = base.wrapping_add_signed(offset);
        match MODE {
            POST_INDEX => Self { address: base, write_back: Some(indexed) },
            PRE_INDEX => Self { address: indexed, write_back: Some(indexed) },
            _ => Self { address: indexed, write_back: None },
        }
    }

    /// Returns the address of an access to `bytes` bytes of memory.
    #[inline(always)]
    pub(in crate::semantics) fn of<const MODE: u32>(cpu: &Cpu, w: Word, bytes: usize) -> Self {
        let scale = bytes.trailing_zeros();
        match MODE {
            SCALED_OFFSET => Self::with_offset::<OFFSET>(cpu, w, i64::from(w.imm12()) << scale),
            REGISTER_OFFSET => {
                let index = extend_reg(cpu.x(w.rm()), w.option(), scale * w.s(), 64);
                Self::with_offset::<OFFSET>(cpu, w, index as i64)
            }
            _ => Self::with_offset::<MODE>(cpu, w, w.imm9()),
        }
    }

    /// Writes the base register back, after the access has succeeded. A load into the base register itself is
    /// CONSTRAINED UNPREDICTABLE; here the written-back address wins.
    #[inline(always)]
    pub(in crate::semantics) fn finish(self, cpu: &mut Cpu, w: Word) {
        if let Some(base) = self.write_back {
            cpu.set_x_or_sp(w.rn(), base);
        }
    }
}

/// Reads a little-endian number of up to eight bytes.
#[inline(always)]
pub(super) fn read<const BYTES: usize>(memory: &mut impl Memory, address: u64) -> Result<u64, Stop> {
    let mut bytes = [0; 8];
    bytes[..BYTES].copy_from_slice(&memory.read::<BYTES>(address)?);
    Ok(u64::from_le_bytes(bytes))
}

/// Writes the low bytes of a number, up to eight, in little-endian order.
#[inline(always)]
pub(super) fn write<const BYTES: usize>(
    memory: &mut impl Memory,
    address: u64,
    value: u64,
) -> Result<(), Stop> {
    let mut bytes = [0; BYTES];
    bytes.copy_from_slice(&value.to_le_bytes()[..BYTES]);
    memory.write(address, bytes)
}

/// Returns the low `1 << size` bytes of a value, extended by [`UNSIGNED`], [`SIGNED32`] or [`SIGNED64`].
#[must_use]
#[inline(always)]
pub const fn extend_loaded(value: u64, size: u32, extend: u32) -> u64 {
    let bits = 8 << size;
    match extend {
        UNSIGNED => value & (u64::MAX >> (64 - bits)),
        SIGNED32 => truncate(sign_extend(value, bits), 32),
        _ => sign_extend(value, bits),
    }
}

/// LDR, LDRB, LDRH, LDRSB, LDRSH, LDRSW and their unscaled and unprivileged forms.
#[inline(always)]
pub fn load<const BYTES: usize, const EXTEND: u32, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = Address::of::<MODE>(cpu, w, BYTES);
    let value = read::<BYTES>(memory, address.address)?;
    cpu.set_x(w.rt(), extend_loaded(value, BYTES.ilog2(), EXTEND));
    address.finish(cpu, w);
    Ok(())
}

/// STR, STRB, STRH and their unscaled and unprivileged forms.
#[inline(always)]
pub fn store<const BYTES: usize, const MODE: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = Address::of::<MODE>(cpu, w, BYTES);
    write::<BYTES>(memory, address.address, cpu.x(w.rt()))?;
    address.finish(cpu, w);
    Ok(())
}

/// LDR and LDRSW (literal).
#[inline(always)]
pub fn literal<const BYTES: usize, const EXTEND: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let value = read::<BYTES>(memory, cpu.pc.wrapping_add_signed(w.offset19()))?;
    cpu.set_x(w.rt(), extend_loaded(value, BYTES.ilog2(), EXTEND));
    Ok(())
}

/// PRFM and PRFUM: a hint without effect.
#[inline(always)]
pub fn prefetch(_: &mut Cpu, _: Word) {}
