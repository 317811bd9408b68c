//! The handling of a network's class in each step: selection of the micro-op, and counters of right and wrong classes.

import package::machine::bindings::{parameters};
import package::machine::decisions::{count};
import package::machine::layout::{
    CLASSES, DECISION_ASKED, DECISION_FELL_BACK, DECISION_MISPREDICTED, SELECTION_STOPS,
    SELECTION_TABLE_DECIDES,
};
import package::machine::lowering::{undefined};
import package::machine::micro_op::{HANDLER_STALE, HANDLER_UNDEFINED, get_handler};

/// The number of steps that have retired, by correct class; the last element is for steps without an evaluation.
var<private> steps_by_class: array<u32, CLASSES + 1u>;
/// The number of steps for which the network chose a wrong class, by correct class.
var<private> mispredictions_by_class: array<u32, CLASSES + 1u>;

/// Returns the micro-op to execute: the fetched one or, if the network chose a wrong class and that stops the lane,
/// that of an undefined word.
///
/// `word` is the code word and its correct class; `is_taken` is set if the slice has room for the step.
fn selected_op(op: vec4<u32>, word: vec2<u32>, chosen: u32, is_taken: bool) -> vec4<u32> {
    let handler = get_handler(op.x);
    let stops = chosen != word.y && (parameters.selection & SELECTION_STOPS) != 0u;
    if !stops || !is_taken || handler == HANDLER_STALE || handler == HANDLER_UNDEFINED {
        return op;
    }
    // This step will not retire, so it is counted here.
    steps_by_class[word.y] += 1u;
    mispredictions_by_class[word.y] += 1u;
    let none = undefined(word.x);
    return vec4<u32>(none.control, none.parameters, u32(none.imm), u32(none.imm >> 32u));
}

/// Counts a step that retires, by its correct class.
fn count_step(right: u32, chosen: u32) {
    steps_by_class[right] += 1u;
    if chosen != right {
        mispredictions_by_class[right] += 1u;
    }
}

/// Adds the counts of this invocation to the machine's counters.
fn report_steps() {
    let falls_back = (parameters.selection & (SELECTION_STOPS | SELECTION_TABLE_DECIDES)) == 0u;
    for (var right = 0u; right < CLASSES; right += 1u) {
        if steps_by_class[right] != 0u {
            count(right, DECISION_ASKED, steps_by_class[right]);
        }
        if mispredictions_by_class[right] != 0u {
            count(right, DECISION_MISPREDICTED, mispredictions_by_class[right]);
            if falls_back {
                count(right, DECISION_FELL_BACK, mispredictions_by_class[right]);
            }
        }
    }
}
