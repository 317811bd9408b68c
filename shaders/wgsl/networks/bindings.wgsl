//! What kernels that evaluate a dispatch network are bound to.

/// The flat weights, all of them.
@group(2) @binding(0) var<storage, read> weights: array<f32>;
/// What the first layer makes of each top byte, by `networks/fold.wgsl`; the small network has no use for it.
@group(2) @binding(1) var<storage, read> folded: array<vec4<f32>>;
