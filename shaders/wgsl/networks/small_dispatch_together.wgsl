//! The small dispatch network where a workgroup has nothing else to do: it is too small to be shared.

import package::networks::layout::{DISPATCH_HIDDEN};
import package::networks::logits::{Logits};
import package::networks::small_dispatch::{evaluate, load_weights};

/// Invocations of the workgroup: as many as the large network has use for.
const MEMBERS = DISPATCH_HIDDEN;

/// Brings the weights to workgroup memory, together with all invocations of the workgroup. A barrier has to follow.
fn load_together(member: u32) {
    load_weights(member, MEMBERS);
}

/// The logits of a tuple. All invocations of the workgroup call it, with the same tuple.
fn evaluate_together(tuple: u32, member: u32) -> Logits {
    return evaluate(tuple);
}
