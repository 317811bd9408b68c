//! Conversions between register values of 32 and 64 bits. A 32-bit value is kept in 64 bits, zero-extended.

/// Returns the low `datasize` bits of a value, zero-extended.
///
/// Twin: `kvrm_arm64::semantics::truncate`.
fn truncate(value: u64, datasize: u32) -> u64 {
    return select(value, value & 0xfffffffflu, datasize == 32u);
}

/// `SignExtend()`: returns the low `bits` bits of a value, sign-extended to 64.
///
/// Twin: `kvrm_arm64::semantics::sign_extend`.
fn sign_extend(value: u64, bits: u32) -> u64 {
    return u64(i64(value << (64u - bits)) >> (64u - bits));
}
