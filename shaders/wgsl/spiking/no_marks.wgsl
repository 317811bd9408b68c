//! The substitute for `marks` in networks without neurons of FEAGI.

/// Whether the network has marks.
const HAS_MARKS = false;

/// Does nothing: there are no marks.
fn set_mark(slot: u32, neuron: u32) {}

/// Returns whether a neuron has a mark: never.
fn take_mark(slot: u32, neuron: u32) -> bool {
    return false;
}
