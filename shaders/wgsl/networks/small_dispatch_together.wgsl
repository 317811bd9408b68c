//! The small dispatch network in the place of `dispatch_together`. It is too small to be shared, so each invocation of
//! a workgroup evaluates it alone.

import package::networks::layout::{DISPATCH_HIDDEN};
import package::networks::logits::{Logits};
import package::networks::small_dispatch::{evaluate, load_weights};

/// The number of invocations of the workgroup, which is that of `dispatch_together`.
const MEMBERS = DISPATCH_HIDDEN;

/// Loads the weights to workgroup memory. All invocations of the workgroup call it, and a barrier has to follow.
fn load_together(member: u32) {
    load_weights(member, MEMBERS);
}

/// Returns the logits of a tuple. All invocations of the workgroup call it, with the same tuple.
fn evaluate_together(tuple: u32, member: u32) -> Logits {
    return evaluate(tuple);
}
