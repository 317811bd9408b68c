//! Packed synapses, in a binding. A row lies in one of them.

/// Words of synapses.
@group(0) @binding(20) var<storage, read_write> synapses_0: array<u32>;

/// A word of a synapse.
fn synapse_word(place: u32) -> u32 {
    return synapses_0[place];
}

/// Changes a word of a synapse.
fn set_synapse_word(place: u32, word: u32) {
    synapses_0[place] = word;
}
