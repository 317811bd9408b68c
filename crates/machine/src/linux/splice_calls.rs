//! System calls that move bytes between descriptors: `sendfile`, `copy_file_range`, `splice`, `vmsplice` and `tee`.

use super::call::Call;
use super::errno::{EAGAIN, EBADF, EINVAL, EISDIR, ESPIPE};
use super::failure::{CallResult, Failure};
use super::files::{Inode, Kind};
use super::guest::Buffer;
use super::open_files::{Description, O_APPEND, O_NONBLOCK, O_PATH, Object, PIPE_BYTES};
use super::proc_node::is_node;
use super::readiness::{POLLERR, POLLOUT};

/// The flags of `splice`, `vmsplice` and `tee`: `SPLICE_F_MOVE`, [`SPLICE_F_NONBLOCK`], `SPLICE_F_MORE`, `SPLICE_F_GIFT`.
const SPLICE_FLAGS: u32 = 15;
/// The call does not wait for a pipe.
const SPLICE_F_NONBLOCK: u32 = 2;

/// One side of a copy: a descriptor, and the address of a position in its file. The address is 0 for the position of the descriptor.
#[derive(Clone, Copy)]
struct Side {
    descriptor: u64,
    position: u64,
}

impl Call<'_> {
    /// Copies bytes from one descriptor to another and returns their number. A pipe gets no more bytes than it has room for.
    ///
    /// A position in memory is used and updated instead of that of the descriptor.
    fn copy(&mut self, from: Side, to: Side, bytes: u64) -> CallResult {
        let mut position = |address: u64| match address {
            0 => Ok(None),
            _ => match self.guest.read_u64(address)? {
                position if position > i64::MAX as u64 => Err(Failure::from(EINVAL)),
                position => Ok(Some(position)),
            },
        };
        let (start, end) = (position(from.position)?, position(to.position)?);
        let bytes = self.room_for(to.descriptor, bytes)?;
        let data = self.peek_first(from.descriptor, bytes, start)?;
        let written = self.put(to.descriptor, &data, end)?;
        self.consume(from.descriptor, &data[..written as usize], start)?;
        for (address, position) in [(from.position, start), (to.position, end)] {
            if let Some(position) = position {
                self.guest.write(address, &(position + written).to_le_bytes())?;
            }
        }
        Ok(written)
    }

    /// Returns up to `bytes` bytes from a descriptor as [`Call::peek`] does, before the call writes any of them.
    fn peek_first(&mut self, descriptor: u64, bytes: u64, at: Option<u64>) -> Result<Vec<u8>, Failure> {
        let data = self.peek(descriptor, bytes, at);
        if matches!(data, Err(Failure::Wait(_))) {
            // An earlier call may have left a number there.
            self.kernel.thread_mut().written = 0;
        }
        data
    }

    /// Returns how many of the `bytes` bytes a call may write to a descriptor now: a pipe without room has to be waited for.
    fn room_for(&mut self, descriptor: u64, bytes: u64) -> CallResult {
        let id = self.kernel.opened(descriptor)?;
        let open = self.kernel.open.get(id)?;
        let Some(number) = open.object.pipe().filter(|_| open.is_writable()) else { return Ok(bytes) };
        // All that is written to a pipe is written at once.
        let does_wait = open.does_wait();
        self.kernel.thread_mut().written = 0;
        let pipe = self.kernel.open.pipe(number)?;
        let room = (PIPE_BYTES - pipe.data.len()) as u64;
        if room > 0 || pipe.readers == 0 {
            // Without readers, writing fails.
            return Ok(bytes.min(room.max(1)));
        }
        Err(if does_wait { self.wait_until_ready(id, POLLOUT | POLLERR) } else { EAGAIN.into() })
    }

    /// Checks that one descriptor can be read and the other one be written, and returns the pipes that they are.
    fn ends(&self, from: u64, to: u64) -> Result<[Option<u32>; 2], Failure> {
        let (from, to) = (self.kernel.description(from)?, self.kernel.description(to)?);
        if !from.is_readable() || !to.is_writable() {
            return Err(EBADF.into());
        }
        Ok([from.object.pipe(), to.object.pipe()])
    }

    /// Checks the descriptors of `sendfile` or `splice`, which read no directory and append to no file, and returns the pipes that
    /// they are.
    fn ends_of_copy(&self, from: u64, to: u64) -> Result<[Option<u32>; 2], Failure> {
        let [source, target] = self.ends(from, to)?;
        let (from, to) = (self.kernel.description(from)?, self.kernel.description(to)?);
        let is_directory = self.inode_of(from).is_some_and(Inode::is_directory);
        let appends = target.is_none() && to.flags & O_APPEND != 0;
        if is_directory || appends { Err(EINVAL.into()) } else { Ok([source, target]) }
    }
}

pub(super) fn sendfile(call: &mut Call<'_>) -> CallResult {
    let [to, from, position, bytes, ..] = call.x;
    let [_, target] = call.ends_of_copy(from, to)?;
    let is_readable = match call.kernel.description(from)?.object {
        Object::Inode(_) => true,
        Object::Socket(_) => position == 0 && target.is_some(),
        _ => false,
    };
    if !is_readable {
        // Only files have a position.
        return Err(if position == 0 { EINVAL } else { ESPIPE }.into());
    }
    call.copy(Side { descriptor: from, position }, Side { descriptor: to, position: 0 }, bytes)
}

pub(super) fn copy_file_range(call: &mut Call<'_>) -> CallResult {
    let [from, from_position, to, to_position, bytes, flags] = call.x;
    let opened = [from, to].map(|descriptor| call.kernel.description(descriptor));
    let [source, target] = [opened[0]?, opened[1]?];
    if flags as u32 != 0 {
        return Err(EINVAL.into());
    }
    if source.flags & O_PATH != 0 || target.flags & O_PATH != 0 {
        return Err(EBADF.into());
    }
    // Nodes of `/proc` are files, too.
    let is_directory = |open: &Description| call.inode_of(open).is_some_and(Inode::is_directory);
    let is_file = |open: &Description| match open.object {
        Object::Inode(number) if is_node(number) => true,
        _ => call.inode_of(open).is_some_and(|inode| matches!(inode.kind, Kind::File(_))),
    };
    if is_directory(source) || is_directory(target) {
        return Err(EISDIR.into());
    }
    if !is_file(source) || !is_file(target) {
        return Err(EINVAL.into());
    }
    if !source.is_readable() || !target.is_writable() || target.flags & O_APPEND != 0 {
        return Err(EBADF.into());
    }
    if source.object == target.object {
        let (size, starts) =
            (call.inode_of(source).map_or(0, Inode::bytes), [source.position, target.position]);
        call.check_overlap([from_position, to_position], starts, size)?;
    }
    let (from, to) =
        (Side { descriptor: from, position: from_position }, Side { descriptor: to, position: to_position });
    call.copy(from, to, bytes)
}

impl Call<'_> {
    /// Fails if parts of the same file overlap. `addresses` are those of the positions, `own` the positions of the descriptors, and
    /// `size` is that of the file.
    fn check_overlap(&mut self, addresses: [u64; 2], own: [u64; 2], size: u64) -> Result<(), Failure> {
        let mut starts = own;
        for (start, address) in starts.iter_mut().zip(addresses).filter(|(_, address)| *address != 0) {
            *start = self.guest.read_u64(address)?;
        }
        let [from, to] = starts;
        let bytes = self.x[4].min(size.saturating_sub(from));
        let overlaps = to.saturating_add(bytes) > from && to < from.saturating_add(bytes);
        if overlaps { Err(EINVAL.into()) } else { Ok(()) }
    }
}

/// Copies bytes from one descriptor to another, one of which is a pipe.
pub(super) fn splice(call: &mut Call<'_>) -> CallResult {
    let [from, from_position, to, to_position, bytes, flags] = call.x;
    let flags = flags as u32;
    if bytes == 0 {
        return Ok(0);
    }
    if flags & !SPLICE_FLAGS != 0 {
        return Err(EINVAL.into());
    }
    let pipe_of = |descriptor| Ok::<_, Failure>(call.kernel.description(descriptor)?.object.pipe());
    let is_at = |position: u64, pipe: Option<u32>| position != 0 && pipe.is_some();
    if is_at(from_position, pipe_of(from)?) || is_at(to_position, pipe_of(to)?) {
        return Err(ESPIPE.into());
    }
    let [source, target] = call.ends_of_copy(from, to)?;
    if source == target {
        // Neither is a pipe, or they are ends of the same one.
        return Err(EINVAL.into());
    }
    let (source, target) =
        (Side { descriptor: from, position: from_position }, Side { descriptor: to, position: to_position });
    call.with_flags([from, to], waiting_flag(flags), |call| call.copy(source, target, bytes))
}

/// Returns the flag that descriptors have while a call with flags of `splice` uses them.
const fn waiting_flag(flags: u32) -> u32 {
    if flags & SPLICE_F_NONBLOCK != 0 { O_NONBLOCK } else { 0 }
}

pub(super) fn vmsplice(call: &mut Call<'_>) -> CallResult {
    let [descriptor, vectors, count, flags, ..] = call.x;
    let flags = flags as u32;
    if flags & !SPLICE_FLAGS != 0 {
        return Err(EINVAL.into());
    }
    let open = call.kernel.description(descriptor)?;
    if open.object.pipe().is_none() {
        return Err(EBADF.into());
    }
    let writes = open.is_writable();
    let mut buffers = call.guest.iovecs(vectors, count)?;
    let total: u64 = buffers.iter().map(|buffer| buffer.bytes).sum();
    if total == 0 {
        return Ok(0);
    }
    call.with_flags([descriptor; 2], waiting_flag(flags), |call| {
        if !writes {
            return call.read_into(descriptor, &buffers, None);
        }
        let mut room = call.room_for(descriptor, total)?;
        for Buffer { bytes, .. } in &mut buffers {
            *bytes = room.min(*bytes);
            room -= *bytes;
        }
        call.write_from(descriptor, &buffers, None)
    })
}

pub(super) fn tee(call: &mut Call<'_>) -> CallResult {
    let [from, to, bytes, flags, ..] = call.x;
    let flags = flags as u32;
    if flags & !SPLICE_FLAGS != 0 {
        return Err(EINVAL.into());
    }
    if bytes == 0 {
        return Ok(0);
    }
    let [source, target] = call.ends(from, to)?;
    if source.is_none() || target.is_none() || source == target {
        return Err(EINVAL.into());
    }
    call.with_flags([from, to], waiting_flag(flags), |call| {
        let bytes = call.room_for(to, bytes)?;
        let data = call.peek_first(from, bytes, None)?;
        if data.is_empty() { Ok(0) } else { call.put(to, &data, None) }
    })
}
