//! Calls about signals.

use super::call::Call;
use super::errno::{EAGAIN, EDEADLK, EFAULT, EINTR, EINVAL, ENOMEM, EPERM, ESRCH};
use super::failure::{Failure, Served};
use super::process_calls::PROCESS;
use super::signal_frame;
use super::signals::{
    Action, Info, SIGNALS, SIGSEGV, SS_AUTODISARM, SS_DISABLE, SS_ONSTACK, SignalStack, UNSTOPPABLE, info,
};

/// The code of what one process sends another.
const SI_USER: i32 = 0;
/// The code of what one thread sends another.
const SI_TKILL: i32 = -6;
/// The code of what the kernel does on its own account.
const SI_KERNEL: i32 = 0x80;

impl Call<'_> {
    /// Sends a signal to the lane itself; 0 only asks whether it could.
    fn send(&mut self, number: u64, info: Info) -> Served {
        match number & 0xffff_ffff {
            0 => Ok(0),
            number @ 1..=SIGNALS => self.process.signals.send(number, info),
            _ => Err(EINVAL.into()),
        }
    }

    /// A mask of signals, of which there are as many as bits.
    fn mask(&mut self, address: u64, bytes: u64) -> Result<u64, Failure> {
        if bytes == 8 { self.guest.word(address) } else { Err(EINVAL.into()) }
    }
}

/// A signal somebody sent: by whom, which is always the same.
fn sent(number: u64, code: i32) -> Info {
    info(number, code, PROCESS)
}

/// Whether a number is that of the only process and thread.
fn is_own(number: u64) -> Result<(), Failure> {
    if u64::from(number as u32) == PROCESS { Ok(()) } else { Err(ESRCH.into()) }
}

pub(super) fn kill(call: &mut Call<'_>) -> Served {
    let [process, signal, ..] = call.x;
    // Itself, its group, or everybody.
    if !matches!(process as i32, -1..=1) {
        return Err(ESRCH.into());
    }
    call.send(signal, sent(signal, SI_USER))
}

pub(super) fn tkill(call: &mut Call<'_>) -> Served {
    let [thread, signal, ..] = call.x;
    is_own(thread)?;
    call.send(signal, sent(signal, SI_TKILL))
}

pub(super) fn tgkill(call: &mut Call<'_>) -> Served {
    let [process, thread, signal, ..] = call.x;
    is_own(process)?;
    is_own(thread)?;
    call.send(signal, sent(signal, SI_TKILL))
}

pub(super) fn rt_sigqueueinfo(call: &mut Call<'_>) -> Served {
    let [process, signal, address, ..] = call.x;
    is_own(process)?;
    let mut info: Info = call.guest.array(address)?;
    info[..4].copy_from_slice(&(signal as u32).to_le_bytes());
    call.send(signal, info)
}

pub(super) fn rt_tgsigqueueinfo(call: &mut Call<'_>) -> Served {
    is_own(call.x[0])?;
    call.x.rotate_left(1);
    rt_sigqueueinfo(call)
}

pub(super) fn rt_sigaction(call: &mut Call<'_>) -> Served {
    let [signal, new, old, bytes, ..] = call.x;
    if bytes != 8 || signal == 0 || signal > SIGNALS {
        return Err(EINVAL.into());
    }
    let action = if new == 0 {
        None
    } else {
        if UNSTOPPABLE & 1 << (signal - 1) != 0 {
            return Err(EINVAL.into());
        }
        let [handler, flags, restorer, mask] = call.words(new)?;
        Some(Action { handler, flags, restorer, mask })
    };
    let Action { handler, flags, restorer, mask } = call.process.signals.action(signal);
    call.guest.write_if_wanted(old, &[handler, flags, restorer, mask].map(u64::to_le_bytes).concat())?;
    if let Some(action) = action {
        call.process.signals.set_action(signal, action);
    }
    Ok(0)
}

pub(super) fn rt_sigprocmask(call: &mut Call<'_>) -> Served {
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
        (_, SIG_BLOCK) => before | call.guest.word(new)?,
        (_, SIG_UNBLOCK) => before & !call.guest.word(new)?,
        (_, SIG_SETMASK) => call.guest.word(new)?,
        _ => return Err(EINVAL.into()),
    };
    call.guest.write_if_wanted(old, &before.to_le_bytes())?;
    call.process.signals.blocked = blocked & !UNSTOPPABLE;
    Ok(0)
}

pub(super) fn rt_sigpending(call: &mut Call<'_>) -> Served {
    let [address, bytes, ..] = call.x;
    if bytes > 8 {
        return Err(EINVAL.into());
    }
    let waiting = call.process.signals.waiting_mask() & call.process.signals.blocked;
    call.guest.write(address, &waiting.to_le_bytes()[..bytes as usize])?;
    Ok(0)
}

pub(super) fn rt_sigsuspend(call: &mut Call<'_>) -> Served {
    let mask = call.mask(call.x[0], call.x[1])? & !UNSTOPPABLE;
    let signals = &mut call.process.signals;
    let before = std::mem::replace(&mut signals.blocked, mask);
    if !signals.can_wake() {
        signals.blocked = before;
        return Err(EDEADLK.into());
    }
    signals.blocked_later = Some(before);
    Err(EINTR.into())
}

pub(super) fn rt_sigtimedwait(call: &mut Call<'_>) -> Served {
    let [mask, told, timeout, bytes, ..] = call.x;
    let mask = call.mask(mask, bytes)? & !UNSTOPPABLE;
    let timeout = call.optional_duration(timeout)?;
    let Some((number, info)) = call.process.signals.take(mask) else {
        call.sleep(timeout.ok_or(EDEADLK)?);
        return Err(EAGAIN.into());
    };
    call.guest.write_if_wanted(told, &info)?;
    Ok(number)
}

pub(super) fn rt_sigreturn(call: &mut Call<'_>) -> Served {
    let has_vectors = call.process.settings.features.fp;
    match signal_frame::pop(&mut call.guest, call.cpu, has_vectors) {
        Ok(signal_frame::Interrupted { cpu, vectors, blocked, stack }) => {
            if let Some(vectors) = vectors {
                call.guest.lane.set_vectors(&vectors)?;
            }
            *call.cpu = cpu;
            call.process.signals.blocked = blocked & !UNSTOPPABLE;
            // What cannot be a stack leaves the one there is.
            let _ = set_stack(call, stack);
            Ok(call.cpu.x(0))
        }
        Err(Failure::Errno(_)) => {
            let signals = &mut call.process.signals;
            let is_blocked = signals.blocked & 1 << (SIGSEGV - 1) != 0;
            // Nobody can go on from here, whatever the lane wants done with it.
            if is_blocked || signals.action(SIGSEGV).handler <= 1 {
                return Err(Failure::killed(SIGSEGV));
            }
            signals.send(SIGSEGV, info(SIGSEGV, SI_KERNEL, 0))?;
            Ok(call.cpu.x(0))
        }
        Err(failure) => Err(failure),
    }
}

/// Replaces the stack of handlers, unless the lane is on it.
fn set_stack(call: &mut Call<'_>, new: SignalStack) -> Served {
    /// The least the kernel takes.
    const MINSIGSTKSZ: u64 = 5120;
    let old = call.process.signals.stack;
    if old.is_at(call.cpu.sp) {
        return Err(EPERM.into());
    }
    // The other half of the word means nothing.
    let flags = new.flags & 0xffff_ffff;
    call.process.signals.stack = match flags & !SS_AUTODISARM {
        SS_DISABLE => SignalStack { flags, ..SignalStack::NONE },
        0 | SS_ONSTACK if new.bytes < MINSIGSTKSZ => return Err(ENOMEM.into()),
        0 | SS_ONSTACK => SignalStack { flags, ..new },
        _ => return Err(EINVAL.into()),
    };
    Ok(0)
}

pub(super) fn sigaltstack(call: &mut Call<'_>) -> Served {
    let [new, old, ..] = call.x;
    let wanted = if new == 0 { None } else { Some(call.words::<3>(new)?) };
    let SignalStack { start, flags, bytes } = call.process.signals.stack;
    if old != 0 && call.guest.writable(old, 24)? < 24 {
        // Where it would be written decides before anything changes.
        return Err(EFAULT.into());
    }
    let is_on = call.process.signals.stack.is_at(call.cpu.sp);
    if let Some([start, flags, bytes]) = wanted {
        set_stack(call, SignalStack { start, flags, bytes })?;
    }
    let state = match bytes {
        0 => SS_DISABLE,
        _ if is_on => SS_ONSTACK,
        _ => 0,
    };
    let told = [start, state | flags & SS_AUTODISARM, bytes];
    call.guest.write_if_wanted(old, &told.map(u64::to_le_bytes).concat())?;
    Ok(0)
}

impl Call<'_> {
    /// Words one behind the other.
    fn words<const N: usize>(&mut self, address: u64) -> Result<[u64; N], Failure> {
        let mut words = [0; N];
        for (at, word) in (0..).step_by(8).zip(&mut words) {
            *word = self.guest.word(address.wrapping_add(at))?;
        }
        Ok(words)
    }
}
