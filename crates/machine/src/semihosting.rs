//! Arm semihosting: the services that a guest requests with `HLT #0xf000`.
//!
//! Operations and their parameter blocks follow Arm's "Semihosting for AArch32 and AArch64". Time is guest
//! time: it counts retired steps, so a run can be repeated. Files are confined to one directory of the host.

use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use cap_std::fs::{Dir, File, OpenOptions};
use kvrm_arm64::semantics::system::COUNTER_HZ;
use kvrm_arm64::{Access, Cpu, Stop};
use serde::{Deserialize, Serialize};

use crate::console::Stream;
use crate::error::Error;
use crate::executor::Executor;
use crate::layout::Layout;
use crate::shared::share;

/// The immediate of HLT that requests a semihosting service.
pub const SEMIHOSTING: u16 = 0xf000;

const SYS_OPEN: u32 = 0x01;
const SYS_CLOSE: u32 = 0x02;
const SYS_WRITEC: u32 = 0x03;
const SYS_WRITE0: u32 = 0x04;
const SYS_WRITE: u32 = 0x05;
const SYS_READ: u32 = 0x06;
const SYS_READC: u32 = 0x07;
const SYS_ISERROR: u32 = 0x08;
const SYS_ISTTY: u32 = 0x09;
const SYS_SEEK: u32 = 0x0a;
const SYS_FLEN: u32 = 0x0c;
const SYS_TMPNAM: u32 = 0x0d;
const SYS_REMOVE: u32 = 0x0e;
const SYS_RENAME: u32 = 0x0f;
const SYS_CLOCK: u32 = 0x10;
const SYS_TIME: u32 = 0x11;
const SYS_SYSTEM: u32 = 0x12;
const SYS_ERRNO: u32 = 0x13;
const SYS_GET_CMDLINE: u32 = 0x15;
const SYS_HEAPINFO: u32 = 0x16;
const SYS_EXIT: u32 = 0x18;
const SYS_EXIT_EXTENDED: u32 = 0x20;
const SYS_ELAPSED: u32 = 0x30;
const SYS_TICKFREQ: u32 = 0x31;

/// Constants for the shaders, which serve some console output themselves: name, value and meaning of each.
pub const SHADER_NUMBERS: &[(&str, u32, &str)] = &[
    ("SEMIHOSTING", SEMIHOSTING as u32, "The immediate of HLT that requests a semihosting service."),
    ("SYS_WRITEC", SYS_WRITEC, "Writes one byte."),
    ("SYS_WRITE0", SYS_WRITE0, "Writes a NUL-terminated string."),
    ("SYS_WRITE", SYS_WRITE, "Writes a number of bytes to a handle."),
];

/// `ADP_Stopped_ApplicationExit`: the reason code of a normal exit.
const APPLICATION_EXIT: u64 = 0x2_0026;
/// The return value of a failed operation: -1.
const ERROR_RESULT: u64 = u64::MAX;
/// The limit on bytes that one call transfers. Longer transfers are cut short, as the interface permits.
const TRANSFER_BYTES_MAX: u64 = 1 << 20;
/// The number of bytes of a string that are read first. Most strings are shorter, and these bytes can be fetched before
/// the call is served.
const STRING_BYTES_FIRST: u64 = 64;
/// The limit on the length of file names; longer ones are refused.
const STRING_BYTES_MAX: u64 = 1 << 16;
/// The limit on the size of files that guests write, so that a stray position cannot fill the host's disk at once.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// The limit on open handles of a lane.
const HANDLES_MAX: usize = 64;

const ENOENT: i32 = 2;
const EIO: i32 = 5;
const E2BIG: i32 = 7;
const EBADF: i32 = 9;
const EACCES: i32 = 13;
const EFAULT: i32 = 14;
const EEXIST: i32 = 17;
const ENOTDIR: i32 = 20;
const EISDIR: i32 = 21;
const EINVAL: i32 = 22;
const EMFILE: i32 = 24;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const ENAMETOOLONG: i32 = 36;
const ENOSYS: i32 = 38;

/// The semihosting configuration that all lanes share.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) layout: Layout,
    /// The directory to which the files of guests are confined; `None` if guests have no files.
    pub(crate) directory: Option<Arc<Dir>>,
}

/// The semihosting state of one lane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Services {
    #[serde(with = "crate::interned")]
    command_line: Arc<str>,
    #[serde(with = "crate::interned")]
    input: Arc<[u8]>,
    /// The number of bytes of the input that have been read.
    input_position: usize,
    /// The open handles; handle `n` has index `n - 1`.
    handles: Vec<Option<Handle>>,
    /// The errno of the last failed call, for `SYS_ERRNO`.
    errno: i32,
}

/// An open handle: console input, console output, or a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Handle {
    Input,
    Output(Stream),
    /// A machine with files of the host cannot be saved.
    #[serde(skip)]
    File(GuestFile),
}

/// An open file with its own position, so that a snapshot of the lane includes it.
#[derive(Clone, Debug)]
struct GuestFile {
    /// The file, shared with snapshots of the lane. Its position on the host is shared, too, so it is set before every
    /// use.
    file: Arc<File>,
    position: u64,
    mode: Mode,
}

/// A mode of `SYS_OPEN`. 0 to 11 are the modes of C's `fopen`: r, rb, r+, r+b, w, wb, w+, w+b, a, ab, a+, a+b.
#[derive(Clone, Copy, Debug)]
struct Mode(u64);

/// The outcome of a call.
pub(crate) enum Outcome {
    /// The lane continues with this value in X0.
    Return(u64),
    /// The lane exits with this code.
    Exit(i32),
    /// The call could not be served, and the lane stops with this stop.
    Stop(Stop),
}

/// The reason that a call failed: an errno for the guest, a stop of the lane, or an error of the engine.
enum Failure {
    Errno(i32),
    Stop(Stop),
    Engine(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        // Do not pass on the host's errno values, which differ between operating systems.
        Self::Errno(match error.kind() {
            ErrorKind::NotFound => ENOENT,
            // The confinement reports an escape as a lack of permission.
            ErrorKind::PermissionDenied => EACCES,
            ErrorKind::AlreadyExists => EEXIST,
            ErrorKind::NotADirectory => ENOTDIR,
            ErrorKind::IsADirectory => EISDIR,
            ErrorKind::InvalidInput => EINVAL,
            ErrorKind::StorageFull => ENOSPC,
            ErrorKind::InvalidFilename => ENAMETOOLONG,
            _ => EIO,
        })
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            // The guest can make the same call again once there are more frames.
            Stop::OutOfFrames => Self::Stop(stop),
            // A bad pointer is an error of the guest, so the guest gets it as an errno.
            _ => Self::Errno(EFAULT),
        }
    }
}

/// The value that a call returns in X0, or the reason that it failed.
type CallResult = Result<u64, Failure>;

/// Returns the memory that a call will read, as lane, address and size, so that all calls of a round can be prefetched
/// together.
///
/// Prefetching takes two passes. Without `fields`, the ranges are the parameter block or the string in X1. With the
/// doublewords of the parameter block as `fields`, they are the data that the block points to.
pub(crate) fn memory_to_read(lane: usize, cpu: &Cpu, fields: Option<&[u64]>) -> Vec<(usize, u64, usize)> {
    let (operation, parameter) = (cpu.x(0) as u32, cpu.x(1));
    let ranges: Vec<(u64, u64)> = match (operation, fields) {
        (SYS_WRITEC, None) => vec![(parameter, 1)],
        (SYS_WRITE0, None) => vec![(parameter, STRING_BYTES_FIRST)],
        (SYS_RENAME, None) => vec![(parameter, 32)],
        (SYS_OPEN | SYS_WRITE | SYS_READ | SYS_TMPNAM, None) => vec![(parameter, 24)],
        (SYS_SEEK | SYS_REMOVE | SYS_GET_CMDLINE | SYS_EXIT | SYS_EXIT_EXTENDED, None) => {
            vec![(parameter, 16)]
        }
        (SYS_CLOSE | SYS_ISERROR | SYS_ISTTY | SYS_FLEN | SYS_HEAPINFO, None) => vec![(parameter, 8)],
        (SYS_WRITE, Some(&[_, data, bytes])) => vec![(data, bytes.min(TRANSFER_BYTES_MAX))],
        (SYS_OPEN, Some(&[name, _, bytes])) | (SYS_REMOVE, Some(&[name, bytes])) => vec![(name, bytes)],
        (SYS_RENAME, Some(&[from, from_bytes, to, to_bytes])) => vec![(from, from_bytes), (to, to_bytes)],
        _ => Vec::new(),
    };
    let fits = |&(_, bytes): &(u64, u64)| operation == SYS_WRITE || bytes <= STRING_BYTES_MAX;
    ranges.into_iter().filter(fits).map(|(address, bytes)| (lane, address, bytes as usize)).collect()
}

/// The memory of a lane, accessed with the guest's permissions.
pub(crate) struct Guest<'a> {
    pub(crate) executor: &'a mut dyn Executor,
    pub(crate) lane: usize,
}

impl Guest<'_> {
    fn read(&mut self, address: u64, bytes: u64) -> Result<Vec<u8>, Failure> {
        let mut out = vec![0; bytes as usize];
        self.executor.read_memory(self.lane, address, &mut out, Some(Access::Read))??;
        Ok(out)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.executor.write_memory(self.lane, address, bytes, Some(Access::Write))??)
    }

    /// Reads doubleword `index` of the parameter block at `block`.
    fn field(&mut self, block: u64, index: u64) -> Result<u64, Failure> {
        let (mut bytes, address) = ([0; 8], block.wrapping_add(8 * index));
        self.executor.read_memory(self.lane, address, &mut bytes, Some(Access::Read))??;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads a file name. `address` and `bytes` are the indices of its address and length in the parameter block.
    fn name(&mut self, block: u64, address: u64, bytes: u64) -> Result<String, Failure> {
        let (address, bytes) = (self.field(block, address)?, self.field(block, bytes)?);
        if bytes > STRING_BYTES_MAX {
            return Err(Failure::Errno(E2BIG));
        }
        String::from_utf8(self.read(address, bytes)?).map_err(|_| Failure::Errno(EINVAL))
    }

    /// Returns how many bytes of a `SYS_READ` or `SYS_WRITE` to transfer, and how many to leave.
    fn transfer(&mut self, block: u64) -> Result<(u64, u64), Failure> {
        let bytes = self.field(block, 2)?;
        let now = bytes.min(TRANSFER_BYTES_MAX);
        Ok((now, bytes - now))
    }

    /// Reads a NUL-terminated string and returns it without the NUL.
    fn string(&mut self, address: u64) -> Result<Vec<u8>, Failure> {
        let mut string = Vec::new();
        while string.len() < TRANSFER_BYTES_MAX as usize {
            // Read to the end of the page at most, because memory after it may not be mapped.
            let at = address.wrapping_add(string.len() as u64);
            let bytes = 4096 - at % 4096;
            let piece =
                self.read(at, if string.is_empty() { bytes.min(STRING_BYTES_FIRST) } else { bytes })?;
            match piece.iter().position(|&byte| byte == 0) {
                Some(end) => {
                    string.extend_from_slice(&piece[..end]);
                    return Ok(string);
                }
                None => string.extend_from_slice(&piece),
            }
        }
        Err(Failure::Errno(E2BIG))
    }
}

impl Services {
    /// Makes this equal to `source` without needless writes; see [`shared`](crate::shared).
    pub(crate) fn assign(&mut self, source: &Self) {
        let Self { command_line, input, input_position, handles, errno } = source;
        share(&mut self.command_line, command_line);
        share(&mut self.input, input);
        self.handles.clone_from(handles);
        (self.input_position, self.errno) = (*input_position, *errno);
    }

    pub(crate) fn new(command_line: Arc<str>, input: Arc<[u8]>) -> Self {
        Self { command_line, input, input_position: 0, handles: Vec::new(), errno: 0 }
    }

    pub(crate) fn set_command_line(&mut self, command_line: Arc<str>) {
        self.command_line = command_line;
    }

    /// Replaces the console input; reading starts at its beginning.
    pub(crate) fn set_input(&mut self, input: Arc<[u8]>) {
        (self.input, self.input_position) = (input, 0);
    }

    /// Returns the handles that write to console output, as a mask for [`Executor::set_console`].
    ///
    /// Bit 0 is always set, because `SYS_WRITEC` and `SYS_WRITE0` need no handle.
    pub(crate) fn console(&self) -> u32 {
        let is_output = |handle: &Option<Handle>| matches!(handle, Some(Handle::Output(Stream::Output)));
        let handles = (1..u32::BITS).zip(&self.handles).filter(|(_, handle)| is_output(handle));
        handles.fold(1, |bits, (number, _)| bits | 1 << number)
    }

    /// Returns whether the position is within the input and there are not too many handles. Services from a file may break that.
    pub(crate) fn is_valid(&self) -> bool {
        self.input_position <= self.input.len() && self.handles.len() <= HANDLES_MAX
    }

    fn unread_input(&self) -> &[u8] {
        &self.input[self.input_position..]
    }

    /// Serves the call that a lane has stopped for. Console output goes to `console`.
    ///
    /// # Errors
    /// If the engine fails.
    pub(crate) fn serve(
        &mut self,
        host: &Host,
        guest: &mut Guest<'_>,
        cpu: &Cpu,
        console: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Outcome, Error> {
        let (operation, parameter) = (cpu.x(0) as u32, cpu.x(1));
        if let SYS_EXIT | SYS_EXIT_EXTENDED = operation {
            let code = match guest.field(parameter, 0) {
                Ok(APPLICATION_EXIT) => guest.field(parameter, 1).map(|code| code as i32),
                reason => reason.map(|_| 1),
            };
            return Ok(Outcome::Exit(value_or(code, 1)?));
        }
        match self.call(host, guest, cpu, console) {
            Ok(value) => Ok(Outcome::Return(value)),
            Err(Failure::Engine(error)) => Err(error),
            Err(Failure::Stop(stop)) => Ok(Outcome::Stop(stop)),
            Err(Failure::Errno(errno)) => {
                self.errno = errno;
                // A failed transfer returns the number of bytes not transferred: all of them.
                Ok(Outcome::Return(match operation {
                    SYS_READ | SYS_WRITE => value_or(guest.field(parameter, 2), ERROR_RESULT)?,
                    _ => ERROR_RESULT,
                }))
            }
        }
    }

    fn call(
        &mut self,
        host: &Host,
        guest: &mut Guest<'_>,
        cpu: &Cpu,
        console: &mut dyn FnMut(Stream, &[u8]),
    ) -> CallResult {
        let (operation, parameter, steps) = (cpu.x(0) as u32, cpu.x(1), cpu.steps);
        match operation {
            SYS_OPEN => self.open(host, &guest.name(parameter, 0, 2)?, guest.field(parameter, 1)?),
            SYS_CLOSE => {
                let slot = self.slot(guest.field(parameter, 0)?)?;
                self.handles[slot] = None;
                Ok(0)
            }
            SYS_WRITEC => {
                console(Stream::Output, &guest.read(parameter, 1)?);
                Ok(0)
            }
            SYS_WRITE0 => {
                console(Stream::Output, &guest.string(parameter)?);
                Ok(0)
            }
            SYS_WRITE => {
                let (bytes, rest) = guest.transfer(parameter)?;
                let address = guest.field(parameter, 1)?;
                let data = guest.read(address, bytes)?;
                let written = match self.handle(guest.field(parameter, 0)?)? {
                    Handle::Output(stream) => {
                        console(*stream, &data);
                        bytes
                    }
                    Handle::File(file) => file.write(&data)?,
                    Handle::Input => return Err(Failure::Errno(EBADF)),
                };
                Ok(bytes - written + rest)
            }
            SYS_READ => self.read(guest, parameter),
            SYS_READC => {
                let byte = self.unread_input().first().copied();
                self.input_position += usize::from(byte.is_some());
                Ok(byte.map_or(ERROR_RESULT, u64::from))
            }
            SYS_ISERROR => Ok(u64::from((guest.field(parameter, 0)? as i64) < 0)),
            SYS_ISTTY => Ok(u64::from(!matches!(self.handle(guest.field(parameter, 0)?)?, Handle::File(_)))),
            SYS_SEEK => {
                let position = guest.field(parameter, 1)?;
                let file = self.file(guest.field(parameter, 0)?)?;
                if position > FILE_BYTES_MAX {
                    return Err(Failure::Errno(EINVAL));
                }
                file.position = position;
                Ok(0)
            }
            SYS_FLEN => Ok(self.file(guest.field(parameter, 0)?)?.file.metadata()?.len()),
            SYS_TMPNAM => {
                let (address, id, room) = (
                    guest.field(parameter, 0)?,
                    guest.field(parameter, 1)? & 0xff,
                    guest.field(parameter, 2)?,
                );
                let name = format!("kvrm-{}-{id}.tmp\0", guest.lane);
                if name.len() as u64 > room {
                    return Err(Failure::Errno(E2BIG));
                }
                guest.write(address, name.as_bytes())?;
                Ok(0)
            }
            SYS_REMOVE => {
                host.directory()?.remove_file(relative(&guest.name(parameter, 0, 1)?))?;
                Ok(0)
            }
            SYS_RENAME => {
                let (from, to) = (guest.name(parameter, 0, 1)?, guest.name(parameter, 2, 3)?);
                host.directory()?.rename(relative(&from), host.directory()?, relative(&to))?;
                Ok(0)
            }
            SYS_CLOCK => Ok(steps / (COUNTER_HZ / 100)),
            SYS_TIME => Ok(steps / COUNTER_HZ),
            SYS_ELAPSED => {
                guest.write(parameter, &steps.to_le_bytes())?;
                Ok(0)
            }
            SYS_TICKFREQ => Ok(COUNTER_HZ),
            SYS_ERRNO => Ok(self.errno as u64),
            SYS_GET_CMDLINE => {
                let (address, room) = (guest.field(parameter, 0)?, guest.field(parameter, 1)?);
                let mut bytes = self.command_line.as_bytes().to_vec();
                let length = bytes.len() as u64;
                bytes.push(0);
                if bytes.len() as u64 > room {
                    return Err(Failure::Errno(E2BIG));
                }
                guest.write(address, &bytes)?;
                guest.write(parameter.wrapping_add(8), &length.to_le_bytes())?;
                Ok(0)
            }
            SYS_HEAPINFO => {
                let Layout { heap, stack } = &host.layout;
                let block = guest.field(parameter, 0)?;
                let fields = [heap.start, heap.end, stack.end, stack.start];
                guest.write(block, &fields.map(u64::to_le_bytes).concat())?;
                Ok(0)
            }
            // Guests must not run commands on the host.
            SYS_SYSTEM => Err(Failure::Errno(EACCES)),
            _ => Err(Failure::Errno(ENOSYS)),
        }
    }

    fn open(&mut self, host: &Host, name: &str, mode: u64) -> CallResult {
        // Handles are numbered from 1; the lowest closed one is used again.
        let slot = self.handles.iter().position(Option::is_none).unwrap_or(self.handles.len());
        if slot == HANDLES_MAX {
            return Err(Failure::Errno(EMFILE));
        }
        let handle = match (name, mode) {
            (":tt", 0..=3) => Handle::Input,
            (":tt", 4..=7) => Handle::Output(Stream::Output),
            (":tt", 8..=11) => Handle::Output(Stream::Error),
            (_, 0..=11) => Handle::File(GuestFile::open(host.directory()?, relative(name), Mode(mode))?),
            _ => return Err(Failure::Errno(EINVAL)),
        };
        match self.handles.get_mut(slot) {
            Some(free) => *free = Some(handle),
            None => self.handles.push(Some(handle)),
        }
        Ok(slot as u64 + 1)
    }

    fn read(&mut self, guest: &mut Guest<'_>, parameter: u64) -> CallResult {
        let (bytes, rest) = guest.transfer(parameter)?;
        let address = guest.field(parameter, 1)?;
        let slot = self.slot(guest.field(parameter, 0)?)?;
        // Advance the position only after the bytes are in the guest's memory, so that a failed read loses no data.
        let read = match &mut self.handles[slot] {
            Some(Handle::Input) => {
                let unread = self.unread_input();
                let data = &unread[..unread.len().min(bytes as usize)];
                guest.write(address, data)?;
                let read = data.len();
                self.input_position += read;
                read as u64
            }
            Some(Handle::File(file)) => {
                let data = file.read(bytes)?;
                guest.write(address, &data)?;
                file.position += data.len() as u64;
                data.len() as u64
            }
            _ => return Err(Failure::Errno(EBADF)),
        };
        Ok(bytes - read + rest)
    }

    /// Returns the index of an open handle in `handles`.
    fn slot(&self, handle: u64) -> Result<usize, Failure> {
        let slot = (handle as usize).wrapping_sub(1);
        let open = self.handles.get(slot).is_some_and(Option::is_some);
        if open { Ok(slot) } else { Err(Failure::Errno(EBADF)) }
    }

    fn handle(&mut self, handle: u64) -> Result<&mut Handle, Failure> {
        let slot = self.slot(handle)?;
        self.handles[slot].as_mut().ok_or(Failure::Errno(EBADF))
    }

    fn file(&mut self, handle: u64) -> Result<&mut GuestFile, Failure> {
        match self.handle(handle)? {
            Handle::File(file) => Ok(file),
            _ => Err(Failure::Errno(EBADF)),
        }
    }
}

impl Host {
    fn directory(&self) -> Result<&Dir, Failure> {
        self.directory.as_deref().ok_or(Failure::Errno(EACCES))
    }
}

/// Returns the value, or `otherwise` if the guest caused a failure. Only errors of the engine remain errors.
fn value_or<T>(value: Result<T, Failure>, otherwise: T) -> Result<T, Error> {
    match value {
        Err(Failure::Engine(error)) => Err(error),
        value => Ok(value.unwrap_or(otherwise)),
    }
}

/// Strips leading slashes: absolute paths start at the guest directory, too.
fn relative(name: &str) -> &str {
    name.trim_start_matches('/')
}

impl GuestFile {
    fn open(directory: &Dir, name: &str, mode: Mode) -> Result<Self, Failure> {
        // Refuse anything but regular files before opening: opening a FIFO may block for ever, and opening a device may
        // have side effects.
        match directory.metadata(name) {
            Ok(metadata) if !metadata.is_file() => return Err(Failure::Errno(EACCES)),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let file = Arc::new(directory.open_with(name, &mode.options())?);
        Ok(Self { file, position: 0, mode })
    }

    /// Reads up to `bytes` bytes at the position, without advancing it.
    ///
    /// An error of the host counts only if nothing was read before it.
    fn read(&self, bytes: u64) -> Result<Vec<u8>, Failure> {
        if !self.mode.is_readable() {
            return Err(Failure::Errno(EBADF));
        }
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.position))?;
        let mut data = Vec::new();
        match file.take(bytes).read_to_end(&mut data) {
            Err(error) if data.is_empty() => Err(error.into()),
            _ => Ok(data),
        }
    }

    /// Writes at the position, or at the end in append mode, and returns the number of bytes written.
    ///
    /// An error of the host counts only if nothing was written before it.
    fn write(&mut self, data: &[u8]) -> Result<u64, Failure> {
        if !self.mode.is_writable() {
            return Err(Failure::Errno(EBADF));
        }
        let mut file = &*self.file;
        let start = if self.mode.is_appending() { file.metadata()?.len() } else { self.position };
        let room = FILE_BYTES_MAX.saturating_sub(start);
        if room == 0 && !data.is_empty() {
            return Err(Failure::Errno(EFBIG));
        }
        let mut left = &data[..data.len().min(room as usize)];
        let mut written = 0;
        file.seek(SeekFrom::Start(start))?;
        while !left.is_empty() {
            match file.write(left) {
                Ok(0) => break,
                Ok(count) => {
                    left = &left[count..];
                    written += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if written == 0 => return Err(error.into()),
                Err(_) => break,
            }
        }
        self.position = start + written;
        Ok(written)
    }
}

impl Mode {
    const fn is_readable(self) -> bool {
        self.0 < 4 || self.0 % 4 >= 2
    }

    const fn is_writable(self) -> bool {
        self.0 >= 2
    }

    const fn is_appending(self) -> bool {
        self.0 >= 8
    }

    fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();
        options.read(self.is_readable()).write(self.is_writable()).append(self.is_appending());
        options.create(self.0 >= 4).truncate((4..8).contains(&self.0));
        options
    }
}
