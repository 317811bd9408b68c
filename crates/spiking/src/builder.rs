//! How networks are made.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::feagi::Feagi;
use crate::model::izhikevich::Izhikevich;
use crate::model::lif::Lif;
use crate::model::poisson::{self, Poisson};
use crate::model::{self, Words};
use crate::network::INJECTION_LIMIT;
use crate::record::STATE_WORDS;
use crate::{
    Error, Kind, Network, Packing, Parts, Plasticity, Population, Record, Rule, Synapse, Synapses, fixed,
};

/// The parameters of a neuron.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// The neuron of FEAGI.
    Feagi(Feagi),
    /// Leaky integrate-and-fire with exponential currents.
    Lif(Lif),
    /// Izhikevich's neuron of 2003.
    Izhikevich(Izhikevich),
    /// A source of spikes at random.
    Poisson(Poisson),
}

impl Model {
    /// Which model it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Feagi(_) => Kind::Feagi,
            Self::Lif(_) => Kind::Lif,
            Self::Izhikevich(_) => Kind::Izhikevich,
            Self::Poisson(_) => Kind::Poisson,
        }
    }

    fn record(&self, dt: f64, fraction_bits: u32) -> Result<Record, Error> {
        match self {
            Self::Feagi(feagi) => feagi.record(fraction_bits),
            Self::Lif(lif) => lif.record(dt, fraction_bits),
            Self::Izhikevich(izhikevich) => izhikevich.record(dt, fraction_bits),
            Self::Poisson(poisson) => poisson.record(dt),
        }
    }

    /// Mean events of its Poisson input in a step.
    fn poisson_mean(&self, dt: f64) -> Result<f64, Error> {
        match self {
            Self::Lif(Lif { poisson_rate, .. }) | Self::Izhikevich(Izhikevich { poisson_rate, .. }) => {
                poisson::mean("Poisson rate", *poisson_rate, dt)
            }
            Self::Feagi(_) | Self::Poisson(_) => Ok(0.0),
        }
    }

    /// The state of a neuron that begins with this potential; without one it is 0, or the resting potential.
    fn initial(&self, potential: Option<f64>) -> Result<Words, Error> {
        match self {
            Self::Feagi(_) => model::feagi::initial(potential.unwrap_or(0.0)),
            Self::Lif(lif) => lif.initial(potential.unwrap_or(lif.v_rest)),
            Self::Izhikevich(izhikevich) => izhikevich.initial(potential.unwrap_or(izhikevich.c)),
            Self::Poisson(_) => Ok([0; STATE_WORDS]),
        }
    }

    /// Whether its ports differ.
    fn has_two_ports(&self) -> bool {
        matches!(self, Self::Lif(lif) if lif.tau_ex != lif.tau_in)
    }
}

/// A population of one builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PopulationId {
    builder: u64,
    number: u32,
}

impl PopulationId {
    /// Its number in the network.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }
}

/// A synapse of a list: both ends are counted within their populations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The source.
    pub source: u32,
    /// The target.
    pub target: u32,
    /// In FEAGI's units or mV.
    pub weight: f64,
    /// In steps.
    pub delay: u32,
}

/// Collects populations and synapses, and makes a network of them.
#[derive(Debug)]
pub struct Builder {
    id: u64,
    parts: Parts,
    links: Vec<(u32, Synapse)>,
    /// Where records and tables are that are there already.
    records: HashMap<Record, u32>,
    tables: HashMap<u64, [u32; 2]>,
}

impl Builder {
    /// A network whose steps are `dt` ms long.
    #[must_use]
    pub fn new(dt: f64) -> Self {
        static BUILDERS: AtomicU64 = AtomicU64::new(0);
        let packing = Packing { target_bits: 0, delay_bits: 0, weight_bits: 32, words: 1, min_delay: 1 };
        let parts = Parts {
            dt,
            seed: 0,
            fraction_bits: 0,
            injection_limit: INJECTION_LIMIT,
            ports: 1,
            max_delay: 1,
            populations: Vec::new(),
            records: Vec::new(),
            record_of: Vec::new(),
            tables: Vec::new(),
            columns: Vec::new(),
            plasticity: Vec::new(),
            synapses: Synapses { starts: Vec::new(), lengths: Vec::new(), words: Vec::new(), packing },
        };
        let id = BUILDERS.fetch_add(1, Ordering::Relaxed);
        Self { id, parts, links: Vec::new(), records: HashMap::new(), tables: HashMap::new() }
    }

    /// What random numbers depend on.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.parts.seed = seed;
        self
    }

    /// How many fraction bits weights have: 0 unless said otherwise, 20 at most. To be said first.
    #[must_use]
    pub const fn fraction_bits(mut self, bits: u32) -> Self {
        self.parts.fraction_bits = bits;
        self
    }

    /// The most that may be injected into a neuron in a step, in weight units.
    #[must_use]
    pub const fn injection_limit(mut self, units: i32) -> Self {
        self.parts.injection_limit = units;
        self
    }

    /// Adds neurons of the same parameters.
    ///
    /// # Errors
    /// A parameter is out of range, or there are too many neurons.
    pub fn population(&mut self, name: &str, neurons: u32, model: &Model) -> Result<PopulationId, Error> {
        self.populate(name, [neurons, 1, 1], model.kind(), |_| (model.clone(), None))
    }

    /// Adds a grid of neurons of some model with parameters, and perhaps initial potentials, of their own.
    ///
    /// # Errors
    /// A parameter is out of range, a neuron is of another model, or there are too many neurons.
    pub fn populate(
        &mut self,
        name: &str,
        dimensions: [u32; 3],
        kind: Kind,
        neuron: impl Fn(u32) -> (Model, Option<f64>),
    ) -> Result<PopulationId, Error> {
        let number = self.parts.populations.len() as u32;
        let start = self.parts.record_of.len() as u64;
        let size = dimensions.iter().fold(1_u64, |size, &extent| size.saturating_mul(extent.into()));
        let end = start.saturating_add(size);
        if end >= u32::MAX.into() {
            return Err(Error::TooMany { what: "neurons", count: end, limit: u64::from(u32::MAX) - 1 });
        }
        if self.parts.fraction_bits > fixed::FRACTION_BITS_MAX {
            return Err(Error::parameter("fraction bits", self.parts.fraction_bits, "0 to 20"));
        }
        let mut last: Option<(Model, u32)> = None;
        for index in 0..size as u32 {
            let (model, potential) = neuron(index);
            if model.kind() != kind {
                return Err(Error::parameter("model", format!("{:?}", model.kind()), format!("{kind:?}")));
            }
            let words = model.initial(potential)?;
            let record = match &last {
                Some((same, record)) if *same == model => *record,
                _ => {
                    let record = self.record(&model, number)?;
                    self.parts.ports = if model.has_two_ports() { 2 } else { self.parts.ports };
                    last = Some((model, record));
                    record
                }
            };
            self.parts.record_of.push(record);
            // Row by row until the number of neurons is known.
            self.parts.columns.extend(words);
        }
        let neurons = start as u32..end as u32;
        self.parts.populations.push(Population { name: name.to_owned(), neurons, kind, dimensions });
        Ok(PopulationId { builder: self.id, number })
    }

    /// The number of the record of these parameters.
    fn record(&mut self, model: &Model, population: u32) -> Result<u32, Error> {
        let mut record = model.record(self.parts.dt, self.parts.fraction_bits)?;
        record.words[Record::POPULATION] = population;
        let mean = model.poisson_mean(self.parts.dt)?;
        if mean > 0.0 {
            let tables = &mut self.parts.tables;
            let place = self.tables.entry(mean.to_bits()).or_insert_with(|| {
                let table = poisson::table(mean);
                let start = tables.len();
                tables.extend(&table);
                [start as u32, table.len() as u32]
            });
            record.words[Record::POISSON..Record::POISSON + 2].copy_from_slice(&*place);
        }
        let records = &mut self.parts.records;
        Ok(*self.records.entry(record).or_insert_with(|| {
            records.push(record);
            records.len() as u32 - 1
        }))
    }

    /// Lets the synapses between two populations learn; the limits of weights are in FEAGI's units or mV.
    ///
    /// # Errors
    /// A population is not of this builder, or a limit is out of range.
    pub fn learn(
        &mut self,
        source: PopulationId,
        target: PopulationId,
        weights: [f64; 2],
        rule: Rule,
    ) -> Result<(), Error> {
        let (source, target) = (self.number(source)?, self.number(target)?);
        let weights = [self.weight(weights[0])?, self.weight(weights[1])?];
        self.parts.plasticity.push(Plasticity { source, target, weights, rule });
        Ok(())
    }

    /// Adds the synapses of a list.
    ///
    /// # Errors
    /// A population is not of this builder, or a neuron, a weight or a delay is out of range.
    pub fn connect_list(
        &mut self,
        source: PopulationId,
        target: PopulationId,
        links: &[Link],
    ) -> Result<(), Error> {
        let ends = [self.number(source)?, self.number(target)?];
        let [sources, targets] = ends.map(|number| self.parts.populations[number as usize].neurons.clone());
        for link in links {
            for (neuron, range) in [(link.source, &sources), (link.target, &targets)] {
                let neurons = range.end - range.start;
                if neuron >= neurons {
                    return Err(Error::NoSuchNeuron { neuron: neuron.into(), neurons: neurons.into() });
                }
            }
            if !(1..1 << 16).contains(&link.delay) {
                return Err(Error::parameter("delay", link.delay, "1 to 65535 steps"));
            }
            let weight = self.weight(link.weight)?;
            let synapse = Synapse { target: targets.start + link.target, delay: link.delay, weight };
            self.links.push((sources.start + link.source, synapse));
        }
        Ok(())
    }

    fn weight(&self, weight: f64) -> Result<i32, Error> {
        model::weight_units("weight", weight, self.parts.fraction_bits)
    }

    fn number(&self, population: PopulationId) -> Result<u32, Error> {
        if population.builder == self.id { Ok(population.number) } else { Err(Error::ForeignPopulation) }
    }

    /// Makes the network.
    ///
    /// # Errors
    /// Synapses do not fit in 64 bits, or too much can arrive at a neuron in a step.
    pub fn build(mut self) -> Result<Network, Error> {
        let neurons = self.parts.record_of.len();
        self.links.sort_unstable();
        let range = |values: &mut dyn Iterator<Item = i64>| {
            values.fold([i64::MAX, i64::MIN], |[low, high], value| [low.min(value), high.max(value)])
        };
        let delays = range(&mut self.links.iter().map(|(_, synapse)| synapse.delay.into()));
        let limits = self.parts.plasticity.iter().flat_map(|rule| rule.weights);
        let weights = self.links.iter().map(|(_, synapse)| synapse.weight).chain(limits).map(i64::from);
        let weights = range(&mut weights.chain([0]));
        let delays = if self.links.is_empty() { [1, 1] } else { delays };
        let packing = Packing::new(
            neurons as u32,
            delays.map(|delay| delay as u32),
            weights.map(|weight| weight as i32),
        )?;
        let mut synapses =
            Synapses { starts: vec![0; neurons], lengths: vec![0; neurons], words: Vec::new(), packing };
        synapses.words = vec![0; self.links.len() * packing.words as usize];
        for (index, (source, synapse)) in self.links.iter().enumerate() {
            packing.write(&mut synapses.words, index, packing.pack(synapse));
            synapses.lengths[*source as usize] += 1;
        }
        let mut start = 0;
        for (row, length) in synapses.starts.iter_mut().zip(&synapses.lengths) {
            *row = start;
            start += u64::from(*length) * u64::from(packing.words);
        }
        self.parts.synapses = synapses;
        self.parts.max_delay = delays[1] as u32;
        self.parts.plasticity.sort_by_key(|rule| (rule.source, rule.target));
        let rows = std::mem::take(&mut self.parts.columns);
        self.parts.columns = (0..STATE_WORDS * neurons)
            .map(|place| rows[place % neurons * STATE_WORDS + place / neurons])
            .collect();
        Network::new(self.parts)
    }
}
