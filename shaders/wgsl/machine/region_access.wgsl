//! What translated regions need besides the instructions: accesses to memory, and a limit of their loops.
//!
//! Sizes and alignments are constants where regions call these functions, so compilers keep only the code for one.

import package::machine::bindings::{parameters};
import package::machine::frames::{frame_half, frame_load, frame_store, frame_store_half};
import package::machine::memory::{TLB_ADDRESS_BITS, data_entry, effort};

/// Where accesses in a page are.
struct Place {
    /// The handle of the frame.
    frame: u32,
    /// The offset in the page.
    offset: u32,
    /// 0 if the lane can access the place. Otherwise it has to leave the region.
    missing: u32,
}

/// Returns the place of accesses to `bytes` bytes from an address on. `needed` is `TLB_READ`, `TLB_WRITE` or both. The bits
/// `aligned` of the address have to be those of `remainder`.
fn find_place(address: u64, bytes: u32, needed: u32, aligned: u32, remainder: u32) -> Place {
    let number = u32(address >> 12u);
    let offset = u32(address) & 4095u;
    let entry = data_entry(number);
    var missing = (entry.y ^ number) | (needed & ~entry.x) | u32(address >> TLB_ADDRESS_BITS);
    missing |= (offset ^ remainder) & aligned;
    // An aligned access to at most as many bytes is within a page.
    if bytes > aligned + 1u {
        missing |= (offset + bytes - 1u) & 4096u;
    }
    return Place(entry.x, offset, missing);
}

/// Loads 1, 2, 4 or 8 bytes that are aligned.
fn load_aligned(frame: u32, offset: u32, bytes: u32) -> u64 {
    let word = offset >> 3u;
    if bytes == 8u {
        return frame_load(frame, word);
    }
    let half = frame_half(frame, word, (offset >> 2u) & 1u);
    if bytes == 4u {
        return u64(half);
    }
    return u64((half >> (8u * (offset & 3u))) & (0xffffffffu >> (32u - 8u * bytes)));
}

/// Loads two halves of words, which are aligned, as one value.
fn load_pair(frame: u32, offset: u32) -> u64 {
    return load_aligned(frame, offset, 4u) | (load_aligned(frame, offset + 4u, 4u) << 32u);
}

/// Loads 1, 2, 4 or 8 bytes.
fn load_any(frame: u32, offset: u32, bytes: u32) -> u64 {
    if (offset & (bytes - 1u)) == 0u {
        return load_aligned(frame, offset, bytes);
    }
    let word = offset >> 3u;
    let shift = 8u * (offset & 7u);
    var loaded = frame_load(frame, word) >> shift;
    if shift + 8u * bytes > 64u {
        loaded |= frame_load(frame, word + 1u) << (64u - shift);
    }
    return loaded & (0xfffffffffffffffflu >> (64u - 8u * bytes));
}

/// Stores the low 1, 2, 4 or 8 bytes of a value. They are aligned.
fn store_aligned(frame: u32, offset: u32, bytes: u32, value: u64) {
    let word = offset >> 3u;
    if bytes == 8u {
        frame_store(frame, word, value);
        return;
    }
    let half = (offset >> 2u) & 1u;
    if bytes == 4u {
        frame_store_half(frame, word, half, u32(value));
        return;
    }
    let shift = 8u * (offset & 3u);
    let changed = (0xffffffffu >> (32u - 8u * bytes)) << shift;
    let kept = frame_half(frame, word, half) & ~changed;
    frame_store_half(frame, word, half, kept | ((u32(value) << shift) & changed));
}

/// Stores a value to two halves of words, which are aligned.
fn store_pair(frame: u32, offset: u32, value: u64) {
    store_aligned(frame, offset, 4u, value);
    store_aligned(frame, offset + 4u, 4u, value >> 32u);
}

/// Stores the low 1, 2, 4 or 8 bytes of a value.
fn store_any(frame: u32, offset: u32, bytes: u32, value: u64) {
    if (offset & (bytes - 1u)) == 0u {
        store_aligned(frame, offset, bytes, value);
        return;
    }
    let word = offset >> 3u;
    let shift = 8u * (offset & 7u);
    let changed = 0xfffffffffffffffflu >> (64u - 8u * bytes);
    let stored = value & changed;
    frame_store(frame, word, (frame_load(frame, word) & ~(changed << shift)) | (stored << shift));
    if shift + 8u * bytes > 64u {
        let after = 64u - shift;
        frame_store(frame, word + 1u, (frame_load(frame, word + 1u) & ~(changed >> after)) | (stored >> after));
    }
}

/// Whether the instructions of the region have taken so many loop iterations that the lane has to leave. Only drivers
/// that cut off long loops have a limit that lanes reach.
fn is_exhausted() -> bool {
    return effort > parameters.fuel / (64u * parameters.sharers);
}
