//! The division of the neurons into partitions.

import package::spiking::bindings::{settings};

/// Returns the number of neurons of a partition, a multiple of 32, so that no two partitions share a word with a bit for
/// each neuron. The last partitions may have fewer, or none.
fn partition_size() -> u32 {
    let partitions = max(settings.partitions, 1u);
    let fair = (settings.neurons + partitions - 1u) / partitions;
    return max((fair + 31u) / 32u * 32u, 32u);
}
