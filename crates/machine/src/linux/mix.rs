//! The generator `SplitMix64`: its increment, and its finalizer.

/// The number that is added to the state for each random number: 2^64 divided by the golden ratio.
pub(super) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the random number of a state.
pub(super) const fn mixed(state: u64) -> u64 {
    let mut hash = state;
    hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}
