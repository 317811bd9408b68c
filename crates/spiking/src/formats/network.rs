//! Files of networks.

use std::collections::BTreeMap;
use std::io::{Read, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::FileError;
use super::container::{self, Reader, Tensor};
use crate::memory::MemoryNeed;
use crate::{
    Kind, Network, NetworkParts, Packing, Plasticity, PlasticityRule, Population, Record, STATE_WORDS,
    Synapses,
};

const FORMAT: &str = "kvrm-spiking-network";
const VERSION: u32 = 1;

/// The number of words of a record.
const RECORD_WORDS: usize = size_of::<Record>() / size_of::<u32>();

const TENSORS: [&str; 7] =
    ["records", "record_of", "tables", "columns", "row_starts", "row_lengths", "words"];

impl Network {
    /// Writes the network to a safetensors file. The same network always gives the same bytes.
    ///
    /// # Errors
    /// The file cannot be written. A file that existed before is unchanged then.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        container::write(path, &metadata(self.parts()), &tensors(self.parts()))
    }

    /// Reads a network and checks it like one that is built: all values, and that no sum of inputs can overflow.
    ///
    /// # Errors
    /// The file cannot be read, or contains no valid network.
    pub fn load(path: &Path) -> Result<Self, FileError> {
        let (name, file) = container::open(path)?;
        Self::read_from(&name, file)
    }

    /// Writes the contents of a network file to `out`.
    ///
    /// # Errors
    /// Writing to `out` failed.
    pub fn write_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        container::write_to(out, &metadata(self.parts()), &tensors(self.parts()))
    }

    /// Reads the contents of a network file from `source`. `file` is its name in messages.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn read_from(file: &str, source: impl Read + Seek) -> Result<Self, FileError> {
        let parts = read(file, source)?;
        Self::new(parts).map_err(|source| FileError::network(file, "network", source))
    }
}

/// A population in the metadata.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPopulation {
    name: String,
    neurons: [u32; 2],
    model: Model,
    dimensions: [u32; 3],
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Model {
    Feagi,
    Lif,
    Izhikevich,
    Poisson,
}

/// A plasticity rule in the metadata.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPlasticity {
    source: u32,
    target: u32,
    weights: [i32; 2],
    rule: StoredRule,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum StoredRule {
    Window { steps: u32, ltp: i32, ltd: i32 },
    Pair { potentiation: Vec<i32>, depression: Vec<i32> },
}

fn metadata(parts: &NetworkParts) -> BTreeMap<&'static str, String> {
    let populations: Vec<_> = parts.populations.iter().map(StoredPopulation::of).collect();
    let plasticity: Vec<_> = parts.plasticity.iter().map(StoredPlasticity::of).collect();
    let Packing { target_bits, delay_bits, weight_bits, words: _, min_delay } = parts.synapses.packing;
    // Both types can be represented in JSON.
    let json = |value: serde_json::Result<String>| value.unwrap_or_default();
    BTreeMap::from([
        ("format", FORMAT.to_owned()),
        ("format_version", VERSION.to_string()),
        // Rust prints the shortest text that is read back exactly.
        ("dt", parts.dt.to_string()),
        ("seed", parts.seed.to_string()),
        ("fraction_bits", parts.fraction_bits.to_string()),
        ("injection_limit", parts.injection_limit.to_string()),
        ("ports", parts.ports.to_string()),
        ("max_delay", parts.max_delay.to_string()),
        ("target_bits", target_bits.to_string()),
        ("delay_bits", delay_bits.to_string()),
        ("weight_bits", weight_bits.to_string()),
        ("min_delay", min_delay.to_string()),
        ("populations", json(serde_json::to_string(&populations))),
        ("plasticity", json(serde_json::to_string(&plasticity))),
    ])
}

fn tensors(parts: &NetworkParts) -> [Tensor<'_>; TENSORS.len()] {
    let Synapses { starts, lengths, words, packing } = &parts.synapses;
    let neurons = parts.record_of.len();
    let synapse_words = packing.words as usize;
    let records: &[u32] = bytemuck::cast_slice(&parts.records);
    [
        Tensor::new("records", &[parts.records.len(), RECORD_WORDS], records),
        Tensor::new("record_of", &[neurons], &parts.record_of),
        Tensor::new("tables", &[parts.tables.len()], &parts.tables),
        Tensor::new("columns", &[STATE_WORDS, neurons], &parts.columns),
        Tensor::new("row_starts", &[neurons], starts),
        Tensor::new("row_lengths", &[neurons], lengths),
        Tensor::new("words", &[words.len() / synapse_words, synapse_words], words),
    ]
}

fn read(file: &str, source: impl Read + Seek) -> Result<NetworkParts, FileError> {
    let mut reader = Reader::new(file, source)?;
    reader.check(FORMAT, VERSION, &TENSORS)?;
    let need = MemoryNeed {
        neurons: reader.length("record_of"),
        synapses: reader.length("words"),
        bytes: reader.data_bytes(),
    };
    need.check().map_err(|source| FileError::network(file, "network", source))?;
    let populations: Vec<StoredPopulation> = reader.json("populations")?;
    let plasticity: Vec<StoredPlasticity> = reader.json("plasticity")?;
    let packing = packing(&reader)?;
    let records: Vec<u32> = reader.take("records", &[None, Some(RECORD_WORDS)])?;
    let record_of: Vec<u32> = reader.take("record_of", &[None])?;
    let neurons = Some(record_of.len());
    Ok(NetworkParts {
        dt: reader.number("dt")?,
        seed: reader.number("seed")?,
        fraction_bits: reader.number("fraction_bits")?,
        injection_limit: reader.number("injection_limit")?,
        ports: reader.number("ports")?,
        max_delay: reader.number("max_delay")?,
        populations: populations.into_iter().map(StoredPopulation::into_population).collect(),
        records: bytemuck::cast_slice(&records).to_vec(),
        tables: reader.take("tables", &[None])?,
        columns: reader.take("columns", &[Some(STATE_WORDS), neurons])?,
        plasticity: plasticity.into_iter().map(StoredPlasticity::into_plasticity).collect(),
        synapses: Synapses {
            starts: reader.take("row_starts", &[neurons])?,
            lengths: reader.take("row_lengths", &[neurons])?,
            words: reader.take("words", &[None, Some(packing.words as usize)])?,
            packing,
        },
        record_of,
    })
}

/// Reads the packing of synapses. Unpacking relies on these checks.
fn packing(reader: &Reader<'_, impl Read + Seek>) -> Result<Packing, FileError> {
    let number = |key: &str, low: u32, high: u32| {
        let value: u32 = reader.number(key)?;
        match (low..=high).contains(&value) {
            true => Ok(value),
            false => Err(reader.wrong_key(key, format!("{low} to {high}"), value.to_string())),
        }
    };
    let (target_bits, delay_bits) = (number("target_bits", 0, 32)?, number("delay_bits", 0, 16)?);
    let (weight_bits, min_delay) = (number("weight_bits", 1, 32)?, number("min_delay", 1, u16::MAX.into())?);
    let bits = target_bits + delay_bits + weight_bits;
    let words = bits.div_ceil(32);
    if words > 2 {
        let expected = format!("at most {}", 64 - target_bits - delay_bits);
        return Err(reader.wrong_key("weight_bits", expected, weight_bits.to_string()));
    }
    Ok(Packing { target_bits, delay_bits, weight_bits, words, min_delay })
}

impl StoredPopulation {
    fn of(population: &Population) -> Self {
        let model = match population.kind {
            Kind::Feagi => Model::Feagi,
            Kind::Lif => Model::Lif,
            Kind::Izhikevich => Model::Izhikevich,
            Kind::Poisson => Model::Poisson,
        };
        let neurons = [population.neurons.start, population.neurons.end];
        Self { name: population.name.clone(), neurons, model, dimensions: population.dimensions }
    }

    fn into_population(self) -> Population {
        let kind = match self.model {
            Model::Feagi => Kind::Feagi,
            Model::Lif => Kind::Lif,
            Model::Izhikevich => Kind::Izhikevich,
            Model::Poisson => Kind::Poisson,
        };
        let neurons = self.neurons[0]..self.neurons[1];
        Population { name: self.name, neurons, kind, dimensions: self.dimensions }
    }
}

impl StoredPlasticity {
    fn of(plasticity: &Plasticity) -> Self {
        let rule = match plasticity.rule.clone() {
            PlasticityRule::Window { steps, ltp, ltd } => StoredRule::Window { steps, ltp, ltd },
            PlasticityRule::Pair { potentiation, depression } => {
                StoredRule::Pair { potentiation, depression }
            }
        };
        let &Plasticity { source, target, weights, .. } = plasticity;
        Self { source, target, weights, rule }
    }

    fn into_plasticity(self) -> Plasticity {
        let rule = match self.rule {
            StoredRule::Window { steps, ltp, ltd } => PlasticityRule::Window { steps, ltp, ltd },
            StoredRule::Pair { potentiation, depression } => {
                PlasticityRule::Pair { potentiation, depression }
            }
        };
        Plasticity { source: self.source, target: self.target, weights: self.weights, rule }
    }
}
