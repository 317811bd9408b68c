//! The softmax of 32 logits.

import package::networks::elementary::{exponential};
import package::networks::layers::bindings::{values};
import package::networks::layers::sums::{component_sum};

/// The number of vectors of 32 logits.
const LOGIT_VECTORS = 8u;

/// The greatest of some logits, and the inverse of the sum of the exponentials of the differences to it.
struct SoftmaxScale {
    /// The greatest logit.
    greatest: f32,
    /// The inverse of the sum.
    scale: f32,
}

/// Returns the scale of the softmax of the 32 logits that begin at a vector.
fn softmax_scale(first: u32) -> SoftmaxScale {
    var greatest = values[first];
    for (var index = 1u; index < LOGIT_VECTORS; index += 1u) {
        greatest = max(greatest, values[first + index]);
    }
    let most = max(max(greatest.x, greatest.y), max(greatest.z, greatest.w));
    var sum = vec4<f32>(0.0);
    for (var index = 0u; index < LOGIT_VECTORS; index += 1u) {
        sum += exponential(values[first + index] - most);
    }
    return SoftmaxScale(most, 1.0 / component_sum(sum));
}

/// Returns the probabilities of four logits.
fn softmax_of(logits: vec4<f32>, parts: SoftmaxScale) -> vec4<f32> {
    return exponential(logits - parts.greatest) * parts.scale;
}
