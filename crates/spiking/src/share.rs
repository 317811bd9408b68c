//! The neurons of one thread.

use std::ops::Range;

use crate::model::{self, Arrival, Clock, feagi};
use crate::state::bit_words;
use crate::{Injection, Kind, Network, STATE_WORDS, State, fixed};

/// A neuron that has fired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fired {
    pub(crate) source: u32,
    /// What its weights are multiplied by.
    scale: u32,
}

/// What all shares get in a step.
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

/// Some neurons and all that changes of them; as in [`State`], but slots go round.
#[derive(Debug)]
pub(crate) struct Share {
    neurons: Range<usize>,
    columns: [Vec<u32>; STATE_WORDS],
    ring: Vec<i32>,
    marks: Vec<u32>,
    pub(crate) fired_bits: Vec<u32>,
    /// Those that have fired in the last step, in order.
    pub(crate) fired: Vec<Fired>,
    /// The populations that have neurons here.
    groups: Vec<Group>,
    /// Room for a list of neurons.
    touched: Vec<u32>,
}

/// Neurons of a share that belong to the same population, counted from the share's first.
#[derive(Debug)]
struct Group {
    population: usize,
    neurons: Range<usize>,
    /// Nothing happens to those at which nothing arrives.
    is_quiet: bool,
}

impl Share {
    /// The share of these neurons, whose first is a multiple of 32.
    pub(crate) fn new(network: &Network, state: &State, neurons: Range<usize>) -> Self {
        let parts = network.parts();
        let all = parts.record_of.len();
        let columns = std::array::from_fn(|word| state.columns[word * all..][neurons.clone()].to_vec());
        let ring = state.ring.chunks(all).flat_map(|sums| &sums[neurons.clone()]).copied().collect();
        let bits = neurons.start / 32..neurons.start / 32 + bit_words(neurons.len());
        let marks =
            state.marks.chunks(bit_words(all)).flat_map(|marks| &marks[bits.clone()]).copied().collect();
        let fired_bits = state.fired[bits].to_vec();
        let mut groups = Vec::new();
        for (population, all) in parts.populations.iter().enumerate() {
            let Range { start, end } = all.neurons;
            let range = (start as usize).max(neurons.start)..(end as usize).min(neurons.end);
            if !range.is_empty() {
                let is_quiet = all.neurons.clone().all(|neuron| feagi::is_quiet(network.record(neuron)));
                let neurons = range.start - neurons.start..range.end - neurons.start;
                groups.push(Group { population, neurons, is_quiet });
            }
        }
        Self { neurons, columns, ring, marks, fired_bits, fired: Vec::new(), groups, touched: Vec::new() }
    }

    /// Updates all neurons.
    pub(crate) fn update(&mut self, network: &Network, step: &StepInput<'_>) {
        self.inject(network, step);
        self.fired.clear();
        self.fired_bits.fill(0);
        let (groups, mut touched) = (std::mem::take(&mut self.groups), std::mem::take(&mut self.touched));
        for group in &groups {
            if group.is_quiet && step.drives[group.population] == 0 {
                touched.clear();
                self.find_touched(network, step, group, &mut touched);
                let touched = touched.iter().map(|&index| index as usize);
                self.update_neurons(Kind::Feagi, network, step, group, touched);
            } else {
                // A loop for each model.
                let all = group.neurons.clone();
                match network.populations()[group.population].kind {
                    Kind::Feagi => self.update_neurons(Kind::Feagi, network, step, group, all),
                    Kind::Lif => self.update_neurons(Kind::Lif, network, step, group, all),
                    Kind::Izhikevich => self.update_neurons(Kind::Izhikevich, network, step, group, all),
                    Kind::Poisson => self.update_neurons(Kind::Poisson, network, step, group, all),
                }
            }
        }
        (self.groups, self.touched) = (groups, touched);
        let length = self.neurons.len();
        let ports = network.parts().ports as usize;
        self.ring[step.slot * ports * length..][..ports * length].fill(0);
        if let Some(marks) = self.marks.get_mut(step.slot * bit_words(length)..) {
            let words = bit_words(length).min(marks.len());
            marks[..words].fill(0);
        }
    }

    /// Adds the injections of the step to its slot.
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

    /// Finds those neurons of a group at which something arrives.
    fn find_touched(&self, network: &Network, step: &StepInput<'_>, group: &Group, found: &mut Vec<u32>) {
        let ports = network.parts().ports as usize;
        let length = self.neurons.len();
        let Range { mut start, end } = group.neurons;
        while start < end {
            let first = start / 32 * 32;
            let word_end = (first + 32).min(end);
            let mut touched = self.marks[step.slot * bit_words(length) + start / 32];
            for port in 0..ports {
                let sums = &self.ring[(step.slot * ports + port) * length..][start..word_end];
                for (bit, &sum) in sums.iter().enumerate() {
                    touched |= u32::from(sum != 0) << (start - first + bit);
                }
            }
            // Without the marks of neighbours in other groups.
            touched &= u32::MAX << (start - first) & u32::MAX >> (32 - (word_end - first));
            while touched != 0 {
                found.push(first as u32 + touched.trailing_zeros());
                touched &= touched - 1;
            }
            start = word_end;
        }
    }

    /// Updates some neurons of a group, which are all of this model.
    #[inline(always)]
    fn update_neurons(
        &mut self,
        kind: Kind,
        network: &Network,
        step: &StepInput<'_>,
        group: &Group,
        neurons: impl Iterator<Item = usize>,
    ) {
        let parts = network.parts();
        let (ports, length) = (parts.ports as usize, self.neurons.len());
        let (sums, others) = self.ring[step.slot * ports * length..][..ports * length].split_at(length);
        let marks = self.marks.get(step.slot * bit_words(length)..).unwrap_or(&[]);
        let record_of = &parts.record_of[self.neurons.clone()];
        let [first, second, third, fourth] = self.columns.each_mut().map(|column| &mut column[..length]);
        let drive = step.drives[group.population];
        for index in neurons {
            let record = &parts.records[record_of[index] as usize];
            let ports = [sums[index], others.get(index).copied().unwrap_or(0)];
            let mark = marks.get(index / 32).is_some_and(|marks| marks >> (index % 32) & 1 != 0);
            let mut arrival = Arrival { ports, is_input: ports != [0; 2] || mark };
            if drive != 0 {
                arrival.give(drive, parts.ports as usize);
            }
            let neuron = (self.neurons.start + index) as u32;
            let mut words = [first[index], second[index], third[index], fourth[index]];
            let psp = model::update_of(kind, record, &parts.tables, &step.clock, neuron, arrival, &mut words);
            [first[index], second[index], third[index], fourth[index]] = words;
            if let Some(psp) = psp {
                let fan_out = parts.synapses.lengths[neuron as usize];
                let scale = fixed::scale(psp, feagi::is_divided(record), fan_out);
                self.fired.push(Fired { source: neuron, scale });
                self.fired_bits[index / 32] |= 1 << (index % 32);
            }
        }
    }

    /// Adds what spikes bring to neurons of this share; slot `now` is the step's own.
    pub(crate) fn take_from(&mut self, network: &Network, words: &[u32], fired: &[Fired], now: usize) {
        let packing = network.synapses().packing;
        for &Fired { source, scale } in fired {
            let row = &words[network.synapses().range(source)];
            // Those behind the share's last neuron end the loops below.
            let start = match self.neurons.start {
                0 => 0,
                first => packing.find(row, row.len() / packing.words as usize, first as u32),
            };
            let row = &row[start * packing.words as usize..];
            let synapses = row.chunks_exact(2).map(|words| u64::from(words[1]) << 32 | u64::from(words[0]));
            match (packing.words, packing.delay_bits) {
                (1, 0) if network.parts().ports == 1 => self.add_simple(network, scale, now, row),
                (1, _) => self.add(network, scale, now, row.iter().map(|&word| word.into())),
                _ => self.add(network, scale, now, synapses),
            }
        }
    }

    /// Adds 4-byte synapses of the same delay in a network of one port.
    fn add_simple(&mut self, network: &Network, scale: u32, now: usize, row: &[u32]) {
        let packing = network.synapses().packing;
        let (first, length) = (self.neurons.start, self.neurons.len());
        let slot = (now + packing.min_delay as usize) % network.slots();
        let sums = &mut self.ring[slot * length..][..length];
        let marks = self.marks.get_mut(slot * bit_words(length)..);
        let mut marks = marks.filter(|marks| !marks.is_empty());
        let weight_bits = packing.weight_bits;
        for &word in row {
            // Both shifts may be by 32.
            let target = (u64::from(word) >> weight_bits) as usize;
            let weight = ((i64::from(word) << (64 - weight_bits)) >> (64 - weight_bits)) as i32;
            let index = target - first;
            let Some(sum) = sums.get_mut(index) else { break };
            *sum += fixed::contribution(weight, scale);
            if *sum == 0
                && let Some(marks) = &mut marks
            {
                marks[index / 32] |= 1 << (index % 32);
            }
        }
    }

    /// Adds synapses of any kind.
    fn add(&mut self, network: &Network, scale: u32, now: usize, synapses: impl Iterator<Item = u64>) {
        let packing = network.synapses().packing;
        let (slots, ports) = (network.slots(), network.parts().ports as usize);
        let (first, length) = (self.neurons.start, self.neurons.len());
        let has_marks = !self.marks.is_empty();
        for synapse in synapses {
            let synapse = packing.unpack(synapse);
            let index = synapse.target as usize - first;
            if index >= length {
                break;
            }
            let slot = now + synapse.delay as usize;
            let slot = if slot < slots { slot } else { slot - slots };
            let port = if synapse.weight < 0 { ports - 1 } else { 0 };
            let sum = &mut self.ring[(slot * ports + port) * length + index];
            *sum += fixed::contribution(synapse.weight, scale);
            if has_marks && *sum == 0 {
                self.marks[slot * bit_words(length) + index / 32] |= 1 << (index % 32);
            }
        }
    }

    /// Writes what it has into the state of all neurons, slots as they are.
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
