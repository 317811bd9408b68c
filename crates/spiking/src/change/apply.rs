//! Applying changes to a network.

use super::Change;
use super::draft::Draft;
use crate::{Error, Network, Parts, Synapses, check};

/// What engines have to take over after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// How many neurons there were.
    pub neurons: u32,
    /// How many slots the ring had.
    pub slots: usize,
    /// How many ports there were.
    pub ports: u32,
    /// How many words of synapses there were; rows that have moved are behind these.
    pub words: usize,
    /// How many records there were; others have not changed.
    pub records: usize,
    /// How many words tables had; these have not changed.
    pub tables: usize,
    /// Sources whose rows are others now, or elsewhere, in order.
    pub rows: Vec<u32>,
    /// Neurons that have another record now, in order, without those that are new.
    pub record_of: Vec<u32>,
    /// All rows are elsewhere, and perhaps packed in another way, so everything has to be taken over.
    pub is_repacked: bool,
}

impl Network {
    /// Applies changes in order. Of the synapses, only rows that change are touched: one that has grown moves to the
    /// end, and sums are bounded anew only where they change. If a target, a delay or a weight needs more bits than the
    /// packing has, or half of the words would be unused, everything is packed anew.
    ///
    /// # Errors
    /// A change is impossible, or too much could arrive at a neuron; then nothing has changed.
    pub fn change(&mut self, changes: &[Change]) -> Result<Changed, Error> {
        let synapses = std::mem::replace(&mut self.parts.synapses, Synapses::none());
        // All but the synapses.
        let before = self.parts.clone();
        let draft = Draft::new(&mut self.parts, &synapses, changes)
            .and_then(|draft| Ok((draft.sums(&before, &self.parts, &synapses, &self.survey.sums)?, draft)))
            .and_then(|(sums, draft)| Ok((draft.repacking(&self.parts, &synapses)?, sums, draft)));
        let (repacking, sums, draft) = match draft {
            Ok(draft) => draft,
            Err(error) => {
                self.parts = Parts { synapses, ..before };
                return Err(error);
            }
        };
        let changed = Changed {
            neurons: before.record_of.len() as u32,
            slots: before.max_delay as usize,
            ports: before.ports,
            words: synapses.words.len(),
            records: before.records.len(),
            tables: before.tables.len(),
            rows: draft.rows.keys().copied().collect(),
            record_of: draft.set.into_iter().collect(),
            is_repacked: repacking.is_some(),
        };
        let delays = draft.rows.values().flatten().map(|synapse| synapse.delay);
        self.survey.min_delay = delays.chain(self.survey.min_delay).min();
        self.survey.sums.resize(self.parts.record_of.len(), 0);
        for (neuron, sum) in sums {
            self.survey.sums[neuron as usize] = sum;
        }
        self.parts.synapses = synapses;
        self.parts.synapses.take_rows(self.parts.record_of.len(), draft.rows, repacking);
        Ok(changed)
    }

    /// Takes over what an engine has learned, the words of its state.
    ///
    /// # Errors
    /// They are not as many as the network has, or differ in more than weights that learn.
    pub fn take_weights(&mut self, words: Vec<u32>) -> Result<(), Error> {
        check::weights(&self.parts, &words)?;
        self.parts.synapses.words = words;
        Ok(())
    }
}
