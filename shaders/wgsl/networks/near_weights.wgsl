//! The weights of the dispatch network in workgroup memory, for invocations that read different weights at the same
//! time.

import package::machine::layout::{NEAR_VECTORS};
import package::networks::bindings::{near};

/// The weights that are not folded, in the order of the uniform buffer.
var<workgroup> near_weights: array<vec4<f32>, NEAR_VECTORS>;

/// Loads the weights to workgroup memory. All invocations of the workgroup call it, and a barrier has to follow.
fn load_near_weights(member: u32, members: u32) {
    for (var index = member; index < NEAR_VECTORS; index += members) {
        near_weights[index] = near[index];
    }
}
