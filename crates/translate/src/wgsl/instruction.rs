//! Which micro-ops are translated, and the statements of those that are no branches.

use kvrm_arm64::micro_op::MicroOp;

use crate::effects::{Flow, handler};

use super::address::{Address, WriteBack};
use super::operand::register;
use super::operation::{self, Flags};
use super::place::Place;
use super::places::Placed;
use super::{system, transfer, vector, vector_transfer};

/// Whether translated code executes a micro-op. A region to translate should have no others.
#[must_use]
pub fn is_translatable(op: MicroOp) -> bool {
    match (Flow::of(0, op), handler(op)) {
        (Flow::Stop, _) | (_, None) => false,
        (Flow::Next, Some(handler)) => {
            Address::of(op, 0).is_some()
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

/// Whether the lane may leave before a micro-op.
pub(super) fn may_exit(op: MicroOp) -> bool {
    Address::of(op, 0).is_some() || !is_translatable(op)
}

/// What surrounds a micro-op.
pub(super) struct Surroundings<'a> {
    /// Its address.
    pub(super) pc: u64,
    /// What to do with the flags that it sets.
    pub(super) flags: Flags,
    /// Whether its condition holds, as an expression.
    pub(super) holds: &'a str,
    /// The address and the place that it accesses.
    pub(super) access: Option<(&'a Address, Placed)>,
}

/// Returns the statements of a micro-op that is no branch, or `None` if translated code does not execute it.
pub(super) fn statements(op: MicroOp, at: &Surroundings<'_>) -> Option<String> {
    let handler = handler(op)?;
    if let Some((address, placed)) = at.access {
        let place = Place::new(address, placed);
        let lines = if address.is_vector {
            vector_transfer::lines(handler, op, address, &place)
        } else {
            transfer::lines(op, address.is_load, &place)
        };
        let base = register(op.a());
        // If the base is loaded, too, write-back wins.
        return Some(match &address.write_back {
            Some(WriteBack { added, .. }) => {
                format!("let indexed = {base} + {added};\n{lines}{base} = indexed;\n")
            }
            None => lines,
        });
    }
    vector::lines(handler, op, at.holds)
        .or_else(|| system::lines(handler, op))
        .or_else(|| operation::lines(handler, op, at.pc, at.flags, at.holds))
}
