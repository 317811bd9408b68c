//! Arm semihosting: what `HLT #0xf000` asks the host for.
//!
//! Operations and their parameter blocks follow Arm's "Semihosting for AArch32 and AArch64". Time is guest
//! time: it counts retired steps, so a run can be repeated. Files are confined to one directory.

use std::collections::VecDeque;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::sync::Arc;

use cap_std::fs::{Dir, File, OpenOptions};
use kvrm_arm64::semantics::system::COUNTER_HZ;
use kvrm_arm64::{Access, Cpu, Stop};

use crate::engine::Engine;

/// The immediate of HLT that asks for a service.
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

/// `ADP_Stopped_ApplicationExit`: the reason of an orderly exit.
const APPLICATION_EXIT: u64 = 0x2_0026;
/// What an operation returns when it fails.
const FAILED: u64 = u64::MAX;
/// A guest moves at most this much in one call; more is done in part, as the interface allows.
const TRANSFER_BYTES_MAX: u64 = 1 << 20;
/// Names and command lines longer than this are refused.
const STRING_BYTES_MAX: u64 = 1 << 16;

const ENOENT: i32 = 2;
const EIO: i32 = 5;
const E2BIG: i32 = 7;
const EBADF: i32 = 9;
const EACCES: i32 = 13;
const EFAULT: i32 = 14;
const EINVAL: i32 = 22;
const ENOSYS: i32 = 38;

/// Which console stream a guest writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// `:tt` opened for writing, `SYS_WRITEC` and `SYS_WRITE0`.
    Output,
    /// `:tt` opened for appending.
    Error,
}

/// Where heap and stack of every lane lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The heap.
    pub heap: Range<u64>,
    /// The stack; execution begins with SP at its end.
    pub stack: Range<u64>,
}

/// What every lane's services have in common.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) layout: Layout,
    pub(crate) directory: Option<Arc<Dir>>,
}

/// One lane's side of the services.
#[derive(Clone, Debug)]
pub(crate) struct Services {
    command_line: String,
    input: VecDeque<u8>,
    handles: Vec<Option<Handle>>,
    errno: i32,
}

#[derive(Clone, Debug)]
enum Handle {
    Input,
    Output(Stream),
    /// Shared with snapshots of the lane.
    File(Arc<File>),
}

/// What became of a call.
pub(crate) enum Outcome {
    /// X0 gets this value and the lane goes on.
    Return(u64),
    /// The lane ends.
    Exit(i32),
    /// The host cannot serve it now, and the lane stops for this.
    Stop(Stop),
}

/// Why a call failed: an errno, or a stop of the lane.
enum Failure {
    Errno(i32),
    Stop(Stop),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        Self::Errno(match error.kind() {
            // The confinement reports an escape as a lack of permission.
            ErrorKind::PermissionDenied => EACCES,
            ErrorKind::NotFound => ENOENT,
            _ => error.raw_os_error().unwrap_or(EIO),
        })
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        match stop {
            // More frames and the same call again will do.
            Stop::OutOfFrames => Self::Stop(stop),
            // A bad pointer is the guest's mistake, told to the guest.
            _ => Self::Errno(EFAULT),
        }
    }
}

type Call = Result<u64, Failure>;

/// A lane's memory, seen with its own permissions.
struct Guest<'a> {
    engine: &'a mut dyn Engine,
    lane: usize,
}

impl Guest<'_> {
    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, Stop> {
        let mut out = vec![0; bytes as usize];
        self.engine.read_memory(self.lane, address, &mut out, Some(Access::Read))?;
        Ok(out)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Stop> {
        self.engine.write_memory(self.lane, address, bytes, Some(Access::Write))
    }

    /// Doubleword `index` of the parameter block at `block`.
    fn field(&self, block: u64, index: u64) -> Result<u64, Stop> {
        let mut bytes = [0; 8];
        self.engine.read_memory(self.lane, block.wrapping_add(8 * index), &mut bytes, Some(Access::Read))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// A name given by address and length in two fields of the block.
    fn name(&self, block: u64, index: u64) -> Result<String, Failure> {
        let (address, bytes) = (self.field(block, index)?, self.field(block, index + 1)?);
        if bytes > STRING_BYTES_MAX {
            return Err(Failure::Errno(E2BIG));
        }
        String::from_utf8(self.read(address, bytes)?).map_err(|_| Failure::Errno(EINVAL))
    }
}

impl Services {
    pub(crate) fn new(command_line: String, input: Vec<u8>) -> Self {
        Self { command_line, input: input.into(), handles: Vec::new(), errno: 0 }
    }

    /// Serves the call a lane has stopped for. Console output goes to `console`.
    pub(crate) fn serve(
        &mut self,
        host: &Host,
        engine: &mut dyn Engine,
        lane: usize,
        cpu: &Cpu,
        console: &mut dyn FnMut(Stream, &[u8]),
    ) -> Outcome {
        let (operation, parameter) = (cpu.x(0) as u32, cpu.x(1));
        let mut guest = Guest { engine, lane };
        if let SYS_EXIT | SYS_EXIT_EXTENDED = operation {
            let code = guest.field(parameter, 0).and_then(|reason| {
                Ok(if reason == APPLICATION_EXIT { guest.field(parameter, 1)? as i32 } else { 1 })
            });
            return Outcome::Exit(code.unwrap_or(1));
        }
        match self.call(host, &mut guest, operation, parameter, cpu.steps, console) {
            Ok(value) => Outcome::Return(value),
            Err(Failure::Stop(stop)) => Outcome::Stop(stop),
            Err(Failure::Errno(errno)) => {
                self.errno = errno;
                // A transfer that fails has transferred nothing: it returns the whole count.
                let failed = match operation {
                    SYS_READ | SYS_WRITE => guest.field(parameter, 2).unwrap_or(FAILED),
                    _ => FAILED,
                };
                Outcome::Return(failed)
            }
        }
    }

    fn call(
        &mut self,
        host: &Host,
        guest: &mut Guest<'_>,
        operation: u32,
        parameter: u64,
        steps: u64,
        console: &mut dyn FnMut(Stream, &[u8]),
    ) -> Call {
        match operation {
            SYS_OPEN => self.open(host, &guest.name_and_mode(parameter)?),
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
                let data = guest.read(guest.field(parameter, 1)?, bytes)?;
                match self.handle(guest.field(parameter, 0)?)? {
                    Handle::Output(stream) => console(*stream, &data),
                    Handle::File(file) => (&**file).write_all(&data)?,
                    Handle::Input => return Err(Failure::Errno(EBADF)),
                }
                Ok(rest)
            }
            SYS_READ => self.read(guest, parameter),
            SYS_READC => Ok(self.input.pop_front().map_or(FAILED, u64::from)),
            SYS_ISERROR => Ok(u64::from((guest.field(parameter, 0)? as i64) < 0)),
            SYS_ISTTY => Ok(u64::from(!matches!(self.handle(guest.field(parameter, 0)?)?, Handle::File(_)))),
            SYS_SEEK => {
                let position = SeekFrom::Start(guest.field(parameter, 1)?);
                let mut file = self.file(guest.field(parameter, 0)?)?;
                file.seek(position)?;
                Ok(0)
            }
            SYS_FLEN => Ok(self.file(guest.field(parameter, 0)?)?.metadata()?.len()),
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
                host.directory()?.remove_file(relative(&guest.name(parameter, 0)?))?;
                Ok(0)
            }
            SYS_RENAME => {
                let (from, to) = (guest.name(parameter, 0)?, guest.name(parameter, 2)?);
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
                let mut bytes = self.command_line.clone().into_bytes();
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
            // Running a command on the host is never offered.
            SYS_SYSTEM => Err(Failure::Errno(EACCES)),
            _ => Err(Failure::Errno(ENOSYS)),
        }
    }

    fn open(&mut self, host: &Host, (name, mode): &(String, u64)) -> Call {
        let handle = match (name.as_str(), mode) {
            (":tt", 0..=3) => Handle::Input,
            (":tt", 4..=7) => Handle::Output(Stream::Output),
            (":tt", 8..=11) => Handle::Output(Stream::Error),
            (_, 0..=11) => {
                Handle::File(Arc::new(host.directory()?.open_with(relative(name), &open_options(*mode))?))
            }
            _ => return Err(Failure::Errno(EINVAL)),
        };
        // Handles count up from 1; closed ones are used again.
        let slot = self.handles.iter().position(Option::is_none).unwrap_or_else(|| {
            self.handles.push(None);
            self.handles.len() - 1
        });
        self.handles[slot] = Some(handle);
        Ok(slot as u64 + 1)
    }

    fn read(&mut self, guest: &mut Guest<'_>, parameter: u64) -> Call {
        let (bytes, rest) = guest.transfer(parameter)?;
        let address = guest.field(parameter, 1)?;
        let mut data = Vec::new();
        let slot = self.slot(guest.field(parameter, 0)?)?;
        match &mut self.handles[slot] {
            Some(Handle::Input) => {
                // What cannot be delivered must not be lost.
                let count = self.input.len().min(bytes as usize);
                data.extend(self.input.iter().take(count));
                guest.write(address, &data)?;
                self.input.drain(..count);
            }
            Some(Handle::File(file)) => {
                let mut file = &**file;
                (&mut file).take(bytes).read_to_end(&mut data)?;
                if let Err(stop) = guest.write(address, &data) {
                    file.seek(SeekFrom::Current(-(data.len() as i64)))?;
                    return Err(stop.into());
                }
            }
            _ => return Err(Failure::Errno(EBADF)),
        }
        Ok(bytes - data.len() as u64 + rest)
    }

    fn slot(&self, handle: u64) -> Result<usize, Failure> {
        let slot = (handle as usize).wrapping_sub(1);
        let open = self.handles.get(slot).is_some_and(Option::is_some);
        if open { Ok(slot) } else { Err(Failure::Errno(EBADF)) }
    }

    fn handle(&mut self, handle: u64) -> Result<&mut Handle, Failure> {
        let slot = self.slot(handle)?;
        self.handles[slot].as_mut().ok_or(Failure::Errno(EBADF))
    }

    fn file(&mut self, handle: u64) -> Result<&File, Failure> {
        match self.handle(handle)? {
            Handle::File(file) => Ok(file),
            _ => Err(Failure::Errno(EBADF)),
        }
    }
}

impl Guest<'_> {
    /// The name and mode `SYS_OPEN` is called with.
    fn name_and_mode(&self, block: u64) -> Result<(String, u64), Failure> {
        let (address, mode, bytes) = (self.field(block, 0)?, self.field(block, 1)?, self.field(block, 2)?);
        if bytes > STRING_BYTES_MAX {
            return Err(Failure::Errno(E2BIG));
        }
        let name = String::from_utf8(self.read(address, bytes)?).map_err(|_| Failure::Errno(EINVAL))?;
        Ok((name, mode))
    }

    /// How much of a read or write to do now, and how much to leave.
    fn transfer(&self, block: u64) -> Result<(u64, u64), Stop> {
        let bytes = self.field(block, 2)?;
        let now = bytes.min(TRANSFER_BYTES_MAX);
        Ok((now, bytes - now))
    }

    /// A string that ends in a zero byte, without it.
    fn string(&self, address: u64) -> Result<Vec<u8>, Failure> {
        let mut string = Vec::new();
        while string.len() < TRANSFER_BYTES_MAX as usize {
            // Up to the end of the page, which is as far as reading is sure not to fault.
            let at = address.wrapping_add(string.len() as u64);
            let piece = self.read(at, 4096 - at % 4096)?;
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

impl Host {
    fn directory(&self) -> Result<&Dir, Failure> {
        self.directory.as_deref().ok_or(Failure::Errno(EACCES))
    }
}

/// Guest paths start at the guest directory, with or without a slash in front.
fn relative(name: &str) -> &str {
    name.trim_start_matches('/')
}

/// The twelve modes of `SYS_OPEN` are those of C's `fopen`: r, rb, r+, r+b, w, wb, w+, w+b, a, ab, a+, a+b.
fn open_options(mode: u64) -> OpenOptions {
    let (kind, update) = (mode / 4, mode % 4 >= 2);
    let mut options = OpenOptions::new();
    match kind {
        0 => options.read(true).write(update),
        1 => options.write(true).create(true).truncate(true).read(update),
        _ => options.append(true).create(true).read(update),
    };
    options
}
