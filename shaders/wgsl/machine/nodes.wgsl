//! The nodes of page tables: frames with entries of 32 bits.

import package::machine::fixed_places::{handle_of};
import package::machine::frames::{frame_half, frame_store_half};

/// Returns an entry of a node.
fn node_entry(node: u32, index: u32) -> u32 {
    return frame_half(handle_of(node), index >> 1u, index & 1u);
}

/// Sets an entry of a node.
fn set_node_entry(node: u32, index: u32, entry: u32) {
    frame_store_half(handle_of(node), index >> 1u, index & 1u, entry);
}
