//! Load-acquire and store-release.
//!
//! No other lane or device sees the memory of a lane, so all accesses are ordered. These accesses must be aligned, and
//! so must exclusives and atomics.

use super::load_store::{read, write};
use crate::{Access, Cpu, Fault, FaultKind, Memory, Stop, Word};

/// Returns the base address, which must be a multiple of `bytes`.
///
/// # Errors
/// An alignment fault if it is not.
#[inline(always)]
pub(super) fn aligned_base(cpu: &Cpu, w: Word, bytes: u64, access: Access) -> Result<u64, Stop> {
    let address = cpu.x_or_sp(w.rn());
    if address.is_multiple_of(bytes) {
        Ok(address)
    } else {
        Err(Fault { kind: FaultKind::Alignment, access, address }.into())
    }
}

/// LDAR, LDARB, LDARH.
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
