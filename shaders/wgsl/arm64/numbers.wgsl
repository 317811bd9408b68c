//! The two sizes of register values: 64 bits hold both, a 32-bit one zero-extended.

/// The low `datasize` bits of a value, zero-extended.
///
/// Twin: `kvrm_arm64::semantics::truncate`.
fn truncate(value: u64, datasize: u32) -> u64 {
    return select(value, value & 0xfffffffflu, datasize == 32u);
}

/// `SignExtend()`: the low `bits` bits of a value, sign-extended to 64.
///
/// Twin: `kvrm_arm64::semantics::sign_extend`.
fn sign_extend(value: u64, bits: u32) -> u64 {
    return u64(i64(value << (64u - bits)) >> (64u - bits));
}
