//! System calls on message queues of POSIX.

use std::collections::VecDeque;

use super::call::{Call, Interrupted};
use super::errno::{
    EACCES, EAGAIN, EBADF, EBUSY, EEXIST, EINVAL, EMFILE, EMSGSIZE, ENAMETOOLONG, ENOENT, ENOSPC, ETIMEDOUT,
};
use super::failure::{CallResult, Failure};
use super::fields::{Fields, u32_at, u64_at};
use super::limits::Resource;
use super::open_files::{Description, O_ACCMODE, O_CLOEXEC, O_NONBLOCK, Object};
use super::posix_queues::{Notice, PRIORITIES, PosixQueue};
use super::readiness::{POLLIN, POLLOUT};
use super::signals::{SIGNAL_MAX, siginfo};
use super::wait::Event;

/// The limits on queues of a lane, and on the bytes of all messages of all queues.
const QUEUES_MAX: usize = 256;
const BYTES_MAX: u64 = 64 << 20;
/// The size of a queue whose maker asks for none.
const MESSAGES_DEFAULT: u64 = 10;
const BYTES_DEFAULT: u64 = 8192;

/// Returns the bytes that a queue counts as: of its messages, and of what Linux keeps for each.
const fn queue_bytes(count: u64, bytes: u64) -> u64 {
    const OVERHEAD: u64 = 96;
    count * (bytes + OVERHEAD)
}

impl Call<'_> {
    /// Reads the name of a queue, which the C library passes without its slash.
    fn queue_name(&mut self, address: u64) -> Result<Vec<u8>, Failure> {
        let name = self.guest.path(address)?;
        if name.is_empty() {
            return Err(ENOENT.into());
        }
        if name.contains(&b'/') {
            return Err(EACCES.into());
        }
        if name.len() > 255 { Err(ENAMETOOLONG.into()) } else { Ok(name) }
    }

    fn queue_named(&self, name: &[u8]) -> Option<u32> {
        let mut all = self.kernel.open.queues.iter();
        all.find(|(_, queue)| queue.name.as_deref() == Some(name)).map(|(id, _)| *id)
    }

    /// Returns the ID of the queue of a descriptor.
    fn posix_queue(&self, descriptor: u64) -> Result<u32, Failure> {
        match self.kernel.description(descriptor)?.object {
            Object::Queue(queue) => Ok(queue),
            _ => Err(EBADF.into()),
        }
    }

    fn queue_of(&mut self, id: u32) -> Result<&mut PosixQueue, Failure> {
        Ok(self.kernel.open.queues.get_mut(&id).ok_or(EBADF)?)
    }

    /// Waits until a queue is ready, at most until the time of day at an address.
    fn wait_for_queue(&mut self, descriptor: u64, events: u16, until: u64) -> Failure {
        let opened = match self.kernel.opened(descriptor) {
            Ok(opened) => opened,
            Err(errno) => return errno.into(),
        };
        if !self.kernel.open.get(opened).is_ok_and(Description::does_wait) {
            return EAGAIN.into();
        }
        let now = self.now();
        let limit = match self.optional_duration(until) {
            Ok(limit) => limit.map(|until| until.saturating_sub(now)),
            Err(failure) => return failure,
        };
        let event = Event::Ready(vec![(opened, events)]);
        match self.wait(event, self.deadline(limit), Interrupted::Restarts) {
            Ok(()) => ETIMEDOUT.into(),
            Err(failure) => failure,
        }
    }
}

pub(super) fn mq_open(call: &mut Call<'_>) -> CallResult {
    const O_CREAT: u32 = 0o100;
    const O_EXCL: u32 = 0o200;
    let [name, flags, _, attributes, ..] = call.x;
    let flags = flags as u32;
    let name = call.queue_name(name)?;
    call.kernel.process().lowest_free(0)?;
    if flags & O_ACCMODE == O_ACCMODE {
        return Err(EINVAL.into());
    }
    let path = [b"/", &name[..]].concat();
    let there = call.queue_named(&name);
    let id = match there {
        Some(_) if flags & O_CREAT != 0 && flags & O_EXCL != 0 => return Err(EEXIST.into()),
        Some(id) => id,
        None if flags & O_CREAT == 0 => return Err(ENOENT.into()),
        None => {
            let (mut count, mut bytes) = (MESSAGES_DEFAULT, BYTES_DEFAULT);
            if attributes != 0 {
                count = call.guest.read_u64(attributes.wrapping_add(8))?;
                bytes = call.guest.read_u64(attributes.wrapping_add(16))?;
                if count as i64 <= 0 || bytes as i64 <= 0 || count > 65_536 || bytes > 1 << 24 {
                    return Err(EINVAL.into());
                }
            }
            let queues = call.kernel.open.queues.values();
            let sizes = queues.map(|queue| queue_bytes(queue.messages_max as u64, queue.bytes_max as u64));
            let there: u64 = sizes.sum();
            let limit = call.kernel.process().limits.soft(Resource::QueueBytes).min(BYTES_MAX);
            if there + queue_bytes(count, bytes) > limit {
                return Err(EMFILE.into());
            }
            if call.kernel.open.queues.len() >= QUEUES_MAX {
                return Err(ENOSPC.into());
            }
            let (messages_max, bytes_max) = (count as usize, bytes as usize);
            let messages = VecDeque::new();
            let queue = PosixQueue { name: Some(name), messages, messages_max, bytes_max, notice: None };
            call.kernel.open.add_queue(queue)
        }
    };
    let description = Description::new(Object::Queue(id), flags & (O_ACCMODE | O_NONBLOCK)).at(path);
    Ok(call.kernel.open(description, flags & O_CLOEXEC != 0)?)
}

pub(super) fn mq_unlink(call: &mut Call<'_>) -> CallResult {
    let name = call.queue_name(call.x[0])?;
    let id = call.queue_named(&name).ok_or(ENOENT)?;
    call.queue_of(id)?.name = None;
    if !call.kernel.open.is_open(Object::Queue(id)) {
        call.kernel.open.queues.remove(&id);
    }
    Ok(0)
}

pub(super) fn mq_timedsend(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, bytes, priority, until, _] = call.x;
    let priority = u64::from(priority as u32);
    if until != 0 {
        call.duration(until)?;
    }
    if priority >= PRIORITIES {
        return Err(EINVAL.into());
    }
    let id = call.posix_queue(descriptor)?;
    if !call.kernel.description(descriptor)?.is_writable() {
        return Err(EBADF.into());
    }
    let queue = call.queue_of(id)?;
    if bytes > queue.bytes_max as u64 {
        return Err(EMSGSIZE.into());
    }
    if queue.is_full() {
        return Err(call.wait_for_queue(descriptor, POLLOUT, until));
    }
    let data = call.guest.read(address, bytes)?;
    let process = call.kernel.process_id();
    let is_awaited = call.kernel.threads.values().any(|thread| {
        let event = thread.wait.as_ref().map(|wait| &wait.event);
        matches!(event, Some(Event::Ready(all)) if all.iter().any(|(open, events)| {
            let object = call.kernel.open.get(*open).map(|open| open.object);
            *events == POLLIN && object == Ok(Object::Queue(id))
        }))
    });
    let queue = call.queue_of(id)?;
    let was_empty = queue.messages.is_empty();
    queue.put(priority as u32, data);
    // A thread that waits for the message gets it without a notice.
    let notice = if was_empty && !is_awaited { queue.notice.take() } else { None };
    if let Some(Notice { process: to, signal: Some((number, value)) }) = notice {
        const SI_MESGQ: i32 = -3;
        let mut info = siginfo(number, SI_MESGQ, u64::from(process));
        info[24..32].copy_from_slice(&value.to_le_bytes());
        if call.kernel.processes.contains_key(&to) {
            call.kernel.send_to_process(to, number, info)?;
        }
    }
    call.kernel.open.note_change(Object::Queue(id));
    Ok(0)
}

pub(super) fn mq_timedreceive(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, bytes, priority_at, until, _] = call.x;
    if until != 0 {
        call.duration(until)?;
    }
    let id = call.posix_queue(descriptor)?;
    if !call.kernel.description(descriptor)?.is_readable() {
        return Err(EBADF.into());
    }
    let queue = call.queue_of(id)?;
    if bytes < queue.bytes_max as u64 {
        return Err(EMSGSIZE.into());
    }
    let Some((priority, data)) = queue.messages.front().cloned() else {
        return Err(call.wait_for_queue(descriptor, POLLIN, until));
    };
    call.guest.write(address, &data)?;
    call.guest.write_optional(priority_at, &priority.to_le_bytes())?;
    call.queue_of(id)?.messages.pop_front();
    call.kernel.open.note_change(Object::Queue(id));
    Ok(data.len() as u64)
}

pub(super) fn mq_notify(call: &mut Call<'_>) -> CallResult {
    const SIGEV_SIGNAL: u32 = 0;
    const SIGEV_NONE: u32 = 1;
    let [descriptor, event, ..] = call.x;
    let notice = if event == 0 {
        None
    } else {
        let raw: [u8; 16] = call.guest.array(event)?;
        let word = |at| u32_at(&raw, at);
        let value = u64_at(&raw, 0);
        let process = call.kernel.process_id();
        match (word(12), u64::from(word(8))) {
            (SIGEV_NONE, _) => Some(Notice { process, signal: None }),
            (SIGEV_SIGNAL, number @ 1..=SIGNAL_MAX) => {
                Some(Notice { process, signal: Some((number, value)) })
            }
            // Threads are notified through sockets of netlink, which are not built in.
            _ => return Err(EINVAL.into()),
        }
    };
    let (id, process) = (call.posix_queue(descriptor)?, call.kernel.process_id());
    let queue = call.queue_of(id)?;
    match (notice, &queue.notice) {
        (Some(_), Some(_)) => return Err(EBUSY.into()),
        (None, Some(there)) if there.process != process => {}
        _ => queue.notice = notice,
    }
    Ok(0)
}

pub(super) fn mq_getsetattr(call: &mut Call<'_>) -> CallResult {
    let [descriptor, new, old, ..] = call.x;
    let id = call.posix_queue(descriptor)?;
    let new = if new == 0 { None } else { Some(call.guest.array::<64>(new)?) };
    if new.is_some_and(|new| {
        u64::from_le_bytes(std::array::from_fn(|at| new[at])) & !u64::from(O_NONBLOCK) != 0
    }) {
        return Err(EINVAL.into());
    }
    let flags = call.kernel.description(descriptor)?.flags & O_NONBLOCK;
    let queue = call.queue_of(id)?;
    let mut out = Fields([0; 64]);
    let words =
        [u64::from(flags), queue.messages_max as u64, queue.bytes_max as u64, queue.messages.len() as u64];
    (0..).step_by(8).zip(words).for_each(|(at, word)| out.u64(at, word));
    call.guest.write_optional(old, &out.0)?;
    if let Some(new) = new {
        let on = u32::from(u16::from_le_bytes([new[0], new[1]])) & O_NONBLOCK;
        let description = call.kernel.description_mut(descriptor)?;
        description.flags = description.flags & !O_NONBLOCK | on;
    }
    Ok(0)
}
