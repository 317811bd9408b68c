//! Translated regions, and the markers at which lanes enter them.

import package::machine::bindings::{parameters};
import package::machine::layout::{HANDLER_MARKER, MARKER_ENTRY};
import package::machine::left_region::{LeftRegion};
import package::machine::markers::{is_valid};
import package::machine::micro_op::{get_handler};
import package::machine::translated::{replaced, run_region};

/// Whether this module has regions.
const HAS_REGIONS = true;

/// The number of steps that the lane has taken in regions.
var<private> translated_steps: u32;

/// Returns a micro-op, or the one that it has replaced if it is a marker.
fn original(op: vec4<u32>) -> vec4<u32> {
    if get_handler(op.x) == HANDLER_MARKER {
        return replaced(op.x >> MARKER_ENTRY);
    }
    return op;
}

/// Runs a lane that has come to a marker, at the address `pc`, until it leaves the region. `at` is the index of the
/// marker.
fn enter_region(at: u32, marker: vec4<u32>, pc: u64, nzcv: u32, budget: u32) -> LeftRegion {
    if !is_valid(at, marker) {
        return LeftRegion(pc, nzcv, budget);
    }
    let given = min(budget, parameters.quantum);
    var left = run_region(marker.x >> MARKER_ENTRY, pc, nzcv, given);
    translated_steps += given - left.budget;
    left.budget += budget - given;
    return left;
}
