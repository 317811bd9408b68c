//! The kernel for small networks: one workgroup executes thousands of steps in one dispatch.
//!
//! The work of `neurons` and `propagate` is done in two phases, with a barrier after each. Counters exist twice: one is
//! in use while the other is set to zero.

import package::spiking::advance::{advance};
import package::spiking::bindings::{fired, settings, time};
import package::spiking::deliver::{deliver_piece};
import package::spiking::inject::{inject};
import package::spiking::layout::{SINGLE_MAX};
import package::spiking::list::{list_pieces, pieces_of};
import package::spiking::spike_recording::{record_spikes, recorded_spikes};
import package::spiking::turn::{clock_after, is_full, listed_pieces, steps_of, stride_of};

/// The invocations of the workgroup, a multiple of 32.
override WORKGROUP_SIZE: u32 = 256u;

/// The number of words with a bit for each neuron of the largest network.
const FIRED_WORDS = SINGLE_MAX / 32u;

/// The number of listed pieces, for even and for odd batches.
var<workgroup> pieces_listed: array<atomic<u32>, 2>;
/// The number of recorded spikes.
var<workgroup> spike_count: atomic<u32>;
/// A bit for each neuron that fired in the last step of a batch, for even and for odd batches.
var<workgroup> fired_in_round: array<atomic<u32>, 2u * FIRED_WORDS>;

/// Executes `settings.rounds` batches of steps.
@compute @workgroup_size(WORKGROUP_SIZE)
fn single(@builtin(local_invocation_index) local: u32) {
    var clock = time.before;
    if local == 0u {
        atomicStore(&spike_count, atomicLoad(&time.recorded));
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
            let outcome = advance(neuron, clock, steps);
            if outcome.is_listed {
                list_pieces(neuron, outcome, atomicAdd(&pieces_listed[parity], pieces_of(neuron)));
                let spikes = recorded_spikes(neuron, outcome.spikes);
                record_spikes(neuron, outcome.spikes, clock, atomicAdd(&spike_count, spikes));
                let bit = ((outcome.spikes >> (steps - 1u)) & 1u) << (neuron % 32u);
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
            deliver_piece(clock, index, local & (team - 1u), team);
        }
        if steps != 0u {
            inject(clock, local, WORKGROUP_SIZE);
            // Stores the bits of this batch, and clears those of the batch before.
            for (var word = local; word * 32u < settings.neurons; word += WORKGROUP_SIZE) {
                fired[word] = atomicLoad(&fired_in_round[parity * FIRED_WORDS + word]);
                atomicStore(&fired_in_round[(1u - parity) * FIRED_WORDS + word], 0u);
            }
        }
        if local == 0u {
            atomicStore(&pieces_listed[1u - parity], 0u);
        }
        clock.is_halted = is_full(atomicLoad(&spike_count));
        storageBarrier();
        workgroupBarrier();
    }
    if local == 0u {
        time.before = clock;
        atomicStore(&time.recorded, atomicLoad(&spike_count));
    }
}
