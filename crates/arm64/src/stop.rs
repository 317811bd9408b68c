//! Stops: the reasons why a lane no longer runs. A stop is a value, never an error of the host.

use core::fmt;

/// The reason why a lane no longer runs.
///
/// Unless a variant says otherwise, `pc` is the address of the instruction that stopped the lane, that instruction has
/// not retired, and the state is the one before it.
///
/// ```
/// use kvrm_arm64::{Access, Fault, FaultKind, Stop};
///
/// let fault = Fault { kind: FaultKind::Translation, access: Access::Read, address: 0x10 };
/// assert_eq!(Stop::from(fault).name(), "fault");
/// assert_eq!(Stop::from(fault).to_string(), "read from unmapped memory at 0x10");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stop {
    /// The program exited.
    Exit {
        /// The exit status.
        code: i32,
    },
    /// HLT: the debug halt instruction. `HLT #0xf000` asks for a semihosting service.
    Halt {
        /// The immediate.
        imm: u16,
    },
    /// BRK.
    Breakpoint {
        /// The immediate.
        imm: u16,
    },
    /// SVC. As in the architecture, the instruction has retired and `pc` is the address of the next one.
    Syscall {
        /// The immediate.
        imm: u16,
    },
    /// The word is UNDEFINED at EL0 of this machine.
    Undefined {
        /// The word.
        word: u32,
    },
    /// An instruction fetch or a data access failed.
    Fault(Fault),
    /// The budget of steps is used up.
    Budget,
    /// A write needs a frame and the machine has none left; with more frames the run can go on.
    OutOfFrames,
    /// Every thread of a Linux program waits for another one, so the lane would wait for ever. `pc` is the address of a system call
    /// that waits.
    Deadlock,
    /// The lane is about to execute an instruction at which the host has set a breakpoint. [`Stop::Breakpoint`] is the
    /// instruction BRK instead.
    HardwareBreakpoint,
    /// The lane is about to access memory that the host watches.
    Watchpoint {
        /// The access, [`Access::Read`] or [`Access::Write`].
        access: Access,
        /// The address of the first watched byte of the access.
        address: u64,
    },
    /// The lane is about to make a system call that the host filters.
    SystemCall {
        /// The number of the system call, or of the semihosting operation.
        number: u32,
    },
}

/// A failed instruction fetch or data access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The cause.
    pub kind: FaultKind,
    /// The access that was attempted.
    pub access: Access,
    /// The first byte that could not be accessed, or the misaligned address; for DC ZVA the address in Xt.
    pub address: u64,
}

/// The cause of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// No page is mapped at the address, or the address has more than 48 bits.
    Translation,
    /// The page does not permit the access.
    Permission,
    /// The address is not a multiple of the alignment that the access needs.
    Alignment,
}

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

/// Defines the names of stops, each with the pattern of its variant.
macro_rules! names { ($($pattern:pat => $name:literal)*) => {
    impl Stop {
        /// The names of all kinds of stops.
        pub const NAMES: &'static [&'static str] = &[$($name),*];

        /// Returns the name of the kind of stop in test vectors and reports.
        #[must_use]
        pub const fn name(&self) -> &'static str {
            match self {
                $($pattern => $name,)*
            }
        }
    }
} }
names! {
    Self::Exit { .. } => "exit"
    Self::Halt { .. } => "halt"
    Self::Breakpoint { .. } => "breakpoint"
    Self::Syscall { .. } => "syscall"
    Self::Undefined { .. } => "undefined"
    Self::Fault(_) => "fault"
    Self::Budget => "budget"
    Self::OutOfFrames => "out-of-frames"
    Self::Deadlock => "deadlock"
    Self::HardwareBreakpoint => "hardware-breakpoint"
    Self::Watchpoint { .. } => "watchpoint"
    Self::SystemCall { .. } => "system-call"
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit { code } => write!(f, "exit with status {code}"),
            Self::Halt { imm } => write!(f, "halt (hlt #{imm:#x})"),
            Self::Breakpoint { imm } => write!(f, "breakpoint (brk #{imm:#x})"),
            Self::Syscall { imm } => write!(f, "system call (svc #{imm:#x})"),
            Self::Undefined { word } => write!(f, "undefined instruction {word:#010x}"),
            Self::Fault(fault) => fault.fmt(f),
            Self::Budget => write!(f, "the budget of steps is used up"),
            Self::OutOfFrames => write!(f, "out of memory frames"),
            Self::Deadlock => write!(f, "deadlock: every thread waits"),
            Self::HardwareBreakpoint => write!(f, "breakpoint set by the host"),
            Self::Watchpoint { access, address } => {
                write!(f, "watchpoint set by the host: {} {address:#x}", access.with_preposition())
            }
            Self::SystemCall { number } => write!(f, "before system call {number}"),
        }
    }
}

impl Access {
    /// Returns the words for the access in front of an address.
    const fn with_preposition(self) -> &'static str {
        match self {
            Self::Read => "read from",
            Self::Write => "write to",
            Self::Execute => "execution of",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = self.access.with_preposition();
        let kind = match self.kind {
            FaultKind::Translation => "unmapped memory",
            FaultKind::Permission => "memory without that permission",
            FaultKind::Alignment => "a misaligned address",
        };
        write!(f, "{access} {kind} at {:#x}", self.address)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}
