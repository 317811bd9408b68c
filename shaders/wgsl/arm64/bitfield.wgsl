//! Extraction.

/// The window of two `datasize`-bit values side by side that begins at bit `lsb` of the low one, which is below
/// `datasize`. Only the low `datasize` bits are meant.
///
/// Twin: `kvrm_arm64::semantics::bitfield::window`.
fn window(high: u64, low: u64, lsb: u32, datasize: u32) -> u64 {
    let above = select(0lu, high << ((datasize - lsb) & 63u), lsb != 0u);
    return (low >> lsb) | above;
}
