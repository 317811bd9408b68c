//! Changes of a network while it runs: uploads the changed parts of the network and leaves the rest.

use kvrm_spiking::{ChangeSummary, Network, Synapses};

use super::layout::{PIECE_BYTES, tables};
use super::options::Options;
use super::plan::{Plan, part_words};
use super::store::Store;
use crate::device::error::Error;

impl Store {
    /// Applies a change of the network in place. Returns false if that is impossible and the store has to be built
    /// anew.
    pub(super) fn change(
        &mut self,
        network: &Network,
        changed: &ChangeSummary,
        options: &Options,
        drives: &[i32],
    ) -> Result<bool, Error> {
        let shape = [changed.neurons, changed.slots as u32, changed.ports];
        let is_same_shape = shape == [network.neurons(), network.slots() as u32, network.parts().ports];
        let Some(parts) = self.grown_parts(network.synapses(), part_words(&self.device, options)) else {
            return Ok(false);
        };
        if changed.is_repacked || !is_same_shape || drives.len() != network.populations().len() {
            return Ok(false);
        }
        // Only the changed rows are read. A store that is built anew has the greatest divisors again.
        let divisors = self.blocks.divisors.and_then(|divisors| divisors.after(network, &changed.rows));
        let plan = Plan::with_parts(&self.device, network, options, (parts, divisors))?;
        let buffers = &mut self.buffers;
        if let (Some(part), Some(buffer)) =
            (plan.parts.last(), buffers.synapses.get_mut(plan.parts.len() - 1))
        {
            let bytes = 4 * (part.end - part.start);
            if bytes > buffer.bytes() {
                // One eighth more than needed, for rows that move to the end later.
                buffer.grow((bytes + bytes / 8).min(4 * part_words(&self.device, options)))?;
            }
        }
        buffers.pieces.grow(PIECE_BYTES * plan.pieces)?;
        if network.is_plastic() {
            buffers.piece_sources.grow(4 * plan.pieces)?;
        }
        let records = &network.parts().records;
        buffers.records.grow(size_of_val(&records[..]) as u64)?;
        let tables = tables(network);
        buffers.tables.grow(size_of_val(&tables[..]) as u64)?;
        buffers.tables.upload(0, &tables)?;
        for run in changed.record_of.chunk_by(|a, b| a + 1 == *b) {
            let (first, last) = (run[0] as usize, run[run.len() - 1] as usize);
            buffers.record_of.upload(4 * first as u64, &network.parts().record_of[first..=last])?;
        }
        self.adopt(plan);
        self.upload_records(changed.records, &records[changed.records..], drives)?;
        for &row in &changed.rows {
            self.upload_row(network.synapses(), row)?;
        }
        self.upload_places(network.synapses(), &changed.rows)?;
        Ok(true)
    }

    /// Returns the parts with the last one extended to the end of all rows, or `None` if that makes it larger than
    /// `max` words. Rows that grow move to the end.
    fn grown_parts(&self, synapses: &Synapses, max: u64) -> Option<Vec<std::ops::Range<u64>>> {
        let mut parts = self.parts.clone();
        let end = (0..synapses.lengths.len() as u32).map(|row| synapses.range(row).end as u64).max()?;
        let last = parts.last_mut()?;
        last.end = last.end.max(end);
        (last.end - last.start <= max).then_some(parts)
    }

    /// Uploads the synapses of a neuron.
    fn upload_row(&self, synapses: &Synapses, neuron: u32) -> Result<(), Error> {
        let range = synapses.range(neuron);
        if let (false, Some(part)) = (range.is_empty(), self.part_of(range.start as u64)) {
            let offset = 4 * (range.start as u64 - self.parts[part].start);
            self.buffers.synapses[part].upload(offset, &synapses.words[range])?;
        }
        Ok(())
    }

    /// Returns the number of the part that contains a word.
    fn part_of(&self, word: u64) -> Option<usize> {
        self.parts.iter().rposition(|part| part.start <= word)
    }

    /// Uploads the places and lengths of the rows of `neurons`, which are sorted.
    pub(super) fn upload_places(&self, synapses: &Synapses, neurons: &[u32]) -> Result<(), Error> {
        let binding_bits = self.buffers.synapses.len().ilog2();
        for run in neurons.chunk_by(|a, b| a + 1 == *b) {
            let rows: Vec<[u32; 2]> = run
                .iter()
                .map(|&neuron| {
                    let start = synapses.starts[neuron as usize];
                    let length = synapses.lengths[neuron as usize];
                    let part = self.part_of(start).unwrap_or(0);
                    let first = self.parts.get(part).map_or(0, |part| part.start);
                    // An empty row may lie outside of all parts, and its place does not matter.
                    let place = if length == 0 { 0 } else { (start - first) as u32 };
                    let number = (part as u32).checked_shl(32 - binding_bits).unwrap_or(0);
                    [number | place, length]
                })
                .collect();
            self.buffers.rows.upload(8 * u64::from(run[0]), &rows)?;
        }
        Ok(())
    }
}
