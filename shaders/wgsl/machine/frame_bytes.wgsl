//! Accesses to bytes in one or two frames, at any address.

import package::arm64::bitmask::{ones};
import package::machine::frames::{frame_load, frame_store};
import package::machine::layout::{FRAME_WORDS};

/// Returns a word of the frame `first`, which continues in the frame `second`.
fn load_word(first: u32, second: u32, index: u32) -> u64 {
    return frame_load(select(first, second, index >= FRAME_WORDS), index % FRAME_WORDS);
}

/// Changes the bits `changed` of a word of the frame `first`, which continues in the frame `second`.
fn change_word(first: u32, second: u32, index: u32, changed: u64, bits: u64) {
    let frame = select(first, second, index >= FRAME_WORDS);
    frame_store(frame, index % FRAME_WORDS, (frame_load(frame, index % FRAME_WORDS) & ~changed) | bits);
}

/// Loads 1 to 8 bytes from an offset in the frame `first`, which continues in the frame `second`.
fn load_bytes(first: u32, second: u32, offset: u32, bytes: u32) -> u64 {
    let index = offset >> 3u;
    let shift = 8u * (offset & 7u);
    var value = load_word(first, second, index) >> shift;
    if (offset & 7u) + bytes > 8u {
        value |= load_word(first, second, index + 1u) << (64u - shift);
    }
    return value & ones(8u * bytes);
}

/// Stores the low 1 to 8 bytes of a value to an offset in the frame `first`, which continues in the frame `second`.
fn store_bytes(first: u32, second: u32, offset: u32, bytes: u32, value: u64) {
    let index = offset >> 3u;
    let shift = 8u * (offset & 7u);
    let changed = ones(8u * bytes);
    let stored = value & changed;
    change_word(first, second, index, changed << shift, stored << shift);
    if (offset & 7u) + bytes > 8u {
        change_word(first, second, index + 1u, changed >> (64u - shift), stored >> (64u - shift));
    }
}
