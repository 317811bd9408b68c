//! Sums of the components of vectors.

/// Returns the sum of the four components, in their order.
fn component_sum(x: vec4<f32>) -> f32 {
    return x.x + x.y + x.z + x.w;
}
