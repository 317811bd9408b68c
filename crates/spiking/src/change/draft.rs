//! [`Draft`]: checked changes that have not been applied to the synapses yet.

use std::collections::{BTreeMap, BTreeSet};

use crate::builder::{check_delay, columns};
use crate::registry::{Registry, next_population};
use crate::{Change, Error, NetworkParts, Packing, Record, STATE_WORDS, Synapse, Synapses, bound, check};

/// The rows and records that a list of changes affects.
#[derive(Default)]
pub(super) struct Draft {
    /// The new rows, by source.
    pub(super) rows: BTreeMap<u32, Vec<Synapse>>,
    /// The neurons, other than new ones, whose record changes.
    pub(super) reassigned: BTreeSet<u32>,
}

impl Draft {
    /// Checks changes, and applies them to `parts` except for its synapses.
    pub(super) fn new(
        parts: &mut NetworkParts,
        synapses: &Synapses,
        changes: &[Change],
    ) -> Result<Self, Error> {
        let mut registry = Registry::of(parts);
        let mut draft = Self::default();
        for change in changes {
            match change {
                Change::AddSynapse { source, synapse } => {
                    check_neuron(parts, synapse.target)?;
                    check_delay(synapse.delay)?;
                    parts.max_delay = parts.max_delay.max(synapse.delay);
                    draft.row(parts, synapses, *source)?.push(*synapse);
                }
                Change::RemoveSynapse { source, target, delay } => {
                    let row = draft.row(parts, synapses, *source)?;
                    row.remove(find(row, *source, *target, *delay)?);
                }
                Change::SetWeight { source, synapse } => {
                    let row = draft.row(parts, synapses, *source)?;
                    let place = find(row, *source, synapse.target, synapse.delay)?;
                    row[place] = *synapse;
                }
                Change::SetParameters { neuron, model } => {
                    check_neuron(parts, *neuron)?;
                    let old = parts.records[parts.record_of[*neuron as usize] as usize];
                    if model.kind() as u32 != old.kind {
                        let kind = parts.populations[old.words[Record::POPULATION] as usize].kind;
                        let expected = format!("{kind:?}, the model of the neuron");
                        return Err(Error::parameter("model", format!("{:?}", model.kind()), expected));
                    }
                    let record = registry.record(parts, model, old.words[Record::POPULATION], Some(&old))?;
                    parts.record_of[*neuron as usize] = record;
                    draft.reassigned.insert(*neuron);
                }
                Change::AddPopulation { name, dimensions, model } => {
                    let mut states = states(parts);
                    let population = next_population(parts, name, *dimensions, model.kind())?;
                    registry.populate(parts, &mut states, population, |_| (model.clone(), None))?;
                    parts.columns = columns(&states);
                }
            }
        }
        check::ring(parts)?;
        let existed = |&neuron: &u32| (neuron as usize) < synapses.starts.len();
        draft.reassigned.retain(existed);
        Ok(draft)
    }

    /// Returns the row of a source for modification.
    fn row(
        &mut self,
        parts: &NetworkParts,
        synapses: &Synapses,
        source: u32,
    ) -> Result<&mut Vec<Synapse>, Error> {
        check_neuron(parts, source)?;
        Ok(self.rows.entry(source).or_insert_with(|| synapses.row_of(source)))
    }

    /// Returns the new bounds of those neurons whose possible input changes.
    pub(super) fn sums(
        &self,
        before: &NetworkParts,
        after: &NetworkParts,
        synapses: &Synapses,
        sums: &[u64],
    ) -> Result<BTreeMap<u32, u64>, Error> {
        let mut changed = BTreeMap::new();
        let sum = |neuron: u32| sums.get(neuron as usize).copied().unwrap_or(0);
        let sources: BTreeSet<u32> = self.rows.keys().chain(&self.reassigned).copied().collect();
        for &source in &sources {
            if (source as usize) < synapses.starts.len() {
                let row = synapses.row(source);
                let length = synapses.lengths[source as usize];
                bound::contributions(before, source, length, row, |synapse, most| {
                    *changed.entry(synapse.target).or_insert_with(|| sum(synapse.target)) -= most;
                })?;
            }
        }
        for &source in &sources {
            let mut row = self.rows.get(&source).map_or_else(|| synapses.row_of(source), Clone::clone);
            row.sort_unstable();
            let length = row.len() as u32;
            bound::contributions(after, source, length, row.into_iter(), |synapse, most| {
                *changed.entry(synapse.target).or_insert_with(|| sum(synapse.target)) += most;
            })?;
        }
        for (&neuron, &sum) in &changed {
            bound::check_sum(neuron, sum, after.injection_limit)?;
        }
        Ok(changed)
    }

    /// Returns a new packing for all synapses if they need one, or if too many words would be unused.
    pub(super) fn repacking(
        &self,
        parts: &NetworkParts,
        synapses: &Synapses,
    ) -> Result<Option<Packing>, Error> {
        let neurons = parts.record_of.len() as u32;
        let packing = &synapses.packing;
        let grown = |(source, row): (&u32, &Vec<Synapse>)| {
            let length = synapses.lengths.get(*source as usize).copied().unwrap_or(0) as usize;
            if row.len() > length { row.len() } else { 0 }
        };
        let words =
            synapses.words.len() + self.rows.iter().map(grown).sum::<usize>() * packing.words as usize;
        let is_loose = words as u64 > 2 * synapses.count() * u64::from(packing.words) + SLACK;
        if !is_loose && self.rows.values().flatten().all(|synapse| packing.fits(synapse)) {
            return Ok(None);
        }
        let untouched = (0..synapses.starts.len() as u32).filter(|source| !self.rows.contains_key(source));
        let all =
            untouched.flat_map(|source| synapses.row(source)).chain(self.rows.values().flatten().copied());
        let learned = parts.plasticity.iter().flat_map(|rule| rule.weights);
        let mut weights = learned.fold([0, 0], |[low, high], weight| [low.min(weight), high.max(weight)]);
        let mut delays = [u32::MAX, 0];
        for synapse in all {
            delays = [delays[0].min(synapse.delay), delays[1].max(synapse.delay)];
            weights = [weights[0].min(synapse.weight), weights[1].max(synapse.weight)];
        }
        Packing::new(neurons, if delays[1] == 0 { [1, 1] } else { delays }, weights).map(Some)
    }
}

/// The number of unused words below which synapses are not packed anew.
const SLACK: u64 = 1 << 16;

fn check_neuron(parts: &NetworkParts, neuron: u32) -> Result<(), Error> {
    let neurons = parts.record_of.len() as u64;
    let is_there = u64::from(neuron) < neurons;
    if is_there { Ok(()) } else { Err(Error::NoSuchNeuron { neuron: neuron.into(), neurons }) }
}

fn find(row: &[Synapse], from: u32, to: u32, delay: u32) -> Result<usize, Error> {
    let place = row.iter().position(|synapse| (synapse.target, synapse.delay) == (to, delay));
    place.ok_or(Error::NoSuchSynapse { from, to, delay })
}

/// Returns the initial state of each neuron.
fn states(parts: &NetworkParts) -> Vec<[u32; STATE_WORDS]> {
    let neurons = parts.record_of.len();
    (0..neurons).map(|neuron| std::array::from_fn(|word| parts.columns[word * neurons + neuron])).collect()
}
