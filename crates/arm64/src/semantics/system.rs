//! Exceptions, hints, barriers, system registers and system instructions, as EL0 sees them.

use crate::sysreg::{El0, SystemRegister, register};
use crate::{Cpu, Fault, Memory, Stop, Word};

/// The bytes that DC ZVA clears, as `DCZID_EL0.BS` says.
pub const ZVA_BYTES: usize = 64;
/// The value of `CNTFRQ_EL0`, in Hz. The counter advances by one each step, so a step takes a nanosecond of guest time.
pub const COUNTER_HZ: u64 = 1_000_000_000;
/// The value of `CTR_EL0`: 64-byte lines, virtually indexed and physically tagged instruction cache, as a Cortex-A53.
pub const CTR_EL0: u64 = 0x8444_8004;
/// The value of `DCZID_EL0`: DC ZVA permitted, blocks of 2^4 words.
pub const DCZID_EL0: u64 = 4;
/// The implemented bits of FPCR: AHP, DN, FZ, `RMode` and FZ16. Exception traps are not implemented.
pub const FPCR_MASK: u32 = 0x07c8_0000;
/// PSTATE.SSBS, where MRS and MSR have it.
pub const PSTATE_SSBS: u32 = 1 << 12;
/// PSTATE.DIT, where MRS and MSR have it.
pub const PSTATE_DIT: u32 = 1 << 24;
/// The fields of PSTATE that EL0 can write, besides the flags. They affect time only, so they have no other effect.
pub const PSTATE_MASK: u32 = PSTATE_SSBS | PSTATE_DIT;
/// The implemented bits of FPSR: QC and the cumulative exception flags.
pub const FPSR_MASK: u32 = 0x0800_009f;

/// Stops the lane, for encodings that are UNDEFINED at EL0.
pub fn undefined(_: &mut Cpu, w: Word) -> Result<(), Stop> {
    Err(Stop::Undefined { word: w.0 })
}

/// SVC. It retires, and then stops the lane.
pub fn svc(cpu: &mut Cpu, w: Word) -> Result<(), Stop> {
    cpu.pc = cpu.pc.wrapping_add(4);
    cpu.steps += 1;
    Err(Stop::Syscall { imm: w.imm16() as u16 })
}

/// BRK.
pub fn brk(_: &mut Cpu, w: Word) -> Result<(), Stop> {
    Err(Stop::Breakpoint { imm: w.imm16() as u16 })
}

/// HLT.
pub fn hlt(_: &mut Cpu, w: Word) -> Result<(), Stop> {
    Err(Stop::Halt { imm: w.imm16() as u16 })
}

/// Hints and barriers. They have no effect, because a lane shares no memory and receives no events.
#[inline(always)]
pub fn nop(_: &mut Cpu, _: Word) {}

/// CLREX.
#[inline(always)]
pub fn clrex(cpu: &mut Cpu, _: Word) {
    cpu.monitor = None;
}

/// MRS.
pub fn mrs(cpu: &mut Cpu, w: Word) -> Result<(), Stop> {
    let value = match readable(w)?.name {
        "nzcv" => u64::from(cpu.nzcv & 15) << 28,
        "dit" => u64::from(cpu.pstate & PSTATE_DIT),
        "ssbs" => u64::from(cpu.pstate & PSTATE_SSBS),
        "fpcr" => u64::from(cpu.fpcr),
        "fpsr" => u64::from(cpu.fpsr),
        "tpidr_el0" => cpu.tpidr_el0,
        "tpidrro_el0" => cpu.tpidrro_el0,
        "ctr_el0" => CTR_EL0,
        "dczid_el0" => DCZID_EL0,
        "cntfrq_el0" => COUNTER_HZ,
        "cntvct_el0" => cpu.steps,
        _ => return undefined(cpu, w),
    };
    cpu.set_x(w.rt(), value);
    Ok(())
}

/// Returns the register that an MRS names, if EL0 may read it.
fn readable(w: Word) -> Result<&'static SystemRegister, Stop> {
    register(w.sysreg()).filter(|r| r.el0 != El0::None).ok_or(Stop::Undefined { word: w.0 })
}

/// MSR (register).
pub fn msr(cpu: &mut Cpu, w: Word) -> Result<(), Stop> {
    let value = cpu.x(w.rt());
    let register = register(w.sysreg()).filter(|r| r.el0 == El0::ReadWrite);
    match register.ok_or(Stop::Undefined { word: w.0 })?.name {
        "nzcv" => cpu.nzcv = (value >> 28) as u32 & 15,
        "dit" => set_pstate(cpu, PSTATE_DIT, value),
        "ssbs" => set_pstate(cpu, PSTATE_SSBS, value),
        "fpcr" => cpu.fpcr = value as u32 & FPCR_MASK,
        "fpsr" => cpu.fpsr = value as u32 & FPSR_MASK,
        "tpidr_el0" => cpu.tpidr_el0 = value,
        _ => return undefined(cpu, w),
    }
    Ok(())
}

/// Replaces a field of PSTATE by that of a value.
const fn set_pstate(cpu: &mut Cpu, field: u32, value: u64) {
    cpu.pstate = cpu.pstate & !field | value as u32 & field;
}

/// Returns the field of PSTATE that an MSR (immediate) may write at EL0.
#[must_use]
pub const fn pstate_field(w: Word) -> Option<u32> {
    match (w.op1(), w.op2()) {
        (3, 1) => Some(PSTATE_SSBS),
        (3, 2) => Some(PSTATE_DIT),
        _ => None,
    }
}

/// MSR (immediate). EL0 may write SSBS and DIT.
pub fn msr_immediate(cpu: &mut Cpu, w: Word) -> Result<(), Stop> {
    let field = pstate_field(w).ok_or(Stop::Undefined { word: w.0 })?;
    set_pstate(cpu, field, if w.crm() & 1 == 1 { u64::MAX } else { 0 });
    Ok(())
}

/// SYS. EL0 has DC ZVA and cache maintenance, which only checks the address, because no caches are visible.
pub fn sys(cpu: &mut Cpu, memory: &mut impl Memory, w: Word) -> Result<(), Stop> {
    let address = cpu.x(w.rt());
    match (w.op1(), w.crn(), w.crm(), w.op2()) {
        // DC ZVA. A fault reports the address in Xt, not the address of the block.
        (3, 7, 4, 1) => {
            let block = address & !(ZVA_BYTES as u64 - 1);
            memory.write(block, [0; ZVA_BYTES]).map_err(|stop| match stop {
                Stop::Fault(fault) => Stop::Fault(Fault { address, ..fault }),
                other => other,
            })
        }
        // IC IVAU, DC CVAC, DC CVAU, DC CIVAC
        (3, 7, 5 | 10 | 11 | 14, 1) => memory.check_read(address),
        _ => Err(Stop::Undefined { word: w.0 }),
    }
}
