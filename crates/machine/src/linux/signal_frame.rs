//! What lies on the stack while a handler runs: `struct rt_sigframe` of AArch64, as handlers and debuggers read it.

use kvrm_arm64::Cpu;
use kvrm_arm64::semantics::system::{FPCR_MASK, FPSR_MASK};

use super::errno;
use super::failure::Failure;
use super::guest::Guest;
use super::signals::{Action, Info, LastFault, SignalStack};
use super::status::Fields;

const SA_SIGINFO: u64 = 4;
const SA_RESTORER: u64 = 0x0400_0000;
const SA_ONSTACK: u64 = 0x0800_0000;

// Where things are in the frame: `siginfo`, then `ucontext`, in which the registers, in which the extensions.
const UCONTEXT: usize = 128;
const STACK: usize = UCONTEXT + 16;
const BLOCKED: usize = UCONTEXT + 40;
const REGISTERS: usize = UCONTEXT + 176;
const SP: usize = REGISTERS + 8 + 31 * 8;
const PC: usize = SP + 8;
const PSTATE: usize = PC + 8;
const EXTENSIONS: usize = REGISTERS + 288;
/// How long it is.
const BYTES: usize = EXTENSIONS + 4096;
/// What a handler needs of stack at least: the frame, the record of frame pointers, and what aligning takes.
pub(super) const STACK_BYTES_MIN: u64 = BYTES as u64 + 32;

// Extensions: the sum of a name and a size, then the contents, up to one whose name and size are 0.
const FPSIMD_MAGIC: u32 = 0x4650_8001;
const FPSIMD_BYTES: usize = 528;
const ESR_MAGIC: u32 = 0x4553_5201;
const ESR_BYTES: usize = 16;

/// What a frame tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) number: u64,
    pub(super) info: &'a Info,
    pub(super) action: Action,
    /// What is blocked after the handler.
    pub(super) blocked: u64,
    pub(super) stack: SignalStack,
    pub(super) fault: LastFault,
    /// Whether the machine has floating point and vectors.
    pub(super) has_vectors: bool,
}

/// Puts a frame on the stack, and has the lane go on in the handler. Unless the lane says otherwise, it returns to
/// `trampoline`.
pub(super) fn push(
    from: &Frame<'_>,
    trampoline: u64,
    guest: &mut Guest<'_>,
    cpu: &mut Cpu,
) -> Result<(), Failure> {
    let Frame { number, info, action, blocked, stack, fault, has_vectors } = *from;
    let is_elsewhere = action.flags & SA_ONSTACK != 0 && stack.is_enabled() && !stack.is_at(cpu.sp);
    let top = if is_elsewhere { stack.start.wrapping_add(stack.bytes) } else { cpu.sp };
    // The caller of the handler, to those who follow frame pointers, is what was interrupted.
    let record = top.wrapping_sub(16) & !15;
    let sp = record.wrapping_sub(BYTES as u64);

    let mut out = Fields([0; BYTES]);
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

/// What a handler has left.
pub(super) struct Interrupted {
    pub(super) cpu: Cpu,
    /// V0 to V31, where there are any.
    pub(super) vectors: Option<[u128; 32]>,
    pub(super) blocked: u64,
    pub(super) stack: SignalStack,
}

/// Takes the frame from the stack of a handler that returns. Whatever of it makes no sense is `EFAULT`.
pub(super) fn pop(guest: &mut Guest<'_>, cpu: &Cpu, has_vectors: bool) -> Result<Interrupted, Failure> {
    /// Of the state: what runs AArch64 code of a user has these zero.
    const MODE: u64 = 0x3df;
    if !cpu.sp.is_multiple_of(16) {
        return Err(errno::EFAULT.into());
    }
    let frame: [u8; BYTES] = guest.array(cpu.sp)?;
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|n| frame[at + n]));
    let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|n| frame[at + n]));
    let mut cpu = cpu.clone();
    for n in 0..31 {
        cpu.set_x(n as u32, word(REGISTERS + 8 + 8 * n));
    }
    (cpu.sp, cpu.pc) = (word(SP), word(PC));
    let state = word(PSTATE);
    cpu.nzcv = (state >> 28) as u32 & 0xf;
    let (mut at, mut vectors) = (EXTENSIONS, None);
    while at + 8 <= BYTES && (half(at), half(at + 4)) != (0, 0) {
        let bytes = half(at + 4) as usize;
        match (half(at), bytes) {
            (FPSIMD_MAGIC, FPSIMD_BYTES) if has_vectors && at + bytes <= BYTES => {
                (cpu.fpsr, cpu.fpcr) = (half(at + 8) & FPSR_MASK, half(at + 12) & FPCR_MASK);
                vectors = Some(std::array::from_fn(|n| {
                    let place = at + 16 + 16 * n;
                    u128::from(word(place + 8)) << 64 | u128::from(word(place))
                }));
            }
            (ESR_MAGIC, ESR_BYTES) => {}
            _ => return Err(errno::EFAULT.into()),
        }
        at += bytes;
    }
    if state & MODE != 0 || vectors.is_some() != has_vectors {
        return Err(errno::EFAULT.into());
    }
    let stack = SignalStack { start: word(STACK), flags: word(STACK + 8), bytes: word(STACK + 16) };
    Ok(Interrupted { cpu, vectors, blocked: word(BLOCKED), stack })
}
