//! The mapping, protection and unmapping of pages.

import package::machine::bindings::{frame_info};
import package::machine::frames::{frame_handle, frame_store};
import package::machine::layout::{
    COLUMN_WINDOW, ENTRY_EXECUTE, ENTRY_FRAME, ENTRY_MAPPED, ENTRY_OWNED, ENTRY_PRIVATE, ENTRY_READ,
    ENTRY_WRITE, FRAME_WORDS, INFO_CODE_PAGE, LEVEL_BITS, MAP_PROTECT, STOP_NONE,
};
import package::machine::memory::{effort, get_state, node_entry, own_path, set_node_entry};

/// Maps, protects or unmaps a page as `map` specifies: `MAP_*` and the bits `ENTRY_*` of the page. Returns a stop. If
/// it is not `STOP_NONE`, nothing that the guest can see has changed.
fn map_page(page: u64, map: u32) -> u32 {
    effort += 20u;
    let permissions = ENTRY_READ | ENTRY_WRITE | ENTRY_EXECUTE | ENTRY_MAPPED;
    let path = own_path(page, 1u);
    if path.x != STOP_NONE {
        return path.x;
    }
    let node = path.y >> ENTRY_FRAME;
    let index = u32(page - get_state(COLUMN_WINDOW)) & ((1u << LEVEL_BITS) - 1u);
    let old = node_entry(node, index);
    var entry = map & permissions;
    if (map & MAP_PROTECT) != 0u {
        entry |= old & ~permissions;
    } else if (old & ENTRY_PRIVATE) != 0u {
        // The page still counts as written. It keeps its frame if the frame is not shared.
        entry |= ENTRY_PRIVATE;
        if (old & ENTRY_OWNED) != 0u {
            let number = old >> ENTRY_FRAME;
            let frame = frame_handle(number);
            entry |= (number << ENTRY_FRAME) | ENTRY_OWNED;
            frame_info[number].w &= INFO_CODE_PAGE;
            for (var word = 0u; word < FRAME_WORDS; word += 1u) {
                frame_store(frame, word, 0lu);
            }
            effort += FRAME_WORDS;
        }
    }
    set_node_entry(node, index, entry);
    return STOP_NONE;
}
