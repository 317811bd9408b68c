//! Fields of FPCR.

/// `FPRoundingMode()`: returns the rounding mode in FPCR.
///
/// Twin: `kvrm_arm64::semantics::float::control::fp_rounding_mode`.
fn fp_rounding_mode(fpcr: u32) -> u32 {
    return (fpcr >> 22u) & 3u;
}
