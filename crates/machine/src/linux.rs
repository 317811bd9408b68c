//! Linux user mode: the system calls of static programs, served by the host.
//!
//! A lane is a process with one thread, root of a machine of its own: a file system in memory, of which lanes share
//! what they do not change; time that is counted in steps; randomness that follows from a seed. Nothing of the host is
//! visible but the directories that were mounted, which nobody can change. So a run can be repeated exactly.
//!
//! What a guest does wrong is an error number that it gets, or its end. Positions move, and things are consumed, only
//! after the guest's memory has taken the answer: a call that stops for lack of frames can be made again.

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
mod start;
mod status;
mod table;
mod time_calls;

pub use self::call_table::{SHADER_NUMBERS, call_table};
pub(crate) use self::estimates::{ranges, shown_bytes};
pub use self::mount::Mount;
pub(crate) use self::mount::files;
pub(crate) use self::process::{Process, Written};
pub(crate) use self::settings::{Areas, Settings, TRAMPOLINE};
pub(crate) use self::start::{Start, start};
pub use self::table::{CALLS, Status, SystemCall};

/// The immediate of SVC that makes a system call.
pub(crate) const SYSTEM_CALL: u16 = 0;
