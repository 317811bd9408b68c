//! In the place of `calls.wgsl`, for programs whose system calls are all the host's.

import package::machine::layout::{STOP_SYSCALL};

/// Whether some calls need no host.
const SERVES_CALLS = false;

/// Serves a call, if it can. Returns a stop.
fn serve_call() -> u32 {
    return STOP_SYSCALL;
}
