//! System calls on signals.

use super::call::Call;
use super::errno::{EAGAIN, EDEADLK, EFAULT, EINTR, EINVAL, ENOMEM, EPERM, ESRCH};
use super::failure::{CallResult, Failure};
use super::process_calls::PROCESS;
use super::signal_frame;
use super::signals::{
    Action, SIGNAL_MAX, SIGSEGV, SS_AUTODISARM, SS_DISABLE, SS_ONSTACK, SigInfo, SignalStack, UNBLOCKABLE,
    siginfo,
};

/// The `si_code` of signals sent by `kill`.
const SI_USER: i32 = 0;
/// The `si_code` of signals sent by `tkill` and `tgkill`.
const SI_TKILL: i32 = -6;
/// The `si_code` of signals that Linux itself sends.
const SI_KERNEL: i32 = 0x80;

impl Call<'_> {
    /// Sends a signal to the lane itself. Number 0 sends nothing and only checks that sending is possible.
    fn send(&mut self, number: u64, info: SigInfo) -> CallResult {
        match number & 0xffff_ffff {
            0 => Ok(0),
            number @ 1..=SIGNAL_MAX => self.process.signals.send(number, info),
            _ => Err(EINVAL.into()),
        }
    }

    /// Reads a signal mask; its size has to be 8 bytes.
    fn mask(&mut self, address: u64, bytes: u64) -> Result<u64, Failure> {
        if bytes == 8 { self.guest.read_u64(address) } else { Err(EINVAL.into()) }
    }
}

/// Returns the information for a signal that a process has sent. The sender is always the only process.
fn user_siginfo(number: u64, code: i32) -> SigInfo {
    siginfo(number, code, PROCESS)
}

/// Checks that a number is the ID of the only process and thread.
fn check_own(number: u64) -> Result<(), Failure> {
    if u64::from(number as u32) == PROCESS { Ok(()) } else { Err(ESRCH.into()) }
}

pub(super) fn kill(call: &mut Call<'_>) -> CallResult {
    let [process, signal, ..] = call.x;
    // 1 is the process, 0 its process group, -1 every process.
    if !matches!(process as i32, -1..=1) {
        return Err(ESRCH.into());
    }
    call.send(signal, user_siginfo(signal, SI_USER))
}

pub(super) fn tkill(call: &mut Call<'_>) -> CallResult {
    let [thread, signal, ..] = call.x;
    check_own(thread)?;
    call.send(signal, user_siginfo(signal, SI_TKILL))
}

pub(super) fn tgkill(call: &mut Call<'_>) -> CallResult {
    let [process, thread, signal, ..] = call.x;
    check_own(process)?;
    check_own(thread)?;
    call.send(signal, user_siginfo(signal, SI_TKILL))
}

pub(super) fn rt_sigqueueinfo(call: &mut Call<'_>) -> CallResult {
    let [process, signal, address, ..] = call.x;
    check_own(process)?;
    let mut info: SigInfo = call.guest.array(address)?;
    info[..4].copy_from_slice(&(signal as u32).to_le_bytes());
    call.send(signal, info)
}

pub(super) fn rt_tgsigqueueinfo(call: &mut Call<'_>) -> CallResult {
    check_own(call.x[0])?;
    call.x.rotate_left(1);
    rt_sigqueueinfo(call)
}

pub(super) fn rt_sigaction(call: &mut Call<'_>) -> CallResult {
    let [signal, new, old, bytes, ..] = call.x;
    if bytes != 8 || signal == 0 || signal > SIGNAL_MAX {
        return Err(EINVAL.into());
    }
    let action = if new == 0 {
        None
    } else {
        if UNBLOCKABLE & 1 << (signal - 1) != 0 {
            return Err(EINVAL.into());
        }
        let [handler, flags, restorer, mask] = call.doublewords(new)?;
        Some(Action { handler, flags, restorer, mask })
    };
    let Action { handler, flags, restorer, mask } = call.process.signals.action(signal);
    call.guest.write_optional(old, &[handler, flags, restorer, mask].map(u64::to_le_bytes).concat())?;
    if let Some(action) = action {
        call.process.signals.set_action(signal, action);
    }
    Ok(0)
}

pub(super) fn rt_sigprocmask(call: &mut Call<'_>) -> CallResult {
    const SIG_BLOCK: u32 = 0;
    const SIG_UNBLOCK: u32 = 1;
    const SIG_SETMASK: u32 = 2;
    let [how, new, old, bytes, ..] = call.x;
    if bytes != 8 {
        return Err(EINVAL.into());
    }
    let before = call.process.signals.blocked;
    let blocked = match (new, how as u32) {
        (0, _) => before,
        (_, SIG_BLOCK) => before | call.guest.read_u64(new)?,
        (_, SIG_UNBLOCK) => before & !call.guest.read_u64(new)?,
        (_, SIG_SETMASK) => call.guest.read_u64(new)?,
        _ => return Err(EINVAL.into()),
    };
    call.guest.write_optional(old, &before.to_le_bytes())?;
    call.process.signals.blocked = blocked & !UNBLOCKABLE;
    Ok(0)
}

pub(super) fn rt_sigpending(call: &mut Call<'_>) -> CallResult {
    let [address, bytes, ..] = call.x;
    if bytes > 8 {
        return Err(EINVAL.into());
    }
    let pending = call.process.signals.pending_mask() & call.process.signals.blocked;
    call.guest.write(address, &pending.to_le_bytes()[..bytes as usize])?;
    Ok(0)
}

pub(super) fn rt_sigsuspend(call: &mut Call<'_>) -> CallResult {
    let mask = call.mask(call.x[0], call.x[1])? & !UNBLOCKABLE;
    let signals = &mut call.process.signals;
    let before = std::mem::replace(&mut signals.blocked, mask);
    if !signals.has_deliverable() {
        signals.blocked = before;
        return Err(EDEADLK.into());
    }
    signals.saved_mask = Some(before);
    Err(EINTR.into())
}

pub(super) fn rt_sigtimedwait(call: &mut Call<'_>) -> CallResult {
    let [mask, info_address, timeout, bytes, ..] = call.x;
    let mask = call.mask(mask, bytes)? & !UNBLOCKABLE;
    let timeout = call.optional_duration(timeout)?;
    let Some((number, info)) = call.process.signals.dequeue(mask) else {
        call.sleep(timeout.ok_or(EDEADLK)?);
        return Err(EAGAIN.into());
    };
    call.guest.write_optional(info_address, &info)?;
    Ok(number)
}

pub(super) fn rt_sigreturn(call: &mut Call<'_>) -> CallResult {
    let has_vectors = call.process.settings.features.fp;
    match signal_frame::pop(&mut call.guest, call.cpu, has_vectors) {
        Ok(signal_frame::RestoredContext { cpu, vectors, blocked, stack }) => {
            if let Some(vectors) = vectors {
                call.guest.lane.set_vectors(&vectors)?;
            }
            *call.cpu = cpu;
            call.process.signals.blocked = blocked & !UNBLOCKABLE;
            // Linux ignores an invalid signal stack in the frame, too.
            let _ = set_stack(call, stack);
            Ok(call.cpu.x(0))
        }
        Err(Failure::Errno(_)) => {
            let signals = &mut call.process.signals;
            let is_blocked = signals.blocked & 1 << (SIGSEGV - 1) != 0;
            // If SIGSEGV cannot be handled, the lane has nowhere to continue, even if it ignores the signal.
            if is_blocked || signals.action(SIGSEGV).handler <= 1 {
                return Err(Failure::killed_by(SIGSEGV));
            }
            signals.send(SIGSEGV, siginfo(SIGSEGV, SI_KERNEL, 0))?;
            Ok(call.cpu.x(0))
        }
        Err(failure) => Err(failure),
    }
}

/// Replaces the alternate signal stack, unless the lane is running on it.
fn set_stack(call: &mut Call<'_>, new: SignalStack) -> CallResult {
    /// The smallest stack that Linux accepts.
    const MINSIGSTKSZ: u64 = 5120;
    let old = call.process.signals.stack;
    if old.contains(call.cpu.sp) {
        return Err(EPERM.into());
    }
    // `ss_flags` has 32 bits; the rest is padding.
    let flags = new.flags & 0xffff_ffff;
    call.process.signals.stack = match flags & !SS_AUTODISARM {
        SS_DISABLE => SignalStack { flags, ..SignalStack::NONE },
        0 | SS_ONSTACK if new.bytes < MINSIGSTKSZ => return Err(ENOMEM.into()),
        0 | SS_ONSTACK => SignalStack { flags, ..new },
        _ => return Err(EINVAL.into()),
    };
    Ok(0)
}

pub(super) fn sigaltstack(call: &mut Call<'_>) -> CallResult {
    let [new, old, ..] = call.x;
    let wanted = if new == 0 { None } else { Some(call.doublewords::<3>(new)?) };
    let SignalStack { start, flags, bytes } = call.process.signals.stack;
    if old != 0 && call.guest.writable(old, 24)? < 24 {
        // Check the address of the result before changing anything.
        return Err(EFAULT.into());
    }
    let is_on = call.process.signals.stack.contains(call.cpu.sp);
    if let Some([start, flags, bytes]) = wanted {
        set_stack(call, SignalStack { start, flags, bytes })?;
    }
    let state = match bytes {
        0 => SS_DISABLE,
        _ if is_on => SS_ONSTACK,
        _ => 0,
    };
    let stack = [start, state | flags & SS_AUTODISARM, bytes];
    call.guest.write_optional(old, &stack.map(u64::to_le_bytes).concat())?;
    Ok(0)
}

impl Call<'_> {
    /// Reads `N` consecutive doublewords.
    fn doublewords<const N: usize>(&mut self, address: u64) -> Result<[u64; N], Failure> {
        let mut values = [0; N];
        for (at, value) in (0..).step_by(8).zip(&mut values) {
            *value = self.guest.read_u64(address.wrapping_add(at))?;
        }
        Ok(values)
    }
}
