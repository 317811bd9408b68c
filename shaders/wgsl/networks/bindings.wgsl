//! What kernels that evaluate a dispatch network are bound to, by `networks/fold.wgsl`.

import package::machine::layout::{NEAR_VECTORS};

/// What the first layer makes of each top byte, a row of vectors each; the small network has no use for it.
@group(2) @binding(0) var<storage, read> folded: array<vec4<f32>>;
/// All other weights, by input and then by four outputs; of the small network all weights as they are. Invocations
/// mostly read the same at the same time, which is what uniform buffers are for.
@group(2) @binding(1) var<uniform> near: array<vec4<f32>, NEAR_VECTORS>;
