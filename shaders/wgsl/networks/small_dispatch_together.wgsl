//! The small dispatch network where a workgroup has nothing else to do: it is too small to be shared.

import package::networks::layout::{DISPATCH_HIDDEN};
import package::networks::logits::{Logits};
import package::networks::small_dispatch::{evaluate};

/// Invocations of the workgroup: as many as the large network has use for.
const MEMBERS = DISPATCH_HIDDEN;

/// The logits of a tuple. All invocations of the workgroup call it, with the same tuple.
fn evaluate_together(tuple: u32, member: u32) -> Logits {
    return evaluate(tuple);
}
