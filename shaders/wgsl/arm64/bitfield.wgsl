//! The extraction of a register from a pair of registers (`EXTR`).

/// Returns `datasize` bits of the concatenation `high:low` of two `datasize`-bit values, from bit `lsb` on, which is
/// below `datasize`. The bits of the result above `datasize` are undefined.
///
/// Twin: `kvrm_arm64::semantics::bitfield::window`.
fn window(high: u64, low: u64, lsb: u32, datasize: u32) -> u64 {
    let above = select(0lu, high << ((datasize - lsb) & 63u), lsb != 0u);
    return (low >> lsb) | above;
}
