//! Markers, and ways from a page to another page of the same region.

import package::machine::bindings::{frame_info, micro_ops};
import package::machine::layout::{
    HANDLER_MARKER, INFO_CODE_MARKED, INFO_CODE_VALID, MARKER_ENTRY, PAGE_OPS,
};
import package::machine::memory::{code_entry};

/// Whether the code around a marker, which is at the index `at`, is that of its region.
fn is_valid(at: u32, marker: vec4<u32>) -> bool {
    return frame_info[marker.y].w == (INFO_CODE_VALID | INFO_CODE_MARKED | (at / PAGE_OPS + 1u));
}

/// The value of `place_at_hand` if the page is not in the TLB.
const NOT_AT_HAND = 0xffffffffu;

/// Returns the index of the micro-op at an address, or `NOT_AT_HAND` if its page is not in the lane's TLB for code.
/// If the address has more than `TLB_ADDRESS_BITS` bits, the index is that of another address.
fn place_at_hand(pc: u64) -> u32 {
    let number = u32(pc >> 12u);
    let translation = code_entry(number);
    let place = (translation.x - 1u) * PAGE_OPS + (u32(pc) >> 2u) % PAGE_OPS;
    return select(NOT_AT_HAND, place, translation.x != 0u && translation.y == number);
}

/// Whether the lane has the code of a region at an address in another page, where the region has an entry. The address
/// has at most `TLB_ADDRESS_BITS` bits.
fn is_at_hand(pc: u64, entry: u32) -> bool {
    let at = place_at_hand(pc);
    if at == NOT_AT_HAND {
        return false;
    }
    let marker = micro_ops[at];
    return marker.x == (HANDLER_MARKER | (entry << MARKER_ENTRY)) && is_valid(at, marker);
}
