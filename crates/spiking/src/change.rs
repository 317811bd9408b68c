//! Changes of a network that leave most of it where it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::builder::{check_delay, columns};
use crate::network::Parts;
use crate::registry::{Registry, next_population};
use crate::{Error, Kind, Model, Network, Packing, Record, STATE_WORDS, Synapse, Synapses, bound};

/// A change of a network.
///
/// Neurons are not removed, as their numbers are their places; one without synapses costs next to nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A new synapse, beside others of the same ends.
    Add {
        /// Its source.
        source: u32,
        /// What it is.
        synapse: Synapse,
    },
    /// Removes a synapse with these ends and this delay, the first if there are several.
    Remove {
        /// Its source.
        source: u32,
        /// Its target.
        target: u32,
        /// Its delay.
        delay: u32,
    },
    /// Gives a synapse another weight: that with these ends and this delay, the first if there are several.
    Weigh {
        /// Its source.
        source: u32,
        /// What it is to be.
        synapse: Synapse,
    },
    /// Gives a neuron other parameters of the same model; its state stays, and so does the drive of its population.
    Set {
        /// The neuron.
        neuron: u32,
        /// Its parameters.
        model: Model,
    },
    /// A new population of equal neurons, behind all others.
    Populate {
        /// Its name.
        name: String,
        /// Its grid.
        dimensions: [u32; 3],
        /// Its parameters.
        model: Model,
    },
}

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
    /// They are not as many as the network has.
    pub fn take_weights(&mut self, words: Vec<u32>) -> Result<(), Error> {
        let expected = self.parts.synapses.words.len();
        if words.len() != expected {
            return Err(Error::StateShape { what: "weights", found: words.len(), expected });
        }
        self.parts.synapses.words = words;
        Ok(())
    }
}

/// What changes make of rows and records.
#[derive(Default)]
struct Draft {
    rows: BTreeMap<u32, Vec<Synapse>>,
    /// The neurons that have other parameters.
    set: BTreeSet<u32>,
}

impl Draft {
    /// Applies changes to parts, except for their synapses.
    fn new(parts: &mut Parts, synapses: &Synapses, changes: &[Change]) -> Result<Self, Error> {
        let mut registry = Registry::of(parts);
        let mut draft = Self::default();
        for change in changes {
            match change {
                Change::Add { source, synapse } => {
                    check_neuron(parts, synapse.target)?;
                    check_delay(synapse.delay)?;
                    parts.max_delay = parts.max_delay.max(synapse.delay);
                    draft.row(parts, synapses, *source)?.push(*synapse);
                }
                Change::Remove { source, target, delay } => {
                    let row = draft.row(parts, synapses, *source)?;
                    row.remove(find(row, *source, *target, *delay)?);
                }
                Change::Weigh { source, synapse } => {
                    let row = draft.row(parts, synapses, *source)?;
                    let place = find(row, *source, synapse.target, synapse.delay)?;
                    row[place] = *synapse;
                }
                Change::Set { neuron, model } => {
                    check_neuron(parts, *neuron)?;
                    let old = parts.records[parts.record_of[*neuron as usize] as usize];
                    if model.kind() as u32 != old.kind {
                        let expected = format!("{:?}, as the neuron's", Kind::of(old.kind));
                        return Err(Error::parameter("model", format!("{:?}", model.kind()), expected));
                    }
                    let record = registry.record(parts, model, old.words[Record::POPULATION], Some(&old))?;
                    parts.record_of[*neuron as usize] = record;
                    draft.set.insert(*neuron);
                }
                Change::Populate { name, dimensions, model } => {
                    let mut states = states(parts);
                    let population = next_population(parts, name, *dimensions, model.kind())?;
                    registry.populate(parts, &mut states, population, |_| (model.clone(), None))?;
                    parts.columns = columns(&states);
                }
            }
        }
        let known = |&neuron: &u32| (neuron as usize) < synapses.starts.len();
        draft.set.retain(known);
        Ok(draft)
    }

    /// The row of a source, to be changed.
    fn row(&mut self, parts: &Parts, synapses: &Synapses, source: u32) -> Result<&mut Vec<Synapse>, Error> {
        check_neuron(parts, source)?;
        Ok(self.rows.entry(source).or_insert_with(|| synapses.row_of(source)))
    }

    /// The most that can arrive at those neurons for which this changes.
    fn sums(
        &self,
        before: &Parts,
        after: &Parts,
        synapses: &Synapses,
        sums: &[u64],
    ) -> Result<BTreeMap<u32, u64>, Error> {
        let mut changed = BTreeMap::new();
        let sum = |neuron: u32| sums.get(neuron as usize).copied().unwrap_or(0);
        let sources: BTreeSet<u32> = self.rows.keys().chain(&self.set).copied().collect();
        for &source in &sources {
            if (source as usize) < synapses.starts.len() {
                let row = synapses.row(source);
                bound::contributions(
                    before,
                    source,
                    synapses.lengths[source as usize],
                    row,
                    |target, most| {
                        *changed.entry(target).or_insert_with(|| sum(target)) -= most;
                    },
                )?;
            }
        }
        for &source in &sources {
            let row = self.rows.get(&source).map_or_else(|| synapses.row_of(source), Clone::clone);
            let mut row = row;
            row.sort_unstable();
            let length = row.len() as u32;
            bound::contributions(after, source, length, row.into_iter(), |target, most| {
                *changed.entry(target).or_insert_with(|| sum(target)) += most;
            })?;
        }
        for (&neuron, &sum) in &changed {
            bound::check_sum(neuron, sum, after.injection_limit)?;
        }
        Ok(changed)
    }

    /// The packing for all synapses, if they need another one, or if too many words would be unused.
    fn repacking(&self, parts: &Parts, synapses: &Synapses) -> Result<Option<Packing>, Error> {
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

/// Unused words that are never worth packing everything anew.
const SLACK: u64 = 1 << 16;

fn check_neuron(parts: &Parts, neuron: u32) -> Result<(), Error> {
    let neurons = parts.record_of.len() as u64;
    let is_there = u64::from(neuron) < neurons;
    if is_there { Ok(()) } else { Err(Error::NoSuchNeuron { neuron: neuron.into(), neurons }) }
}

fn find(row: &[Synapse], from: u32, to: u32, delay: u32) -> Result<usize, Error> {
    let place = row.iter().position(|synapse| (synapse.target, synapse.delay) == (to, delay));
    place.ok_or(Error::NoSuchSynapse { from, to, delay })
}

/// The initial states, neuron by neuron.
fn states(parts: &Parts) -> Vec<[u32; STATE_WORDS]> {
    let neurons = parts.record_of.len();
    (0..neurons).map(|neuron| std::array::from_fn(|word| parts.columns[word * neurons + neuron])).collect()
}

impl Synapses {
    /// No synapses of no neurons.
    pub(crate) const fn none() -> Self {
        let packing = Packing { target_bits: 0, delay_bits: 0, weight_bits: 32, words: 1, min_delay: 1 };
        Self { starts: Vec::new(), lengths: Vec::new(), words: Vec::new(), packing }
    }

    /// The row of a source; empty if it is new.
    fn row_of(&self, source: u32) -> Vec<Synapse> {
        if (source as usize) < self.starts.len() { self.row(source).collect() } else { Vec::new() }
    }

    /// Replaces rows, in place if they have not grown; with another packing all of them.
    fn take_rows(
        &mut self,
        neurons: usize,
        mut rows: BTreeMap<u32, Vec<Synapse>>,
        repacking: Option<Packing>,
    ) {
        let mut old = Self::none();
        if let Some(packing) = repacking {
            old = std::mem::replace(self, Self { packing, ..Self::none() });
            for source in 0..old.starts.len() as u32 {
                rows.entry(source).or_insert_with(|| old.row(source).collect());
            }
        }
        drop(old);
        self.starts.resize(neurons, 0);
        self.lengths.resize(neurons, 0);
        for (source, row) in rows {
            let mut packed: Vec<u64> = row.iter().map(|synapse| self.packing.pack(synapse)).collect();
            packed.sort_unstable();
            let source = source as usize;
            if packed.len() > self.lengths[source] as usize {
                self.starts[source] = self.words.len() as u64;
                self.words.resize(self.words.len() + packed.len() * self.packing.words as usize, 0);
            }
            self.lengths[source] = packed.len() as u32;
            let range = self.range(source as u32);
            for (index, &packed) in packed.iter().enumerate() {
                self.packing.write(&mut self.words[range.clone()], index, packed);
            }
        }
    }
}
