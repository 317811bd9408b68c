//! Plasticity: weights that change with the spikes of source and target.
//!
//! Twin: `kvrm_spiking::PlasticityRule`. From `settings.rules` on, `tables` has two words for each population: the index of its
//! first rule, and the number of its rules. The words of a rule are `RULE_*`.

import package::spiking::bindings::{histories, piece_sources, pieces, record_of, records, settings, tables};
import package::spiking::layout::{
    RULES_WORDS, RULE_HIGH, RULE_LESS, RULE_LOW, RULE_MORE, RULE_STEPS, RULE_TARGET, RULE_TARGET_END,
    RULE_WORDS,
};
import package::spiking::record_words::{WORD_POPULATION};
import package::spiking::unpack::{Synapse, set_weight};
import package::wide::{trailing_zeros};

/// Sets the source neuron of a piece.
fn set_source(piece: u32, neuron: u32) {
    piece_sources[piece] = neuron;
}

/// Returns the spikes of a neuron in the last 64 steps.
fn history_of(neuron: u32) -> u64 {
    let words = histories[neuron];
    return u64(words.x) | (u64(words.y) << 32u);
}

/// Adds a step to the history of a neuron. Returns whether a rule visits its row in this step.
fn update_history(neuron: u32, population: u32, spike: u32) -> bool {
    let before = histories[neuron];
    let now = vec2<u32>((before.x << 1u) | spike, (before.y << 1u) | (before.x >> 31u));
    histories[neuron] = now;
    let first = tables[settings.rules + RULES_WORDS * population];
    for (var i = 0u; i < tables[settings.rules + RULES_WORDS * population + 1u]; i += 1u) {
        let has_window = tables[first + RULE_WORDS * i + RULE_STEPS] != 0u;
        if has_window || (now.x & 1u) != 0u || (now.x == 0u && now.y == 0x80000000u) {
            return true;
        }
    }
    return false;
}

/// Returns the weight of a synapse after this step.
fn updated_weight(synapse: Synapse, source: u32) -> i32 {
    let population = records[record_of[source]].words[WORD_POPULATION];
    let first = tables[settings.rules + RULES_WORDS * population];
    for (var i = 0u; i < tables[settings.rules + RULES_WORDS * population + 1u]; i += 1u) {
        let rule = first + RULE_WORDS * i;
        if tables[rule + RULE_TARGET] <= synapse.destination && synapse.destination < tables[rule + RULE_TARGET_END] {
            let source_history = history_of(source);
            let history = history_of(synapse.destination);
            if tables[rule + RULE_STEPS] != 0u {
                return window_update(rule, synapse.weight, source_history, history);
            }
            return pair_update(rule, synapse.weight, source_history, history);
        }
    }
    return synapse.weight;
}

/// Returns a sum, clamped to the limits of a rule.
fn within(rule: u32, sum: u64) -> i32 {
    let low = i64(i32(tables[rule + RULE_LOW]));
    let high = i64(i32(tables[rule + RULE_HIGH]));
    return i32(min(max(i64(sum), low), high));
}

/// Returns the weight after a step of a rule with a window.
fn window_update(rule: u32, weight: i32, source: u64, destination: u64) -> i32 {
    let mask = (1lu << tables[rule + RULE_STEPS]) - 1lu;
    let either = (source | destination) & mask;
    if either == 0lu {
        return weight;
    }
    if (source & destination & mask) == mask {
        return within(rule, u64(i64(weight)) + u64(i64(i32(tables[rule + RULE_MORE]))));
    }
    return within(rule, u64(i64(weight)) - u64(i64(i32(tables[rule + RULE_LESS]))));
}

/// Returns the weight after a visit of a rule for pairs.
fn pair_update(rule: u32, weight: i32, source: u64, destination: u64) -> i32 {
    // A row is visited only if its source has just fired, or if the source's last spike is about to leave the history.
    if (source & 1lu) == 0lu && source != (1lu << 63u) {
        return weight;
    }
    var updated_weight = weight;
    let since = trailing_zeros(source & ~1lu);
    if since < 64u {
        var spikes = destination & ((1lu << since) - 1lu);
        var gain = 0lu;
        while spikes != 0lu {
            gain += u64(tables[tables[rule + RULE_MORE] + since - trailing_zeros(spikes)]);
            spikes &= spikes - 1lu;
        }
        if gain != 0lu {
            updated_weight = within(rule, u64(i64(updated_weight)) + gain);
        }
    }
    let last = trailing_zeros(destination & ~1lu);
    if (source & 1lu) != 0lu && last < 64u {
        updated_weight = within(rule, u64(i64(updated_weight)) - u64(tables[tables[rule + RULE_LESS] + last]));
    }
    return updated_weight;
}

/// Applies the plasticity rules to a synapse of a piece. Returns the synapse with its new weight.
fn learn_synapse(piece: u32, index: u32, synapse: Synapse) -> Synapse {
    var now = synapse;
    now.weight = updated_weight(synapse, piece_sources[piece]);
    if now.weight != synapse.weight {
        set_weight(pieces[piece].place, index, now.weight);
    }
    return now;
}
