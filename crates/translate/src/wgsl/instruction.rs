//! Which micro-ops are translated, and the statements of those that are no branches.

use kvrm_arm64::micro_op::{Handler, MicroOp};

use crate::effects::{Flow, handler};

use super::operation::{self, Flags};
use super::{system, transfer, vector, vector_transfer};

/// Whether translated code executes a micro-op. A region to translate should have no others.
#[must_use]
pub fn is_translatable(op: MicroOp) -> bool {
    match (Flow::of(0, op), handler(op)) {
        (Flow::Stop, _) | (_, None) => false,
        (Flow::Next, Some(handler)) => {
            accesses_memory(handler)
                || vector_transfer::is_translatable(handler, op)
                || vector::is_translatable(handler)
                || system::is_translatable(handler, op)
                || operation::is_translatable(handler)
        }
        _ => true,
    }
}

/// Whether a micro-op calls a function of the interpreter that is long. Compilers of shaders take a good part of a second
/// for each call, because they inline it.
#[must_use]
pub fn is_costly(op: MicroOp) -> bool {
    handler(op).is_some_and(vector::is_translatable) && vector::has_loops(op)
}

/// Whether a handler is a load or a store of general registers that translated code executes.
const fn accesses_memory(handler: Handler) -> bool {
    matches!(handler, Handler::LOAD | Handler::STORE | Handler::LOAD_LITERAL)
}

/// Whether the lane may leave before a micro-op.
pub(super) fn may_exit(op: MicroOp) -> bool {
    let Some(handler) = handler(op) else { return true };
    accesses_memory(handler) || vector_transfer::is_translatable(handler, op) || !is_translatable(op)
}

/// What surrounds a micro-op.
pub(super) struct Surroundings<'a> {
    /// Its address.
    pub(super) pc: u64,
    /// What to do with the flags that it sets.
    pub(super) flags: Flags,
    /// Whether its condition holds, as an expression.
    pub(super) holds: &'a str,
    /// The statements that leave the region before it.
    pub(super) exit: &'a str,
}

/// Returns the statements of a micro-op that is no branch, or `None` if translated code does not execute it.
pub(super) fn statements(op: MicroOp, at: &Surroundings<'_>) -> Option<String> {
    let handler = handler(op)?;
    if accesses_memory(handler) {
        return Some(transfer::lines(handler, op, at.pc, at.exit));
    }
    if vector_transfer::is_translatable(handler, op) {
        return Some(vector_transfer::lines(handler, op, at.pc, at.exit));
    }
    vector::lines(handler, op, at.holds)
        .or_else(|| system::lines(handler, op))
        .or_else(|| operation::lines(handler, op, at.pc, at.flags, at.holds))
}
