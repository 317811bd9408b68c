//! The memory of the invocation's lane: page tables, copy on write, and TLBs.
//!
//! A page table is a tree of frames. All lanes start from the tree of their image; a lane that writes to a page first
//! copies the path to it. An entry's frame is the lane's own if the entry and all entries above it are marked as owned.
//! So a snapshot only has to clear the mark at the root, and a reset only has to restore the root.

import package::machine::bindings::{counters, frame_info, kept_pages, micro_ops, parameters, state};
import package::machine::fixed_places::{
    MOVES_FRAMES, NO_PLACE, begin_frame, found_handle, found_number, handle_of, is_away, take_place,
};
import package::machine::frames::{frame_load, frame_store};
import package::machine::layout::{
    ACCESS_EXECUTE, ACCESS_READ, ACCESS_WRITE, COLUMN_HEAD, COLUMN_ROOT, COLUMN_STOP_ADDRESS,
    COLUMN_TAIL, COLUMN_WINDOW, COUNTER_FRAMES, ENTRY_EXECUTE, ENTRY_FRAME, ENTRY_MAPPED, ENTRY_OWNED,
    ENTRY_PRIVATE, ENTRY_READ, ENTRY_WRITE, FAULT_PERMISSION, FAULT_TRANSLATION, FRAME_WORDS,
    INFO_CODE_MARKED, INFO_CODE_PAGE, INFO_CODE_VALID, INFO_NODE, LEVEL_BITS, NEED_PAGE, NEED_STORES, PAGE_OPS, STOP_FAULT,
    STOP_NEED_AWAY, STOP_NEED_CODE, STOP_NEED_FRAME, STOP_NONE, STOP_OUT_OF_FRAMES, TLB_READ, TLB_WRITE,
};
import package::machine::nodes::{node_entry, set_node_entry};

// The purposes of a translation.

/// Purpose: a load.
const WANT_READ = 1u;
/// Purpose: a store.
const WANT_WRITE = 2u;
/// Purpose: a check whether a store would be permitted.
const WANT_CHECK_WRITE = 3u;
/// Purpose: a fetch.
const WANT_EXECUTE = 4u;
/// Purpose: a read by the host, which ignores permissions.
const WANT_HOST_READ = 5u;
/// Purpose: a write by the host, which ignores permissions.
const WANT_HOST_WRITE = 6u;

/// The fuel on a device whose driver does not limit loop iterations.
const NO_LIMIT = 0xffffffffu;
/// The value of `near_ops` for no page. It is beyond all indices that `next_at` may have.
const NO_OPS = 0x20000000u;
/// The mask of the offset of an address in its page.
const PAGE_MASK = 0xffflu;

/// 1 if lanes keep their TLBs from slice to slice, in `kept_pages`. 0 if the invocation has TLBs of its own, because several
/// invocations work for a lane.
override KEEPS_PAGES: u32 = 0u;
/// The number of sets of the TLB for data of an invocation, a power of two.
const TLB_SETS = 32u;
/// The number of sets of the TLB for code of an invocation, a power of two.
const CODE_TLB_SETS = 16u;
/// The number of bits of the addresses that the TLBs hold: the page's number fits a word.
const TLB_ADDRESS_BITS = 44u;

/// The lane of the invocation. State that is rarely needed stays in `state`, because the GPU's registers are scarce.
var<private> lane: u32;

/// The invocation's TLB for data, indexed by the low bits of the page's number. A set has two entries: the page that was
/// translated last, and the one before it, so pages of the stack and of the heap that are used together do not displace
/// each other. An entry is the frame with the permissions, and the page's number.
var<private> tlb: array<vec4<u32>, TLB_SETS>;
/// The invocation's TLB for code, with sets like those of `tlb`. An entry is the number of the code page plus one, and the
/// page's number.
var<private> code_tlb: array<vec4<u32>, CODE_TLB_SETS>;
/// The address of the page that is executed.
var<private> code_page: u64;
/// The index in `micro_ops` of the first micro-op of the page that is executed. It is set only where `leave_page` or
/// `translate` needs it.
var<private> code_ops: u32;
/// The same index if the next step may fetch from this page without a translation, else `NO_OPS`. It is always up to date.
var<private> near_ops: u32;

/// Result of `translate`: the handle of the frame. With the stop `STOP_NEED_AWAY`, the number of the frame.
var<private> found_frame: u32;
/// Result of `translate`: the number of the frame's code page plus one if the code page is up to date, else 0.
var<private> found_code: u32;
/// Result of `translate`: 1 if the lane has not written the page yet, else 0.
var<private> found_fresh: u32;
/// The work besides steps, in loop iterations, since the last read of this variable.
var<private> effort: u32;

/// Returns a word of the lane's state.
fn get_state(column: u32) -> u64 {
    return state[column * parameters.lanes + lane];
}

/// Sets a word of the lane's state.
fn set_state(column: u32, value: u64) {
    state[column * parameters.lanes + lane] = value;
}

/// Returns the low and the high half of a word.
fn halves(word: u64) -> vec2<u32> {
    return vec2<u32>(u32(word), u32(word >> 32u));
}

/// Returns the word with two halves.
fn joined(low: u32, high: u32) -> u64 {
    return u64(low) | (u64(high) << 32u);
}

/// Returns the index in `kept_pages` of the set of a page in the TLB for data.
fn kept_set(number: u32) -> u32 {
    return (number & (parameters.tlb_sets - 1u)) * parameters.lanes + lane;
}

/// Returns the index in `kept_pages` of the set of a page in the TLB for code.
fn kept_code_set(number: u32) -> u32 {
    return (parameters.tlb_sets + (number & (parameters.code_tlb_sets - 1u))) * parameters.lanes + lane;
}

/// Returns the set of a page in the TLB for data.
fn data_set(number: u32) -> vec4<u32> {
    if KEEPS_PAGES != 0u {
        return kept_pages[kept_set(number)];
    }
    return tlb[number % TLB_SETS];
}

/// Replaces the set of a page in the TLB for data.
fn replace_data_set(number: u32, entries: vec4<u32>) {
    if KEEPS_PAGES != 0u {
        kept_pages[kept_set(number)] = entries;
    } else {
        tlb[number % TLB_SETS] = entries;
    }
}

/// Returns the set of a page in the TLB for code.
fn code_set(number: u32) -> vec4<u32> {
    if KEEPS_PAGES != 0u {
        return kept_pages[kept_code_set(number)];
    }
    return code_tlb[number % CODE_TLB_SETS];
}

/// Replaces the set of a page in the TLB for code.
fn replace_code_set(number: u32, entries: vec4<u32>) {
    if KEEPS_PAGES != 0u {
        kept_pages[kept_code_set(number)] = entries;
    } else {
        code_tlb[number % CODE_TLB_SETS] = entries;
    }
}

/// Returns the entry of a set that may be that of a page.
fn entry_of(entries: vec4<u32>, number: u32) -> vec2<u32> {
    return select(entries.zw, entries.xy, entries.y == number);
}

/// Returns a set after the page `number` was translated. The page has at most one entry.
fn with_entry(entries: vec4<u32>, first: u32, number: u32) -> vec4<u32> {
    return vec4<u32>(first, number, select(entries.xy, entries.zw, entries.y == number));
}

/// Returns the entry of the TLB for data that may be that of a page: the frame with the permissions, and the number of
/// the page that it is of.
fn data_entry(number: u32) -> vec2<u32> {
    return entry_of(data_set(number), number);
}

/// Returns the entry of the TLB for code that may be that of a page: the number of the code page plus one, and the number
/// of the page that it is of.
fn code_entry(number: u32) -> vec2<u32> {
    return entry_of(code_set(number), number);
}

/// Whether the instruction at the address `next` is in the page that is executed, and can be fetched without a translation.
fn is_near(next: u64) -> bool {
    return near_ops != NO_OPS && (next & ~0xffclu) == code_page;
}

/// Clears the TLBs.
fn forget_pages() {
    if KEEPS_PAGES != 0u {
        for (var row = 0u; row < parameters.tlb_sets + parameters.code_tlb_sets; row += 1u) {
            kept_pages[row * parameters.lanes + lane] = vec4<u32>();
        }
    } else {
        for (var i = 0u; i < TLB_SETS; i += 1u) {
            tlb[i] = vec4<u32>();
        }
        for (var i = 0u; i < CODE_TLB_SETS; i += 1u) {
            code_tlb[i] = vec4<u32>();
        }
    }
    near_ops = NO_OPS;
}

/// Takes a frame for a page, or for a node on the path to it, and appends it to the lane's chain. Returns the number of
/// the frame, or 0 if the machine has no frame left.
fn take_frame(page: u64, node: bool) -> u32 {
    let tail = halves(get_state(COLUMN_TAIL));
    let head = halves(get_state(COLUMN_HEAD));
    // After a reset, the chain continues behind the last frame in use: these frames are reused first.
    var next = head.y;
    if tail.x != 0u {
        next = frame_info[tail.x].z;
    }
    var behind = 0u;
    var code = 0u;
    if next != 0u {
        behind = frame_info[next].z;
        // The frame keeps its code page, but the micro-ops in it are no longer valid.
        code = frame_info[next].w & INFO_CODE_PAGE;
    } else {
        next = atomicAdd(&counters[COUNTER_FRAMES], 1u);
        if next >= parameters.frames {
            return 0u;
        }
        begin_frame(next);
        if tail.x == 0u {
            set_state(COLUMN_HEAD, joined(head.x, next));
        } else {
            frame_info[tail.x].z = next;
        }
    }
    // Without a place, the frame stays behind the last one in use, where the lane finds it again.
    let place = take_place(next, lane);
    if place == NO_PLACE {
        return 0u;
    }
    let kind = select(0u, INFO_NODE, node);
    frame_info[next] = vec4<u32>(u32(page), u32(page >> 32u) | kind | place, behind, code);
    set_state(COLUMN_TAIL, joined(next, tail.y));
    return next;
}

/// Copies the frame of an entry into the frame with number `taken`.
fn copy_frame(taken: u32, entry: u32, is_node: bool) {
    // The frames below a copied node are shared with the original.
    let shared_entries = u64(ENTRY_OWNED) | (u64(ENTRY_OWNED) << 32u);
    let keep = select(0xfffffffffffffffflu, ~shared_entries, is_node);
    let to = handle_of(taken);
    let source = handle_of(entry >> ENTRY_FRAME);
    for (var i = 0u; i < FRAME_WORDS; i += 4u) {
        frame_store(to, i, frame_load(source, i) & keep);
        frame_store(to, i + 1u, frame_load(source, i + 1u) & keep);
        frame_store(to, i + 2u, frame_load(source, i + 2u) & keep);
        frame_store(to, i + 3u, frame_load(source, i + 3u) & keep);
    }
    effort += FRAME_WORDS / 4u;
}

/// Makes the nodes on the path to a page the lane's own, by copying those that are shared. `last` is the last level: 1
/// is the node with the page's entry, 0 the page itself. Returns a stop and the last entry.
fn own_path(page: u64, last: u32) -> vec2<u32> {
    let relative = page - get_state(COLUMN_WINDOW);
    let root = halves(get_state(COLUMN_ROOT));
    let levels = root.y;
    var entry = root.x;
    var parent = 0u;
    var parent_index = 0u;
    var level = levels;
    loop {
        if (entry & ENTRY_OWNED) == 0u {
            let taken = take_frame(page, level != 0u);
            if taken == 0u {
                return vec2<u32>(STOP_NEED_FRAME, 0u);
            }
            copy_frame(taken, entry, level != 0u);
            let flags = (entry & ((1u << ENTRY_FRAME) - 1u)) | ENTRY_OWNED | select(0u, ENTRY_PRIVATE, level == 0u);
            entry = (taken << ENTRY_FRAME) | flags;
            if level == levels {
                set_state(COLUMN_ROOT, joined(entry, levels));
            } else {
                set_node_entry(parent, parent_index, entry);
            }
        }
        if level == last {
            break;
        }
        level -= 1u;
        parent = entry >> ENTRY_FRAME;
        parent_index = u32(relative >> (LEVEL_BITS * level)) & ((1u << LEVEL_BITS) - 1u);
        entry = node_entry(parent, parent_index);
    }
    return vec2<u32>(STOP_NONE, entry);
}

/// Makes a page, whose entry is `leaf`, the lane's own. Returns a stop.
fn own(page: u64, leaf: u32) -> u32 {
    let owned = own_path(page, 0u);
    if owned.x != STOP_NONE {
        return owned.x;
    }
    if (leaf & ENTRY_PRIVATE) == 0u {
        set_state(COLUMN_TAIL, get_state(COLUMN_TAIL) + 0x100000000lu);
    }
    found_frame = found_handle(owned.y >> ENTRY_FRAME);
    return STOP_NONE;
}

/// Whether the lane may write `fresh` more pages that it has not written yet.
fn may_write(fresh: u32) -> bool {
    return fresh == 0u || halves(get_state(COLUMN_TAIL)).y + fresh <= halves(get_state(COLUMN_HEAD)).x;
}

/// Sets the stop address, and returns the stop for a fault.
fn fault(kind: u32, access: u32, address: u64) -> u32 {
    set_state(COLUMN_STOP_ADDRESS, address);
    return STOP_FAULT + kind + access;
}

/// Translates an address for the purpose `want`. Sets `found_*`, and enters the page into the TLB for data or code.
///
/// Returns a stop. If it is not `STOP_NONE`, nothing that the guest can see has changed.
fn translate(want: u32, address: u64) -> u32 {
    let access = select(select(ACCESS_WRITE, ACCESS_EXECUTE, want == WANT_EXECUTE), ACCESS_READ, want == WANT_READ);
    let page = address >> 12u;
    let relative = page - get_state(COLUMN_WINDOW);
    let root = halves(get_state(COLUMN_ROOT));
    let levels = root.y;
    // An upper bound of the loop below (5 iterations), of `own_path` without its copies (12), and of one iteration of
    // the loop in `access` with one iteration of each loop inside it (18).
    effort += 40u;
    if (address >> 48u) != 0lu || (relative >> (LEVEL_BITS * levels)) != 0lu {
        return fault(FAULT_TRANSLATION, access, address);
    }
    var entry = root.x;
    var owned = ENTRY_OWNED;
    var level = levels;
    while level > 0u && entry != 0u {
        level -= 1u;
        owned &= entry;
        entry = node_entry(entry >> ENTRY_FRAME, u32(relative >> (LEVEL_BITS * level)) & ((1u << LEVEL_BITS) - 1u));
    }
    found_fresh = select(0u, 1u, (entry & ENTRY_PRIVATE) == 0u);
    // A page that was written and then unmapped keeps its frame, so its entry is not zero.
    if (entry & ENTRY_MAPPED) == 0u {
        return fault(FAULT_TRANSLATION, access, address);
    }
    var needed = ENTRY_WRITE;
    switch want {
        case WANT_READ: { needed = ENTRY_READ; }
        case WANT_EXECUTE: { needed = ENTRY_EXECUTE; }
        case WANT_HOST_READ, WANT_HOST_WRITE: { needed = ENTRY_MAPPED; }
        default: {}
    }
    if (entry & needed) == 0u {
        return fault(FAULT_PERMISSION, access, address);
    }
    if MOVES_FRAMES && is_away(entry >> ENTRY_FRAME) {
        found_frame = entry >> ENTRY_FRAME;
        if want != WANT_HOST_READ {
            let need = found_frame | select(0u, NEED_STORES, want == WANT_WRITE);
            set_state(COLUMN_STOP_ADDRESS, u64(need) | (page << NEED_PAGE));
        }
        return STOP_NEED_AWAY;
    }
    owned &= entry;
    let number = u32(page);
    let at_hand = (address >> TLB_ADDRESS_BITS) == 0lu;
    if want == WANT_WRITE || want == WANT_HOST_WRITE {
        if !may_write(found_fresh) {
            return STOP_OUT_OF_FRAMES;
        }
        let stop = own(page, entry);
        if stop != STOP_NONE {
            return stop;
        }
        if owned == 0u {
            // The page has a new frame, so entries with the code of the old one are invalid.
            replace_code_set(number, vec4<u32>());
            near_ops = select(near_ops, NO_OPS, code_page == (address & ~PAGE_MASK));
        }
        owned = ENTRY_OWNED;
        // Regions may have the code that is about to change. With a condition here, NVIDIA's compiler makes a kernel that is 20 %
        // slower in 131,072 lanes.
        frame_info[found_number(found_frame)].w &= ~INFO_CODE_MARKED;
    } else {
        found_frame = found_handle(entry >> ENTRY_FRAME);
    }
    let code = frame_info[found_number(found_frame)].w;
    found_code = select(0u, code & INFO_CODE_PAGE, (code & INFO_CODE_VALID) != 0u);
    if want == WANT_EXECUTE {
        if found_code == 0u {
            set_state(COLUMN_STOP_ADDRESS, joined(found_number(found_frame), code & INFO_CODE_PAGE));
            return STOP_NEED_CODE;
        }
        code_page = address & ~PAGE_MASK;
        code_ops = (found_code - 1u) * PAGE_OPS;
        near_ops = code_ops;
        if at_hand {
            replace_code_set(number, with_entry(code_set(number), found_code, number));
        }
    } else if want != WANT_CHECK_WRITE && at_hand {
        let writable = owned != 0u && (entry & ENTRY_WRITE) != 0u && found_code == 0u;
        let permitted = select(0u, TLB_READ, (entry & ENTRY_READ) != 0u) | select(0u, TLB_WRITE, writable);
        replace_data_set(number, with_entry(data_set(number), found_frame | permitted, number));
    }
    return STOP_NONE;
}

/// Marks the micro-ops of changed words as stale, so that `decode` lowers the words again before they are executed.
fn mark_stale(code: u32, first_byte: u32, last_byte: u32) {
    let ops = (code - 1u) * PAGE_OPS;
    for (var word = first_byte >> 2u; word <= last_byte >> 2u; word += 1u) {
        micro_ops[ops + word] = vec4<u32>();
    }
    effort += 1u + (last_byte >> 2u) - (first_byte >> 2u);
}
