//! The sums of a block's input in workgroup memory, for the kernel `fused`.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{Clock, settings};
import package::spiking::lists::{Window};
import package::spiking::record::{Arrival};
import package::spiking::wide_sums::{increment_of, sums_of_neuron, weight_of, with_sums};

/// The number of sums of a workgroup.
override BLOCK_SUMS: u32 = 1408u;

/// Stands for no base: the step depends on the synapse, or is not in the window.
const NO_BASE = 0xffffffffu;

/// The sums of the input of the block. For each step of the window there is a word for each neuron, and then, if inhibition has
/// sums of its own, another one for each neuron.
var<workgroup> block_sums: array<atomic<i32>, BLOCK_SUMS>;

/// Returns the number of sums of a step.
fn sums_of_step(window: Window) -> u32 {
    return sums_of_neuron() * window.size;
}

/// Sets all sums to zero. Invocation `member` of `members` sets its share.
fn clear_sums(size: u32, member: u32, members: u32) {
    let sums = min(settings.window * sums_of_neuron() * size, BLOCK_SUMS);
    for (var place = member; place < sums; place += members) {
        atomicStore(&block_sums[place], 0);
    }
}

/// Takes a sum, and sets it to zero.
fn take_from_block(place: u32) -> i32 {
    let sum = atomicLoad(&block_sums[place]);
    atomicStore(&block_sums[place], 0);
    return sum;
}

/// Returns the input of a neuron of the block in a step, together with that from the ring.
fn block_arrival(window: Window, step: u32, neuron: u32, earlier: Arrival) -> Arrival {
    let place = (step - window.begin) * sums_of_step(window) + neuron - window.neuron;
    let first = take_from_block(place);
    var second = 0;
    if sums_of_neuron() == 2u {
        second = take_from_block(place + window.size);
    }
    return with_sums(earlier, first, second);
}

/// Returns the amount of a synapse of the block.
fn amount_of(word: u32) -> i32 {
    return i32(word << settings.block_amount_shift) >> settings.block_amount_shift;
}

/// Returns the index of the first sum of the step in which spikes of step `bit` of the last batch arrive, or `NO_BASE` if
/// that depends on the synapse or is not in the window.
fn base_of(window: Window, clock: Clock, bit: u32) -> u32 {
    let step = settings.min_delay - clock.batch + bit;
    if settings.delay_mask != 0u || step < window.begin || step >= window.end {
        return NO_BASE;
    }
    return (step - window.begin) * sums_of_step(window);
}

/// Delivers a spike of step `bit` of the last batch through a synapse: to a sum if it arrives in the window, and to the ring
/// if it arrives after the batch.
fn receive_word(window: Window, clock: Clock, bit: u32, word: u32) {
    // A batch is no longer than the shortest delay.
    let delay = settings.min_delay + ((word >> settings.block_delay_shift) & settings.delay_mask);
    let step = delay - clock.batch + bit;
    let index = word >> settings.block_index_shift;
    if window.begin <= step && step < window.end {
        atomicAdd(&block_sums[(step - window.begin) * sums_of_step(window) + index], increment_of(amount_of(word)));
    } else if step >= window.end && window.is_last {
        let weight = weight_of(amount_of(word));
        let member = index - select(0u, window.size, index >= window.size);
        add_input(slot_behind(clock.head, step), port_of(weight), window.neuron + member, weight);
    }
}

/// Delivers a spike through a synapse to the sums that begin at `base`. This is the usual case, so it has few instructions.
fn receive_at(base: u32, word: u32) {
    atomicAdd(&block_sums[base + (word >> settings.block_index_shift)], increment_of(amount_of(word)));
}

/// Delivers the spikes in the steps `spikes` of the last batch, a bit each, through the synapses of a quad.
fn receive_quad(window: Window, clock: Clock, spikes: u32, words: vec4<u32>) {
    var rest = spikes;
    while rest != 0u {
        let bit = firstTrailingBit(rest);
        let base = base_of(window, clock, bit);
        if base != NO_BASE {
            receive_at(base, words.x);
            receive_at(base, words.y);
            receive_at(base, words.z);
            receive_at(base, words.w);
        } else {
            receive_word(window, clock, bit, words.x);
            receive_word(window, clock, bit, words.y);
            receive_word(window, clock, bit, words.z);
            receive_word(window, clock, bit, words.w);
        }
        rest &= rest - 1u;
    }
}
