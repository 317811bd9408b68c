//! System calls on signals.

use super::call::{Call, Interrupted};
use super::errno::{EAGAIN, EFAULT, EINTR, EINVAL, ENOMEM, EPERM, ESRCH};
use super::failure::{CallResult, Failure};
use super::process::Process;
use super::signal_frame;
use super::signalling::checked;
use super::signals::{
    Action, Reaction, SI_KERNEL, SIGNAL_MAX, SIGSEGV, SS_AUTODISARM, SS_DISABLE, SS_ONSTACK, SigInfo,
    SignalStack, UNBLOCKABLE, bit, info_word, siginfo,
};
use super::wait::Event;

/// The `si_code` of signals sent by `kill`.
const SI_USER: i32 = 0;
/// The `si_code` of signals sent by `tkill` and `tgkill`.
const SI_TKILL: i32 = -6;

impl Call<'_> {
    /// Reads a signal mask; its size has to be 8 bytes.
    fn mask(&mut self, address: u64, bytes: u64) -> Result<u64, Failure> {
        if bytes == 8 { self.guest.read_u64(address) } else { Err(EINVAL.into()) }
    }

    /// Returns the information for a signal that the current process sends.
    fn sender(&self, number: u64, code: i32) -> SigInfo {
        siginfo(number & 0xffff_ffff, code, u64::from(self.kernel.process_id()))
    }

    /// Sends a signal to a thread, which has to be of a given process if one is given.
    fn send(&mut self, thread: u64, process: Option<u64>, number: u64, info: SigInfo) -> CallResult {
        let found = self.kernel.threads.get(&(thread as u32)).ok_or(ESRCH)?;
        if process.is_some_and(|process| process as u32 != found.process) {
            return Err(ESRCH.into());
        }
        if let Some(number) = checked(number)? {
            self.kernel.send_to_thread(thread as u32, number, info)?;
        }
        Ok(0)
    }

    /// Sends a signal to a process.
    fn send_process(&mut self, process: u32, number: u64, info: SigInfo) -> CallResult {
        if !self.kernel.processes.contains_key(&process) {
            return Err(ESRCH.into());
        }
        if let Some(number) = checked(number)? {
            self.kernel.send_to_process(process, number, info)?;
        }
        Ok(0)
    }
}

pub(super) fn kill(call: &mut Call<'_>) -> CallResult {
    let [to, signal, ..] = call.x;
    let (info, own) = (call.sender(signal, SI_USER), call.kernel.process_id());
    let group = match to as i32 {
        1.. => return call.send_process(to as u32, signal, info),
        // Every process except the sender.
        -1 => None,
        0 => Some(call.kernel.process().group),
        group => Some(group.unsigned_abs()),
    };
    checked(signal)?;
    let is_meant = |(id, process): (&u32, &Process)| match group {
        None => *id != own,
        Some(group) => process.group == group,
    };
    let processes = call.kernel.processes.iter();
    let mut all: Vec<u32> =
        processes.filter(|(id, process)| is_meant((id, process))).map(|(id, _)| *id).collect();
    if all.is_empty() {
        return Err(ESRCH.into());
    }
    // The sender comes last, because the signal may end it.
    all.sort_by_key(|id| *id == own);
    for process in all {
        call.send_process(process, signal, info)?;
    }
    Ok(0)
}

/// Fails if one of these IDs of threads or processes is not positive.
fn check_ids(ids: &[u64]) -> Result<(), Failure> {
    if ids.iter().any(|id| *id as i32 <= 0) { Err(EINVAL.into()) } else { Ok(()) }
}

pub(super) fn tkill(call: &mut Call<'_>) -> CallResult {
    let [thread, signal, ..] = call.x;
    check_ids(&[thread])?;
    let info = call.sender(signal, SI_TKILL);
    call.send(thread, None, signal, info)
}

pub(super) fn tgkill(call: &mut Call<'_>) -> CallResult {
    let [process, thread, signal, ..] = call.x;
    check_ids(&[process, thread])?;
    let info = call.sender(signal, SI_TKILL);
    call.send(thread, Some(process), signal, info)
}

/// Reads the information about a signal that a process sends. To another process, it cannot pretend that the kernel or `tkill` has
/// sent the signal.
fn queued(call: &mut Call<'_>, to: u64, signal: u64, address: u64) -> Result<SigInfo, Failure> {
    let mut info: SigInfo = call.guest.array(address)?;
    info[..4].copy_from_slice(&(signal as u32).to_le_bytes());
    let code = info_word(&info, 8);
    if (code >= 0 || code == SI_TKILL) && to as u32 != call.kernel.process_id() {
        return Err(EPERM.into());
    }
    Ok(info)
}

pub(super) fn rt_sigqueueinfo(call: &mut Call<'_>) -> CallResult {
    let [process, signal, address, ..] = call.x;
    let info = queued(call, process, signal, address)?;
    call.send_process(process as u32, signal, info)
}

pub(super) fn rt_tgsigqueueinfo(call: &mut Call<'_>) -> CallResult {
    let [process, thread, signal, address, ..] = call.x;
    let info = queued(call, process, signal, address)?;
    check_ids(&[process, thread])?;
    call.send(thread, Some(process), signal, info)
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
    let Action { handler, flags, restorer, mask } = call.kernel.process().actions.get(signal);
    call.guest.write_optional(old, &[handler, flags, restorer, mask].map(u64::to_le_bytes).concat())?;
    if let Some(action) = action {
        call.kernel.set_action(signal, action);
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
    let before = call.kernel.thread().blocked;
    let blocked = match (new, how as u32) {
        (0, _) => before,
        (_, SIG_BLOCK) => before | call.guest.read_u64(new)?,
        (_, SIG_UNBLOCK) => before & !call.guest.read_u64(new)?,
        (_, SIG_SETMASK) => call.guest.read_u64(new)?,
        _ => return Err(EINVAL.into()),
    };
    call.guest.write_optional(old, &before.to_le_bytes())?;
    call.kernel.thread_mut().blocked = blocked & !UNBLOCKABLE;
    Ok(0)
}

pub(super) fn rt_sigpending(call: &mut Call<'_>) -> CallResult {
    let [address, bytes, ..] = call.x;
    if bytes > 8 {
        return Err(EINVAL.into());
    }
    let pending = call.kernel.pending_mask() & call.kernel.thread().blocked;
    call.guest.write(address, &pending.to_le_bytes()[..bytes as usize])?;
    Ok(0)
}

pub(super) fn rt_sigsuspend(call: &mut Call<'_>) -> CallResult {
    let mask = call.mask(call.x[0], call.x[1])? & !UNBLOCKABLE;
    let thread = call.kernel.thread_mut();
    if thread.saved_mask.is_none() {
        thread.saved_mask = Some(std::mem::replace(&mut thread.blocked, mask));
    }
    call.wait(Event::Signal, None, Interrupted::Fails)?;
    Err(EINTR.into())
}

pub(super) fn rt_sigtimedwait(call: &mut Call<'_>) -> CallResult {
    let [mask, info_address, timeout, bytes, ..] = call.x;
    let mask = call.mask(mask, bytes)? & !UNBLOCKABLE;
    let timeout = call.optional_duration(timeout)?;
    let waiting = call.kernel.pending_mask() & mask;
    if waiting == 0 {
        let deadline = call.deadline(timeout);
        call.wait(Event::BlockedSignal(mask), deadline, Interrupted::Fails)?;
        return Err(EAGAIN.into());
    }
    let number = u64::from(waiting.trailing_zeros()) + 1;
    let info = call.kernel.pending_info(number);
    call.guest.write_optional(info_address, &info)?;
    call.kernel.take_signal(number);
    Ok(number)
}

pub(super) fn rt_sigreturn(call: &mut Call<'_>) -> CallResult {
    let has_vectors = call.kernel.settings.features.fp;
    match signal_frame::pop(&mut call.guest, call.cpu, has_vectors) {
        Ok(signal_frame::RestoredContext { cpu, vectors, blocked, stack }) => {
            if let Some(vectors) = vectors {
                call.guest.lane.set_vectors(&vectors)?;
            }
            *call.cpu = cpu;
            call.kernel.thread_mut().blocked = blocked & !UNBLOCKABLE;
            // Linux ignores an invalid signal stack in the frame, too.
            let _ = set_stack(call, stack);
            Ok(call.cpu.x(0))
        }
        Err(Failure::Errno(_)) => {
            let is_blocked = call.kernel.thread().blocked & bit(SIGSEGV) != 0;
            // If SIGSEGV cannot be handled, the thread has nowhere to continue, even if it ignores the signal.
            if is_blocked || call.kernel.process().actions.reaction(SIGSEGV) != Reaction::Handle {
                return Err(Failure::killed_by(SIGSEGV));
            }
            let thread = call.kernel.turns.current;
            call.kernel.send_to_thread(thread, SIGSEGV, siginfo(SIGSEGV, SI_KERNEL, 0))?;
            Ok(call.cpu.x(0))
        }
        Err(failure) => Err(failure),
    }
}

/// Replaces the alternate signal stack, unless the lane is running on it.
fn set_stack(call: &mut Call<'_>, new: SignalStack) -> CallResult {
    /// The smallest stack that Linux accepts.
    const MINSIGSTKSZ: u64 = 5120;
    let old = call.kernel.thread().stack;
    if old.contains(call.cpu.sp) {
        return Err(EPERM.into());
    }
    // `ss_flags` has 32 bits; the rest is padding.
    let flags = new.flags & 0xffff_ffff;
    call.kernel.thread_mut().stack = match flags & !SS_AUTODISARM {
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
    let SignalStack { start, flags, bytes } = call.kernel.thread().stack;
    if old != 0 && call.guest.writable(old, 24)? < 24 {
        // Check the address of the result before changing anything.
        return Err(EFAULT.into());
    }
    let is_on = call.kernel.thread().stack.contains(call.cpu.sp);
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
    pub(super) fn doublewords<const N: usize>(&mut self, address: u64) -> Result<[u64; N], Failure> {
        let mut values = [0; N];
        for (at, value) in (0..).step_by(8).zip(&mut values) {
            *value = self.guest.read_u64(address.wrapping_add(at))?;
        }
        Ok(values)
    }
}
