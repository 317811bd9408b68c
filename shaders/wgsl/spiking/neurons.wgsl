//! The first kernel of a step: updates neurons for a batch of steps, and lists the pieces of rows to deliver.
//!
//! The invocations of a workgroup count their pieces and recorded spikes in workgroup memory, so that each workgroup
//! changes the global counters only once.

import package::spiking::advance::{BatchOutcome, advance};
import package::spiking::bindings::{fired, settings, time};
import package::spiking::layout::{MEMBERS, ROW};
import package::spiking::list::{list_pieces, pieces_of};
import package::spiking::spike_recording::{record_spikes, recorded_spikes};
import package::spiking::turn::{clock_after, steps_of};

/// The number of pieces that the workgroup lists.
var<workgroup> piece_count: atomic<u32>;
/// The number of spikes that the workgroup records.
var<workgroup> record_count: atomic<u32>;
/// A bit for each neuron of the workgroup that fired in the last step of the batch.
var<workgroup> fired_now: array<atomic<u32>, 8>;
/// The index of the workgroup's first piece.
var<workgroup> piece_base: u32;
/// The index of the workgroup's first recorded spike.
var<workgroup> record_base: u32;

/// Updates all neurons for a batch of steps, and sets the clock for `propagate`.
@compute @workgroup_size(MEMBERS)
fn neurons(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    if local < MEMBERS / 32u {
        atomicStore(&fired_now[local], 0u);
    }
    if local == 0u {
        atomicStore(&piece_count, 0u);
        atomicStore(&record_count, 0u);
    }
    workgroupBarrier();
    let clock = time.before;
    let steps = steps_of(clock);
    let neuron = (workgroup.y * ROW + workgroup.x) * MEMBERS + local;
    var outcome = BatchOutcome(0u, 0u, false);
    var list_at = 0u;
    var note_at = 0u;
    if neuron < settings.neurons && steps != 0u {
        outcome = advance(neuron, clock, steps);
        if outcome.is_listed {
            list_at = atomicAdd(&piece_count, pieces_of(neuron));
            note_at = atomicAdd(&record_count, recorded_spikes(neuron, outcome.spikes));
            atomicOr(&fired_now[local / 32u], ((outcome.spikes >> (steps - 1u)) & 1u) << (local % 32u));
        }
    }
    workgroupBarrier();
    if local == 0u {
        let pieces = atomicLoad(&piece_count);
        if pieces != 0u {
            piece_base = atomicAdd(&time.pieces[clock.parity], pieces);
        }
        let spikes = atomicLoad(&record_count);
        if spikes != 0u {
            record_base = atomicAdd(&time.recorded, spikes);
        }
    }
    if neuron % 32u == 0u && neuron < settings.neurons && steps != 0u {
        fired[neuron / 32u] = atomicLoad(&fired_now[local / 32u]);
    }
    workgroupBarrier();
    if outcome.is_listed {
        list_pieces(neuron, outcome, piece_base + list_at);
        record_spikes(neuron, outcome.spikes, clock, record_base + note_at);
    }
    if neuron == 0u {
        time.after = clock_after(clock, steps);
    }
}
