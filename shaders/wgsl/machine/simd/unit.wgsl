//! The unit of SIMD registers, where programs use none: instructions on them stop, and the host takes a kernel that has them.

/// Which of the units this is: instructions of greater ones stop.
const SIMD_LEVEL = 0u;

/// An instruction that accesses no memory.
fn simd_compute(op: vec4<u32>) {}

/// How many bytes an instruction accesses.
fn simd_bytes(op: vec4<u32>) -> u32 {
    return 1u;
}

/// Loads from an offset in the frame `first` on, which goes on in the frame `second`.
fn simd_load(op: vec4<u32>, first: u32, second: u32, offset: u32) {}

/// Stores there.
fn simd_store(op: vec4<u32>, first: u32, second: u32, offset: u32) {}
