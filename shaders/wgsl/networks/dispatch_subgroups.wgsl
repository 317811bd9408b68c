//! The dispatch network on devices with subgroups: invocations of a subgroup share an evaluation if all of them have
//! the same tuple.
//!
//! Eight invocations are a team that evaluates one tuple, four outputs each, and exchange values through shuffles. In a
//! larger subgroup, several teams do the same work.

import package::networks::bindings::{folded};
import package::networks::dispatch_layers::{activation, evaluate_layers};
import package::networks::layout::{
    NEAR_FIRST, NEAR_HIDDEN_VECTORS, NEAR_OUTPUT_VECTORS, NEAR_SECOND, NEAR_SECOND_BIAS, NEAR_THIRD,
    NEAR_THIRD_BIAS, NEAR_UNIT_VECTORS,
};
import package::networks::logits::{Logits, greatest};
import package::networks::near_weights::{load_near_weights, near_weights};
import package::networks::tuple::{FEATURES, feature_of};

/// The number of invocations of a team.
const TEAM = 8u;

/// The index of the invocation in its subgroup.
var<private> subgroup_member: u32;
/// The number of invocations of the subgroup when all are active.
var<private> subgroup_members: u32;

/// Loads the weights to workgroup memory. All invocations of the workgroup call it, and a barrier has to follow.
fn load_weights(member: u32, members: u32) {
    // At this point, all invocations are active.
    subgroup_member = subgroupExclusiveAdd(1u);
    subgroup_members = subgroupAdd(1u);
    load_near_weights(member, members);
}

/// Returns the logits of a tuple that is the same for all invocations of the subgroup.
fn evaluate_in_teams(tuple: u32) -> Logits {
    let member = subgroup_member % TEAM;
    let team = subgroup_member - member;
    // The first layer: each invocation computes four units.
    var sum = folded[(tuple >> FEATURES) * NEAR_HIDDEN_VECTORS + member];
    for (var feature = 0u; feature < FEATURES; feature += 1u) {
        sum += feature_of(tuple, feature) * near_weights[NEAR_FIRST + NEAR_HIDDEN_VECTORS * feature + member];
    }
    let hidden = activation(sum);
    // The second layer: each invocation sums half of the inputs of four units.
    let units = member % NEAR_UNIT_VECTORS;
    let half = member / NEAR_UNIT_VECTORS;
    sum = select(vec4<f32>(), near_weights[NEAR_SECOND_BIAS + units], half == 0u);
    for (var index = 0u; index < NEAR_UNIT_VECTORS; index += 1u) {
        let vector = NEAR_UNIT_VECTORS * half + index;
        let x = subgroupShuffle(hidden, team + vector);
        let at = NEAR_SECOND + 4u * NEAR_UNIT_VECTORS * vector + units;
        sum += x.x * near_weights[at] + x.y * near_weights[at + 4u] + x.z * near_weights[at + 8u] + x.w * near_weights[at + 12u];
    }
    sum = activation(sum + subgroupShuffleXor(sum, NEAR_UNIT_VECTORS));
    // The third layer: each invocation sums a quarter of the inputs of four outputs.
    let output = member % NEAR_OUTPUT_VECTORS;
    let vector = member / NEAR_OUTPUT_VECTORS;
    let x = subgroupShuffle(sum, team + vector);
    let at = NEAR_THIRD + 4u * NEAR_OUTPUT_VECTORS * vector + output;
    sum = select(vec4<f32>(), near_weights[NEAR_THIRD_BIAS + output], vector == 0u);
    sum += x.x * near_weights[at] + x.y * near_weights[at + 2u] + x.z * near_weights[at + 4u] + x.w * near_weights[at + 6u];
    sum += subgroupShuffleXor(sum, 2u);
    sum += subgroupShuffleXor(sum, 4u);
    return Logits(subgroupShuffle(sum, team), subgroupShuffle(sum, team + 1u));
}

/// Returns the logits of a tuple.
fn evaluate(tuple: u32) -> Logits {
    // A shared evaluation needs all invocations of the subgroup, in whole teams.
    let is_whole = subgroupAdd(1u) == subgroup_members && subgroup_members % TEAM == 0u;
    if is_whole && subgroupAll(tuple == subgroupBroadcastFirst(tuple)) {
        return evaluate_in_teams(tuple);
    }
    return evaluate_layers(tuple);
}

/// Returns the class that the network gives a tuple.
fn decide(tuple: u32) -> u32 {
    return greatest(evaluate(tuple));
}
