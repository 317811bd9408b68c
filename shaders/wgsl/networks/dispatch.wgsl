//! The dispatch network, evaluated by each invocation alone.

import package::networks::dispatch_layers::{evaluate_layers};
import package::networks::logits::{Logits, greatest};

/// Prepares workgroup memory for `evaluate`, which needs none here.
fn load_weights(member: u32, members: u32) {}

/// Returns the logits of a tuple.
fn evaluate(tuple: u32) -> Logits {
    return evaluate_layers(tuple);
}

/// Returns the class that the network gives a tuple.
fn decide(tuple: u32) -> u32 {
    return greatest(evaluate(tuple));
}
