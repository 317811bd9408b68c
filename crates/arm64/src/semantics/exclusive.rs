//! Exclusive loads and stores, and the local monitor.
//!
//! A store succeeds where the last exclusive load marked the same address and size; either way the mark is
//! gone. The lane's own plain stores leave the mark, which is IMPLEMENTATION DEFINED. A store that the
//! monitor refuses touches no memory, so it faults only on alignment.

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
    // Loading both into the same register is CONSTRAINED UNPREDICTABLE; here the second wins, as in QEMU.
    cpu.set_x(w.rt(), first);
    cpu.set_x(w.rt2(), second);
    cpu.monitor = Some(Monitor { address, bytes: 2 * BYTES as u32 });
    Ok(())
}

/// `ExclusiveMonitorsPass()`: writes through `write` if the monitor allows, and reports in Ws.
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
