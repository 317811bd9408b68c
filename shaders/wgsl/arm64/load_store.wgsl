//! The extension of loaded values.

/// Returns the low `1 << size` bytes of a value, extended by `extend`: 0 zero-extends, 1 sign-extends to 32 bits, 2 to
/// 64.
///
/// Twin: `kvrm_arm64::semantics::load_store::extend_loaded`.
fn extend_loaded(value: u64, size: u32, extend: u32) -> u64 {
    let above = 64u - (8u << size);
    let top = value << above;
    let result = select(top >> above, u64(i64(top) >> above), extend != 0u);
    return select(result, result & 0xfffffffflu, extend == 1u);
}
