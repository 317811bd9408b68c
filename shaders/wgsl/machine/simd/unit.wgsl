//! The SIMD unit without instructions, for interpreters of programs that use no SIMD registers.
//!
//! A lane stops before an instruction that its unit lacks, and the host continues it with a kernel that has the
//! instruction.

/// The number of this unit. Lanes stop before instructions that need a greater one.
const SIMD_LEVEL = 0u;

/// Executes an instruction that does not access memory.
fn simd_compute(op: vec4<u32>) {}
