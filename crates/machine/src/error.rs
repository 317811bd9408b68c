//! Failures of the host or of its input. A mistake of a guest is a [`Stop`](kvrm_arm64::Stop), not an error.

use std::path::PathBuf;

use kvrm_arm64::ParseError;

use crate::elf::error::ElfError;

/// The reason why pages of a lane cannot be mapped, protected or unmapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapFailure {
    /// The range is empty or does not consist of whole pages.
    #[error("expected whole pages of 4096 bytes")]
    Range,
    /// The program does not map the pages, and the builder has not reserved them.
    #[error("the program does not map all of these pages; reserve them with `Builder::reserve`")]
    NotReserved,
    /// Pages to protect are not mapped.
    #[error("not all of these pages are mapped")]
    NotMapped,
    /// The lane would have more regions of different permissions than Linux allows.
    #[error("the lane would have more than 65530 regions of different permissions")]
    TooManyRegions,
}

/// A failure of the host, of the engine, or of their input.
///
/// A mistake of a guest, such as an access to unmapped memory, is a [`Stop`](kvrm_arm64::Stop) of its lane. The cause
/// of an error, if there is one, is its [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is larger than any file that KVRM reads.
    #[error("{} is too large: expected at most {max} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The largest size in bytes.
        max: u64,
    },
    /// A file is not a program that a machine can load.
    #[error("cannot load {name}")]
    Elf {
        /// The path or name of the file.
        name: String,
        /// The cause.
        source: ElfError,
    },
    /// A text is no assembly of a program.
    #[error("cannot assemble the program")]
    Assembly {
        /// The cause.
        source: ParseError,
    },
    /// A raw program is empty, or is not within the address space.
    #[error(
        "cannot load a raw program of {bytes:#x} bytes at {address:#x}: expected at least 1 byte, and all of them in \
         the 48-bit address space"
    )]
    RawRange {
        /// The address of its first byte.
        address: u64,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A program was built without code and without an entry address.
    #[error("the program has no entry address: add code, or set one")]
    NoEntry,
    /// The host accessed memory of a lane that is not mapped, or wrote a page for which the lane has no frame left.
    #[error("cannot access the memory of lane {lane}: {stop}")]
    Memory {
        /// The lane.
        lane: usize,
        /// The stop that the same access by the guest would have, with the address.
        stop: kvrm_arm64::Stop,
    },
    /// Pages of a lane cannot be mapped, protected or unmapped.
    #[error("cannot map, protect or unmap {:#x}..{:#x} in lane {lane}: {reason}", addresses.start, addresses.end)]
    Map {
        /// The lane.
        lane: usize,
        /// The addresses.
        addresses: std::ops::Range<u64>,
        /// The reason.
        reason: MapFailure,
    },
    /// There is not a limit of steps for each lane.
    #[error("{limits} limits of steps for {lanes} lanes: expected one for each")]
    Limits {
        /// The number of limits.
        limits: usize,
        /// The number of lanes.
        lanes: usize,
    },
    /// A view of a picture cannot be made.
    #[error("no such view: {reason}")]
    View {
        /// The reason.
        reason: String,
    },
    /// The memory for views of a picture has another size.
    #[error("room for {room} bytes, but the views of {lanes} lanes have {bytes} bytes each")]
    Views {
        /// The size of the memory in bytes.
        room: usize,
        /// The number of lanes.
        lanes: usize,
        /// The size of a view in bytes.
        bytes: usize,
    },
    /// Addresses cannot be reserved.
    #[error(
        "cannot reserve {:#x}..{:#x}: expected whole pages of 4096 bytes in the 48-bit address space",
        addresses.start, addresses.end
    )]
    Reserve {
        /// The addresses.
        addresses: std::ops::Range<u64>,
    },
    /// Stack, heap or arena do not fit beside the program.
    #[error("a {what} of {bytes:#x} bytes does not fit between the program and {limit:#x}; make it smaller")]
    NoRoom {
        /// The name of the part that does not fit: `stack`, `heap` or `mmap arena`.
        what: &'static str,
        /// Its size in bytes.
        bytes: u64,
        /// The first address after the address space.
        limit: u64,
    },
    /// A machine without lanes was asked for.
    #[error("a machine needs at least 1 lane, and 0 were asked for")]
    NoLanes,
    /// The lanes do not fit in the memory of the host.
    #[error("{lanes} lanes do not fit in memory; each takes about {bytes} bytes before it writes anything")]
    TooManyLanes {
        /// The number of lanes that was asked for.
        lanes: usize,
        /// The size of a lane in bytes.
        bytes: usize,
    },
    /// A segment has more data than bytes, or is not within the address space.
    #[error(
        "the segment of {bytes:#x} bytes at {address:#x}, with {data:#x} bytes of data, has more data than room \
         or leaves the 48-bit address space"
    )]
    Segment {
        /// The address of its first byte.
        address: u64,
        /// Its size in memory, in bytes.
        bytes: u64,
        /// The size of its data, in bytes.
        data: usize,
    },
    /// The machine has no lane with this number.
    #[error("there is no lane {lane}: the machine has {lanes}, numbered from 0")]
    NoSuchLane {
        /// The number.
        lane: usize,
        /// The number of lanes of the machine.
        lanes: usize,
    },
    /// A program is dynamically linked, and the file system of the machine does not have its dynamic linker.
    #[error(
        "{program} is dynamically linked and needs {path}, which is not in its file system: mount a directory with an arm64 system at / \
         (kvrm run --sysroot DIR), or link the program with -static"
    )]
    NoInterpreter {
        /// The name of the program.
        program: String,
        /// The path in its `PT_INTERP`.
        path: String,
    },
    /// A mask of lanes has not one flag for each lane of the machine.
    #[error("a mask of {flags} flags does not name lanes of a machine with {lanes}: expected {lanes} flags")]
    Mask {
        /// The number of flags.
        flags: usize,
        /// The number of lanes of the machine.
        lanes: usize,
    },
    /// There is not one value of a register for each lane to set.
    #[error("{values} values cannot be set in {lanes} lanes: expected {lanes} values")]
    Values {
        /// The number of values.
        values: usize,
        /// The number of lanes to set.
        lanes: usize,
    },
    /// The bytes to write cannot be divided equally among the lanes to write.
    #[error("{bytes} bytes cannot be divided among {lanes} lanes: expected a multiple of {lanes}")]
    Rows {
        /// The number of bytes.
        bytes: usize,
        /// The number of lanes to write.
        lanes: usize,
    },
    /// The function given to [`Builder::prepare`](crate::Builder::prepare) wrote memory that is not mapped, or more
    /// pages than the lane may own frames.
    #[error("lane {lane} cannot be prepared: {stop}")]
    Prepare {
        /// The lane.
        lane: usize,
        /// The stop that the same write by the guest would have, with the address.
        stop: kvrm_arm64::Stop,
    },
    /// An address space was to be reset to a snapshot that is not its last one.
    #[error("the snapshot is not the last one of this lane")]
    StaleSnapshot,
    /// An argument cannot be passed by semihosting, which has one command line that guests split at white space.
    #[error(
        "lane {lane} cannot have the argument {argument:?}: it is empty, or contains white space or a NUL"
    )]
    Argument {
        /// The lane.
        lane: usize,
        /// The argument.
        argument: String,
    },
    /// A directory of the host cannot be mounted.
    #[error("cannot mount {} at {guest}", host.display())]
    Mount {
        /// The path of the directory on the host.
        host: PathBuf,
        /// The path at which guests were to see it.
        guest: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A lane has no directory with this path.
    #[error("the guest has no directory '{path}'")]
    GuestDirectory {
        /// The path.
        path: String,
    },
    /// A directory of a lane cannot be copied to the host.
    #[error("cannot copy the guest's {guest} to the new directory {}", host.display())]
    Save {
        /// The path of the directory in the lane.
        guest: String,
        /// The path of the new directory on the host.
        host: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// An argument or a variable of the environment contains a NUL, which would end it for the guest.
    #[error("lane {lane} cannot have the argument or variable {text:?}: it contains a NUL")]
    Text {
        /// The lane.
        lane: usize,
        /// The argument or variable.
        text: String,
    },
    /// The arguments and the environment of a Linux program take more than half of its stack.
    #[error(
        "arguments and environment of lane {lane} take {bytes:#x} bytes, expected at most {room:#x}, half of the stack"
    )]
    TextRoom {
        /// The lane.
        lane: usize,
        /// Their size on the stack, in bytes.
        bytes: u64,
        /// Half the size of the stack, in bytes.
        room: u64,
    },
    /// The arguments of a Linux program were to be changed after its first step. They are on the stack, which the
    /// program may have changed since.
    #[error("lane {lane} has taken {steps} steps, and a Linux program gets its arguments before the first")]
    Started {
        /// The lane.
        lane: usize,
        /// The number of steps that the lane has retired.
        steps: u64,
    },
    /// A reset was asked for before any snapshot.
    #[error("there is no snapshot to reset to")]
    NoSnapshot,
    /// A machine cannot be saved.
    #[error("the machine cannot be saved: {reason}")]
    Unsavable {
        /// The reason.
        reason: &'static str,
    },
    /// A saved machine cannot be written.
    #[error("cannot write the saved machine")]
    Write {
        /// The cause.
        source: std::io::Error,
    },
    /// A saved machine cannot be read.
    #[error("this is no saved machine: {reason}")]
    Saved {
        /// What was found, and what was expected.
        reason: String,
    },
    /// The directory for the files of semihosting guests cannot be opened.
    #[error("cannot open the guest directory {}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The engine failed, or the device on which it runs. The source says how.
    #[error("the engine failed")]
    Engine(#[source] Box<dyn std::error::Error + Send + Sync>),
}
