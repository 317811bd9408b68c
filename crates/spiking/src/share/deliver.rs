//! Delivery of spikes to the neurons of a share.

use super::{PendingSpike, Share};
use crate::state::bit_words;
use crate::{Network, fixed};

impl Share {
    /// Adds the contributions of spikes to the pending inputs of the neurons of this share.
    pub(crate) fn deliver(&mut self, network: &Network, words: &[u32], spikes: &[PendingSpike]) {
        let packing = network.synapses().packing;
        for &PendingSpike { source, scale, slot: now } in spikes {
            let row = &words[network.synapses().range(source)];
            // The loops below end at the first target behind the share.
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

    /// Adds the contributions of 4-byte synapses with the same delay, in a network with one port.
    fn add_simple(&mut self, network: &Network, scale: u32, now: usize, row: &[u32]) {
        let packing = network.synapses().packing;
        let (first, length) = (self.neurons.start, self.neurons.len());
        let slot = (now + packing.min_delay as usize) % network.slots();
        let sums = &mut self.ring[slot * length..][..length];
        let marks = self.marks.get_mut(slot * bit_words(length)..);
        let mut marks = marks.filter(|marks| !marks.is_empty());
        let weight_bits = packing.weight_bits;
        for &word in row {
            // Either shift may be by 32.
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

    /// Adds the contributions of any synapses.
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
}
