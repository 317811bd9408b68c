//! WGSL modules of `shaders/wgsl/arm64/` with constants that Rust and WGSL share.

use anyhow::Result;
use kvrm_arm64::{CLASS_BITS, Class};

use super::wgsl::{Constant, module};

/// Returns `arm64/class_ids.wgsl`.
pub(super) fn class_ids() -> Result<String> {
    let mut constants = vec![Constant::new(
        "CLASS_BITS",
        CLASS_BITS,
        "The bits of a word that decide its class: `kvrm_arm64::CLASS_BITS`",
    )];
    constants.extend(Class::ALL.map(|class| {
        Constant::new(
            format!("CLASS_{}", class.name()),
            class as u32,
            format!("`kvrm_arm64::Class::{class:?}`"),
        )
    }));
    Ok(module("The numbers of the classes.", &constants))
}

/// Builds a list of the named constants of a module of `kvrm_arm64::semantics`.
macro_rules! constants { ($module:ident$(/$inner:ident)?: $($name:ident)*) => { {
    use kvrm_arm64::semantics::$module$(::$inner)? as constants;
    let path = concat!("`kvrm_arm64::semantics::", stringify!($module), $("::", stringify!($inner),)? "::");
    [$(Constant::new(stringify!($name), constants::$name, format!("{path}{}`", stringify!($name)))),*]
} } }

/// Returns `arm64/constants.wgsl`.
pub(super) fn constants() -> Result<String> {
    let polynomials = constants!(crc: CRC32_POLYNOMIAL CRC32C_POLYNOMIAL);
    let masks = constants!(system: FPCR_MASK FPSR_MASK PSTATE_DIT PSTATE_SSBS);
    let saturated = constants!(simd/saturate: FPSR_QC);
    let cipher = constants!(qarma:
        CELL_SHUFFLE CELL_INV_SHUFFLE TWEAK_SHUFFLE TWEAK_INV_SHUFFLE TWEAK_ROTATED SUB INV_SUB
        ROUND_1 ROUND_2 ROUND_3 ROUND_4 ALPHA);
    let keys = constants!(pauth: KEYS_SEED_BITS KEYS_DISABLED KEYS_COUNTS KEYS_COUNT_BITS KEY_GA);
    let step = constants!(pauth: KEYS_STEP);
    let all = [&polynomials[..], &masks, &saturated, &cipher, &keys, &step];
    Ok(module("Constants of the architecture.", &all.concat()))
}

/// Returns `arm64/operations.wgsl`.
pub(super) fn operations() -> Result<String> {
    let shift_types = constants!(operand: LSL LSR ASR ROR);
    let atomics = constants!(atomic: MEM_ADD MEM_BIC MEM_EOR MEM_ORR MEM_SMAX MEM_SMIN MEM_UMAX MEM_UMIN);
    let flags = constants!(flags:
        FLAGS_ROTATE FLAGS_SET_8 FLAGS_SET_16 FLAGS_INVERT_CARRY FLAGS_FROM_EXTERNAL);
    let pointers = constants!(pauth: POINTER_SIGN POINTER_AUTHENTICATE POINTER_STRIP);
    let all = [&shift_types[..], &atomics, &flags, &pointers];
    Ok(module("The numbers of the operations of leaf functions.", &all.concat()))
}

/// Returns `arm64/float/constants.wgsl`.
pub(super) fn float_constants() -> Result<String> {
    let controls = constants!(float/control: FPCR_AHP FPCR_DN FPCR_FZ FPCR_FZ16);
    let exceptions = constants!(float/control: FPSR_IOC FPSR_DZC FPSR_OFC FPSR_UFC FPSR_IXC FPSR_IDC);
    let roundings = constants!(float/control:
        ROUND_TIE_EVEN ROUND_POSITIVE ROUND_NEGATIVE ROUND_TIE_AWAY ROUND_ODD ROUND_ODD_INFINITY);
    let kinds = constants!(float/number: KIND_ZERO KIND_FINITE KIND_INFINITY KIND_QUIET KIND_SIGNALLING);
    let bits = constants!(float/number: TOP QUIET);
    let operations = constants!(float/arithmetic:
        FP_ADD FP_SUB FP_MUL FP_MULX FP_MUL_ADD FP_RECIP_STEP_FUSED FP_RSQRT_STEP_FUSED FP_DIV
        FP_MAX FP_MIN FP_MAX_NUM FP_MIN_NUM FP_SQRT FP_RECIP_ESTIMATE FP_RSQRT_ESTIMATE FP_RECPX
        FP_ROUND_INT FP_ROUND_INT_EXACT FP_CONVERT);
    let all = [&controls[..], &exceptions, &roundings, &kinds, &bits, &operations];
    Ok(module("Constants that floating point shares with its twin in Rust.", &all.concat()))
}
