//! The unpacking of synapses.

import package::spiking::bindings::{settings};
import package::spiking::synapses::{set_synapse_word, synapse_word};

/// A synapse of a row.
struct Synapse {
    /// The target neuron.
    destination: u32,
    /// The weight, in weight units.
    weight: i32,
    /// The delay, in steps.
    delay: u32,
}

/// Returns the synapse at an index of the row or piece whose first word is `place`.
///
/// Twin: `kvrm_spiking::Packing::unpack`.
fn unpacked(place: u32, index: u32) -> Synapse {
    let word = place + settings.synapse_words * index;
    let low = synapse_word(word);
    let weight = i32(low << settings.weight_shift) >> settings.weight_shift;
    if settings.synapse_words == 2u {
        let both = u64(low) | (u64(synapse_word(word + 1u)) << 32u);
        let delay = u32(both >> settings.delay_shift) & settings.delay_mask;
        let destination = u32(both >> settings.target_shift) & settings.target_mask;
        return Synapse(destination, weight, delay + settings.min_delay);
    }
    let delay = (low >> settings.delay_shift) & settings.delay_mask;
    let destination = (low >> settings.target_shift) & settings.target_mask;
    return Synapse(destination, weight, delay + settings.min_delay);
}

/// Sets the weight of a synapse of the row or piece whose first word is `place`.
///
/// Twin: `kvrm_spiking::Packing::with_weight`.
fn set_weight(place: u32, index: u32, weight: i32) {
    let word = place + settings.synapse_words * index;
    // The weight is in the lowest bits.
    let mask = 0xffffffffu >> settings.weight_shift;
    set_synapse_word(word, (synapse_word(word) & ~mask) | (u32(weight) & mask));
}
