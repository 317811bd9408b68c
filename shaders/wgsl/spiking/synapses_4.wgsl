//! Packed synapses, in 4 bindings. A row lies in one of them.

/// How many of the lower bits of a place count words; those above number the binding.
const PLACE_BITS = 30u;

/// Words of synapses.
@group(0) @binding(20) var<storage, read_write> synapses_0: array<u32>;
/// Words of synapses.
@group(0) @binding(21) var<storage, read_write> synapses_1: array<u32>;
/// Words of synapses.
@group(0) @binding(22) var<storage, read_write> synapses_2: array<u32>;
/// Words of synapses.
@group(0) @binding(23) var<storage, read_write> synapses_3: array<u32>;

/// A word of a synapse.
fn synapse_word(place: u32) -> u32 {
    let index = place & ((1u << PLACE_BITS) - 1u);
    switch place >> PLACE_BITS {
        case 1u: { return synapses_1[index]; }
        case 2u: { return synapses_2[index]; }
        case 3u: { return synapses_3[index]; }
        default: { return synapses_0[index]; }
    }
}

/// Changes a word of a synapse.
fn set_synapse_word(place: u32, word: u32) {
    let index = place & ((1u << PLACE_BITS) - 1u);
    switch place >> PLACE_BITS {
        case 1u: { synapses_1[index] = word; }
        case 2u: { synapses_2[index] = word; }
        case 3u: { synapses_3[index] = word; }
        default: { synapses_0[index] = word; }
    }
}
