//! The small dispatch network where a workgroup has nothing else to do: it is too small to be shared.

import package::networks::layout::{DISPATCH_HIDDEN};
import package::networks::small_dispatch::{decide};

/// Invocations of the workgroup: as many as the large network has use for.
const MEMBERS = DISPATCH_HIDDEN;

/// The class the network gives a tuple. All invocations of the workgroup call it, with the same tuple.
fn decide_together(tuple: u32, member: u32) -> u32 {
    return decide(tuple);
}
