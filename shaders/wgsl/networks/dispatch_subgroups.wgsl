//! The dispatch network where invocations run in subgroups: if all of one have the same tuple, they share the work.
//!
//! Eight invocations are a team that evaluates one tuple, four outputs each; larger subgroups have several teams
//! that do the same. What they tell each other goes through shuffles.

import package::networks::bindings::{folded};
import package::networks::dispatch_layers::{FIRST, HIDDEN_VECTORS, OUTPUT_VECTORS, SECOND, SECOND_BIAS, THIRD, THIRD_BIAS, UNIT_VECTORS, activation, evaluate_layers, load_layers, near_weights};
import package::networks::logits::{Logits, greatest};
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
    load_layers(member, members);
}

/// The logits of a tuple that all invocations of the subgroup ask for.
fn evaluate_in_teams(tuple: u32) -> Logits {
    let member = subgroup_member % TEAM;
    let team = subgroup_member - member;
    // The first layer: four units each.
    var sum = folded[(tuple >> FEATURES) * HIDDEN_VECTORS + member];
    for (var feature = 0u; feature < FEATURES; feature += 1u) {
        sum += feature_of(tuple, feature) * near_weights[FIRST + HIDDEN_VECTORS * feature + member];
    }
    let hidden = activation(sum);
    // The second: four units of half of the inputs each.
    let units = member % UNIT_VECTORS;
    let half = member / UNIT_VECTORS;
    sum = select(vec4<f32>(), near_weights[SECOND_BIAS + units], half == 0u);
    for (var index = 0u; index < UNIT_VECTORS; index += 1u) {
        let vector = UNIT_VECTORS * half + index;
        let x = subgroupShuffle(hidden, team + vector);
        let at = SECOND + 4u * UNIT_VECTORS * vector + units;
        sum += x.x * near_weights[at] + x.y * near_weights[at + 4u] + x.z * near_weights[at + 8u] + x.w * near_weights[at + 12u];
    }
    sum = activation(sum + subgroupShuffleXor(sum, UNIT_VECTORS));
    // The third: four outputs of a quarter of the inputs each.
    let output = member % OUTPUT_VECTORS;
    let vector = member / OUTPUT_VECTORS;
    let x = subgroupShuffle(sum, team + vector);
    let at = THIRD + 4u * OUTPUT_VECTORS * vector + output;
    sum = select(vec4<f32>(), near_weights[THIRD_BIAS + output], vector == 0u);
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
