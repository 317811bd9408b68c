//! System calls on sets of semaphores of System V.

use super::call::{Call, Interrupted};
use super::errno::{E2BIG, EAGAIN, EFBIG, EINVAL, ENOSPC, ERANGE};
use super::failure::{CallResult, Failure};
use super::fields::Fields;
use super::ipc::{IPC_NOWAIT, IPC_RMID, IPC_SET, IPC_STAT, Objects, Permission, Semaphore, SemaphoreSet};
use super::time_calls::NANOSECONDS;
use super::wait::{Event, Wait};

/// The limits on semaphores of a set and of all sets, on operations of a call, and on values.
const SET_MAX: u64 = 32_000;
const SEMAPHORES_MAX: usize = 1 << 17;
const OPERATIONS_MAX: u64 = 500;
const VALUE_MAX: i32 = 32_767;
const SEM_UNDO: u32 = 0o10_000;

/// An operation on a semaphore.
#[derive(Clone, Copy)]
struct Operation {
    number: u16,
    change: i16,
    flags: u32,
}

/// The reason why operations cannot be done now: the first one that waits.
enum Blocked {
    By(Operation),
    OutOfRange,
}

pub(super) fn semget(call: &mut Call<'_>) -> CallResult {
    let [key, count, flags, ..] = call.x;
    let count = u64::from(count as u32);
    if count > SET_MAX {
        return Err(EINVAL.into());
    }
    if let Some(id) = call.kernel.ipc.sets.find(key, flags)? {
        let there = call.kernel.ipc.sets.get(id.into())?.semaphores.len() as u64;
        return if count > there { Err(EINVAL.into()) } else { Ok(id.into()) };
    }
    if count == 0 {
        return Err(EINVAL.into());
    }
    let used: usize = call.kernel.ipc.sets.all.values().map(|set| set.semaphores.len()).sum();
    if used + count as usize > SEMAPHORES_MAX {
        return Err(ENOSPC.into());
    }
    let permission = Permission { key: key as u32, owner: 0, group: 0, mode: flags as u32 & 0o777 };
    let semaphores = vec![Semaphore::default(); count as usize];
    let times = [0, call.now() / NANOSECONDS];
    let set = SemaphoreSet { permission, semaphores, times, version: 0, undo: Default::default() };
    Ok(call.kernel.ipc.sets.add(set).into())
}

impl SemaphoreSet {
    /// Does all operations, or none.
    fn operate(&mut self, operations: &[Operation], process: u32) -> Result<(), Blocked> {
        let (mut values, mut undo) = (self.semaphores.clone(), self.undo.clone());
        for operation in operations {
            let semaphore = &mut values[usize::from(operation.number)];
            let value = i32::from(semaphore.value) + i32::from(operation.change);
            if operation.change == 0 && semaphore.value != 0 || value < 0 {
                return Err(Blocked::By(*operation));
            }
            if value > VALUE_MAX {
                return Err(Blocked::OutOfRange);
            }
            *semaphore = Semaphore { value: value as u16, last: process };
            if operation.flags & SEM_UNDO != 0 && operation.change != 0 {
                let own = undo.entry((process, operation.number)).or_default();
                *own = own.checked_sub(operation.change).ok_or(Blocked::OutOfRange)?;
            }
        }
        undo.retain(|_, change| *change != 0);
        (self.semaphores, self.undo) = (values, undo);
        self.version += 1;
        Ok(())
    }
}

pub(super) fn semop(call: &mut Call<'_>) -> CallResult {
    call.x[3] = 0;
    semtimedop(call)
}

pub(super) fn semtimedop(call: &mut Call<'_>) -> CallResult {
    let [id, address, count, timeout, ..] = call.x;
    if count == 0 || (id as i32) < 0 {
        return Err(EINVAL.into());
    }
    if count > OPERATIONS_MAX {
        return Err(E2BIG.into());
    }
    let raw = call.guest.read(address, 6 * count)?;
    let half = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let parse = |bytes: &[u8]| Operation {
        number: half(bytes, 0),
        change: half(bytes, 2) as i16,
        flags: half(bytes, 4).into(),
    };
    let operations: Vec<Operation> = raw.chunks_exact(6).map(parse).collect();
    let timeout = call.optional_duration(timeout)?;
    let (now, process, has_waited) =
        (call.now() / NANOSECONDS, call.kernel.process_id(), call.woken.is_some());
    let Ok(set) = call.kernel.ipc.sets.get_mut(id) else {
        return Err(Objects::<SemaphoreSet>::missing(has_waited).into());
    };
    if operations.iter().any(|operation| usize::from(operation.number) >= set.semaphores.len()) {
        return Err(EFBIG.into());
    }
    match set.operate(&operations, process) {
        Ok(()) => {
            set.times[0] = now;
            Ok(0)
        }
        Err(Blocked::OutOfRange) => Err(ERANGE.into()),
        Err(Blocked::By(operation)) if operation.flags & IPC_NOWAIT != 0 => Err(EAGAIN.into()),
        Err(Blocked::By(operation)) => {
            let (seen, is_zero) = (set.version, operation.change == 0);
            let event = Event::Semaphore { set: id as u32, number: operation.number, is_zero, seen };
            call.wait(event, call.deadline(timeout), Interrupted::Fails)?;
            Err(EAGAIN.into())
        }
    }
}

pub(super) fn semctl(call: &mut Call<'_>) -> CallResult {
    const GETPID: u32 = 11;
    const GETVAL: u32 = 12;
    const GETALL: u32 = 13;
    const GETNCNT: u32 = 14;
    const GETZCNT: u32 = 15;
    const SETVAL: u32 = 16;
    const SETALL: u32 = 17;
    let [id, number, command, argument, ..] = call.x;
    let (now, process) = (call.now() / NANOSECONDS, call.kernel.process_id());
    let set = call.kernel.ipc.sets.get_mut(id)?;
    let (number, count) = (number as u32 as usize, set.semaphores.len());
    let is_of_one = matches!(command as u32, GETPID | GETVAL | GETNCNT | GETZCNT | SETVAL);
    if is_of_one && number >= count {
        return Err(EINVAL.into());
    }
    match command as u32 {
        IPC_RMID => drop(call.kernel.ipc.sets.all.remove(&(id as u32))),
        IPC_STAT => {
            let mut out = Fields([0; 88]);
            set.permission.write(&mut out);
            out.u64(48, set.times[0]);
            out.u64(56, set.times[1]);
            out.u64(64, count as u64);
            call.guest.write(argument, &out.0)?;
        }
        IPC_SET => {
            let raw = call.guest.read(argument, Permission::BYTES as u64)?;
            let set = call.kernel.ipc.sets.get_mut(id)?;
            set.permission.set(&raw);
            set.times[1] = now;
        }
        GETPID => return Ok(set.semaphores[number].last.into()),
        GETVAL => return Ok(set.semaphores[number].value.into()),
        GETALL => {
            let all: Vec<u8> =
                set.semaphores.iter().flat_map(|semaphore| semaphore.value.to_le_bytes()).collect();
            call.guest.write(argument, &all)?;
        }
        command @ (GETNCNT | GETZCNT) => {
            let waits = |wait: &Wait| {
                matches!(wait.event, Event::Semaphore { set, number: of, is_zero, .. }
                    if set == id as u32 && usize::from(of) == number && is_zero == (command == GETZCNT))
            };
            let threads = call.kernel.threads.values();
            return Ok(threads.filter(|thread| thread.wait.as_ref().is_some_and(waits)).count() as u64);
        }
        SETVAL => {
            let value = argument as i32;
            if !(0..=VALUE_MAX).contains(&value) {
                return Err(ERANGE.into());
            }
            set.semaphores[number] = Semaphore { value: value as u16, last: process };
            set.undo.retain(|(_, of), _| usize::from(*of) != number);
            (set.times[1], set.version) = (now, set.version + 1);
        }
        SETALL => {
            let raw = call.guest.read(argument, 2 * count as u64)?;
            let values: Vec<u16> =
                raw.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect();
            if values.iter().any(|value| i32::from(*value) > VALUE_MAX) {
                return Err(ERANGE.into());
            }
            let set = call.kernel.ipc.sets.get_mut(id)?;
            set.semaphores = values.into_iter().map(|value| Semaphore { value, last: process }).collect();
            set.undo.clear();
            (set.times[1], set.version) = (now, set.version + 1);
        }
        _ => return Err(Failure::Errno(EINVAL)),
    }
    Ok(0)
}
