//! Exclusive loads and stores, and the local monitor.
//!
//! An exclusive store succeeds if the monitor has its address and size from the last exclusive load. In either case it
//! clears the monitor. Other stores of the lane do not clear it, which is IMPLEMENTATION DEFINED. An exclusive store
//! that fails does not access memory, so it faults only on alignment.

use super::load_store::{read, write};
use super::ordered::aligned_base;
use super::pair::{read_pair, write_pair};
use crate::{Access, Cpu, Memory, Monitor, Stop, Word};

/// LDXR, LDAXR and their byte and halfword forms.
#[inline(always)]
pub fn load<const BYTES: usize>(cpu: &mut Cpu, memory: &mut impl Memory, w: Word) -> Result<(), Stop> {
    let address = aligned_base(cpu, w, BYTES as u64, Access::Read)?;
    let value = read::<BYTES>(memory, address)?;
    cpu.set_x(w.rt(), value);
    cpu.monitor = Some(Monitor { address, bytes: BYTES as u32 });
    Ok(())
}

/// LDXP, LDAXP.
#[inline(always)]
pub fn load_pair<const BYTES: usize>(cpu: &mut Cpu, memory: &mut impl Memory, w: Word) -> Result<(), Stop> {
    let address = aligned_base(cpu, w, 2 * BYTES as u64, Access::Read)?;
    let (first, second) = read_pair::<BYTES>(memory, address)?;
    // If both registers are the same, the result is CONSTRAINED UNPREDICTABLE; here the second value wins, as in QEMU.
    cpu.set_x(w.rt(), first);
    cpu.set_x(w.rt2(), second);
    cpu.monitor = Some(Monitor { address, bytes: 2 * BYTES as u32 });
    Ok(())
}

/// `ExclusiveMonitorsPass()`: calls `write` if the monitor permits it, and sets Ws to 0 on success and 1 on failure.
#[inline(always)]
fn store_exclusive(
    cpu: &mut Cpu,
    w: Word,
    bytes: u32,
    write: impl FnOnce(&Cpu, u64) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let address = aligned_base(cpu, w, u64::from(bytes), Access::Write)?;
    let passes = cpu.monitor == Some(Monitor { address, bytes });
    if passes {
        write(cpu, address)?;
    }
    cpu.monitor = None;
    cpu.set_x(w.rs(), u64::from(!passes));
    Ok(())
}

/// STXR, STLXR and their byte and halfword forms.
#[inline(always)]
pub fn store<const BYTES: usize>(cpu: &mut Cpu, memory: &mut impl Memory, w: Word) -> Result<(), Stop> {
    store_exclusive(cpu, w, BYTES as u32, |cpu, address| write::<BYTES>(memory, address, cpu.x(w.rt())))
}

/// STXP, STLXP.
#[inline(always)]
pub fn store_pair<const BYTES: usize>(cpu: &mut Cpu, memory: &mut impl Memory, w: Word) -> Result<(), Stop> {
    store_exclusive(cpu, w, 2 * BYTES as u32, |cpu, address| {
        write_pair::<BYTES>(memory, address, (cpu.x(w.rt()), cpu.x(w.rt2())))
    })
}
