//! What translated regions need besides the instructions: accesses to memory, and a limit of their loops.
//!
//! Most accesses are aligned and to pages that are in their first place in the TLB. They take one branch. The others
//! take a second way, so that the first one is short.
//!
//! The sizes are constants where these functions are called, so compilers keep only the code for one size.

import package::machine::bindings::{parameters};
import package::machine::frames::{frame_half, frame_load, frame_store, frame_store_half};
import package::machine::memory::{
    TLB_ADDRESS_BITS, TLB_ENTRIES, TLB_OTHER, TLB_WORD, effort, halves, tlb,
};

/// Where an access is.
struct Place {
    /// The index of its first word, as `frame_load` takes it.
    word: u32,
    /// 0 if the access can be executed with this place.
    missing: u32,
}

/// Returns the place of an access if an entry of the TLB is that of its page. `needed` is `TLB_READ` or `TLB_WRITE`.
fn place_in(entry: u64, address: u64, needed: u32) -> Place {
    let number = u32(address >> 12u);
    let translation = halves(entry);
    let missing = (translation.y ^ number) | (needed & ~translation.x) | u32(address >> TLB_ADDRESS_BITS);
    return Place((translation.x & TLB_WORD) | ((u32(address) & 4095u) >> 3u), missing);
}

/// Returns the place of an access to aligned words, or less than a word, if the first place in the TLB has the page.
fn near_place(address: u64, bytes: u32, needed: u32) -> Place {
    var place = place_in(tlb[u32(address >> 12u) % TLB_ENTRIES], address, needed);
    place.missing |= u32(address) & (min(bytes, 8u) - 1u);
    if bytes > 8u {
        place.missing |= ((u32(address) & 4095u) + bytes - 1u) & 4096u;
    }
    return place;
}

/// Returns the place of any access within a page.
fn far_place(address: u64, bytes: u32, needed: u32) -> Place {
    let index = u32(address >> 12u) % TLB_ENTRIES;
    var place = place_in(tlb[index], address, needed);
    if place.missing != 0u {
        place = place_in(tlb[index ^ TLB_OTHER], address, needed);
    }
    place.missing |= ((u32(address) & 4095u) + bytes - 1u) & 4096u;
    return place;
}

/// Loads 1, 2, 4 or 8 bytes that are aligned. `word` is that of the address.
fn load_aligned(word: u32, address: u64, bytes: u32) -> u64 {
    if bytes == 8u {
        return frame_load(word);
    }
    let offset = u32(address) & 7u;
    let half = frame_half(word, offset >> 2u);
    if bytes == 4u {
        return u64(half);
    }
    return u64((half >> (8u * (offset & 3u))) & (0xffffffffu >> (32u - 8u * bytes)));
}

/// Loads 1, 2, 4 or 8 bytes. `word` is that of the address.
fn load_unaligned(word: u32, address: u64, bytes: u32) -> u64 {
    let shift = 8u * (u32(address) & 7u);
    var loaded = frame_load(word) >> shift;
    if shift + 8u * bytes > 64u {
        loaded |= frame_load(word + 1u) << (64u - shift);
    }
    return loaded & (0xfffffffffffffffflu >> (64u - 8u * bytes));
}

/// Stores the low 1, 2, 4 or 8 bytes of a value at an address that is aligned. `word` is that of the address.
fn store_aligned(word: u32, address: u64, bytes: u32, value: u64) {
    if bytes == 8u {
        frame_store(word, value);
        return;
    }
    let offset = u32(address) & 7u;
    if bytes == 4u {
        frame_store_half(word, offset >> 2u, u32(value));
        return;
    }
    let shift = 8u * (offset & 3u);
    let changed = (0xffffffffu >> (32u - 8u * bytes)) << shift;
    let kept = frame_half(word, offset >> 2u) & ~changed;
    frame_store_half(word, offset >> 2u, kept | ((u32(value) << shift) & changed));
}

/// Stores the low 1, 2, 4 or 8 bytes of a value at an address. `word` is that of the address.
fn store_unaligned(word: u32, address: u64, bytes: u32, value: u64) {
    let shift = 8u * (u32(address) & 7u);
    let changed = 0xfffffffffffffffflu >> (64u - 8u * bytes);
    let stored = value & changed;
    frame_store(word, (frame_load(word) & ~(changed << shift)) | (stored << shift));
    if shift + 8u * bytes > 64u {
        let after = 64u - shift;
        frame_store(word + 1u, (frame_load(word + 1u) & ~(changed >> after)) | (stored >> after));
    }
}

/// Whether the instructions of the region have taken so many loop iterations that the lane has to leave. Only drivers
/// that cut off long loops have a limit that lanes reach.
fn is_exhausted() -> bool {
    return effort > parameters.fuel / (64u * parameters.sharers);
}
