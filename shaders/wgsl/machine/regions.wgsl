//! Translated regions, and the markers at which lanes enter them.

import package::machine::bindings::{micro_ops, parameters};
import package::machine::layout::{HANDLER_MARKER, MARKER_ENTRY};
import package::machine::left_region::{LeftRegion};
import package::machine::markers::{NOT_AT_HAND, is_valid, place_at_hand};
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

/// Runs a lane that has come to a marker, at the address `pc`, until it leaves the region to a place without a marker.
/// `first` is the index of the marker.
fn enter_region(first: u32, first_marker: vec4<u32>, pc: u64, nzcv: u32, budget: u32) -> LeftRegion {
    var at = first;
    var marker = first_marker;
    var left = LeftRegion(pc, nzcv, budget);
    var quantum = min(budget, parameters.quantum);
    while is_valid(at, marker) {
        let run = run_region(marker.x >> MARKER_ENTRY, left.pc, left.flags, quantum);
        let taken = quantum - run.budget;
        left = LeftRegion(run.pc, run.flags, left.budget - taken);
        translated_steps += taken;
        quantum = run.budget;
        // A lane that could not take a step leaves this to the interpreter.
        if taken == 0u || quantum == 0u {
            break;
        }
        at = place_at_hand(left.pc);
        if at == NOT_AT_HAND {
            break;
        }
        // If the index is that of another address, `run_region` takes no step.
        marker = micro_ops[at];
        if get_handler(marker.x) != HANDLER_MARKER {
            break;
        }
    }
    return left;
}
