//! Lowering by a class that may be wrong.

import package::arm64::class::{class_of};
import package::machine::bindings::{parameters};
import package::machine::decisions::{count};
import package::machine::decode_table::{lower_as};
import package::machine::layout::{DECISION_ASKED, DECISION_FELL_BACK, DECISION_MISPREDICTED, DISPATCH_STOPS};
import package::machine::lowering::{MicroOp, undefined};
import package::machine::micro_op::{HANDLER_UNDEFINED, get_handler};

/// The micro-op of a word in the class that was chosen for it, or what becomes of it if no row is found there.
fn lower_checked(chosen: u32, word: u32) -> MicroOp {
    let right = class_of(word);
    count(right, DECISION_ASKED, 1u);
    if chosen == right {
        return lower_as(chosen, word, parameters.features);
    }
    // A word has rows in one class only, so in another one none is found.
    count(right, DECISION_MISPREDICTED, 1u);
    if (parameters.dispatch & DISPATCH_STOPS) != 0u {
        return undefined(word);
    }
    let op = lower_as(right, word, parameters.features);
    if get_handler(op.control) != HANDLER_UNDEFINED {
        count(right, DECISION_FELL_BACK, 1u);
    }
    return op;
}
