//! [`Registry`], which makes neurons with the same parameters share records and tables.

use std::collections::HashMap;

use crate::memory::MemoryNeed;
use crate::model::poisson;
use crate::{Error, Model, NetworkParts, Population, Record, STATE_WORDS, bound};

/// An index of records and tables by their contents.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    records: HashMap<Record, u32>,
    /// The start and length of each table, by its contents.
    tables: HashMap<Vec<u32>, [u32; 2]>,
}

impl Registry {
    /// Returns the index of the records and tables of these parts.
    pub(crate) fn of(parts: &NetworkParts) -> Self {
        let records = parts.records.iter().enumerate().map(|(index, record)| (*record, index as u32));
        let tables = parts.records.iter().filter_map(|record| {
            let place = record.poisson_table()?;
            let table = &parts.tables[place[0] as usize..][..place[1] as usize];
            Some((table.to_vec(), place))
        });
        Self { records: records.collect(), tables: tables.collect() }
    }

    /// Returns the index of the record with the parameters of a model, and adds the record if it is new. If it replaces
    /// the record `instead`, it gets the drive of that one, because all records of a population have the same drive.
    pub(crate) fn record(
        &mut self,
        parts: &mut NetworkParts,
        model: &Model,
        population: u32,
        instead: Option<&Record>,
    ) -> Result<u32, Error> {
        let mut record = model.record(parts.dt, parts.fraction_bits)?;
        record.words[Record::POPULATION] = population;
        if let Some(instead) = instead {
            record.words[Record::DRIVE] = instead.words[Record::DRIVE];
        }
        bound::check_drive(record.signed(Record::DRIVE), parts.injection_limit)?;
        if model.has_two_ports() {
            parts.ports = 2;
        }
        let mean = model.poisson_mean(parts.dt)?;
        if mean > 0.0 {
            let table = poisson::table(mean);
            let place = self.tables.entry(table).or_insert_with_key(|table| {
                let start = parts.tables.len();
                parts.tables.extend(table);
                [start as u32, table.len() as u32]
            });
            record.words[Record::POISSON..Record::POISSON + 2].copy_from_slice(&*place);
        }
        Ok(*self.records.entry(record).or_insert_with(|| {
            parts.records.push(record);
            parts.records.len() as u32 - 1
        }))
    }

    /// Adds a population and appends the initial states of its neurons to `states`. If a neuron is invalid, adds
    /// nothing.
    pub(crate) fn populate(
        &mut self,
        parts: &mut NetworkParts,
        states: &mut Vec<[u32; STATE_WORDS]>,
        population: Population,
        neuron: impl Fn(u32) -> (Model, Option<f64>),
    ) -> Result<(), Error> {
        let before = (parts.record_of.len(), states.len());
        let result = self.add_neurons(parts, states, &population, neuron);
        if result.is_ok() {
            parts.populations.push(population);
        } else {
            parts.record_of.truncate(before.0);
            states.truncate(before.1);
        }
        result
    }

    fn add_neurons(
        &mut self,
        parts: &mut NetworkParts,
        states: &mut Vec<[u32; STATE_WORDS]>,
        population: &Population,
        neuron: impl Fn(u32) -> (Model, Option<f64>),
    ) -> Result<(), Error> {
        let number = parts.populations.len() as u32;
        let mut last: Option<(Model, u32)> = None;
        for index in 0..population.neurons.end - population.neurons.start {
            let (model, potential) = neuron(index);
            if model.kind() != population.kind {
                let expected = format!("{:?}, the model of the population", population.kind);
                return Err(Error::parameter("model", format!("{:?}", model.kind()), expected));
            }
            states.push(model.initial(potential)?);
            let record = match &last {
                Some((same, record)) if *same == model => *record,
                _ => {
                    let record = self.record(parts, &model, number, None)?;
                    last = Some((model, record));
                    record
                }
            };
            parts.record_of.push(record);
        }
        Ok(())
    }
}

/// The memory of a neuron in bytes when a network is built: its initial state, twice while it is transposed, the index of
/// its record, the place of its row, and an entry of the list in which rows are checked.
const NEURON_BYTES: u64 = 2 * 4 * STATE_WORDS as u64 + 4 + (8 + 4) + 24;

/// Returns a population whose neurons follow those of `parts`, after checking that its neurons fit in memory.
pub(crate) fn next_population(
    parts: &NetworkParts,
    name: &str,
    dimensions: [u32; 3],
    kind: crate::Kind,
) -> Result<Population, Error> {
    let start = parts.record_of.len() as u64;
    let size = dimensions.iter().fold(1_u64, |size, &extent| size.saturating_mul(extent.into()));
    let end = start.saturating_add(size);
    if end >= u32::MAX.into() {
        return Err(Error::TooMany { what: "neurons", count: end, limit: u64::from(u32::MAX) - 1 });
    }
    MemoryNeed { neurons: end, synapses: 0, bytes: size * NEURON_BYTES }.check()?;
    Ok(Population { name: name.to_owned(), neurons: start as u32..end as u32, kind, dimensions })
}
