//! Takes the place of `sums` where synapses take differently long, or few events arrive: these go to the ring.

import package::spiking::bindings::{Clock};
import package::spiking::deliver::{deliver};
import package::spiking::unpack::{Synapse};

/// Begins.
fn clear_sums(member: u32, members: u32) {}

/// Adds the events of a synapse.
fn gather(begin: u32, clock: Clock, spikes: u32, scale: u32, synapse: Synapse) {
    deliver(clock.first, spikes, scale, synapse);
}

/// Brings sums to the ring, where they are already.
fn settle(begin: u32, clock: Clock, member: u32, members: u32) {}
