//! The sums of a block's input in workgroup memory, for the kernel `fused`.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{Clock, injection_starts, injections, settings};
import package::spiking::lists::{Window};
import package::spiking::record::{Arrival};

/// The number of sums of a workgroup.
override BLOCK_SUMS: u32 = 1408u;

/// Stands for no base: the step depends on the synapse, or is not in the window.
const NO_BASE = 0xffffffffu;

/// The sums of the input of the block: a word for each step of a window, port and neuron, in this order.
var<workgroup> block_sums: array<atomic<i32>, BLOCK_SUMS>;

/// Returns the number of sums of a step.
fn sums_of_step(window: Window) -> u32 {
    return settings.ports * window.size;
}

/// Sets all sums to zero. Invocation `member` of `members` sets its share.
fn clear_sums(size: u32, member: u32, members: u32) {
    let sums = min(settings.window * settings.ports * size, BLOCK_SUMS);
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
    var arrival = earlier;
    arrival.excitatory += take_from_block(place);
    if settings.ports == 2u {
        arrival.inhibitory += take_from_block(place + window.size);
    }
    return arrival;
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
    let weight = i32(word << settings.block_weight_shift) >> settings.block_weight_shift;
    if window.begin <= step && step < window.end {
        atomicAdd(&block_sums[(step - window.begin) * sums_of_step(window) + index], weight);
    } else if step >= window.end && window.is_last {
        let port = select(0u, 1u, index >= window.size);
        add_input(slot_behind(clock.head, step), port, window.neuron + index - port * window.size, weight);
    }
}

/// Delivers a spike through a synapse to the sums that begin at `base`. This is the usual case, so it has few instructions.
fn receive_at(base: u32, word: u32) {
    let weight = i32(word << settings.block_weight_shift) >> settings.block_weight_shift;
    atomicAdd(&block_sums[base + (word >> settings.block_index_shift)], weight);
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

/// Adds the injections of the window to the sums of the block. Invocation `member` of `members` adds its share.
fn inject_into_block(window: Window, clock: Clock, member: u32, members: u32) {
    if settings.injections == 0u {
        return;
    }
    let first = settings.steps - clock.remaining;
    for (var step = window.begin; step < window.end; step += 1u) {
        let end = injection_starts[first + step + 1u];
        for (var index = injection_starts[first + step] + member; index < end; index += members) {
            let injection = injections[index];
            let amount = i32(injection.y);
            let neuron = injection.x - window.neuron;
            if neuron < window.size {
                let place = (step - window.begin) * sums_of_step(window) + neuron;
                atomicAdd(&block_sums[place + port_of(amount) * window.size], amount);
            }
        }
    }
}
