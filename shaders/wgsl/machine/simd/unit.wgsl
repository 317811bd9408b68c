//! The unit of SIMD registers, where programs use none: instructions on them stop, and the host takes a kernel that has
//! them.

/// Which of the units this is: instructions of greater ones stop.
const SIMD_LEVEL = 0u;

/// An instruction that accesses no memory.
fn simd_compute(op: vec4<u32>) {}
