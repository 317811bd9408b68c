//! Application of changes to a network.

use super::Change;
use super::draft::Draft;
use crate::{Error, Network, NetworkParts, Synapses, check};

/// The effects of changes on the representation of a network, which engines have to take over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSummary {
    /// The number of neurons before the change.
    pub neurons: u32,
    /// The number of slots of the ring before the change.
    pub slots: usize,
    /// The number of ports before the change.
    pub ports: u32,
    /// The number of words of synapses before the change. Rows that have moved lie behind these.
    pub words: usize,
    /// The number of records before the change. These records have not changed.
    pub records: usize,
    /// The number of table entries before the change. These entries have not changed.
    pub tables: usize,
    /// The sources whose rows have changed or moved, in order.
    pub rows: Vec<u32>,
    /// The neurons, in order, that have another record. New neurons are not among them.
    pub record_of: Vec<u32>,
    /// Whether all rows have moved and their packing may have changed. Engines then have to take over everything.
    pub is_repacked: bool,
}

impl Network {
    /// Applies changes in order.
    ///
    /// Only rows that change are rewritten. A row that has grown moves to the end, and bounds are computed again only
    /// for neurons whose input changes. All synapses are packed anew if a target, a delay or a weight needs more bits
    /// than the packing has, or if half of the words would be unused.
    ///
    /// # Errors
    /// A change is impossible, or the inputs of a neuron could overflow. The network is then unchanged.
    pub fn change(&mut self, changes: &[Change]) -> Result<ChangeSummary, Error> {
        let synapses = std::mem::replace(&mut self.parts.synapses, Synapses::none());
        // The parts without synapses.
        let before = self.parts.clone();
        let draft = Draft::new(&mut self.parts, &synapses, changes)
            .and_then(|draft| Ok((draft.sums(&before, &self.parts, &synapses, &self.survey.sums)?, draft)))
            .and_then(|(sums, draft)| Ok((draft.repacking(&self.parts, &synapses)?, sums, draft)));
        let (repacking, sums, draft) = match draft {
            Ok(draft) => draft,
            Err(error) => {
                self.parts = NetworkParts { synapses, ..before };
                return Err(error);
            }
        };
        let changed = ChangeSummary {
            neurons: before.record_of.len() as u32,
            slots: before.max_delay as usize,
            ports: before.ports,
            words: synapses.words.len(),
            records: before.records.len(),
            tables: before.tables.len(),
            rows: draft.rows.keys().copied().collect(),
            record_of: draft.reassigned.into_iter().collect(),
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

    /// Replaces the words of the synapses by those that an engine has learned
    /// ([`State::weights`](crate::State::weights)).
    ///
    /// # Errors
    /// There are more or fewer words than the network has, or they differ in more than weights that learn.
    pub fn take_weights(&mut self, words: Vec<u32>) -> Result<(), Error> {
        check::weights(&self.parts, &words)?;
        self.parts.synapses.words = words;
        Ok(())
    }
}
