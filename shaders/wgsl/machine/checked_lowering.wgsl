//! Lowering with a class that a network chose, and which may be wrong.

import package::arm64::class::{class_of};
import package::machine::bindings::{parameters};
import package::machine::decisions::{count};
import package::machine::decode_table::{lower_as};
import package::machine::layout::{DECISION_ASKED, DECISION_FELL_BACK, DECISION_MISPREDICTED, SELECTION_STOPS};
import package::machine::lowering::{MicroOp, undefined};
import package::machine::micro_op::{HANDLER_UNDEFINED, get_handler};

/// Returns the micro-op of a word, and counts whether the chosen class is right. If it is wrong, the result is that of
/// the right class or, if wrong classes stop lanes, that of an undefined word.
fn lower_checked(chosen: u32, word: u32) -> MicroOp {
    let right = class_of(word);
    count(right, DECISION_ASKED, 1u);
    if chosen == right {
        return lower_as(chosen, word, parameters.features);
    }
    // A word has rows in one class only, so a search in a wrong class would find none.
    count(right, DECISION_MISPREDICTED, 1u);
    if (parameters.selection & SELECTION_STOPS) != 0u {
        return undefined(word);
    }
    let op = lower_as(right, word, parameters.features);
    if get_handler(op.control) != HANDLER_UNDEFINED {
        count(right, DECISION_FELL_BACK, 1u);
    }
    return op;
}
