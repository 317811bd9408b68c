//! Strategies for random images: a few segments in a few pages, so that they share pages and leave gaps.

use kvrm_machine::{ADDRESS_BITS, PAGE_BYTES, Permissions, Segment};
use kvrm_testkit::random::Random;
use proptest::prelude::*;

const PAGE: u64 = PAGE_BYTES as u64;
const END: u64 = 1 << ADDRESS_BITS;

/// The pages at which segments begin: both ends of the address space, and pages that share an entry of a TLB with 128
/// entries.
pub(crate) const BASES: [u64; 6] = [0, 0x1_0000, 0x1_1000, 0x1_0000 + 128 * PAGE, END - 2 * PAGE, END - PAGE];

fn permissions() -> impl Strategy<Value = Permissions> {
    let any_of_eight =
        any::<(bool, bool, bool)>().prop_map(|(read, write, execute)| Permissions { read, write, execute });
    prop_oneof![
        3 => Just(Permissions::RWX),
        1 => Just(Permissions::RW),
        1 => Just(Permissions::RX),
        2 => any_of_eight,
    ]
}

fn segment() -> impl Strategy<Value = Segment> {
    (prop::sample::select(&BASES[..]), 0..PAGE, 0..3 * PAGE, permissions(), 0..4u64, any::<u64>()).prop_map(
        |(base, offset, bytes, permissions, part, seed)| {
            // The offset in the page, often 0.
            let address = if seed % 3 == 0 { base } else { base + offset };
            let bytes = bytes.min(END - address);
            // The size of the data: none, part of the segment, or all of it.
            Segment { address, bytes, data: self::bytes(seed, (bytes * part / 3).min(bytes)), permissions }
        },
    )
}

/// Random bytes, one in four of them zero.
pub(crate) fn bytes(seed: u64, count: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut byte = || if random.below(4) == 0 { 0 } else { random.bits() as u8 };
    (0..count).map(|_| byte()).collect()
}

pub(crate) fn segments() -> impl Strategy<Value = Vec<Segment>> {
    prop::collection::vec(segment(), 1..8)
}

/// Addresses in and around the segments, near both ends of the address space, or anywhere.
pub(crate) fn address() -> impl Strategy<Value = u64> {
    let base = prop::sample::select(&BASES[..]);
    let near = -80i64..80;
    prop_oneof![
        6 => (base.clone(), 0..4 * PAGE).prop_map(|(base, offset)| base + offset),
        // Across the boundary of two pages.
        6 => (base, 0..4u64, near.clone())
            .prop_map(|(base, page, near)| (base + page * PAGE).wrapping_add_signed(near)),
        1 => near.clone().prop_map(|near| END.wrapping_add_signed(near)),
        1 => near.prop_map(i64::cast_unsigned),
        1 => any::<u64>(),
    ]
}
