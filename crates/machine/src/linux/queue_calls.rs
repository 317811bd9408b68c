//! System calls on message queues of System V.

use std::collections::VecDeque;

use super::call::{Call, Interrupted};
use super::errno::{E2BIG, EAGAIN, EINVAL, ENOMSG, EPERM};
use super::failure::{CallResult, Failure};
use super::fields::{Fields, u64_at};
use super::ipc::{IPC_NOWAIT, IPC_RMID, IPC_SET, IPC_STAT, MessageQueue, Objects, Permission};
use super::time_calls::NANOSECONDS;
use super::wait::Event;

/// The limit on the size of a message, and on the bytes of a queue (`msgmax` and `msgmnb`).
const MESSAGE_BYTES_MAX: u64 = 8192;
const QUEUE_BYTES_MAX: u64 = 16_384;
const MSG_NOERROR: u32 = 0o10_000;
const MSG_EXCEPT: u32 = 0o20_000;
const MSG_COPY: u32 = 0o40_000;

pub(super) fn msgget(call: &mut Call<'_>) -> CallResult {
    let [key, flags, ..] = call.x;
    if let Some(id) = call.kernel.ipc.queues.find(key, flags)? {
        return Ok(id.into());
    }
    let permission = Permission { key: key as u32, owner: 0, group: 0, mode: flags as u32 & 0o777 };
    let queue = MessageQueue {
        permission,
        messages: VecDeque::new(),
        bytes_max: QUEUE_BYTES_MAX,
        times: [0, 0, call.now() / NANOSECONDS],
        processes: [0; 2],
        version: 0,
    };
    Ok(call.kernel.ipc.queues.add(queue).into())
}

impl Call<'_> {
    /// Waits until a queue changes, or fails with `otherwise` if the call does not wait.
    fn wait_at_queue(&self, id: u64, seen: u64, flags: u64, otherwise: super::errno::Errno) -> Failure {
        if flags as u32 & IPC_NOWAIT != 0 {
            return otherwise.into();
        }
        let event = Event::Queue { queue: id as u32, seen };
        self.wait(event, None, Interrupted::Fails).err().unwrap_or(Failure::Errno(otherwise))
    }

    fn queue(&mut self, id: u64) -> Result<&mut MessageQueue, Failure> {
        let has_waited = self.woken.is_some();
        let found = self.kernel.ipc.queues.get_mut(id);
        found.map_err(|_| Objects::<MessageQueue>::missing(has_waited).into())
    }
}

pub(super) fn msgsnd(call: &mut Call<'_>) -> CallResult {
    let [id, address, bytes, flags, ..] = call.x;
    if bytes > MESSAGE_BYTES_MAX || (id as i32) < 0 {
        return Err(EINVAL.into());
    }
    let kind = call.guest.read_u64(address)? as i64;
    if kind < 1 {
        return Err(EINVAL.into());
    }
    let text = call.guest.read(address.wrapping_add(8), bytes)?;
    let (now, process) = (call.now() / NANOSECONDS, call.kernel.process_id());
    let queue = call.queue(id)?;
    if queue.bytes() + bytes > queue.bytes_max || queue.messages.len() as u64 >= queue.bytes_max {
        let seen = queue.version;
        return Err(call.wait_at_queue(id, seen, flags, EAGAIN));
    }
    queue.messages.push_back((kind, text));
    (queue.times[0], queue.processes[0]) = (now, process);
    queue.version += 1;
    Ok(0)
}

pub(super) fn msgrcv(call: &mut Call<'_>) -> CallResult {
    let [id, address, bytes, kind, flags, _] = call.x;
    if (bytes as i64) < 0 || (id as i32) < 0 || flags as u32 & MSG_COPY != 0 {
        return Err(EINVAL.into());
    }
    let kind = kind as i64;
    let is_excepted = flags as u32 & MSG_EXCEPT != 0;
    let (now, process) = (call.now() / NANOSECONDS, call.kernel.process_id());
    let queue = call.queue(id)?;
    let mut all = queue.messages.iter().enumerate();
    let place = match kind {
        0 => all.next().map(|(place, _)| place),
        1.. => all.find(|(_, (of, _))| (*of == kind) != is_excepted).map(|(place, _)| place),
        // The lowest type up to a limit, and the first of it.
        _ => {
            let limit = kind.unsigned_abs();
            let able = all.filter(|(_, (of, _))| of.unsigned_abs() <= limit);
            able.min_by_key(|(place, (of, _))| (*of, *place)).map(|(place, _)| place)
        }
    };
    let Some(place) = place else {
        let seen = queue.version;
        return Err(call.wait_at_queue(id, seen, flags, ENOMSG));
    };
    let (of, text) = queue.messages[place].clone();
    if text.len() as u64 > bytes && flags as u32 & MSG_NOERROR == 0 {
        return Err(E2BIG.into());
    }
    let text = &text[..text.len().min(bytes as usize)];
    call.guest.write(address, &of.to_le_bytes())?;
    call.guest.write(address.wrapping_add(8), text)?;
    let queue = call.queue(id)?;
    queue.messages.remove(place);
    (queue.times[1], queue.processes[1]) = (now, process);
    queue.version += 1;
    Ok(text.len() as u64)
}

pub(super) fn msgctl(call: &mut Call<'_>) -> CallResult {
    let [id, command, address, ..] = call.x;
    let now = call.now() / NANOSECONDS;
    let queue = call.kernel.ipc.queues.get_mut(id)?;
    match command as u32 {
        IPC_RMID => drop(call.kernel.ipc.queues.all.remove(&(id as u32))),
        IPC_STAT => {
            let mut out = Fields([0; 120]);
            queue.permission.write(&mut out);
            (48..).step_by(8).zip(queue.times).for_each(|(at, time)| out.u64(at, time));
            out.u64(72, queue.bytes());
            out.u64(80, queue.messages.len() as u64);
            out.u64(88, queue.bytes_max);
            out.u32(96, queue.processes[0]);
            out.u32(100, queue.processes[1]);
            call.guest.write(address, &out.0)?;
        }
        IPC_SET => {
            let raw = call.guest.read(address, 120)?;
            let bytes = u64_at(&raw, 88);
            // The memory of a lane is bounded, so the limit cannot grow.
            if bytes > QUEUE_BYTES_MAX {
                return Err(EPERM.into());
            }
            let queue = call.kernel.ipc.queues.get_mut(id)?;
            queue.permission.set(&raw);
            (queue.bytes_max, queue.times[2], queue.version) = (bytes, now, queue.version + 1);
        }
        _ => return Err(EINVAL.into()),
    }
    Ok(0)
}
