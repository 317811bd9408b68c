//! The weights of the dispatch network in workgroup memory, for invocations that read different ones at a time.

import package::machine::layout::{NEAR_VECTORS};
import package::networks::bindings::{near};

/// All weights but those that are folded, as in the uniform buffer.
var<workgroup> near_weights: array<vec4<f32>, NEAR_VECTORS>;

/// Brings them there, together with all invocations of the workgroup. A barrier has to follow.
fn load_near_weights(member: u32, members: u32) {
    for (var index = member; index < NEAR_VECTORS; index += members) {
        near_weights[index] = near[index];
    }
}
