//! The dispatch network: each invocation evaluates it by itself.

import package::networks::dispatch_layers::{evaluate_layers};
import package::networks::logits::{Logits, greatest};

/// Brings to workgroup memory what evaluating needs: nothing.
fn load_weights(member: u32, members: u32) {}

/// The logits of a tuple.
fn evaluate(tuple: u32) -> Logits {
    return evaluate_layers(tuple);
}

/// The class the network gives a tuple.
fn decide(tuple: u32) -> u32 {
    return greatest(evaluate(tuple));
}
