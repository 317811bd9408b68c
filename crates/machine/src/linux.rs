//! Linux user mode: the host serves the system calls of programs.
//!
//! Each lane has a kernel of its own, with processes and threads that take turns. They run as root and see only their own machine:
//!
//! - an in-memory file system; lanes share the files they have not changed;
//! - clocks that count steps, unless the machine uses real time;
//! - random numbers that follow from a seed.
//!
//! Of the host, a lane sees only mounted directories, and it cannot change them. So a run can be repeated exactly.
//!
//! A guest error becomes an errno or ends the lane. File positions advance and input is consumed only after the answer
//! has been written to the guest's memory, so a call that stops because frames have run out can be made again.

mod advice_calls;
mod attribute_calls;
mod call;
mod call_table;
mod clone_calls;
mod connect_calls;
mod defaults;
mod descriptor_calls;
mod descriptors;
mod directory_calls;
mod disk_calls;
mod errno;
mod estimates;
mod event_calls;
mod exec_calls;
mod expiry;
mod failure;
mod fields;
mod fifo_calls;
mod file_calls;
mod files;
mod fork_advice;
mod futex_calls;
mod guest;
mod id_calls;
mod initial_stack;
mod ipc;
mod job_control;
mod kernel;
mod life;
mod limit_calls;
mod limits;
mod line_discipline;
mod loading;
mod lock_calls;
mod locks;
mod mapped_files;
mod memory_calls;
mod memory_limits;
mod memory_lock_calls;
mod message_calls;
mod mix;
mod mount;
mod notice_calls;
mod notices;
mod open_files;
mod opened;
mod page_ranges;
mod pipe_exchange;
mod pipe_windows;
mod posix_queue_calls;
mod posix_queues;
mod proc_files;
mod proc_ipc;
mod proc_maps;
mod proc_net;
mod proc_node;
mod proc_process;
mod proc_system;
mod proc_table;
mod proc_text;
mod proc_tree;
mod process;
mod process_calls;
mod queue_calls;
mod readiness;
mod save;
mod schedule;
mod scheduling;
mod scheduling_calls;
mod segment_calls;
mod semaphore_calls;
mod serve;
mod settings;
mod shared_memory;
mod shared_objects;
mod sharing_calls;
mod signal_calls;
mod signal_delivery;
mod signal_frame;
mod signalling;
mod signals;
mod socket_address;
mod socket_calls;
mod socket_options;
mod socket_transfer;
mod sockets;
mod space;
mod splice_calls;
mod status;
mod table;
mod terminal_calls;
mod terminal_transfer;
mod terminals;
mod termios;
mod thread;
mod time_calls;
mod timer_calls;
mod timers;
mod trace;
mod trace_calls;
mod trace_flags;
mod trace_names;
mod trace_structures;
mod trace_text;
mod trace_values;
mod tracing;
mod turns;
mod unserved;
mod vector_calls;
mod wait;
mod wait_calls;

pub use self::call_table::{SHADER_NUMBERS, call_table};
pub(crate) use self::estimates::{memory_to_read, shown_bytes};
pub(crate) use self::files::Files;
pub(crate) use self::initial_stack::{Texts, write_initial_stack};
pub(crate) use self::kernel::{Effects, Kernel};
pub(crate) use self::loading::{LoadFailure, Program as LinuxParts, Sizes, contents, load};
pub use self::mount::Mount;
pub(crate) use self::mount::{Options as FileOptions, executable_path, initial_files};
pub(crate) use self::settings::{Settings, TRAMPOLINE};
pub(crate) use self::signal_delivery::raises_signal;
pub use self::table::{CALLS, Status, SystemCall};
pub(crate) use self::unserved::UnservedCalls;

/// The immediate of SVC that makes a system call.
pub(crate) const SYSTEM_CALL: u16 = 0;
