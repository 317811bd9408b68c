//! System calls that send and receive messages, with addresses and control data.

use super::call::Call;
use super::errno::{EBADF, EINVAL, EMSGSIZE, ENOBUFS, ENOTSOCK, EPERM, ETOOMANYREFS};
use super::failure::{CallResult, Failure};
use super::fields::{u32_at, u64_at};
use super::guest::{Buffer, TRANSFER_BYTES_MAX};
use super::open_files::Object;
use super::socket_address::address_bytes;
use super::socket_options::{SO_PASSCRED, SOL_SOCKET};
use super::socket_transfer::{Incoming, MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, Outgoing};
use super::sockets::{Credentials, RIGHTS_MAX, SocketKind};
use super::time_calls::{NANOSECONDS, timespec};

const MSG_CTRUNC: u32 = 8;
const MSG_WAITFORONE: u32 = 0x1_0000;
const MSG_CMSG_CLOEXEC: u32 = 0x4000_0000;
const SCM_RIGHTS: u32 = 1;
const SCM_CREDENTIALS: u32 = 2;
/// The limits on descriptors in a message, and on the bytes of control data.
const RIGHTS_EACH_MAX: usize = 253;
const CONTROL_BYTES_MAX: u64 = 20_480;
/// The size of the head of a piece of control data.
const HEAD_BYTES: usize = 16;
/// The sizes of `struct msghdr` and `struct mmsghdr`.
const MESSAGE_BYTES: u64 = 56;
const MESSAGES_BYTES: u64 = 64;
/// The limit on messages of one call (`UIO_MAXIOV`).
const MESSAGES_MAX: u64 = 1024;

/// The fields of a `struct msghdr`.
struct Header {
    name: u64,
    name_bytes: u64,
    buffers: Vec<Buffer>,
    control: u64,
    control_bytes: u64,
}

impl Call<'_> {
    fn header(&mut self, at: u64) -> Result<Header, Failure> {
        let raw = self.guest.read(at, MESSAGE_BYTES)?;
        let word = |at| u64_at(&raw, at);
        let (name, name_bytes) = (word(0), word(8) & 0xffff_ffff);
        if name_bytes as i32 <= -1 {
            return Err(EINVAL.into());
        }
        if word(24) > MESSAGES_MAX {
            return Err(EMSGSIZE.into());
        }
        let buffers = self.guest.iovecs(word(16), word(24))?;
        Ok(Header { name, name_bytes, buffers, control: word(32), control_bytes: word(40) })
    }

    /// Reads the control data of a message: the descriptions to pass, and the credentials.
    fn control(&mut self, header: &Header) -> Result<(Vec<u32>, Credentials), Failure> {
        let (mut rights, mut sender) = (Vec::new(), self.credentials());
        if header.control == 0 || header.control_bytes == 0 {
            return Ok((rights, sender));
        }
        if header.control_bytes > CONTROL_BYTES_MAX {
            return Err(ENOBUFS.into());
        }
        let data = self.guest.read(header.control, header.control_bytes)?;
        let mut left = &data[..];
        while left.len() >= HEAD_BYTES {
            let word = |at| u32_at(left, at);
            let (bytes, level, kind) = (word(0) as usize, word(8), word(12));
            if bytes < HEAD_BYTES || bytes > left.len() || word(4) != 0 {
                return Err(EINVAL.into());
            }
            let words = left[HEAD_BYTES..bytes].chunks_exact(4);
            let words: Vec<u32> = words.map(|word| u32_at(word, 0)).collect();
            match (level, kind) {
                (SOL_SOCKET, SCM_RIGHTS) => {
                    for number in &words {
                        rights.push(self.kernel.opened(u64::from(*number)).map_err(|_| EBADF)?);
                    }
                    if rights.len() > RIGHTS_EACH_MAX {
                        return Err(EINVAL.into());
                    }
                }
                (SOL_SOCKET, SCM_CREDENTIALS) => {
                    let [process, user, group] = words[..] else { return Err(EINVAL.into()) };
                    if !self.kernel.processes.contains_key(&process) {
                        return Err(super::errno::ESRCH.into());
                    }
                    if (user as i32) < 0 || (group as i32) < 0 {
                        return Err(EPERM.into());
                    }
                    sender = [process, user, group];
                }
                (SOL_SOCKET, _) => return Err(EINVAL.into()),
                _ => {}
            }
            left = &left[bytes.next_multiple_of(8).min(left.len())..];
        }
        if self.kernel.open.sockets.rights().count() + rights.len() > RIGHTS_MAX {
            return Err(ETOOMANYREFS.into());
        }
        Ok((rights, sender))
    }

    fn send_message(&mut self, descriptor: u64, at: u64, flags: u32) -> CallResult {
        self.socket_of(descriptor)?;
        let header = self.header(at)?;
        let to = if header.name == 0 { Vec::new() } else { self.address(header.name, header.name_bytes)? };
        let is_unix = self.kernel.open.sockets.get(self.socket_of(descriptor)?)?.is_unix();
        let (rights, sender) =
            if is_unix { self.control(&header)? } else { (Vec::new(), self.credentials()) };
        let data = self.guest.gather(&header.buffers)?;
        self.send_to_socket(descriptor, Outgoing { data, to, rights, sender, flags })
    }
}

pub(super) fn sendto(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, bytes, flags, to, to_bytes] = call.x;
    call.socket_of(descriptor)?;
    let to = if to == 0 { Vec::new() } else { call.address(to, to_bytes)? };
    let data = call.guest.read(address, bytes.min(TRANSFER_BYTES_MAX))?;
    let sender = call.credentials();
    call.send_to_socket(descriptor, Outgoing { data, to, rights: Vec::new(), sender, flags: flags as u32 })
}

pub(super) fn sendmsg(call: &mut Call<'_>) -> CallResult {
    call.send_message(call.x[0], call.x[1], call.x[2] as u32)
}

impl Call<'_> {
    /// Receives into the writable part of `buffers`.
    fn receive(
        &mut self,
        descriptor: u64,
        buffers: &[Buffer],
        flags: u32,
    ) -> Result<(u64, Incoming), Failure> {
        let id = self.socket_of(descriptor)?;
        let is_stream = self.kernel.open.sockets.get(id)?.kind == SocketKind::Stream;
        let room = self.guest.writable_total(buffers)? as usize;
        if is_stream && flags & MSG_WAITALL != 0 && flags & MSG_PEEK == 0 {
            let received = self.receive_all(descriptor, room, flags, |call, at, data| {
                call.guest.scatter(&after(buffers, at), data)
            })?;
            return Ok((received, Incoming { bytes: received as usize, ..Incoming::default() }));
        }
        let incoming = self.peek_socket(descriptor, room, flags)?;
        if !is_stream || flags & MSG_TRUNC == 0 {
            self.guest.scatter(buffers, &incoming.data)?;
        }
        let received = if is_stream || flags & MSG_TRUNC == 0 { incoming.data.len() } else { incoming.bytes };
        Ok((received as u64, incoming))
    }

    /// Consumes a message that was written to memory. Returns the descriptions that came with it.
    fn consume_message(
        &mut self,
        descriptor: u64,
        incoming: &Incoming,
        flags: u32,
    ) -> Result<Vec<u32>, Failure> {
        if flags & MSG_PEEK != 0 || incoming.sender.is_none() {
            return Ok(Vec::new());
        }
        self.consume_socket(descriptor, incoming.data.len())
    }

    fn receive_message(&mut self, descriptor: u64, at: u64, flags: u32) -> CallResult {
        let id = self.socket_of(descriptor)?;
        let header = self.header(at)?;
        let (received, incoming) = self.receive(descriptor, &header.buffers, flags)?;
        let socket = self.kernel.open.sockets.get(id)?;
        let (family, kind) = (socket.family, socket.kind);
        let passes = socket.options.values.get(&(SOL_SOCKET, SO_PASSCRED)).is_some_and(|value| *value != 0);
        let mut shown = 0;
        if header.name != 0 {
            // Streams of IP show no address.
            let is_shown = incoming.from.is_some() && !socket.is_tcp();
            let bytes = if is_shown { address_bytes(incoming.from.as_ref(), family) } else { Vec::new() };
            let room = bytes.len().min(header.name_bytes as usize);
            self.guest.write(header.name, &bytes[..room])?;
            self.guest.write(at + 8, &(bytes.len() as u32).to_le_bytes())?;
        }
        if kind != SocketKind::Stream && incoming.data.len() < incoming.bytes {
            shown |= MSG_TRUNC;
        }
        let mut control = Vec::new();
        let room = if header.control == 0 { 0 } else { header.control_bytes as usize };
        let mut add = |kind: u32, data: &[u8]| {
            if room < control.len() + HEAD_BYTES {
                return false;
            }
            let bytes = (HEAD_BYTES + data.len()).min(room - control.len());
            control.extend((bytes as u64).to_le_bytes());
            control.extend(SOL_SOCKET.to_le_bytes());
            control.extend(kind.to_le_bytes());
            control.extend(&data[..bytes - HEAD_BYTES]);
            let end = control.len().next_multiple_of(8).min(room);
            control.resize(end, 0);
            bytes == HEAD_BYTES + data.len()
        };
        if let Some(sender) = incoming.sender
            && passes
            && !add(SCM_CREDENTIALS, &sender.map(u32::to_le_bytes).concat())
        {
            shown |= MSG_CTRUNC;
        }
        let mut numbers = Vec::new();
        if !incoming.rights.is_empty() {
            let used = control.len();
            let room = room.saturating_sub(used + HEAD_BYTES) / 4;
            numbers = self.free_descriptors(incoming.rights.len().min(room));
            if numbers.len() < incoming.rights.len() {
                shown |= MSG_CTRUNC;
            }
            if !numbers.is_empty() {
                let data: Vec<u8> =
                    numbers.iter().flat_map(|number| (*number as u32).to_le_bytes()).collect();
                control.extend(((HEAD_BYTES + data.len()) as u64).to_le_bytes());
                control.extend(SOL_SOCKET.to_le_bytes());
                control.extend(SCM_RIGHTS.to_le_bytes());
                control.extend(data);
                let end = control.len().next_multiple_of(8).min(header.control_bytes as usize);
                control.resize(end, 0);
            }
        }
        self.guest.write(header.control, &control)?;
        self.guest.write(at + 40, &(control.len() as u64).to_le_bytes())?;
        self.guest.write(at + 48, &(shown | flags & MSG_CMSG_CLOEXEC).to_le_bytes())?;
        let rights = self.consume_message(descriptor, &incoming, flags)?;
        let is_peek = flags & MSG_PEEK != 0;
        for (number, right) in numbers.iter().zip(&incoming.rights) {
            self.kernel.refer(*number, *right, flags & MSG_CMSG_CLOEXEC != 0);
        }
        if !is_peek {
            rights.into_iter().for_each(|right| self.kernel.release_description(right));
        }
        Ok(received)
    }

    /// Returns at most `count` unused descriptors.
    fn free_descriptors(&self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        let mut from = 0;
        while numbers.len() < count {
            let Ok(number) = self.kernel.process().lowest_free(from) else { break };
            numbers.push(number);
            from = number + 1;
        }
        numbers
    }

    /// Reads from a socket, or writes to it, as `read` and `write` do.
    pub(super) fn is_socket(&self, descriptor: u64) -> bool {
        matches!(self.kernel.description(descriptor).map(|open| open.object), Ok(Object::Socket(_)))
    }
}

/// Returns what is left of buffers after a number of bytes.
fn after(buffers: &[Buffer], mut bytes: usize) -> Vec<Buffer> {
    let mut left = Vec::new();
    for buffer in buffers {
        let skipped = (bytes as u64).min(buffer.bytes);
        bytes -= skipped as usize;
        left.push(Buffer { address: buffer.address.wrapping_add(skipped), bytes: buffer.bytes - skipped });
    }
    left
}

pub(super) fn recvfrom(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, bytes, flags, from, size] = call.x;
    let flags = flags as u32;
    let buffers = [Buffer { address, bytes: bytes.min(TRANSFER_BYTES_MAX) }];
    let (received, incoming) = call.receive(descriptor, &buffers, flags)?;
    if from != 0 {
        let socket = call.kernel.open.sockets.get(call.socket_of(descriptor)?)?;
        let is_shown = incoming.from.is_some() && !socket.is_tcp();
        let bytes = if is_shown { address_bytes(incoming.from.as_ref(), socket.family) } else { Vec::new() };
        call.write_address(&bytes, from, size)?;
    }
    let rights = call.consume_message(descriptor, &incoming, flags)?;
    rights.into_iter().for_each(|right| call.kernel.release_description(right));
    Ok(received)
}

pub(super) fn recvmsg(call: &mut Call<'_>) -> CallResult {
    call.receive_message(call.x[0], call.x[1], call.x[2] as u32)
}

impl Call<'_> {
    /// Makes a call for each of several messages until one fails or would wait, and writes the number of bytes of each.
    fn each_message(
        &mut self,
        count: u64,
        mut transfer: impl FnMut(&mut Self, u64, u64) -> CallResult,
    ) -> CallResult {
        let at = self.x[1];
        for number in 0..count.min(MESSAGES_MAX) {
            let entry = at.wrapping_add(MESSAGES_BYTES * number);
            let done = transfer(self, entry, number);
            match done {
                Ok(bytes) => {
                    self.guest.write(entry.wrapping_add(MESSAGE_BYTES), &(bytes as u32).to_le_bytes())?;
                }
                Err(Failure::Errno(_) | Failure::Interrupted { .. } | Failure::Wait(_)) if number > 0 => {
                    return Ok(number);
                }
                Err(failure) => return Err(failure),
            }
            // Only the first message has been waited for.
            self.woken = None;
        }
        Ok(count.min(MESSAGES_MAX))
    }
}

pub(super) fn sendmmsg(call: &mut Call<'_>) -> CallResult {
    let [descriptor, _, count, flags, ..] = call.x;
    let flags = flags as u32;
    if !call.is_socket(descriptor) {
        call.kernel.opened(descriptor)?;
        return Err(ENOTSOCK.into());
    }
    call.each_message(u64::from(count as u32), |call, at, number| {
        let flags = if number > 0 { flags | MSG_DONTWAIT } else { flags };
        call.send_message(descriptor, at, flags)
    })
}

pub(super) fn recvmmsg(call: &mut Call<'_>) -> CallResult {
    let [descriptor, _, count, flags, timeout, _] = call.x;
    let flags = flags as u32;
    let limit = call.optional_duration(timeout)?;
    call.socket_of(descriptor)?;
    let received = call.each_message(u64::from(count as u32), |call, at, number| {
        let flags = flags & !MSG_WAITFORONE;
        call.receive_message(descriptor, at, if number > 0 { flags | MSG_DONTWAIT } else { flags })
    })?;
    if let Some(limit) = limit {
        call.guest.write(timeout, &timespec(limit / NANOSECONDS, limit % NANOSECONDS))?;
    }
    Ok(received)
}
