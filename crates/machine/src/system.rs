//! The systems that programs are written for.

use serde::{Deserialize, Serialize};

/// The system that serves the calls of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum System {
    /// Arm semihosting: a program without an operating system, which calls the host with `hlt #0xf000`.
    Semihosting,
    /// Linux: a program that makes system calls with `svc #0`.
    Linux,
}

/// The place of a Linux program's program headers, which Linux passes to the program in its auxiliary vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinuxProgram {
    /// The address of the program headers in the guest's memory; 0 if no segment contains them.
    pub headers: u64,
    /// The number of program headers.
    pub count: u64,
    /// Whether `PT_GNU_STACK` asks for a stack that can be executed.
    pub has_executable_stack: bool,
}
