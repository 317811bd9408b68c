//! The substitute for `regions.wgsl` in interpreters without translated regions.

import package::machine::left_region::{LeftRegion};

/// Whether this module has regions.
const HAS_REGIONS = false;
/// The number of steps that the lane has taken in regions.
const translated_steps = 0u;

/// Returns the micro-op.
fn original(op: vec4<u32>) -> vec4<u32> {
    return op;
}

/// Leaves at once.
fn enter_region(at: u32, marker: vec4<u32>, pc: u64, nzcv: u32, budget: u32) -> LeftRegion {
    return LeftRegion(pc, nzcv, budget);
}
