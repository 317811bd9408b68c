//! What can go wrong on the host. What a guest does wrong is a [`Stop`](kvrm_arm64::Stop).

use std::path::PathBuf;

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

/// A failure of the host or of its input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is larger than anything that is meant.
    #[error("{} is larger than {max} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        max: u64,
    },
    /// A file is no program this machine can load.
    #[error("cannot load {name}")]
    Elf {
        /// The program.
        name: String,
        /// Why.
        source: ElfError,
    },
    /// A raw program does not fit where it should go.
    #[error(
        "a raw program of {bytes:#x} bytes at {address:#x} does not lie in the 48-bit address space, or is empty"
    )]
    RawRange {
        /// Where it should go.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// A program was described without code or an entry address.
    #[error("the program has no entry address: add code, or set one")]
    NoEntry,
    /// The host accessed memory of a lane that is not mapped, or the lane has no frame left for a page to be written.
    #[error("cannot access the memory of lane {lane}: {stop}")]
    Memory {
        /// The lane.
        lane: usize,
        /// The stop that the guest would have, with the address.
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
    /// Addresses that cannot be reserved.
    #[error(
        "cannot reserve {:#x}..{:#x}: expected whole pages of 4096 bytes in the 48-bit address space",
        addresses.start, addresses.end
    )]
    Reserve {
        /// The addresses.
        addresses: std::ops::Range<u64>,
    },
    /// Stack or heap do not fit beside the program.
    #[error("a {what} of {bytes:#x} bytes does not fit between the program and {limit:#x}")]
    NoRoom {
        /// What does not fit.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// Where the room ends.
        limit: u64,
    },
    /// A machine needs at least one lane.
    #[error("a machine needs at least 1 lane, and 0 were asked for")]
    NoLanes,
    /// More lanes than there is memory for.
    #[error("{lanes} lanes do not fit in memory; each takes about {bytes} bytes before it writes anything")]
    TooManyLanes {
        /// How many were asked for.
        lanes: usize,
        /// What a lane takes.
        bytes: usize,
    },
    /// A segment of a program is impossible.
    #[error(
        "the segment of {bytes:#x} bytes at {address:#x}, with {data:#x} bytes of data, has more data than room \
         or leaves the 48-bit address space"
    )]
    Segment {
        /// Where it begins.
        address: u64,
        /// How long it is.
        bytes: u64,
        /// How much data it has.
        data: usize,
    },
    /// A lane number is out of range.
    #[error("there is no lane {lane}: the machine has {lanes}, numbered from 0")]
    NoSuchLane {
        /// The number.
        lane: usize,
        /// How many there are.
        lanes: usize,
    },
    /// Preparing a lane touched memory that is not mapped.
    #[error("lane {lane} cannot be prepared: {stop}")]
    Prepare {
        /// The lane.
        lane: usize,
        /// What happened.
        stop: kvrm_arm64::Stop,
    },
    /// A snapshot was taken before another one that has been reset to or taken since.
    #[error("the snapshot is not the last one of this lane")]
    StaleSnapshot,
    /// An argument cannot be passed: semihosting has one command line, which guests split at white space.
    #[error(
        "lane {lane} cannot have the argument {argument:?}: it is empty, or has white space or a zero in it"
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
        /// Where it is on the host.
        host: PathBuf,
        /// Where guests should see it.
        guest: String,
        /// Why.
        source: std::io::Error,
    },
    /// A Linux program sees no such directory.
    #[error("'{path}' is no directory that the guest sees")]
    GuestDirectory {
        /// Where it should be.
        path: String,
    },
    /// A directory of a Linux program cannot be written to the host.
    #[error("cannot write the guest's {guest} to the new directory {}", host.display())]
    Save {
        /// Where the guest has it.
        guest: String,
        /// Where it should be written.
        host: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// An argument or a variable of the environment has a zero in it, which ends it for the guest.
    #[error("lane {lane} cannot have the argument or variable {text:?}: there is a zero in it")]
    Text {
        /// The lane.
        lane: usize,
        /// The text.
        text: String,
    },
    /// Arguments and environment do not fit.
    #[error(
        "arguments and environment of lane {lane} take {bytes:#x} bytes, expected at most {room:#x}, half of the stack"
    )]
    TextRoom {
        /// The lane.
        lane: usize,
        /// What they take.
        bytes: u64,
        /// What there is.
        room: u64,
    },
    /// A Linux program reads its arguments from its stack, which is the program's once it has begun.
    #[error("lane {lane} has taken {steps} steps, and a Linux program gets its arguments before the first")]
    Started {
        /// The lane.
        lane: usize,
        /// How far it is.
        steps: u64,
    },
    /// A reset was asked for before any snapshot.
    #[error("there is no snapshot to reset to")]
    NoSnapshot,
    /// The directory for guest files cannot be opened.
    #[error("cannot open the guest directory {}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The engine failed, or the device it runs on.
    #[error("the engine failed")]
    Engine(#[source] Box<dyn std::error::Error + Send + Sync>),
}
