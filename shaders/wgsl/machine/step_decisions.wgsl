//! The network asked in each step: what becomes of its answers.

import package::machine::bindings::{parameters};
import package::machine::decisions::{count};
import package::machine::layout::{
    CLASSES, DECISION_ASKED, DECISION_FELL_BACK, DECISION_MISPREDICTED, DISPATCH_STOPS,
    DISPATCH_TABLE_DECIDES,
};
import package::machine::lowering::{undefined};
import package::machine::micro_op::{HANDLER_STALE, HANDLER_UNDEFINED, get_handler};

/// Steps that have retired, by the class that is right; behind them, those for which nothing was asked.
var<private> asked: array<u32, CLASSES + 1u>;
/// Those for which the network said another class.
var<private> mispredicted: array<u32, CLASSES + 1u>;

/// The micro-op that a step takes: the one fetched, unless the network chose a class that has no row for it and that
/// stops the lane.
fn settled(op: vec4<u32>, word: vec2<u32>, chosen: u32, is_taken: bool) -> vec4<u32> {
    let handler = get_handler(op.x);
    let stops = chosen != word.y && (parameters.dispatch & DISPATCH_STOPS) != 0u;
    if !stops || !is_taken || handler == HANDLER_STALE || handler == HANDLER_UNDEFINED {
        return op;
    }
    // This step will not retire.
    asked[word.y] += 1u;
    mispredicted[word.y] += 1u;
    let none = undefined(word.x);
    return vec4<u32>(none.control, none.parameters, u32(none.imm), u32(none.imm >> 32u));
}

/// Counts a step that retires.
fn count_step(right: u32, chosen: u32) {
    asked[right] += 1u;
    if chosen != right {
        mispredicted[right] += 1u;
    }
}

/// Adds what was counted to the machine's counters.
fn report_steps() {
    let falls_back = (parameters.dispatch & (DISPATCH_STOPS | DISPATCH_TABLE_DECIDES)) == 0u;
    for (var right = 0u; right < CLASSES; right += 1u) {
        if asked[right] != 0u {
            count(right, DECISION_ASKED, asked[right]);
        }
        if mispredicted[right] != 0u {
            count(right, DECISION_MISPREDICTED, mispredicted[right]);
            if falls_back {
                count(right, DECISION_FELL_BACK, mispredicted[right]);
            }
        }
    }
}
