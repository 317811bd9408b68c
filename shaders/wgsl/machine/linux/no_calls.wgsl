//! The substitute for `calls.wgsl` in interpreters of programs whose system calls the host serves.

import package::machine::layout::{STOP_SYSCALL};

/// Whether this module serves system calls.
const SERVES_CALLS = false;

/// Leaves the call to the host.
fn serve_call() -> u32 {
    return STOP_SYSCALL;
}
