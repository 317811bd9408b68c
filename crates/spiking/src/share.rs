//! [`Share`]: the neurons of one thread of the parallel engine, with their state.

use std::ops::Range;

use crate::model::Clock;
use crate::state::bit_words;
use crate::{Injection, Network, STATE_WORDS, State};

mod deliver;
mod group;
mod update;

use group::Group;

/// The number of neurons that run all steps of a batch before the next ones do, so that they stay in the nearest cache.
const NEAR: usize = 1024;

/// A spike that has not been delivered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingSpike {
    pub(crate) source: u32,
    /// The factor of the weights of its synapses.
    scale: u32,
    /// The slot of the step in which the neuron fired.
    slot: usize,
}

/// The input of one step for all shares.
#[derive(Debug)]
pub(crate) struct StepInput<'a> {
    clock: Clock,
    slot: usize,
    drives: &'a [i32],
    injections: &'a [Injection],
}

impl<'a> StepInput<'a> {
    pub(crate) const fn new(
        network: &Network,
        step: u64,
        slot: usize,
        drives: &'a [i32],
        injections: &'a [Injection],
    ) -> Self {
        Self { clock: Clock::new(network.parts().seed, step), slot, drives, injections }
    }
}

/// A range of neurons and their state. The layout is that of [`State`], but the ring is not rotated.
#[derive(Debug)]
pub(crate) struct Share {
    neurons: Range<usize>,
    columns: [Vec<u32>; STATE_WORDS],
    ring: Vec<i32>,
    marks: Vec<u32>,
    pub(crate) fired_bits: Vec<u32>,
    /// The spikes of each step of the last batch, in the order of neurons.
    pub(crate) spikes: Vec<Vec<PendingSpike>>,
    /// The populations that have neurons in the share.
    groups: Vec<Group>,
    /// A buffer for a list of neurons.
    touched: Vec<u32>,
}

/// The arguments of one step of the neurons of a group.
#[derive(Clone, Copy)]
struct GroupStep<'a> {
    network: &'a Network,
    step: &'a StepInput<'a>,
    group: &'a Group,
}

impl Share {
    /// Makes the share of these neurons, the first of which is a multiple of 32.
    pub(crate) fn new(network: &Network, state: &State, neurons: Range<usize>) -> Self {
        let parts = network.parts();
        let all = parts.record_of.len();
        let columns = std::array::from_fn(|word| state.columns[word * all..][neurons.clone()].to_vec());
        let ring = state.ring.chunks(all).flat_map(|sums| &sums[neurons.clone()]).copied().collect();
        let bits = neurons.start / 32..neurons.start / 32 + bit_words(neurons.len());
        let marks =
            state.marks.chunks(bit_words(all)).flat_map(|marks| &marks[bits.clone()]).copied().collect();
        let fired_bits = state.fired[bits].to_vec();
        let groups = Group::all(network, &neurons);
        Self { neurons, columns, ring, marks, fired_bits, spikes: Vec::new(), groups, touched: Vec::new() }
    }

    /// Runs all neurons through the steps of a batch, which has at least one step.
    pub(crate) fn advance(&mut self, network: &Network, batch: &[StepInput<'_>]) {
        for step in batch {
            self.inject(network, step);
        }
        self.spikes.resize_with(batch.len(), Vec::new);
        self.spikes.iter_mut().for_each(Vec::clear);
        let groups = std::mem::take(&mut self.groups);
        for group in &groups {
            for start in group.neurons.clone().step_by(NEAR) {
                let neurons = start..(start + NEAR).min(group.neurons.end);
                for (offset, step) in batch.iter().enumerate() {
                    let mut spikes = std::mem::take(&mut self.spikes[offset]);
                    self.update(GroupStep { network, step, group }, neurons.clone(), &mut spikes);
                    self.spikes[offset] = spikes;
                }
            }
        }
        self.groups = groups;
        for step in batch {
            self.clear_marks(step.slot);
        }
        self.fired_bits.fill(0);
        for spike in self.spikes.last().into_iter().flatten() {
            let index = spike.source as usize - self.neurons.start;
            self.fired_bits[index / 32] |= 1 << (index % 32);
        }
    }

    /// Adds the injections of a step to its slot of the ring.
    fn inject(&mut self, network: &Network, step: &StepInput<'_>) {
        let ports = network.parts().ports as usize;
        let length = self.neurons.len();
        let below =
            |end: usize| step.injections.partition_point(|injection| (injection.neuron as usize) < end);
        for injection in &step.injections[below(self.neurons.start)..below(self.neurons.end)] {
            let index = injection.neuron as usize - self.neurons.start;
            let port = if injection.amount < 0 { ports - 1 } else { 0 };
            self.ring[(step.slot * ports + port) * length + index] += injection.amount;
            if let Some(marks) = self.marks.get_mut(step.slot * bit_words(length) + index / 32) {
                *marks |= 1 << (index % 32);
            }
        }
    }

    /// Clears the marks of a step whose input has been used.
    fn clear_marks(&mut self, slot: usize) {
        let words = bit_words(self.neurons.len());
        if let Some(marks) = self.marks.get_mut(slot * words..(slot + 1) * words) {
            marks.fill(0);
        }
    }

    /// Copies the state of the share into the state of all neurons, without rotating slots.
    pub(crate) fn write_to(&self, state: &mut State, all: usize) {
        let (start, length) = (self.neurons.start, self.neurons.len());
        for (word, column) in self.columns.iter().enumerate() {
            state.columns[word * all + start..][..length].copy_from_slice(column);
        }
        for (all, own) in state.ring.chunks_mut(all).zip(self.ring.chunks(length)) {
            all[start..start + length].copy_from_slice(own);
        }
        let words = bit_words(length);
        for (all, own) in state.marks.chunks_mut(bit_words(all)).zip(self.marks.chunks(words)) {
            all[start / 32..][..words].copy_from_slice(own);
        }
        state.fired[start / 32..][..words].copy_from_slice(&self.fired_bits);
    }
}
