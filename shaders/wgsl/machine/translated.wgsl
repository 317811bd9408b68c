//! No translated code. `kvrm-translate` writes the modules that take the place of this one.

import package::machine::left_region::{LeftRegion};

/// Leaves at once.
fn run_region(entry: u32, pc: u64, flags: u32, budget: u32) -> LeftRegion {
    return LeftRegion(pc, flags, budget);
}

/// Returns the micro-op that the marker of an entry has replaced.
fn replaced(entry: u32) -> vec4<u32> {
    return vec4<u32>();
}
