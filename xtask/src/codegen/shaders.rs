//! Numbers that Rust and WGSL share, as modules of `shaders/wgsl/`.

use anyhow::Result;
use kvrm_arm64::semantics::{atomic, crc, operand, system};
use kvrm_arm64::{CLASS_BITS, Class};

use super::wgsl::{Constant, module};

/// `arm64/class_ids.wgsl`.
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
    Ok(module("The numbers of the kernel classes.", &constants))
}

/// Constants of a module of `kvrm_arm64::semantics`, under their own names.
macro_rules! constants { ($module:ident: $($name:ident)*) => { [$(
    Constant::new(
        stringify!($name),
        $module::$name,
        concat!("`kvrm_arm64::semantics::", stringify!($module), "::", stringify!($name), "`"),
    ),
)*] } }

/// `arm64/constants.wgsl`.
pub(super) fn constants() -> Result<String> {
    let polynomials = constants!(crc: CRC32_POLYNOMIAL CRC32C_POLYNOMIAL);
    let masks = constants!(system: FPCR_MASK FPSR_MASK);
    Ok(module("Constants of the architecture.", &[&polynomials[..], &masks].concat()))
}

/// `arm64/operations.wgsl`.
pub(super) fn operations() -> Result<String> {
    let shift_types = constants!(operand: LSL LSR ASR ROR);
    let atomics =
        constants!(atomic: MEM_ADD MEM_BIC MEM_EOR MEM_ORR MEM_SMAX MEM_SMIN MEM_UMAX MEM_UMIN MEM_SWP);
    Ok(module(
        "The numbers of operations that leaf functions choose among.",
        &[&shift_types[..], &atomics].concat(),
    ))
}
