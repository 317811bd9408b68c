//! What `partitions` needs: where the segments of rows begin, each of which leads to a partition of the targets.

import package::spiking::bindings::{rows, segments, settings};
import package::spiking::unpack::{unpacked};

/// Invocations of a workgroup.
const MEMBERS = 256u;

/// Finds the segments of rows: the first dimension is the neuron, the second the partition, and one more.
@compute @workgroup_size(256)
fn divide(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let neuron = workgroup.x * MEMBERS + local;
    if neuron >= settings.neurons {
        return;
    }
    let row = rows[neuron];
    let begin = workgroup.y * settings.share;
    var low = 0u;
    var high = row.y;
    while low < high {
        let middle = (low + high) / 2u;
        if unpacked(row.x, middle).destination < begin {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    segments[neuron * (settings.partitions + 1u) + workgroup.y] = low;
}
