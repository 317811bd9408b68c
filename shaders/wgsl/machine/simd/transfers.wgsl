//! Loads and stores of SIMD registers: the transfer between memory and registers.
//!
//! Each instruction makes one access, of up to 64 consecutive bytes, in one or two pages.

import package::arm64::bitmask::{ones};
import package::machine::frame_bytes::{load_bytes, store_bytes};
import package::machine::layout::{TLB_READ, TLB_WRITE};
import package::machine::memory::{effort};
import package::machine::micro_op::{
    HANDLER_VECTOR_LOAD, HANDLER_VECTOR_STORE, INDEX_POST, INDEX_PRE, get_a, get_c, get_dst, get_handler,
    get_index, get_members, get_pair, get_registers, get_size, get_transfer,
};
import package::machine::operands::{address_of, indexed};
import package::machine::region_access::{find_place, load_any, store_any};
import package::machine::registers::{x};
import package::machine::simd::registers::{Vector, elem, get_v, set_v, with_elem, without_elem};
import package::machine::vector_op::{TRANSFER_LANE, TRANSFER_MULTIPLE, TRANSFER_REPLICATE};

/// The accessed bytes, eight per word.
var<private> transferred_words: array<u64, 8>;

/// Returns the binary logarithm of the size in bytes of an element of LD1 to LD4 and ST1 to ST4.
fn member_size(op: vec4<u32>) -> u32 {
    if get_transfer(op.y) == TRANSFER_LANE {
        return get_size(op.y);
    }
    return (op.z >> 10u) & 3u;
}

/// Returns the number of bytes that an instruction accesses.
fn transferred_bytes(op: vec4<u32>) -> u32 {
    if get_handler(op.x) <= HANDLER_VECTOR_STORE {
        return 1u << (get_size(op.y) + get_pair(op.y));
    }
    if get_transfer(op.y) == TRANSFER_MULTIPLE {
        return get_registers(op.y) * (8u << ((op.z >> 30u) & 1u));
    }
    return get_registers(op.y) << member_size(op);
}

/// Loads bytes into `transferred_words`, from memory that begins at an offset in the frame `first` and continues in the
/// frame `second`.
fn load_words(first: u32, second: u32, offset: u32, bytes: u32) {
    for (var at = 0u; at < bytes; at += 8u) {
        transferred_words[at >> 3u] = load_bytes(first, second, offset + at, min(bytes - at, 8u));
    }
    effort += 8u;
}

/// Stores bytes of `transferred_words` to memory that begins at an offset in the frame `first` and continues in the
/// frame `second`.
fn store_words(first: u32, second: u32, offset: u32, bytes: u32) {
    for (var at = 0u; at < bytes; at += 8u) {
        store_bytes(first, second, offset + at, min(bytes - at, 8u), transferred_words[at >> 3u]);
    }
    effort += 8u;
}

/// Returns the offset in the accessed bytes of element `index` of register `which` of an instruction.
fn place_of(op: vec4<u32>, which: u32, index: u32, count: u32) -> u32 {
    let members = get_members(op.y);
    // LD1 and ST1 of several registers access one register after the other, because their structures have one member.
    let number = select(index * members + which, which * count + index, members == 1u);
    return number << member_size(op);
}

/// Returns the number of elements of a register that are accessed: all, or one.
fn element_count(op: vec4<u32>) -> u32 {
    return select(1u, (8u << ((op.z >> 30u) & 1u)) >> member_size(op), get_transfer(op.y) == TRANSFER_MULTIPLE);
}

/// Returns the index of the element that LD1 to LD4 and ST1 to ST4 of single elements access.
fn lane_index(word: u32, size: u32) -> u32 {
    return ((((word >> 30u) & 1u) << 3u) | (((word >> 12u) & 1u) << 2u) | ((word >> 10u) & 3u)) >> size;
}

/// Writes the loaded bytes to registers.
fn finish_load(op: vec4<u32>) {
    if get_handler(op.x) == HANDLER_VECTOR_LOAD {
        let size = get_size(op.y);
        let words = Vector(transferred_words[0], transferred_words[1]);
        switch size {
            case 4u: {
                set_v(get_dst(op.x), words);
                if get_pair(op.y) == 1u {
                    set_v(get_c(op.x), Vector(transferred_words[2], transferred_words[3]));
                }
            }
            default: {
                set_v(get_dst(op.x), Vector(elem(words, 0u, 8u << size), 0lu));
                if get_pair(op.y) == 1u {
                    set_v(get_c(op.x), Vector(elem(words, 1u, 8u << size), 0lu));
                }
            }
        }
        return;
    }
    let word = op.z;
    let esize = 8u << member_size(op);
    let transfer = get_transfer(op.y);
    let count = element_count(op);
    let all = (64u << ((word >> 30u) & 1u)) / esize;
    for (var which = 0u; which < get_registers(op.y); which += 1u) {
        let vt = (word + which) & 31u;
        var result = Vector(0lu, 0lu);
        var lane = 0u;
        if transfer == TRANSFER_LANE {
            lane = lane_index(word, member_size(op));
            result = without_elem(get_v(vt), lane, esize);
        }
        for (var index = 0u; index < count; index += 1u) {
            let place = place_of(op, which, index, count);
            let value = (transferred_words[place >> 3u] >> (8u * (place & 7u))) & ones(esize);
            if transfer == TRANSFER_REPLICATE {
                for (var e = 0u; e < all; e += 1u) {
                    result = with_elem(result, e, esize, value);
                }
            } else {
                result = with_elem(result, lane + index, esize, value);
            }
        }
        set_v(vt, result);
        effort += 3u + 2u * count + all;
    }
}

/// Reads the bytes to store from registers.
fn begin_store(op: vec4<u32>) {
    if get_handler(op.x) == HANDLER_VECTOR_STORE {
        let size = get_size(op.y);
        let first = get_v(get_c(op.x));
        let second = get_v(get_dst(op.x));
        if size == 4u {
            transferred_words[0] = first.low;
            transferred_words[1] = first.high;
            transferred_words[2] = second.low;
            transferred_words[3] = second.high;
        } else {
            let none = Vector(0lu, 0lu);
            let both = with_elem(with_elem(none, 0u, 8u << size, first.low), 1u, 8u << size, second.low);
            transferred_words[0] = both.low;
            transferred_words[1] = both.high;
        }
        return;
    }
    let word = op.z;
    let esize = 8u << member_size(op);
    let count = element_count(op);
    var lane = 0u;
    if get_transfer(op.y) == TRANSFER_LANE {
        lane = lane_index(word, member_size(op));
    }
    for (var at = 0u; at < 8u; at += 1u) {
        transferred_words[at] = 0lu;
    }
    effort += 8u;
    for (var which = 0u; which < get_registers(op.y); which += 1u) {
        let source = get_v((word + which) & 31u);
        for (var index = 0u; index < count; index += 1u) {
            let place = place_of(op, which, index, count);
            transferred_words[place >> 3u] |= elem(source, lane + index, esize) << (8u * (place & 7u));
        }
        effort += 2u + count;
    }
}

/// Loads registers from memory that begins at an offset in the frame `first` and continues in the frame `second`.
fn load_registers(op: vec4<u32>, first: u32, second: u32, offset: u32) {
    load_words(first, second, offset, transferred_bytes(op));
    finish_load(op);
}

/// Stores registers to memory that begins at an offset in the frame `first` and continues in the frame `second`.
fn store_registers(op: vec4<u32>, first: u32, second: u32, offset: u32) {
    begin_store(op);
    store_words(first, second, offset, transferred_bytes(op));
}

/// Executes a load or store of one register or a pair, at the address `pc`, if the TLB has the page. Returns whether it
/// did.
fn transfer_at_hand(op: vec4<u32>, pc: u64) -> bool {
    let size = get_size(op.y);
    let pair = get_pair(op.y);
    let stores = get_handler(op.x) == HANDLER_VECTOR_STORE;
    let needed = select(TLB_READ, TLB_WRITE, stores);
    let place = find_place(address_of(op, pc), 1u << (size + pair), needed, 0u, 0u);
    if place.missing != 0u {
        return false;
    }
    let here = min(1u << size, 8u);
    for (var which = 0u; which <= pair; which += 1u) {
        // In the micro-op of a store, the field of the destination is the second register of a pair.
        let number = select(get_dst(op.x), get_c(op.x), stores == (which == 0u));
        let offset = place.offset + (which << size);
        if stores {
            let stored = get_v(number);
            store_any(place.frame, offset, here, stored.low);
            if size == 4u {
                store_any(place.frame, offset + 8u, 8u, stored.high);
            }
        } else {
            var loaded = Vector(load_any(place.frame, offset, here), 0lu);
            if size == 4u {
                loaded.high = load_any(place.frame, offset + 8u, 8u);
            }
            set_v(number, loaded);
        }
    }
    let index = get_index(op.y);
    if index == INDEX_POST || index == INDEX_PRE {
        x[get_a(op.x)] = indexed(op);
    }
    effort += 2u;
    return true;
}
