//! Load-acquire and store-release.
//!
//! No other lane or device sees the memory of a lane, so all accesses are ordered. These accesses must be aligned, and
//! so must exclusives and atomics.

use super::load_store::{extend_loaded, read, write};
use crate::{Access, Cpu, Fault, FaultKind, Memory, Stop, Word};

/// Returns the base address, which must be a multiple of `bytes`.
///
/// # Errors
/// An alignment fault if it is not.
#[inline(always)]
pub(super) fn aligned_base(cpu: &Cpu, w: Word, bytes: u64, access: Access) -> Result<u64, Stop> {
    aligned(cpu.x_or_sp(w.rn()), bytes, access)
}

/// Returns an address, which must be a multiple of `bytes`.
#[inline(always)]
fn aligned(address: u64, bytes: u64, access: Access) -> Result<u64, Stop> {
    if address.is_multiple_of(bytes) {
        Ok(address)
    } else {
        Err(Fault { kind: FaultKind::Alignment, access, address }.into())
    }
}

/// LDAR, LDARB, LDARH; LDAPR, LDAPRB, LDAPRH.
#[inline(always)]
pub fn load<const BYTES: usize>(cpu: &mut Cpu, memory: &mut impl Memory, w: Word) -> Result<(), Stop> {
    let address = aligned_base(cpu, w, BYTES as u64, Access::Read)?;
    let value = read::<BYTES>(memory, address)?;
    cpu.set_x(w.rt(), value);
    Ok(())
}

/// STLR, STLRB, STLRH.
#[inline(always)]
pub fn store<const BYTES: usize>(cpu: &mut Cpu, memory: &mut impl Memory, w: Word) -> Result<(), Stop> {
    let address = aligned_base(cpu, w, BYTES as u64, Access::Write)?;
    write::<BYTES>(memory, address, cpu.x(w.rt()))
}

/// LDAPUR and its variants.
#[inline(always)]
pub fn load_offset<const BYTES: usize, const EXTEND: u32>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = cpu.x_or_sp(w.rn()).wrapping_add_signed(w.imm9());
    let address = aligned(address, BYTES as u64, Access::Read)?;
    let value = read::<BYTES>(memory, address)?;
    cpu.set_x(w.rt(), extend_loaded(value, BYTES.trailing_zeros(), EXTEND));
    Ok(())
}

/// STLUR, STLURB, STLURH.
#[inline(always)]
pub fn store_offset<const BYTES: usize>(
    cpu: &mut Cpu,
    memory: &mut impl Memory,
    w: Word,
) -> Result<(), Stop> {
    let address = cpu.x_or_sp(w.rn()).wrapping_add_signed(w.imm9());
    let address = aligned(address, BYTES as u64, Access::Write)?;
    write::<BYTES>(memory, address, cpu.x(w.rt()))
}
