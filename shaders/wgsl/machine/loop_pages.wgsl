//! The pages that iterations store to, which a workgroup makes a lane's own.

import package::machine::bindings::{counters, frame_info, parameters};
import package::machine::fixed_places::{MOVES_FRAMES, handle_of, is_away};
import package::machine::frames::{frame_half, frame_store_words, frame_words};
import package::machine::layout::{
    COLUMN_HEAD, COLUMN_ROOT, COLUMN_TAIL, COLUMN_WINDOW, COUNTER_FRAMES, ENTRY_FRAME, ENTRY_OWNED,
    ENTRY_PRIVATE, FRAME_WORDS, INFO_CODE_MARKED, INFO_CODE_PAGE, LEVEL_BITS, STOP_NONE,
};
import package::machine::memory::{
    WANT_HOST_READ, found_frame, get_state, halves, joined, may_write, own_path, set_state, translate,
};
import package::machine::nodes::{node_entry, set_node_entry};

/// The invocations of a workgroup that makes pages a lane's own. Half as many as words in a page, or fewer.
const PAGES_INVOCATIONS = 256u;

/// The number of pages that the lane has not written.
var<workgroup> fresh_pages: atomic<u32>;
/// The number of pages whose frames are not the lane's own.
var<workgroup> shared_pages: atomic<u32>;
/// The new frame of each page, or 0 if it needs none, and the handle of the old one.
var<workgroup> page_frames: array<vec2<u32>, PAGES_INVOCATIONS>;

/// Returns whether the lane has another instruction at an address.
fn has_other_word(address: u64, word: u32) -> bool {
    if translate(WANT_HOST_READ, address) != STOP_NONE {
        return true;
    }
    return frame_half(found_frame, (u32(address) & 4095u) >> 3u, (u32(address) >> 2u) & 1u) != word;
}

/// Returns whether the lane has some frames behind those in use, after it has tried to get them.
fn has_spare_frames(count: u32) -> bool {
    let tail = halves(get_state(COLUMN_TAIL));
    let head = halves(get_state(COLUMN_HEAD));
    var last = tail.x;
    var next = head.y;
    if last != 0u {
        next = frame_info[last].z;
    }
    var missing = count;
    while missing > 0u && next != 0u {
        last = next;
        next = frame_info[last].z;
        missing -= 1u;
    }
    if missing == 0u {
        return true;
    }
    let first = atomicAdd(&counters[COUNTER_FRAMES], missing);
    for (var frame = first; frame < first + missing; frame += 1u) {
        if frame >= parameters.frames {
            return false;
        }
        frame_info[frame] = vec4<u32>();
        if last == 0u {
            set_state(COLUMN_HEAD, joined(head.x, frame));
        } else {
            frame_info[last].z = frame;
        }
        last = frame;
    }
    return true;
}

/// Returns the node with the entry of a page, and the entry. It is marked as owned if all entries above it are, too.
fn leaf_of(page: u64) -> vec2<u32> {
    let relative = page - get_state(COLUMN_WINDOW);
    let root = halves(get_state(COLUMN_ROOT));
    if (relative >> (LEVEL_BITS * root.y)) != 0lu {
        return vec2<u32>();
    }
    var entry = root.x;
    var node = 0u;
    var owned = ENTRY_OWNED;
    var level = root.y;
    while level > 0u && entry != 0u {
        level -= 1u;
        owned &= entry;
        node = entry >> ENTRY_FRAME;
        entry = node_entry(node, u32(relative >> (LEVEL_BITS * level)) & ((1u << LEVEL_BITS) - 1u));
    }
    return vec2<u32>(node, entry & (owned | ~ENTRY_OWNED));
}

/// Begins to count pages.
fn begin_to_count(local: u32) {
    if local == 0u {
        atomicStore(&fresh_pages, 0u);
        atomicStore(&shared_pages, 0u);
    }
}

/// Counts a page to which iterations store.
fn count_page(page: u64) {
    let entry = leaf_of(page).y;
    if (entry & ENTRY_PRIVATE) == 0u {
        atomicAdd(&fresh_pages, 1u);
    }
    if (entry & ENTRY_OWNED) == 0u || is_away(entry >> ENTRY_FRAME) {
        atomicAdd(&shared_pages, 1u);
    }
}

/// Returns whether the lane may write the pages that were counted, and has frames for those that are not its own, and for the nodes on
/// the paths to them. They are in so many ranges.
fn has_room(ranges: u32) -> bool {
    let shared_count = atomicLoad(&shared_pages);
    let levels = halves(get_state(COLUMN_ROOT)).y;
    let nodes = levels * ((shared_count >> LEVEL_BITS) + 2u * ranges + 1u);
    if MOVES_FRAMES && shared_count != 0u {
        // The lane gets its pages step by step.
        return false;
    }
    return shared_count == 0u || (may_write(atomicLoad(&fresh_pages)) && has_spare_frames(shared_count + nodes));
}

/// Makes pages the lane's own: of `count` pages, one for each invocation, those that are wanted. The lane has enough spare frames.
fn own_pages(first: u64, count: u32, local: u32, is_wanted: bool) {
    if local == 0u {
        own_path(first, 1u);
        own_path(first + u64(count) - 1lu, 1u);
        atomicStore(&fresh_pages, 0u);
    }
    storageBarrier();
    workgroupBarrier();
    let page = first + u64(local);
    let leaf = leaf_of(page);
    let entry = leaf.y;
    let is_shared = is_wanted && (entry & ENTRY_OWNED) == 0u;
    page_frames[local] = vec2<u32>(select(0u, 1u, is_shared), handle_of(entry >> ENTRY_FRAME));
    if is_wanted && (entry & ENTRY_PRIVATE) == 0u {
        atomicAdd(&fresh_pages, 1u);
    }
    workgroupBarrier();
    if local == 0u {
        let tail = halves(get_state(COLUMN_TAIL));
        var last = tail.x;
        var next = halves(get_state(COLUMN_HEAD)).y;
        if last != 0u {
            next = frame_info[last].z;
        }
        for (var i = 0u; i < count; i += 1u) {
            if page_frames[i].x != 0u {
                page_frames[i].x = next;
                last = next;
                next = frame_info[last].z;
            }
        }
        set_state(COLUMN_TAIL, joined(last, tail.y + atomicLoad(&fresh_pages)));
    }
    storageBarrier();
    workgroupBarrier();
    if is_shared {
        let frame = page_frames[local].x;
        let info = frame_info[frame];
        frame_info[frame] = vec4<u32>(u32(page), u32(page >> 32u), info.z, info.w & INFO_CODE_PAGE);
        let flags = (entry & ((1u << ENTRY_FRAME) - 1u)) | ENTRY_OWNED | ENTRY_PRIVATE;
        let index = u32(page - get_state(COLUMN_WINDOW)) & ((1u << LEVEL_BITS) - 1u);
        set_node_entry(leaf.x, index, (frame << ENTRY_FRAME) | flags);
    } else if is_wanted {
        frame_info[entry >> ENTRY_FRAME].w &= ~INFO_CODE_MARKED;
    }
    for (var at = local; at < count * FRAME_WORDS; at += 2u * PAGES_INVOCATIONS) {
        // Both words are of the same page.
        let frames = page_frames[at / FRAME_WORDS];
        if frames.x != 0u {
            let word = at % FRAME_WORDS;
            let one = frame_words(frames.y, word);
            let other = frame_words(frames.y, word + PAGES_INVOCATIONS);
            frame_store_words(handle_of(frames.x), word, one);
            frame_store_words(handle_of(frames.x), word + PAGES_INVOCATIONS, other);
        }
    }
    storageBarrier();
    workgroupBarrier();
}
