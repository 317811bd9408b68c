//! Linux user mode: the system calls of static programs, served by the host.
//!
//! A lane is a process with one thread, root of a machine of its own: a file system in memory, of which lanes share
//! what they do not change; time that is counted in steps; randomness that follows from a seed. Nothing of the host is
//! visible but the directories that were mounted, which nobody can change. So a run can be repeated exactly.
//!
//! What a guest does wrong is an error number that it gets, or its end. Positions move, and things are consumed, only
//! after the guest's memory has taken the answer: a call that stops for lack of frames can be made again.

mod descriptor_calls;
mod descriptors;
mod directory_calls;
mod errno;
mod file_calls;
mod files;
mod frequent;
mod guest;
mod memory_calls;
mod mount;
mod process_calls;
mod save;
mod signal_calls;
mod signal_frame;
mod signals;
mod start;
mod status;
mod table;
mod time_calls;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use kvrm_arm64::{Cpu, Features, Stop};

use self::descriptors::{Descriptors, Object};
use self::errno::{ENOSYS, Errno};
pub(crate) use self::files::Files;
use self::files::{Number, ROOT};
pub use self::frequent::{Answer, Frequent, SHADER_NUMBERS};
use self::guest::Guest;
use self::signals::Signals;
pub(crate) use self::start::{Start, start};
use self::table::Serve;
pub use self::table::{CALLS, Status, SystemCall};
use crate::error::Error;
use crate::executor::{Kept, LaneAccess};
use crate::semihosting::Stream;

/// The immediate of SVC that makes a system call.
pub(crate) const SYSTEM_CALL: u16 = 0;

/// What a lane is told the time is before its first step: the first second of the year 2020, in nanoseconds.
const EPOCH: u64 = 1_577_836_800_000_000_000;

/// A directory of the host that guests see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Where it is on the host.
    pub host: PathBuf,
    /// Where guests see it: an absolute path.
    pub guest: String,
    /// Whether each lane may change what it sees. The host's directory stays as it is.
    pub writable: bool,
}

/// Where memory may be mapped while a lane runs.
#[derive(Clone, Debug)]
pub(crate) struct Areas {
    /// What `brk` moves through.
    pub(crate) heap: Range<u64>,
    /// Where `mmap` finds room.
    pub(crate) arena: Range<u64>,
    /// How large the stack is.
    pub(crate) stack_bytes: u64,
    /// Where handlers of signals return to, unless the program says where.
    pub(crate) trampoline: u64,
}

/// What lies at [`Areas::trampoline`]: `mov x8, #139; svc #0`, which is `rt_sigreturn`.
pub(crate) const TRAMPOLINE: [u32; 2] = [0xd280_1168, 0xd400_0001];

/// What all lanes have in common.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) areas: Areas,
    pub(crate) features: Features,
    /// What randomness follows from.
    pub(crate) seed: u64,
    /// When the machine was built, if time is the host's and not counted in steps.
    pub(crate) real_time: Option<Instant>,
    /// Whether the three standard streams are a terminal.
    pub(crate) terminal: bool,
}

/// What a lane has written by one call, and where to.
pub(crate) type Written = Vec<(Stream, Vec<u8>)>;

/// Why a call returns no value.
enum Failure {
    Errno(Errno),
    Exit(i32),
    Stop(Stop),
    Engine(Error),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// The kernel's side of a lane.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    lane: u64,
    files: Files,
    descriptors: Descriptors,
    /// The current directory.
    directory: Number,
    umask: u32,
    input: Arc<[u8]>,
    input_position: usize,
    settings: Arc<Settings>,
    /// What the executor keeps, while a call is served.
    kept: Kept,
    signals: Signals,
    /// How often calls were made that are not served, by number.
    unknown: BTreeMap<u64, u64>,
}

/// A call of a lane.
struct Call<'a> {
    process: &'a mut Process,
    guest: Guest<'a>,
    console: &'a mut Written,
    /// The arguments.
    x: [u64; 6],
    /// The registers behind the call.
    cpu: &'a mut Cpu,
}

/// The tree all lanes begin with: a few directories and devices, the program's name, and what is mounted.
///
/// # Errors
/// If a directory cannot be mounted.
pub(crate) fn files(program: &str, mounts: &[Mount], room: u64) -> Result<Files, Error> {
    let mut files = mount::base(program, room);
    mounts.iter().try_for_each(|mount| mount::add(&mut files, mount))?;
    Ok(files.share())
}

/// The directory that a path leads to, for lanes to begin in.
pub(crate) fn directory(files: &Files, path: &str) -> Option<u64> {
    let number = files.walk(ROOT, path.as_bytes(), true).ok()?.node?;
    files.node(number).filter(|node| node.is_directory()).map(|_| number)
}

impl Process {
    pub(crate) fn new(
        lane: usize,
        files: Files,
        directory: Number,
        settings: Arc<Settings>,
        input: Arc<[u8]>,
    ) -> Self {
        let mut name = [0; 16];
        name[..4].copy_from_slice(b"kvrm");
        Self {
            lane: lane as u64,
            files,
            descriptors: Descriptors::new(),
            directory,
            umask: 0o022,
            input,
            input_position: 0,
            kept: Kept { heap_end: settings.areas.heap.start, name, ..Kept::default() },
            settings,
            signals: Signals::new(),
            unknown: BTreeMap::new(),
        }
    }

    /// Writes what a directory holds to a new one of the host.
    pub(crate) fn save(&self, guest: &str, host: &Path) -> Result<(), Error> {
        let number = directory(&self.files, guest);
        let number = number.ok_or_else(|| Error::GuestDirectory { path: guest.to_owned() })?;
        let save = || {
            std::fs::create_dir_all(host.parent().unwrap_or(host))?;
            std::fs::create_dir(host)?;
            save::save(&self.files, number, &Dir::open_ambient_dir(host, ambient_authority())?, 0)
        };
        save().map_err(|source| Error::Save { guest: guest.to_owned(), host: host.to_owned(), source })
    }

    /// Replaces the console input, of which nothing has been read then.
    pub(crate) fn set_input(&mut self, input: Arc<[u8]>) {
        (self.input, self.input_position) = (input, 0);
    }

    /// The descriptors from 1 to 31 whose output is the console's, a bit each; and bit 0, which lets there be any.
    pub(crate) fn console(&self) -> u32 {
        let is_console = |number: &u32| {
            let found = self.descriptors.get(u64::from(*number));
            found.is_ok_and(|found| found.writes() && found.object == Object::Output(Stream::Output))
        };
        (1..32).filter(is_console).fold(1, |bits, number| bits | 1 << number)
    }

    /// The calls that nobody served since this was last asked.
    pub(crate) fn take_unknown(&mut self) -> BTreeMap<u64, u64> {
        std::mem::take(&mut self.unknown)
    }

    /// Randomness from a position on, which stays: a hash of seed, lane and position.
    fn random_bytes(&self, bytes: usize) -> Vec<u8> {
        let byte = |at: u64| {
            let mut hash = self.settings.seed ^ self.lane.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Twice the finalizer of SplitMix64: once for the lane, once for the position.
            for word in [0, at / 8] {
                hash = hash.wrapping_add(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
                hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                hash ^= hash >> 31;
            }
            hash.to_le_bytes()[at as usize % 8]
        };
        (0..bytes as u64).map(|at| byte(self.kept.random.wrapping_add(at))).collect()
    }

    /// Serves what a lane has stopped for: a call, or something it [catches](Process::catches). It goes on with `cpu`,
    /// unless it ends with the stop that is returned, or has one other than an exit: then it has to come here again.
    ///
    /// # Errors
    /// If the engine fails.
    pub(crate) fn serve(
        &mut self,
        lane: &mut dyn LaneAccess,
        stop: Stop,
        cpu: &mut Cpu,
        console: &mut Written,
    ) -> Result<Option<Stop>, Error> {
        let kept = lane.kept()?;
        self.kept = kept;
        let served = self.serve_kept(&mut Guest { lane: &mut *lane }, stop, cpu, console)?;
        if self.kept != kept {
            lane.set_kept(&self.kept)?;
        }
        Ok(served)
    }

    fn serve_kept(
        &mut self,
        guest: &mut Guest<'_>,
        stop: Stop,
        cpu: &mut Cpu,
        console: &mut Written,
    ) -> Result<Option<Stop>, Error> {
        let before = self.signals.clone();
        let served = match stop {
            Stop::Syscall { .. } => self.call(guest, cpu, console),
            stop => self.raise(stop, cpu.pc).map(|_| ()),
        };
        match served.and_then(|()| self.deliver(guest, cpu)) {
            // What a call fails with has been told to the lane, and faults always find room to wait.
            Ok(()) | Err(Failure::Errno(_)) => Ok(None),
            Err(Failure::Exit(code)) => Ok(Some(Stop::Exit { code })),
            Err(Failure::Stop(stop)) => {
                self.signals = before;
                Ok(Some(stop))
            }
            Err(Failure::Engine(error)) => Err(error),
        }
    }

    /// Makes a call, whose answer is in X0 then.
    fn call(&mut self, guest: &mut Guest<'_>, cpu: &mut Cpu, console: &mut Written) -> Result<(), Failure> {
        // The kernel looks at 32 bits.
        let number = u64::from(cpu.x(8) as u32);
        let x = [0, 1, 2, 3, 4, 5].map(|n| cpu.x(n));
        let found = table::find(number);
        let served = match found {
            Some(call) => {
                let guest = Guest { lane: &mut *guest.lane };
                match call.serve {
                    Serve::By(serve) => serve(&mut Call { process: self, guest, console, x, cpu }),
                    Serve::Always(answer) => answer.map_err(Failure::from),
                }
            }
            None => Err(ENOSYS.into()),
        };
        let value = match served {
            Ok(value) => value,
            Err(Failure::Errno(errno)) => {
                if errno == ENOSYS && found.is_none_or(|call| call.status != Status::Refused) {
                    *self.unknown.entry(number).or_default() += 1;
                }
                negative(errno)
            }
            Err(failure) => return Err(failure),
        };
        cpu.set_x(0, value);
        Ok(())
    }
}

/// Memory that a call with these arguments will likely read, to be fetched for many lanes at once: what is written, or
/// a path.
pub(crate) fn ranges(number: u64, x: [u64; 3]) -> Option<(u64, usize)> {
    /// Most paths are shorter.
    const PATH_BYTES: usize = 64;
    /// More than this is fetched when it is needed.
    const WRITE_BYTES_MAX: u64 = 1 << 16;
    match table::find(u64::from(number as u32))?.name {
        "write" | "pwrite64" => Some((x[1], x[2].min(WRITE_BYTES_MAX) as usize)),
        "writev" => Some((x[1], 16 * x[2].min(16) as usize)),
        "openat" | "newfstatat" | "readlinkat" | "faccessat" | "statx" | "unlinkat" => {
            Some((x[1], PATH_BYTES))
        }
        _ => None,
    }
}

/// How many bytes a call with these arguments may have to show at the end, roughly.
pub(crate) fn shown_bytes(number: u64, x: [u64; 3]) -> u64 {
    match table::find(u64::from(number as u32)).map_or("", |call| call.name) {
        "write" => x[2].min(guest::TRANSFER_BYTES_MAX),
        "writev" | "sendfile" => 1 << 20,
        _ => 0,
    }
}

impl Call<'_> {
    /// The directory that a path begins at: a descriptor's, or the current one.
    fn start(&self, descriptor: u64) -> Result<Number, Errno> {
        /// Instead of a descriptor: the current directory.
        const AT_FDCWD: i32 = -100;
        if descriptor as i32 == AT_FDCWD {
            return Ok(self.process.directory);
        }
        match self.process.descriptors.get(descriptor)?.object {
            Object::Node(number) => Ok(number),
            _ => Err(errno::ENOTDIR),
        }
    }

    /// Where the path at an address leads, from a directory.
    fn place(&mut self, descriptor: u64, path: u64, follow: bool) -> Result<files::Place, Failure> {
        let path = self.guest.path(path)?;
        // A descriptor that is not needed is not looked at.
        let start = if path.starts_with(b"/") { ROOT } else { self.start(descriptor)? };
        Ok(self.process.files.walk(start, &path, follow)?)
    }

    /// Drops a node if it has no name and nobody has it open.
    fn release(&mut self, number: Number) {
        let is_used = self.process.descriptors.is_open(Object::Node(number));
        if !is_used && self.process.directory != number {
            self.process.files.forget(number);
        }
    }
}

/// An error as calls return it.
const fn negative(Errno(number): Errno) -> u64 {
    (number as u64).wrapping_neg()
}
