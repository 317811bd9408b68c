//! Packed synapses, in 2 bindings. A row lies in one of them.

/// How many of the lower bits of a place count words; those above number the binding.
const PLACE_BITS = 31u;

/// Words of synapses.
@group(0) @binding(20) var<storage, read_write> synapses_0: array<u32>;
/// Words of synapses.
@group(0) @binding(21) var<storage, read_write> synapses_1: array<u32>;

/// A word of a synapse.
fn synapse_word(place: u32) -> u32 {
    let index = place & ((1u << PLACE_BITS) - 1u);
    switch place >> PLACE_BITS {
        case 1u: { return synapses_1[index]; }
        default: { return synapses_0[index]; }
    }
}

/// Changes a word of a synapse.
fn set_synapse_word(place: u32, word: u32) {
    let index = place & ((1u << PLACE_BITS) - 1u);
    switch place >> PLACE_BITS {
        case 1u: { synapses_1[index] = word; }
        default: { synapses_0[index] = word; }
    }
}
