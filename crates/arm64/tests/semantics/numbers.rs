//! Test numbers, and functions of their bits.

pub(crate) use kvrm_testkit::numbers::EDGES;
use kvrm_testkit::random::Random;
use proptest::prelude::*;

/// Returns a strategy for numbers, which are often an edge case, next to one, or small.
pub(crate) fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        prop::sample::select(&EDGES[..]),
        (prop::sample::select(&EDGES[..]), 0..5_u64)
            .prop_map(|(edge, near)| edge.wrapping_add(near).wrapping_sub(2)),
        (any::<u64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift),
        any::<u64>(),
    ]
}

/// Returns a random number, which is often an edge case, next to one, or small.
pub(crate) fn random_number(random: &mut Random) -> u64 {
    match random.below(4) {
        0 => *random.pick(&EDGES),
        1 => random.pick(&EDGES).wrapping_add(random.below(5)).wrapping_sub(2),
        2 => random.bits() >> random.below(64),
        _ => random.bits(),
    }
}

pub(crate) fn datasize() -> impl Strategy<Value = u32> {
    prop_oneof![Just(32), Just(64)]
}

/// Returns the low `datasize` bits of a number.
pub(crate) fn low(value: u64, datasize: u32) -> u64 {
    (u128::from(value) % (1 << datasize)) as u64
}

/// Returns the low `datasize` bits of a number as a two's complement number.
pub(crate) fn signed(value: u64, datasize: u32) -> i128 {
    let value = i128::from(value) % (1 << datasize);
    if value >= 1 << (datasize - 1) { value - (1 << datasize) } else { value }
}

/// Returns a number modulo 2^`datasize`.
pub(crate) fn wrapped(value: i128, datasize: u32) -> u64 {
    value.rem_euclid(1 << datasize) as u64
}

pub(crate) fn bit(value: u64, index: u32) -> bool {
    value >> index & 1 == 1
}

/// Returns the number of `datasize` bits that `bit` returns for each index.
pub(crate) fn from_bits(datasize: u32, bit: impl Fn(u32) -> bool) -> u64 {
    (0..datasize).filter(|&index| bit(index)).fold(0, |value, index| value | 1 << index)
}

/// Returns the unsigned field from bit `low` to bit `high` of a word.
pub(crate) fn field(word: u32, high: u32, low: u32) -> u32 {
    (0..=high - low).filter(|i| word >> (low + i) & 1 == 1).map(|i| 1 << i).sum()
}

/// Returns the field from bit `low` to bit `high` of a word as a two's complement number.
pub(crate) fn signed_field(word: u32, high: u32, low: u32) -> i64 {
    let (value, width) = (i64::from(field(word, high, low)), high - low + 1);
    if value >= 1 << (width - 1) { value - (1 << width) } else { value }
}
