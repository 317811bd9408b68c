//! Updates of the neurons of a share.

use std::ops::Range;

use super::{GroupStep, PendingSpike, Share, StepInput};
use crate::model::lif::block::{BLOCK, Block, Columns};
use crate::model::{self, Arrival, Neuron, feagi};
use crate::state::{bit_words, set_bits};
use crate::{Kind, Network, fixed};

impl Share {
    /// Runs one step of some neurons of a group, clears their slot of the ring, and appends their spikes.
    pub(super) fn update(
        &mut self,
        work: GroupStep<'_>,
        neurons: Range<usize>,
        spikes: &mut Vec<PendingSpike>,
    ) {
        let GroupStep { network, step, group } = work;
        if group.is_quiet && step.drives[group.population] == 0 {
            let mut touched = std::mem::take(&mut self.touched);
            touched.clear();
            self.find_touched(network, step, neurons, &mut touched);
            let indices = touched.iter().map(|&index| index as usize);
            self.update_each(Kind::Feagi, work, indices, spikes);
            self.touched = touched;
            return;
        }
        if let Some(block) = &group.block {
            self.update_blocks(block, work, neurons, spikes);
            return;
        }
        // A separate loop for each model, so that each is compiled for its model.
        match network.populations()[group.population].kind {
            Kind::Feagi => self.update_each(Kind::Feagi, work, neurons, spikes),
            Kind::Lif => self.update_each(Kind::Lif, work, neurons, spikes),
            Kind::Izhikevich => self.update_each(Kind::Izhikevich, work, neurons, spikes),
            Kind::Poisson => self.update_each(Kind::Poisson, work, neurons, spikes),
        }
    }

    /// Updates LIF neurons with one record in blocks. Neurons are updated one by one if they do not fill a block, or if
    /// the numbers of a block are too large.
    fn update_blocks(
        &mut self,
        block: &Block,
        work: GroupStep<'_>,
        neurons: Range<usize>,
        spikes: &mut Vec<PendingSpike>,
    ) {
        let mut start = neurons.start;
        while start < neurons.end {
            start += self.update_whole(block, work, start..neurons.end, spikes);
            let end = (start + BLOCK).min(neurons.end);
            self.update_each(Kind::Lif, work, start..end, spikes);
            start = end;
        }
    }

    /// Updates neurons in blocks, up to the first block with a large number or the end of the last whole block. Returns
    /// the number of neurons that were updated.
    fn update_whole(
        &mut self,
        block: &Block,
        work: GroupStep<'_>,
        neurons: Range<usize>,
        spikes: &mut Vec<PendingSpike>,
    ) -> usize {
        let GroupStep { network, step, group } = work;
        let (ports, length) = (network.parts().ports as usize, self.neurons.len());
        let mut arrival = Arrival::default();
        arrival.give(step.drives[group.population], ports);
        let (sums, others) = self.ring[step.slot * ports * length..][..ports * length].split_at_mut(length);
        let (sums, _) = sums[neurons.clone()].as_chunks_mut();
        let (others, _) = others.get_mut(neurons.clone()).unwrap_or_default().as_chunks_mut();
        let [first, second, third, fourth] =
            self.columns.each_mut().map(|column| column[neurons.clone()].as_chunks_mut().0);
        let start = self.neurons.start + neurons.start;
        for (index, sums) in sums.iter_mut().enumerate() {
            let mut none = [0; BLOCK];
            let others = others.get_mut(index).unwrap_or(&mut none);
            let state = [&mut first[index], &mut second[index], &mut third[index], &mut fourth[index]];
            let neuron = (start + index * BLOCK) as u32;
            let columns = Columns { sums: [sums, others], state };
            let Some(bits) = block.update(&step.clock, neuron, arrival.ports, columns) else {
                return index * BLOCK;
            };
            if bits != 0 {
                let scale = fixed::scale(1, false, 0);
                let bits = set_bits(std::slice::from_ref(&bits));
                spikes.extend(bits.map(|bit| PendingSpike { source: neuron + bit, scale, slot: step.slot }));
            }
        }
        sums.len() * BLOCK
    }

    /// Appends the indices of the neurons with input to `found`.
    fn find_touched(
        &self,
        network: &Network,
        step: &StepInput<'_>,
        Range { mut start, end }: Range<usize>,
        found: &mut Vec<u32>,
    ) {
        let ports = network.parts().ports as usize;
        let length = self.neurons.len();
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
            // Clears the marks of neighbours in other groups.
            touched &= u32::MAX << (start - first) & u32::MAX >> (32 - (word_end - first));
            while touched != 0 {
                found.push(first as u32 + touched.trailing_zeros());
                touched &= touched - 1;
            }
            start = word_end;
        }
    }

    /// Updates neurons of a group, which are all of the model `kind`, one by one.
    #[inline(always)]
    fn update_each(
        &mut self,
        kind: Kind,
        work: GroupStep<'_>,
        neurons: impl Iterator<Item = usize>,
        spikes: &mut Vec<PendingSpike>,
    ) {
        let GroupStep { network, step, group } = work;
        let parts = network.parts();
        let (ports, length) = (parts.ports as usize, self.neurons.len());
        let (sums, others) = self.ring[step.slot * ports * length..][..ports * length].split_at_mut(length);
        let marks = self.marks.get(step.slot * bit_words(length)..).unwrap_or(&[]);
        let record_of = &parts.record_of[self.neurons.clone()];
        let [first, second, third, fourth] = self.columns.each_mut().map(|column| &mut column[..length]);
        let drive = step.drives[group.population];
        for index in neurons {
            let record = &parts.records[record_of[index] as usize];
            let other = others.get_mut(index).map_or(0, std::mem::take);
            let ports = [std::mem::take(&mut sums[index]), other];
            let mark = marks.get(index / 32).is_some_and(|marks| marks >> (index % 32) & 1 != 0);
            let mut arrival = Arrival { ports, is_input: ports != [0; 2] || mark };
            if drive != 0 {
                arrival.give(drive, parts.ports as usize);
            }
            let neuron = (self.neurons.start + index) as u32;
            let mut words = [first[index], second[index], third[index], fourth[index]];
            let from = Neuron { number: neuron, record, tables: &parts.tables };
            let psp = model::update_of(kind, &from, &step.clock, arrival, &mut words);
            [first[index], second[index], third[index], fourth[index]] = words;
            if let Some(psp) = psp {
                let fan_out = parts.synapses.lengths[neuron as usize];
                let scale = fixed::scale(psp, feagi::is_divided(record), fan_out);
                spikes.push(PendingSpike { source: neuron, scale, slot: step.slot });
            }
        }
    }
}
