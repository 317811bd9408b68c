//! Accesses of translated regions to memory.

import package::machine::memory::{TLB_ADDRESS_BITS, TLB_ENTRIES, TLB_WORD, halves, tlb};

/// The value of `word_of` if the lane has to leave the region.
const NO_WORD = 0xffffffffu;

/// Returns the word of an access, or `NO_WORD`. `needed` is `TLB_READ` or `TLB_WRITE`.
fn word_of(address: u64, bytes: u32, needed: u32, must_align: bool) -> u32 {
    let offset = u32(address) & 4095u;
    let number = u32(address >> 12u);
    let translation = halves(tlb[number % TLB_ENTRIES]);
    let within = (offset & 7u) + bytes <= 8u || (bytes == 16u && (offset & 7u) == 0u && offset <= 4080u);
    let aligned = !must_align || (offset & (bytes - 1u)) == 0u;
    let at_hand = translation.y == number && (translation.x & needed) != 0u && (address >> TLB_ADDRESS_BITS) == 0lu;
    return select(NO_WORD, (translation.x & TLB_WORD) | (offset >> 3u), within && aligned && at_hand);
}
