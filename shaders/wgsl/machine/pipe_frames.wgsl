//! The frames of the pipe windows: rings of bytes for pipes, which host and device exchange.
//!
//! A node, to which the upper half of `COLUMN_BASE` leads, has an entry for each page of all windows of the lane, one window
//! behind the other. Node and pages are frames of the lane's chain that are marked as nodes, so they do not count as written
//! pages. As in a page table, a frame is the lane's own if its entry and that of the node are marked as owned. No page table
//! leads to them, so no access of the guest reaches them.

import package::machine::fixed_places::{handle_of};
import package::machine::layout::{COLUMN_BASE, ENTRY_FRAME, ENTRY_OWNED};
import package::machine::memory::{copy_frame, get_state, halves, joined, set_state, take_frame};
import package::machine::nodes::{node_entry, set_node_entry};

/// Returns the handle of the frame of a page of the windows, to read it. A page without a frame has the frame of zeros.
fn pipe_frame(page: u32) -> u32 {
    let node = halves(get_state(COLUMN_BASE)).y >> ENTRY_FRAME;
    return handle_of(node_entry(node, page) >> ENTRY_FRAME);
}

/// Returns the handle of the lane's own frame of a page of the windows, or 0 if the machine has no frame left.
fn own_pipe_frame(page: u32) -> u32 {
    let base = halves(get_state(COLUMN_BASE));
    var entry = base.y;
    var node = 0u;
    for (var level = 0u; level < 2u; level += 1u) {
        if level == 1u {
            node = entry >> ENTRY_FRAME;
            entry = node_entry(node, page);
        }
        if (entry & ENTRY_OWNED) == 0u {
            let taken = take_frame(u64(page), true);
            if taken == 0u {
                return 0u;
            }
            copy_frame(taken, entry, level == 0u);
            entry = (taken << ENTRY_FRAME) | ENTRY_OWNED;
            if level == 0u {
                set_state(COLUMN_BASE, joined(base.x, entry));
            } else {
                set_node_entry(node, page, entry);
            }
        }
    }
    return handle_of(entry >> ENTRY_FRAME);
}
