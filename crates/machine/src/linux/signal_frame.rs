//! The signal frame: `struct rt_sigframe` of AArch64, which lies on the stack while a handler runs.
//!
//! Handlers and debuggers read it, and a handler may change it.

use kvrm_arm64::Cpu;
use kvrm_arm64::semantics::system::{FPCR_MASK, FPSR_MASK};

use super::errno;
use super::failure::Failure;
use super::fields::Fields;
use super::guest::Guest;
use super::signals::{Action, LastFault, SigInfo, SignalStack};

const SA_SIGINFO: u64 = 4;
const SA_RESTORER: u64 = 0x0400_0000;
const SA_ONSTACK: u64 = 0x0800_0000;

// Offsets in the frame. It holds `siginfo`, then `ucontext`; that holds the registers (`sigcontext`), and those are
// followed by the extension records.
const UCONTEXT: usize = 128;
const STACK: usize = UCONTEXT + 16;
const BLOCKED: usize = UCONTEXT + 40;
const REGISTERS: usize = UCONTEXT + 176;
const SP: usize = REGISTERS + 8 + 31 * 8;
const PC: usize = SP + 8;
const PSTATE: usize = PC + 8;
const EXTENSIONS: usize = REGISTERS + 288;
/// The size of the frame.
const FRAME_BYTES: usize = EXTENSIONS + 4096;
/// The smallest stack for a handler (`AT_MINSIGSTKSZ`): the frame, a frame record (X29 and X30), and alignment.
pub(super) const STACK_BYTES_MIN: u64 = FRAME_BYTES as u64 + 32;

// Extension records: magic number, size including this header, contents. Magic number 0 and size 0 end the list.
const FPSIMD_MAGIC: u32 = 0x4650_8001;
const FPSIMD_BYTES: usize = 528;
const ESR_MAGIC: u32 = 0x4553_5201;
const ESR_BYTES: usize = 16;

/// The contents of a signal frame to push, apart from the registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    /// The signal number.
    pub(super) number: u64,
    pub(super) info: &'a SigInfo,
    pub(super) action: Action,
    /// The signal mask to restore after the handler.
    pub(super) blocked: u64,
    pub(super) stack: SignalStack,
    pub(super) fault: LastFault,
    /// Whether the machine has floating point and vectors.
    pub(super) has_vectors: bool,
}

/// Pushes a frame on the stack and sets the registers for the start of the handler.
///
/// The handler returns to `trampoline`, unless its action has a restorer.
pub(super) fn push(
    from: &Frame<'_>,
    trampoline: u64,
    guest: &mut Guest<'_>,
    cpu: &mut Cpu,
) -> Result<(), Failure> {
    let Frame { number, info, action, blocked, stack, fault, has_vectors } = *from;
    let switches_stack = action.flags & SA_ONSTACK != 0 && stack.is_enabled() && !stack.contains(cpu.sp);
    let top = if switches_stack { stack.start.wrapping_add(stack.bytes) } else { cpu.sp };
    // A frame record above the frame makes the interrupted code the caller of the handler in backtraces.
    let record = top.wrapping_sub(16) & !15;
    let sp = record.wrapping_sub(FRAME_BYTES as u64);

    let mut out = Fields([0; FRAME_BYTES]);
    out.0[..UCONTEXT].copy_from_slice(info);
    let words = [stack.start, stack.flags, stack.bytes, blocked];
    (STACK..).step_by(8).zip(words).for_each(|(at, word)| out.u64(at, word));
    out.u64(REGISTERS, fault.address);
    for n in 0..31 {
        out.u64(REGISTERS + 8 + 8 * n, cpu.x(n as u32));
    }
    out.u64(SP, cpu.sp);
    out.u64(PC, cpu.pc);
    out.u64(PSTATE, u64::from(cpu.nzcv) << 28);
    let mut at = EXTENSIONS;
    if has_vectors {
        out.u32(at, FPSIMD_MAGIC);
        out.u32(at + 4, FPSIMD_BYTES as u32);
        out.u32(at + 8, cpu.fpsr);
        out.u32(at + 12, cpu.fpcr);
        for (place, value) in out.0[at + 16..].chunks_exact_mut(16).zip(guest.lane.vectors()?) {
            place.copy_from_slice(&value.to_le_bytes());
        }
        at += FPSIMD_BYTES;
    }
    if fault.syndrome != 0 {
        out.u32(at, ESR_MAGIC);
        out.u32(at + 4, ESR_BYTES as u32);
        out.u64(at + 8, fault.syndrome);
    }
    guest.write(sp, &[&out.0[..], &cpu.x(29).to_le_bytes(), &cpu.x(30).to_le_bytes()].concat())?;

    cpu.set_x(0, number);
    if action.flags & SA_SIGINFO != 0 {
        cpu.set_x(1, sp);
        cpu.set_x(2, sp + UCONTEXT as u64);
    }
    cpu.set_x(29, record);
    cpu.set_x(30, if action.flags & SA_RESTORER != 0 { action.restorer } else { trampoline });
    (cpu.sp, cpu.pc) = (sp, action.handler);
    Ok(())
}

/// The state that a signal frame restores.
pub(super) struct RestoredContext {
    pub(super) cpu: Cpu,
    /// V0 to V31, if the machine has floating point and vectors.
    pub(super) vectors: Option<[u128; 32]>,
    /// The signal mask.
    pub(super) blocked: u64,
    pub(super) stack: SignalStack,
}

/// Reads the frame at SP when a handler returns. An invalid frame is `EFAULT`.
pub(super) fn pop(guest: &mut Guest<'_>, cpu: &Cpu, has_vectors: bool) -> Result<RestoredContext, Failure> {
    /// The bits of PSTATE that have to be zero: exception masks, AArch32 state and exception level.
    const NOT_USER: u64 = 0x3df;
    if !cpu.sp.is_multiple_of(16) {
        return Err(errno::EFAULT.into());
    }
    let frame: [u8; FRAME_BYTES] = guest.array(cpu.sp)?;
    let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| frame[at + n]));
    let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|n| frame[at + n]));
    let mut cpu = cpu.clone();
    for n in 0..31 {
        cpu.set_x(n as u32, u64_at(REGISTERS + 8 + 8 * n));
    }
    (cpu.sp, cpu.pc) = (u64_at(SP), u64_at(PC));
    let state = u64_at(PSTATE);
    cpu.nzcv = (state >> 28) as u32 & 0xf;
    let (mut at, mut vectors) = (EXTENSIONS, None);
    while at + 8 <= FRAME_BYTES && (u32_at(at), u32_at(at + 4)) != (0, 0) {
        let bytes = u32_at(at + 4) as usize;
        match (u32_at(at), bytes) {
            (FPSIMD_MAGIC, FPSIMD_BYTES) if has_vectors && at + bytes <= FRAME_BYTES => {
                (cpu.fpsr, cpu.fpcr) = (u32_at(at + 8) & FPSR_MASK, u32_at(at + 12) & FPCR_MASK);
                vectors = Some(std::array::from_fn(|n| {
                    let place = at + 16 + 16 * n;
                    u128::from(u64_at(place + 8)) << 64 | u128::from(u64_at(place))
                }));
            }
            (ESR_MAGIC, ESR_BYTES) => {}
            _ => return Err(errno::EFAULT.into()),
        }
        at += bytes;
    }
    if state & NOT_USER != 0 || vectors.is_some() != has_vectors {
        return Err(errno::EFAULT.into());
    }
    let stack = SignalStack { start: u64_at(STACK), flags: u64_at(STACK + 8), bytes: u64_at(STACK + 16) };
    Ok(RestoredContext { cpu, vectors, blocked: u64_at(BLOCKED), stack })
}
