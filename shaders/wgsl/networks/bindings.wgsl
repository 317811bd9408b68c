//! The bindings of kernels that evaluate a dispatch network. `networks/fold.wgsl` computes the buffers.

import package::machine::layout::{NEAR_VECTORS};

/// The sums of the first layer for each top byte, a row of vectors each. The small network does not use it.
@group(2) @binding(0) var<storage, read> folded: array<vec4<f32>>;
/// The other weights, by input and then by four outputs; for the small network all weights, in their original order.
/// The buffer is uniform because invocations mostly read the same weight at the same time.
@group(2) @binding(1) var<uniform> near: array<vec4<f32>, NEAR_VECTORS>;
