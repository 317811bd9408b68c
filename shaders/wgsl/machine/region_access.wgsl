//! What translated regions need besides the instructions: accesses to memory, and a limit of their loops.

import package::machine::bindings::{parameters};
import package::machine::memory::{TLB_ADDRESS_BITS, TLB_ENTRIES, TLB_WORD, effort, halves, tlb};

/// The value of `word_of` if the lane has to leave the region.
const NO_WORD = 0xffffffffu;

/// Returns the first word of an access that is within a word, or to two whole words, or `NO_WORD`. `needed` is
/// `TLB_READ` or `TLB_WRITE`.
fn word_of(address: u64, bytes: u32, needed: u32, must_align: bool) -> u32 {
    let offset = u32(address) & 7u;
    let within = offset + bytes <= 8u || (bytes == 16u && offset == 0u);
    let aligned = !must_align || (u32(address) & (bytes - 1u)) == 0u;
    return select(NO_WORD, word_in_page(address, bytes, needed), within && aligned);
}

/// Returns the first word of an access that is within a page, or `NO_WORD`.
fn word_in_page(address: u64, bytes: u32, needed: u32) -> u32 {
    let offset = u32(address) & 4095u;
    let number = u32(address >> 12u);
    let translation = halves(tlb[number % TLB_ENTRIES]);
    let at_hand = translation.y == number && (translation.x & needed) != 0u && (address >> TLB_ADDRESS_BITS) == 0lu;
    let found = at_hand && offset + bytes <= 4096u;
    return select(NO_WORD, (translation.x & TLB_WORD) | (offset >> 3u), found);
}

/// Whether the instructions of the region have taken so many loop iterations that the lane has to leave. Only drivers
/// that cut off long loops have a limit that lanes reach.
fn is_exhausted() -> bool {
    return effort > parameters.fuel / (64u * parameters.sharers);
}
