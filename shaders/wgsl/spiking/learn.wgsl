//! Plasticity: weights that change with the spikes of source and target.
//!
//! Twin: `kvrm_spiking::PlasticityRule`. From `settings.rules` on, `tables` has two words for each population: the index of its
//! first rule, and the number of its rules. The words of a rule are `RULE_*`.
//!
//! The weight after a step depends on the spikes of source and target in this step and in the 63 steps before. Spikes travel
//! at least as long as a batch takes, so the spikes of all steps of a batch are known before the first of them is delivered.
//! Rows are therefore visited once a batch, and the weight of each synapse goes through the steps in order.

import package::spiking::bindings::{
    histories, piece_sources, pieces, record_of, records, settings, tables,
};
import package::spiking::layout::{
    RULES_WORDS, RULE_HIGH, RULE_LESS, RULE_LOW, RULE_MORE, RULE_STEPS, RULE_TARGET, RULE_TARGET_END,
    RULE_WORDS,
};
import package::spiking::record_words::{WORD_POPULATION};
import package::spiking::unpack::{set_weight};
import package::wide::{trailing_zeros};

/// What the synapses of a piece need of their source in order to learn.
struct Source {
    /// The element of `histories`.
    history: vec4<u32>,
    /// The number of steps of the batch.
    steps: u32,
    /// The index in `tables` of the first rule.
    rules: u32,
    /// The index in `tables` of the end of the rules.
    rules_end: u32,
}

/// What a synapse needs in order to learn in the steps of a batch.
struct Learning {
    /// The steps of the batch in which the weight may change, a bit each. If there are any, they include all steps in which the
    /// source fired.
    visits: u32,
    /// The index in `tables` of the rule.
    rule: u32,
    /// The number of steps of the window of the rule, or 0 for a rule for pairs.
    window: u32,
    /// The element of `histories` of the target.
    destination: vec4<u32>,
}

/// Sets the source neuron of a piece.
fn set_source(piece: u32, neuron: u32) {
    piece_sources[piece] = neuron;
}

/// Returns the spikes of a neuron in the 64 steps that end `later` steps before the end of the last batch. Bit k is the step
/// k steps before the last of them.
fn spikes_until(history: vec4<u32>, later: u32) -> u64 {
    let recent = u64(history.x) | (u64(history.y) << 32u);
    // A shift by 64 bits does not exist, so the older steps are shifted in two parts.
    return (recent >> later) | ((u64(history.z) << (63u - later)) << 1u);
}

/// Adds a batch of `steps` steps to the history of a neuron that fired in the steps `spikes`. Returns whether a rule visits its
/// row.
fn update_history(neuron: u32, population: u32, spikes: u32, steps: u32) -> bool {
    let words = histories[neuron];
    let before = u64(words.x) | (u64(words.y) << 32u);
    // In the history, the last step is bit 0.
    let after = (before << steps) | u64(reverseBits(spikes) >> (32u - steps));
    // A rule for pairs visits the row when the neuron fires, and when its last spike is about to leave the history. The second
    // happens once in a batch at most, and not after a spike of the same batch.
    var visits = spikes;
    let leaving = 62u - trailing_zeros(before);
    if leaving < min(steps, firstTrailingBit(spikes)) {
        visits |= 1u << leaving;
    }
    // Rules look back 63 steps at most, from the first step of the batch on. So they need what this batch moves out of the 64
    // steps, but nothing that an earlier one has moved out, or that is missing in a state of the host.
    histories[neuron] = vec4<u32>(u32(after), u32(after >> 32u), u32(before >> (64u - steps)), visits);
    let first = tables[settings.rules + RULES_WORDS * population];
    for (var i = 0u; i < tables[settings.rules + RULES_WORDS * population + 1u]; i += 1u) {
        let has_window = tables[first + RULE_WORDS * i + RULE_STEPS] != 0u;
        if has_window || visits != 0u {
            return true;
        }
    }
    return false;
}

/// Returns the source of a piece of a batch of `steps` steps.
fn source_of(piece: u32, steps: u32) -> Source {
    let neuron = piece_sources[piece];
    let population = records[record_of[neuron]].words[WORD_POPULATION];
    let directory = settings.rules + RULES_WORDS * population;
    let first = tables[directory];
    return Source(histories[neuron], steps, first, first + RULE_WORDS * tables[directory + 1u]);
}

/// Returns how a synapse from a source to the neuron `destination` learns.
fn learning_of(source: Source, destination: u32) -> Learning {
    for (var rule = source.rules; rule < source.rules_end; rule += RULE_WORDS) {
        if tables[rule + RULE_TARGET] <= destination && destination < tables[rule + RULE_TARGET_END] {
            let window = tables[rule + RULE_STEPS];
            let history = histories[destination];
            return Learning(visits_of(source, window, history), rule, window, history);
        }
    }
    return Learning(0u, 0u, 0u, vec4<u32>());
}

/// Returns the steps of a batch in which a rule may change the weight of a synapse.
fn visits_of(source: Source, window: u32, destination: vec4<u32>) -> u32 {
    if window == 0u {
        // Most neurons have not fired in all the time that histories span. Then there is no pair.
        return select(0u, source.history.w, (destination.x | destination.y | destination.z) != 0u);
    }
    // The windows of all steps of the batch span 63 steps at most.
    let span = (1lu << (window + source.steps - 1u)) - 1lu;
    let either = (spikes_until(source.history, 0u) | spikes_until(destination, 0u)) & span;
    return select(0u, 0xffffffffu >> (32u - source.steps), either != 0lu);
}

/// Returns the weight of a synapse after a visited step of the batch; `weight` is the one before.
fn weight_after(learning: Learning, source: Source, step: u32, weight: i32) -> i32 {
    let later = source.steps - 1u - step;
    let spikes = spikes_until(source.history, later);
    let destination = spikes_until(learning.destination, later);
    if learning.window != 0u {
        return window_update(learning.rule, weight, spikes, destination);
    }
    return pair_update(learning.rule, weight, spikes, destination);
}

/// Stores the weight of a synapse of a piece.
fn store_weight(piece: u32, index: u32, weight: i32) {
    set_weight(pieces[piece].place, index, weight);
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
