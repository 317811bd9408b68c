//! The dispatch network where invocations run in subgroups: if all of one have the same tuple, they share the work.
//!
//! Eight invocations are a team that evaluates one tuple, four outputs each; larger subgroups have several teams
//! that do the same. What they tell each other goes through shuffles.

import package::networks::bindings::{folded};
import package::networks::dispatch_layers::{activation, evaluate_layers};
import package::networks::layout::{
    NEAR_FIRST, NEAR_HIDDEN_VECTORS, NEAR_OUTPUT_VECTORS, NEAR_SECOND, NEAR_SECOND_BIAS, NEAR_THIRD,
    NEAR_THIRD_BIAS, NEAR_UNIT_VECTORS,
};
import package::networks::logits::{Logits, greatest};
import package::networks::near_weights::{load_near_weights, near_weights};
import package::networks::tuple::{FEATURES, feature_of};

/// Invocations of a team.
const TEAM = 8u;

/// The number of the invocation in its subgroup.
var<private> subgroup_member: u32;
/// The invocations of the whole subgroup.
var<private> subgroup_members: u32;

/// Brings the weights to workgroup memory, together with all invocations of the workgroup. A barrier has to follow.
fn load_weights(member: u32, members: u32) {
    // Here all of them are.
    subgroup_member = subgroupExclusiveAdd(1u);
    subgroup_members = subgroupAdd(1u);
    load_near_weights(member, members);
}

/// The logits of a tuple that all invocations of the subgroup ask for.
fn evaluate_in_teams(tuple: u32) -> Logits {
    let member = subgroup_member % TEAM;
    let team = subgroup_member - member;
    // The first layer: four units each.
    var sum = folded[(tuple >> FEATURES) * NEAR_HIDDEN_VECTORS + member];
    for (var feature = 0u; feature < FEATURES; feature += 1u) {
        sum += feature_of(tuple, feature) * near_weights[NEAR_FIRST + NEAR_HIDDEN_VECTORS * feature + member];
    }
    let hidden = activation(sum);
    // The second: four units of half of the inputs each.
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
    // The third: four outputs of a quarter of the inputs each.
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

/// The logits of a tuple.
fn evaluate(tuple: u32) -> Logits {
    // An invocation that is missing could not do its part, nor could half a team.
    let is_whole = subgroupAdd(1u) == subgroup_members && subgroup_members % TEAM == 0u;
    if is_whole && subgroupAll(tuple == subgroupBroadcastFirst(tuple)) {
        return evaluate_in_teams(tuple);
    }
    return evaluate_layers(tuple);
}

/// The class the network gives a tuple.
fn decide(tuple: u32) -> u32 {
    return greatest(evaluate(tuple));
}
