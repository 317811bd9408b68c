//! Packed synapses, in 8 bindings. A row lies in one of them.

/// How many of the lower bits of a place count words; those above number the binding.
const PLACE_BITS = 29u;

/// Words of synapses.
@group(0) @binding(20) var<storage, read_write> synapses_0: array<u32>;
/// Words of synapses.
@group(0) @binding(21) var<storage, read_write> synapses_1: array<u32>;
/// Words of synapses.
@group(0) @binding(22) var<storage, read_write> synapses_2: array<u32>;
/// Words of synapses.
@group(0) @binding(23) var<storage, read_write> synapses_3: array<u32>;
/// Words of synapses.
@group(0) @binding(24) var<storage, read_write> synapses_4: array<u32>;
/// Words of synapses.
@group(0) @binding(25) var<storage, read_write> synapses_5: array<u32>;
/// Words of synapses.
@group(0) @binding(26) var<storage, read_write> synapses_6: array<u32>;
/// Words of synapses.
@group(0) @binding(27) var<storage, read_write> synapses_7: array<u32>;

/// A word of a synapse.
fn synapse_word(place: u32) -> u32 {
    let index = place & ((1u << PLACE_BITS) - 1u);
    switch place >> PLACE_BITS {
        case 1u: { return synapses_1[index]; }
        case 2u: { return synapses_2[index]; }
        case 3u: { return synapses_3[index]; }
        case 4u: { return synapses_4[index]; }
        case 5u: { return synapses_5[index]; }
        case 6u: { return synapses_6[index]; }
        case 7u: { return synapses_7[index]; }
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
        case 4u: { synapses_4[index] = word; }
        case 5u: { synapses_5[index] = word; }
        case 6u: { synapses_6[index] = word; }
        case 7u: { synapses_7[index] = word; }
        default: { synapses_0[index] = word; }
    }
}
