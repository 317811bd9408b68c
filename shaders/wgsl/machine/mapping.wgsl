//! The mapping, protection and unmapping of pages.

import package::machine::bindings::{frame_info};
import package::machine::fixed_places::{MOVES_FRAMES, handle_of, is_away};
import package::machine::frames::{frame_store};
import package::machine::layout::{
    COLUMN_ROOT, COLUMN_WINDOW, ENTRY_EXECUTE, ENTRY_FRAME, ENTRY_MAPPED, ENTRY_OWNED, ENTRY_PRIVATE, ENTRY_READ,
    ENTRY_WRITE, FRAME_WORDS, INFO_CODE_PAGE, INFO_NODE, LEVEL_BITS, MAP_PROTECT, STOP_NEED_AWAY, STOP_NEED_FRAME, STOP_NONE,
    UNIFORM_LEVELS, UNIFORM_NODES, UNIFORM_PERMISSIONS,
};
import package::machine::memory::{
    effort, found_frame, get_state, halves, joined, own_path, set_state, take_frame,
};
import package::machine::nodes::{node_entry, set_node_entry};

/// Adds levels to the page table until it covers a page. Returns a stop.
fn cover_page(page: u64) -> u32 {
    let window = get_state(COLUMN_WINDOW);
    var root = halves(get_state(COLUMN_ROOT));
    while ((page - window) >> (LEVEL_BITS * root.y)) != 0lu {
        let node = take_frame(window, true);
        if node == 0u {
            return STOP_NEED_FRAME;
        }
        let frame = handle_of(node);
        for (var word = 0u; word < FRAME_WORDS; word += 1u) {
            frame_store(frame, word, 0lu);
        }
        effort += FRAME_WORDS;
        // The old root covers the first pages of the new one.
        set_node_entry(node, 0u, root.x);
        root = vec2<u32>((node << ENTRY_FRAME) | ENTRY_MAPPED | ENTRY_OWNED, root.y + 1u);
        set_state(COLUMN_ROOT, joined(root.x, root.y));
    }
    return STOP_NONE;
}

/// Maps, protects or unmaps the `2^(LEVEL_BITS * level)` pages from `page` on, of which it is a multiple, by the one entry
/// that leads to their node. This is not possible if the lane or its snapshot has a node of its own there, or if pages
/// to protect have contents. Returns a stop, and whether the pages are done. The page table covers the pages.
fn map_node(page: u64, level: u32, map: u32) -> vec2<u32> {
    effort += 20u;
    if halves(get_state(COLUMN_ROOT)).y <= level {
        return vec2<u32>(STOP_NONE, 0u);
    }
    let path = own_path(page, level + 1u);
    if path.x != STOP_NONE {
        return vec2<u32>(path.x, 0u);
    }
    let parent = path.y >> ENTRY_FRAME;
    let index = u32((page - get_state(COLUMN_WINDOW)) >> (LEVEL_BITS * level)) & ((1u << LEVEL_BITS) - 1u);
    let old = node_entry(parent, index) >> ENTRY_FRAME;
    let first = UNIFORM_NODES + (level - 1u) * UNIFORM_PERMISSIONS;
    let is_uniform = old - first < UNIFORM_PERMISSIONS;
    let is_of_lane = (frame_info[old].y & INFO_NODE) != 0u;
    if select(is_of_lane, !is_uniform, (map & MAP_PROTECT) != 0u) {
        return vec2<u32>(STOP_NONE, 0u);
    }
    let node = first + (map & (ENTRY_READ | ENTRY_WRITE | ENTRY_EXECUTE));
    let entry = select(0u, (node << ENTRY_FRAME) | ENTRY_MAPPED, (map & ENTRY_MAPPED) != 0u);
    set_node_entry(parent, index, entry);
    return vec2<u32>(STOP_NONE, 1u);
}

/// Maps, protects or unmaps the pages from `page` on, as many as one entry stands for, but at most `most`. Returns a stop
/// and the number of pages. If it is not `STOP_NONE`, nothing that the guest can see has changed.
fn map_some_pages(page: u64, most: u32, map: u32) -> vec2<u32> {
    let covered = cover_page(page);
    if covered != STOP_NONE {
        return vec2<u32>(covered, 0u);
    }
    let relative = page - get_state(COLUMN_WINDOW);
    for (var level = UNIFORM_LEVELS; level > 0u; level -= 1u) {
        let pages = 1u << (LEVEL_BITS * level);
        if most >= pages && (relative & u64(pages - 1u)) == 0lu {
            let done = map_node(page, level, map);
            if done.x != STOP_NONE || done.y != 0u {
                return vec2<u32>(done.x, done.y * pages);
            }
        }
    }
    return vec2<u32>(map_page(page, map), 1u);
}

/// Maps, protects or unmaps a page as `map` specifies: `MAP_*` and the bits `ENTRY_*` of the page. Returns a stop. If
/// it is not `STOP_NONE`, nothing that the guest can see has changed. The page table covers the page.
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
            if MOVES_FRAMES && is_away(number) {
                found_frame = number;
                return STOP_NEED_AWAY;
            }
            let frame = handle_of(number);
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
