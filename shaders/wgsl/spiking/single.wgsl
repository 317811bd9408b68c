//! A small network: one workgroup does everything, and thousands of steps in one dispatch.
//!
//! What `neurons` and `propagate` do one after the other are here two phases with a barrier behind each. What is
//! counted is counted in one of two places: the other is set to zero meanwhile.

import package::spiking::advance::{advance};
import package::spiking::bindings::{fired, settings, time};
import package::spiking::deliver::{deliver_piece};
import package::spiking::inject::{inject};
import package::spiking::layout::{SINGLE_MAX};
import package::spiking::list::{list_pieces, pieces_of};
import package::spiking::spike_recording::{record_spikes, recorded_spikes};
import package::spiking::turn::{clock_after, is_full, listed_pieces, steps_of, stride_of};

/// Invocations of the workgroup, a multiple of 32.
override WORKGROUP_SIZE: u32 = 256u;

/// Words of bits for the neurons of the largest network.
const FIRED_WORDS = SINGLE_MAX / 32u;

/// How many pieces there are, in two rounds.
var<workgroup> pieces_listed: array<atomic<u32>, 2>;
/// How many spikes have been recorded.
var<workgroup> spikes_noted: atomic<u32>;
/// A bit for each neuron that fired in the last step of a round, in two rounds.
var<workgroup> fired_in_round: array<atomic<u32>, 2u * FIRED_WORDS>;

/// Does `settings.rounds` batches of steps.
@compute @workgroup_size(WORKGROUP_SIZE)
fn single(@builtin(local_invocation_index) local: u32) {
    var clock = time.before;
    if local == 0u {
        atomicStore(&spikes_noted, atomicLoad(&time.recorded));
        atomicStore(&pieces_listed[0], 0u);
        atomicStore(&pieces_listed[1], 0u);
    }
    for (var word = local; word < 2u * FIRED_WORDS; word += WORKGROUP_SIZE) {
        atomicStore(&fired_in_round[word], 0u);
    }
    storageBarrier();
    workgroupBarrier();
    for (var round = 0u; round < settings.rounds; round += 1u) {
        let parity = round & 1u;
        let steps = steps_of(clock);
        for (var neuron = local; neuron < settings.neurons && steps != 0u; neuron += WORKGROUP_SIZE) {
            let advanced = advance(neuron, clock, steps);
            if advanced.is_listed {
                list_pieces(neuron, advanced, atomicAdd(&pieces_listed[parity], pieces_of(neuron)));
                let spikes = recorded_spikes(neuron, advanced.spikes);
                record_spikes(neuron, advanced.spikes, clock, atomicAdd(&spikes_noted, spikes));
                let bit = ((advanced.spikes >> (steps - 1u)) & 1u) << (neuron % 32u);
                atomicOr(&fired_in_round[parity * FIRED_WORDS + neuron / 32u], bit);
            }
        }
        storageBarrier();
        workgroupBarrier();
        clock = clock_after(clock, steps);
        let team = 1u << settings.team_bits;
        let teams = stride_of(WORKGROUP_SIZE, settings.team_bits);
        let count = listed_pieces(atomicLoad(&pieces_listed[parity]));
        for (var index = local >> settings.team_bits; index < count; index += teams) {
            deliver_piece(clock.first, index, local & (team - 1u), team);
        }
        if steps != 0u {
            inject(clock, local, WORKGROUP_SIZE);
            // What is left over from the round before.
            for (var word = local; word * 32u < settings.neurons; word += WORKGROUP_SIZE) {
                fired[word] = atomicLoad(&fired_in_round[parity * FIRED_WORDS + word]);
                atomicStore(&fired_in_round[(1u - parity) * FIRED_WORDS + word], 0u);
            }
        }
        if local == 0u {
            atomicStore(&pieces_listed[1u - parity], 0u);
        }
        clock.is_halted = is_full(atomicLoad(&spikes_noted));
        storageBarrier();
        workgroupBarrier();
    }
    if local == 0u {
        time.before = clock;
        atomicStore(&time.recorded, atomicLoad(&spikes_noted));
    }
}
