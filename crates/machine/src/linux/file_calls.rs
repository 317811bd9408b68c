//! System calls that open, read, write and resize files.

use super::call::{AT_FDCWD, Call};
use super::errno::{
    EAGAIN, EBADF, EEXIST, EINVAL, EIO, EISDIR, ELOOP, ENOENT, ENOSPC, ENOTDIR, ENXIO, EOPNOTSUPP, EPIPE,
    EROFS, ESPIPE,
};
use super::failure::{CallResult, Failure};
use super::files::{Device, Inode, InodeNumber, Kind, Nodes as _, Place};
use super::guest::{Buffer, TRANSFER_BYTES_MAX};
use super::kernel::Kernel;
use super::notices::{IN_ACCESS, IN_MODIFY, IN_OPEN};
use super::open_files::{
    Description, O_ACCMODE, O_APPEND, O_CLOEXEC, O_NONBLOCK, O_PATH, O_RDWR, O_WRONLY, Object,
    PIPE_ATOMIC_BYTES, PIPE_BYTES,
};
use super::proc_node::{Node, is_node};
use super::readiness::{POLLERR, POLLHUP, POLLIN, POLLOUT};
use super::signals::{SIGPIPE, siginfo};
use super::socket_transfer::Outgoing;
use super::wait::Woken;
use crate::console::Stream;

const O_CREAT: u32 = 0o100;
const O_EXCL: u32 = 0o200;
const O_TRUNC: u32 = 0o1000;
const O_DIRECTORY: u32 = 0o40_000;
const O_NOFOLLOW: u32 = 0o100_000;
const O_TMPFILE: u32 = 0o20_000_000;

pub(super) fn openat(call: &mut Call<'_>) -> CallResult {
    let [directory, path, flags, mode, ..] = call.x;
    let flags = flags as u32;
    if let Some(held) = call.kernel.thread_mut().held.take() {
        return call.wait_for_other_end(held, flags);
    }
    if flags & O_TMPFILE != 0 {
        return call.open_temporary(flags);
    }
    let is_exclusive = flags & O_CREAT != 0 && flags & O_EXCL != 0;
    let place = call.place(directory, path, flags & O_NOFOLLOW == 0 && !is_exclusive)?;
    // Fail before creating the file if no descriptor is free.
    call.kernel.process().lowest_free(0)?;
    let writes = flags & O_ACCMODE != 0 && flags & O_PATH == 0;
    let now = call.now();
    let umask = call.kernel.process().umask;
    if let Some(number) = place.inode
        && !is_exclusive
        && flags & O_PATH == 0
        && matches!(call.kernel.files.inode(number), Some(Inode { kind: Kind::Fifo, .. }))
    {
        if flags & O_DIRECTORY != 0 {
            return Err(ENOTDIR.into());
        }
        let path = call.kernel.path_of(&place);
        return call.open_fifo(number, path, flags);
    }
    let files = &mut call.kernel.files;
    let mut is_changed = false;
    let number = match place.inode {
        Some(number) if is_node(number) => return call.open_node(&place, number, flags),
        Some(_) if is_exclusive => return Err(EEXIST.into()),
        Some(number) => {
            let inode = files.inode(number).ok_or(ENOENT)?;
            match &inode.kind {
                Kind::Symlink(_) if flags & O_PATH == 0 => return Err(ELOOP.into()),
                Kind::Socket if flags & O_PATH == 0 => return Err(ENXIO.into()),
                Kind::Directory { .. } if writes || flags & O_CREAT != 0 => return Err(EISDIR.into()),
                &Kind::Device(device) if device.is_terminal() && flags & O_PATH == 0 => {
                    return call.open_device(device, flags);
                }
                Kind::Directory { .. } | Kind::Device(_) => {}
                _ if flags & O_DIRECTORY != 0 => return Err(ENOTDIR.into()),
                Kind::File(_) if writes && inode.read_only => return Err(EROFS.into()),
                Kind::File(_) if writes && flags & O_TRUNC != 0 => {
                    is_changed = true;
                    files.resize(number, 0, now)?;
                }
                _ => {}
            }
            number
        }
        None if flags & O_CREAT == 0 => return Err(ENOENT.into()),
        None => {
            let mode = mode as u32 & 0o7777 & !umask;
            files.add(&place, Inode::new(Kind::File(Vec::new().into()), mode, now))?
        }
    };
    let kept = flags & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_PATH | O_DIRECTORY);
    if place.inode.is_none() {
        call.kernel.notify_new(&place, number);
    }
    let place = place.with(number);
    let path = call.kernel.path_of(&place);
    let (parent, name) = (place.parent, place.name);
    if flags & O_PATH == 0 {
        call.kernel.notify(number, Some((parent, &name)), IN_OPEN);
    }
    if is_changed {
        call.kernel.notify(number, Some((parent, &name)), IN_MODIFY);
        call.show_file(number)?;
    }
    let place = (!name.is_empty()).then(|| Box::new((parent, name)));
    let mut description = Description::new(Object::Inode(number), kept).at(path);
    description.place = place;
    Ok(call.kernel.open(description, flags & O_CLOEXEC != 0)?)
}

impl Call<'_> {
    /// Opens a file in a directory, to which no path leads.
    fn open_temporary(&mut self, flags: u32) -> CallResult {
        let [directory, path, _, mode, ..] = self.x;
        if flags & O_ACCMODE == 0 || flags & O_CREAT != 0 || flags & O_DIRECTORY == 0 {
            return Err(EINVAL.into());
        }
        let parent = self.place(directory, path, true)?.existing()?;
        self.kernel.process().lowest_free(0)?;
        let above = self.kernel.path_of_inode(parent);
        let parent =
            self.kernel.files.inode(parent).ok_or(if is_node(parent) { EOPNOTSUPP } else { ENOENT })?;
        if !parent.is_directory() {
            return Err(ENOTDIR.into());
        }
        if parent.read_only {
            return Err(EROFS.into());
        }
        let mode = mode as u32 & 0o7777 & !self.kernel.process().umask;
        let inode = Inode::new(Kind::File(Vec::new().into()), mode, self.now());
        let number = self.kernel.files.add_unlinked(inode)?;
        let kept = flags & (O_ACCMODE | O_APPEND | O_NONBLOCK);
        // Linux names such a file by its number.
        let path = [above.strip_suffix(b"/").unwrap_or(&above), format!("/#{number}").as_bytes()].concat();
        let description = Description::new(Object::Inode(number), kept).at(path);
        Ok(self.kernel.open(description, flags & O_CLOEXEC != 0)?)
    }

    /// Opens a node of `/proc`, or the open file that it leads to.
    fn open_node(&mut self, place: &Place, number: InodeNumber, flags: u32) -> CallResult {
        let (reads, writes) = (flags & O_ACCMODE != O_WRONLY, flags & O_ACCMODE != 0);
        if flags & O_CREAT != 0 && flags & O_EXCL != 0 {
            return Err(EEXIST.into());
        }
        let status = self.status(Object::Inode(number));
        let is_path = flags & O_PATH != 0;
        if self.kernel.is_directory(number) {
            if !is_path && (writes || flags & O_CREAT != 0) {
                return Err(EISDIR.into());
            }
        } else if flags & O_DIRECTORY != 0 {
            return Err(ENOTDIR.into());
        }
        if status.is_symlink() && !is_path {
            return Err(ELOOP.into());
        }
        let object = match self.kernel.object_of(number)? {
            object if is_path => object,
            Object::Terminal(number) => return self.open_slave(number, flags),
            Object::TerminalMaster(_) => return self.open_multiplexer(flags),
            // These have no other end, and cannot be opened again.
            Object::Event(_) | Object::Socket(_) => return Err(ENXIO.into()),
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) if reads && !writes => {
                Object::PipeReader(pipe)
            }
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) if writes && !reads => {
                Object::PipeWriter(pipe)
            }
            object => object,
        };
        let kept = flags & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_PATH | O_DIRECTORY);
        let description = Description::new(object, kept).at(self.kernel.path_of(place));
        Ok(self.kernel.open(description, flags & O_CLOEXEC != 0)?)
    }

    /// Opens the terminal of the standard streams.
    pub(super) fn open_console(&mut self, flags: u32) -> CallResult {
        let writes_only = flags & O_ACCMODE == O_WRONLY;
        let object = if writes_only { Object::Output(Stream::Output) } else { Object::Input };
        let description = Description::new(object, flags & (O_ACCMODE | O_APPEND | O_NONBLOCK));
        Ok(self.kernel.open(description, flags & O_CLOEXEC != 0)?)
    }

    /// Returns the part of a text from a position on.
    fn part(text: &[u8], at: u64, bytes: usize) -> Vec<u8> {
        let start = at.min(text.len() as u64) as usize;
        text[start..text.len().min(start.saturating_add(bytes))].to_vec()
    }

    /// Returns up to `bytes` bytes from a descriptor, without consuming them.
    ///
    /// Reading starts at `at`, or else at the position of the open file description.
    pub(super) fn peek(&mut self, descriptor: u64, bytes: u64, at: Option<u64>) -> Result<Vec<u8>, Failure> {
        let bytes = bytes.min(TRANSFER_BYTES_MAX) as usize;
        let id = self.kernel.opened(descriptor)?;
        if let Object::Inode(number) = self.kernel.open.get(id)?.object {
            self.sync_file(number)?;
        }
        let description = self.kernel.open.get(id)?;
        if !description.is_readable() {
            return Err(EBADF.into());
        }
        if let Object::Inode(number) = description.object
            && let Some(node) = Node::of(number)
        {
            let at = at.unwrap_or(description.position);
            return Ok(Self::part(&self.node_text(descriptor, node, at)?, at, bytes));
        }
        let Kernel { open, files, input, input_position, .. } = &*self.kernel;
        let description = open.get(id)?;
        match description.object {
            Object::Inode(number) => match &files.inode(number).ok_or(ENOENT)?.kind {
                Kind::File(data) => Ok(Self::part(data, at.unwrap_or(description.position), bytes)),
                Kind::Directory { .. } => Err(EISDIR.into()),
                Kind::Symlink(_) | Kind::Socket | Kind::Fifo => Err(EINVAL.into()),
                Kind::Device(Device::Null) => Ok(Vec::new()),
                // An open terminal is another object.
                Kind::Device(device) if device.is_terminal() => Err(EIO.into()),
                Kind::Device(Device::Zero | Device::Full) => Ok(vec![0; bytes]),
                Kind::Device(_) => Ok(self.kernel.random_bytes(bytes)),
            },
            _ if at.is_some() => Err(ESPIPE.into()),
            // Only a terminal that was opened for both can be read through its output.
            Object::Input | Object::Output(_) => {
                let unread = &input[*input_position..];
                Ok(unread[..unread.len().min(bytes)].to_vec())
            }
            Object::PipeReader(number) | Object::PipeBoth(number) => {
                let pipe = open.pipe(number)?;
                if pipe.data.is_empty() && pipe.writers > 0 && bytes > 0 {
                    let does_wait = description.does_wait();
                    return Err(if does_wait {
                        self.wait_until_ready(id, POLLIN | POLLHUP)
                    } else {
                        EAGAIN.into()
                    });
                }
                Ok(pipe.data.iter().take(bytes).copied().collect())
            }
            Object::Event(event) => self.peek_event(id, event, bytes),
            Object::Socket(_) => Ok(self.peek_socket(descriptor, bytes, 0)?.data),
            Object::Queue(_) => Err(EINVAL.into()),
            Object::Terminal(number) => self.peek_terminal(id, number, bytes),
            Object::TerminalMaster(number) => self.peek_master(id, number, bytes),
            Object::PipeWriter(_) => Err(EBADF.into()),
        }
    }

    /// Consumes the bytes that [`Call::peek`] returned, once the guest's memory holds them.
    ///
    /// With `at`, the position of the open file description stays as it is.
    pub(super) fn consume(&mut self, descriptor: u64, data: &[u8], at: Option<u64>) -> Result<(), Failure> {
        let (id, bytes) = (self.kernel.opened(descriptor)?, data.len());
        let Kernel { open, files, input_position, state, windows, .. } = &mut *self.kernel;
        let description = open.get_mut(id)?;
        match description.object {
            Object::Inode(number) => {
                if at.is_none() {
                    description.position += bytes as u64;
                }
                let kind = files.inode(number).map(|inode| &inode.kind);
                if matches!(kind, Some(Kind::Device(Device::Random))) {
                    state.random += bytes as u64;
                }
            }
            Object::Input | Object::Output(_) => *input_position += bytes,
            Object::PipeReader(pipe) | Object::PipeBoth(pipe) => {
                let before = open.pipe(pipe)?.data.len();
                open.pipe_mut(pipe)?.take(bytes);
                open.note_read(pipe, before);
                windows.note_transfer(pipe, bytes);
            }
            Object::Event(event) => self.consume_event(event, data)?,
            Object::Socket(_) => {
                let rights = self.consume_socket(descriptor, bytes)?;
                rights.into_iter().for_each(|right| self.kernel.release_description(right));
            }
            Object::Terminal(number) => self.consume_terminal(id, number, bytes)?,
            Object::TerminalMaster(number) => self.consume_master(number, bytes)?,
            Object::PipeWriter(_) | Object::Queue(_) => {}
        }
        Ok(())
    }

    /// Returns the position at which a write to a file begins. As on Linux, appending goes before a position.
    fn write_position(description: &Description, contents: &[u8], at: Option<u64>) -> u64 {
        match description.flags & O_APPEND {
            0 => at.unwrap_or(description.position),
            _ => contents.len() as u64,
        }
    }

    /// Returns the part of some bytes that the process may write, if it writes them to a file. If it may write none, it gets SIGXFSZ.
    fn within_limit<'d>(&mut self, id: u32, data: &'d [u8], at: Option<u64>) -> Result<&'d [u8], Failure> {
        let description = self.kernel.open.get(id)?;
        let Object::Inode(number) = description.object else { return Ok(data) };
        let Some(Inode { kind: Kind::File(contents), .. }) = self.kernel.files.inode(number) else {
            return Ok(data);
        };
        let position = Self::write_position(description, contents, at);
        let bytes = self.writable_bytes(position, data.len() as u64)?;
        Ok(&data[..bytes as usize])
    }

    /// Writes to a descriptor at position `at`, or else at its own position, and returns the number of bytes written.
    pub(super) fn put(&mut self, descriptor: u64, data: &[u8], at: Option<u64>) -> CallResult {
        let (now, id) = (self.now(), self.kernel.opened(descriptor)?);
        let description = self.kernel.open.get(id)?;
        if !description.is_writable() {
            return Err(EBADF.into());
        }
        if let Object::Inode(number) = description.object {
            self.sync_file(number)?;
        }
        let data = self.within_limit(id, data, at)?;
        let Kernel { open, files, .. } = &mut *self.kernel;
        let description = open.get_mut(id)?;
        match description.object {
            Object::Inode(number) if is_node(number) => match Node::of(number) {
                Some(node) => self.put_node(node, data),
                None => Err(EINVAL.into()),
            },
            Object::Inode(number) => match &files.inode(number).ok_or(ENOENT)?.kind {
                Kind::File(contents) => {
                    let position = Self::write_position(description, contents, at);
                    let written = files.write(number, position, data, now)?;
                    if at.is_none() {
                        description.position = position + written;
                    }
                    self.show_file(number)?;
                    self.kernel.notify_opened(id, IN_MODIFY);
                    Ok(written)
                }
                Kind::Device(device) if device.is_terminal() => Err(EIO.into()),
                Kind::Device(Device::Full) => Err(ENOSPC.into()),
                Kind::Device(_) => Ok(data.len() as u64),
                Kind::Directory { .. } => Err(EISDIR.into()),
                Kind::Symlink(_) | Kind::Socket | Kind::Fifo => Err(EINVAL.into()),
            },
            _ if at.is_some() => Err(ESPIPE.into()),
            Object::Output(stream) => {
                self.console.push((stream, data.to_vec()));
                Ok(data.len() as u64)
            }
            // A terminal that was opened for both.
            Object::Input => {
                self.console.push((Stream::Output, data.to_vec()));
                Ok(data.len() as u64)
            }
            Object::PipeWriter(pipe) | Object::PipeBoth(pipe) => self.put_into_pipe(id, pipe, data),
            Object::Event(event) => self.put_event(id, event, data),
            Object::Socket(_) => {
                let (data, sender) = (data.to_vec(), self.credentials());
                self.send_to_socket(
                    descriptor,
                    Outgoing { data, to: Vec::new(), rights: Vec::new(), sender, flags: 0 },
                )
            }
            Object::Queue(_) => Err(EINVAL.into()),
            Object::Terminal(number) => self.put_into_terminal(id, number, data),
            Object::TerminalMaster(number) => self.put_into_master(id, number, data),
            Object::PipeReader(_) => Err(EBADF.into()),
        }
    }

    /// Writes to a pipe. A write that waits goes on until all bytes are written; [`Thread::written`] counts those that are.
    ///
    /// [`Thread::written`]: super::thread::Thread::written
    fn put_into_pipe(&mut self, description: u32, number: u32, data: &[u8]) -> CallResult {
        let done = self.bytes_written().min(data.len());
        let left = &data[done..];
        let pipe = self.kernel.open.pipe_mut(number)?;
        if pipe.readers == 0 {
            let (thread, info) = (self.kernel.turns.current, siginfo(SIGPIPE, 0, 0));
            self.kernel.send_to_thread(thread, SIGPIPE, info)?;
            return if done > 0 { Ok(done as u64) } else { Err(EPIPE.into()) };
        }
        let room = PIPE_BYTES - pipe.data.len();
        // A short write is not divided.
        let now = if left.len() <= PIPE_ATOMIC_BYTES && room < left.len() { 0 } else { left.len().min(room) };
        pipe.data.extend(&left[..now]);
        if now > 0 {
            self.kernel.open.note_write(number);
            self.kernel.windows.note_transfer(number, now);
        }
        self.go_on_writing(description, (done, now), data.len())
    }

    /// Returns the bytes that this write has written before it waited.
    pub(super) fn bytes_written(&self) -> usize {
        if self.woken.is_some() { self.kernel.thread().written } else { 0 }
    }

    /// Waits for room if a write has not written all bytes. `written` are the bytes before this service and in it.
    pub(super) fn go_on_writing(&mut self, id: u32, written: (usize, usize), total: usize) -> CallResult {
        let (before, now) = written;
        let done = before + now;
        let does_wait = self.kernel.open.get(id)?.does_wait();
        if done == total || !does_wait && done > 0 {
            return Ok(done as u64);
        }
        if !does_wait {
            return Err(EAGAIN.into());
        }
        self.kernel.thread_mut().written = done;
        let woken =
            self.woken.map(|(woken, deadline)| (if now > 0 { Woken::Event } else { woken }, deadline));
        self.woken = woken;
        match self.wait_until_ready(id, POLLOUT | POLLERR) {
            // What is written cannot be taken back.
            Failure::Interrupted { .. } if done > 0 => Ok(done as u64),
            failure => Err(failure),
        }
    }

    /// Reads from a descriptor into the writable part of `buffers`.
    pub(super) fn read_into(&mut self, descriptor: u64, buffers: &[Buffer], at: Option<u64>) -> CallResult {
        if !self.kernel.description(descriptor)?.is_readable() {
            return Err(EBADF.into());
        }
        let room = self.guest.writable_total(buffers)?;
        if room == 0 && matches!(self.kernel.description(descriptor)?.object, Object::Terminal(_)) {
            // An empty read does not consume the end of input.
            return Ok(0);
        }
        let data = self.peek(descriptor, room, at)?;
        self.guest.scatter(buffers, &data)?;
        self.consume(descriptor, &data, at)?;
        if !data.is_empty() {
            let opened = self.kernel.opened(descriptor)?;
            self.kernel.notify_opened(opened, IN_ACCESS);
        }
        Ok(data.len() as u64)
    }

    pub(super) fn write_from(&mut self, descriptor: u64, buffers: &[Buffer], at: Option<u64>) -> CallResult {
        if !self.kernel.description(descriptor)?.is_writable() {
            return Err(EBADF.into());
        }
        let data = self.guest.gather(buffers)?;
        self.put(descriptor, &data, at)
    }

    fn buffer(&self) -> [Buffer; 1] {
        [Buffer { address: self.x[1], bytes: self.x[2].min(TRANSFER_BYTES_MAX) }]
    }

    /// Returns the file position in argument `argument`. A negative one is `EINVAL`.
    pub(super) fn position(&self, argument: usize) -> Result<Option<u64>, Failure> {
        let position = self.x[argument];
        if position > i64::MAX as u64 { Err(EINVAL.into()) } else { Ok(Some(position)) }
    }
}

pub(super) fn read(call: &mut Call<'_>) -> CallResult {
    call.read_into(call.x[0], &call.buffer(), None)
}

pub(super) fn write(call: &mut Call<'_>) -> CallResult {
    call.write_from(call.x[0], &call.buffer(), None)
}

pub(super) fn pread64(call: &mut Call<'_>) -> CallResult {
    let at = call.position(3)?;
    call.read_into(call.x[0], &call.buffer(), at)
}

pub(super) fn pwrite64(call: &mut Call<'_>) -> CallResult {
    let at = call.position(3)?;
    call.write_from(call.x[0], &call.buffer(), at)
}

pub(super) fn lseek(call: &mut Call<'_>) -> CallResult {
    let [descriptor, offset, whence, ..] = call.x;
    let id = call.kernel.opened(descriptor)?;
    let Kernel { open, files, .. } = &mut *call.kernel;
    let description = open.get_mut(id)?;
    let Object::Inode(number) = description.object else { return Err(ESPIPE.into()) };
    let end = match files.inode(number).map(|inode| &inode.kind) {
        Some(Kind::File(data)) => data.len() as u64,
        _ => 0,
    };
    // As on Linux, these have no end to seek from.
    if is_node(number) && whence > 1 && description.flags & O_DIRECTORY == 0 {
        return Err(EINVAL.into());
    }
    let base = match whence {
        0 => 0,
        1 => description.position,
        2 => end,
        // SEEK_DATA and SEEK_HOLE: files have no holes but the virtual one at the end.
        3 | 4 if offset >= end => return Err(ENXIO.into()),
        3 => 0,
        4 => {
            description.position = end;
            return Ok(end);
        }
        _ => return Err(EINVAL.into()),
    };
    let position = base.checked_add_signed(offset as i64).filter(|&position| position <= i64::MAX as u64);
    description.position = position.ok_or(EINVAL)?;
    if description.position == 0 {
        description.listing = None;
    }
    Ok(description.position)
}

/// Returns the inode of the descriptor in X0, which has to be writable.
fn file_to_write(call: &Call<'_>) -> Result<u64, Failure> {
    let description = call.kernel.description(call.x[0])?;
    match description.object {
        Object::Inode(number) if description.is_writable() => Ok(number),
        Object::Inode(_) => Err(if description.flags & O_PATH != 0 { EBADF } else { EINVAL }.into()),
        _ => Err(EINVAL.into()),
    }
}

impl Call<'_> {
    /// Truncates a file or extends it with zeros.
    fn resize_file(&mut self, number: InodeNumber, bytes: u64) -> Result<(), Failure> {
        let now = self.now();
        let before = self.kernel.files.inode(number).map_or(0, Inode::bytes);
        self.check_file_bytes(before, bytes)?;
        self.sync_file(number)?;
        self.kernel.files.resize(number, bytes, now)?;
        self.show_file(number)
    }
}

pub(super) fn ftruncate(call: &mut Call<'_>) -> CallResult {
    let (number, bytes) = (file_to_write(call)?, call.x[1]);
    if bytes > i64::MAX as u64 {
        return Err(EINVAL.into());
    }
    call.resize_file(number, bytes)?;
    let opened = call.kernel.opened(call.x[0])?;
    call.kernel.notify_opened(opened, IN_MODIFY);
    Ok(0)
}

pub(super) fn truncate(call: &mut Call<'_>) -> CallResult {
    // Linux checks the size before the path.
    if call.x[1] > i64::MAX as u64 {
        return Err(EINVAL.into());
    }
    let place = call.place(AT_FDCWD as u64, call.x[0], true)?;
    let number = place.existing()?;
    call.resize_file(number, call.x[1])?;
    call.kernel.notify(number, Some((place.parent, &place.name)), IN_MODIFY);
    Ok(0)
}

pub(super) fn fallocate(call: &mut Call<'_>) -> CallResult {
    let [_, mode, offset, bytes, ..] = call.x;
    let number = file_to_write(call)?;
    if mode as u32 != 0 {
        return Err(EOPNOTSUPP.into());
    }
    if offset > i64::MAX as u64 || bytes == 0 || bytes > i64::MAX as u64 {
        return Err(EINVAL.into());
    }
    let there = call.kernel.files.inode(number).ok_or(ENOENT)?.bytes();
    call.resize_file(number, there.max(offset + bytes))?;
    Ok(0)
}

const _: () = assert!(O_RDWR == 2, "O_RDWR differs from O_RDONLY and O_WRONLY");

pub(super) fn memfd_create(call: &mut Call<'_>) -> CallResult {
    const MFD_CLOEXEC: u32 = 1;
    const MFD_ALLOW_SEALING: u32 = 2;
    /// The length of the longest name, without `memfd:` and the NUL.
    const NAME_BYTES_MAX: usize = 249;
    let flags = call.x[1] as u32;
    if flags & !(MFD_CLOEXEC | MFD_ALLOW_SEALING) != 0 {
        return Err(EINVAL.into());
    }
    let name = call.guest.text(call.x[0], NAME_BYTES_MAX + 1)?.ok_or(EINVAL)?;
    call.kernel.process().lowest_free(0)?;
    let now = call.now();
    let number = call.kernel.files.add_unlinked(Inode::new(Kind::File(Vec::new().into()), 0o777, now))?;
    let path = [b"/memfd:", &name[..]].concat();
    let description = Description::new(Object::Inode(number), O_RDWR).at(path);
    Ok(call.kernel.open(description, flags & MFD_CLOEXEC != 0)?)
}
