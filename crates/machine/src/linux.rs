//! Linux user mode: the host serves the system calls of static programs.
//!
//! Each lane is one process with one thread. It runs as root and sees only its own machine:
//!
//! - an in-memory file system; lanes share the files they have not changed;
//! - clocks that count steps, unless the machine uses real time;
//! - random numbers that follow from a seed.
//!
//! Of the host, a lane sees only mounted directories, and it cannot change them. So a run can be repeated exactly.
//!
//! A guest error becomes an errno or ends the lane. File positions advance and input is consumed only after the answer
//! has been written to the guest's memory, so a call that stops because frames have run out can be made again.

mod call;
mod call_table;
mod descriptor_calls;
mod descriptors;
mod directory_calls;
mod errno;
mod estimates;
mod failure;
mod file_calls;
mod files;
mod guest;
mod initial_stack;
mod memory_calls;
mod mount;
mod process;
mod process_calls;
mod save;
mod serve;
mod settings;
mod signal_calls;
mod signal_delivery;
mod signal_frame;
mod signals;
mod status;
mod table;
mod time_calls;
mod unserved;

pub use self::call_table::{SHADER_NUMBERS, call_table};
pub(crate) use self::estimates::{memory_to_read, shown_bytes};
pub(crate) use self::initial_stack::{InitialStack, write_initial_stack};
pub use self::mount::Mount;
pub(crate) use self::mount::initial_files;
pub(crate) use self::process::{Effects, Process};
pub(crate) use self::settings::{Areas, Settings, TRAMPOLINE};
pub(crate) use self::signal_delivery::raises_signal;
pub use self::table::{CALLS, Status, SystemCall};
pub(crate) use self::unserved::UnservedCalls;

/// The immediate of SVC that makes a system call.
pub(crate) const SYSTEM_CALL: u16 = 0;
