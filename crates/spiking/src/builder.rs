//! [`Builder`], which makes networks of populations and projections.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::connect::{DELAY_MAX, Projection};
use crate::generate::{self, Generator};
use crate::parts::{INJECTION_LIMIT, NetworkParts};
use crate::registry::{Registry, next_population};
use crate::{
    Error, Kind, Model, Network, Plasticity, PlasticityRule, Population, STATE_WORDS, Synapse, Synapses,
    model,
};

/// The handle of a population, valid for the builder that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PopulationId {
    builder: u64,
    number: u32,
}

impl PopulationId {
    /// Returns the number of the population in the network.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }
}

/// A synapse of an explicit list. Neurons are numbered from 0 within their populations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListedSynapse {
    /// The presynaptic neuron, within the source population.
    pub source: u32,
    /// The postsynaptic neuron, within the target population.
    pub target: u32,
    /// The weight, in FEAGI's units or mV.
    pub weight: f64,
    /// The delay, in steps.
    pub delay: u32,
}

/// A network under construction.
///
/// ```
/// use kvrm_spiking::{Builder, ConnectionRule, Delay, Lif, Model, Projection, Weight};
///
/// # fn main() -> Result<(), kvrm_spiking::Error> {
/// // Steps of 0.1 ms, weights in multiples of 2^-16 mV.
/// let mut builder = Builder::new(0.1).seed(7).fraction_bits(16);
/// let cells = builder.population("cells", 100, &Model::Lif(Lif::default()))?;
/// let projection = Projection::new(ConnectionRule::InDegree(10), 0.0, 1)
///     .weight(Weight::Normal { mean: 1.5, std: 0.15 })
///     .delay(Delay::Uniform { low: 0.5, high: 2.0 })
///     .autapses(false);
/// builder.connect(cells, cells, &projection)?;
/// let network = builder.build()?;
/// assert_eq!(network.synapses().count(), 1000);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Builder {
    id: u64,
    parts: NetworkParts,
    /// The initial state of each neuron.
    states: Vec<[u32; STATE_WORDS]>,
    registry: Registry,
    generators: Vec<Generator>,
    /// The synapses of explicit lists, each with its source.
    listed: Vec<(u32, Synapse)>,
}

impl Builder {
    /// Returns a builder of a network with steps of `dt` ms.
    #[must_use]
    pub fn new(dt: f64) -> Self {
        static BUILDERS: AtomicU64 = AtomicU64::new(0);
        let parts = NetworkParts {
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
            synapses: Synapses::none(),
        };
        Self {
            id: BUILDERS.fetch_add(1, Ordering::Relaxed),
            parts,
            states: Vec::new(),
            registry: Registry::default(),
            generators: Vec::new(),
            listed: Vec::new(),
        }
    }

    /// Sets the seed of all random numbers, those of projections and those of runs. The default is 0.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.parts.seed = seed;
        self
    }

    /// Sets the number of fraction bits of weights, at most 20. The default is 0.
    #[must_use]
    pub const fn fraction_bits(mut self, bits: u32) -> Self {
        self.parts.fraction_bits = bits;
        self
    }

    /// Sets the largest magnitude of a drive and of the injections into a neuron in one step, in weight units.
    #[must_use]
    pub const fn injection_limit(mut self, units: i32) -> Self {
        self.parts.injection_limit = units;
        self
    }

    /// Reserves room for delays of `steps` steps, which a later [`Change`](crate::Change) may need.
    #[must_use]
    pub const fn max_delay(mut self, steps: u32) -> Self {
        self.parts.max_delay = steps;
        self
    }

    /// Adds a population whose neurons have the same parameters.
    ///
    /// # Errors
    /// A parameter is out of range, or there are too many neurons.
    pub fn population(&mut self, name: &str, neurons: u32, model: &Model) -> Result<PopulationId, Error> {
        self.populate(name, [neurons, 1, 1], model.kind(), |_| (model.clone(), None))
    }

    /// Adds a grid of neurons of one model. `neuron` returns the parameters of a neuron, by its index in the
    /// population, and optionally its initial potential.
    ///
    /// # Errors
    /// A parameter is out of range, a neuron is not of the model `kind`, or there are too many neurons.
    pub fn populate(
        &mut self,
        name: &str,
        dimensions: [u32; 3],
        kind: Kind,
        neuron: impl Fn(u32) -> (Model, Option<f64>),
    ) -> Result<PopulationId, Error> {
        let number = self.parts.populations.len() as u32;
        let population = next_population(&self.parts, name, dimensions, kind)?;
        self.registry.populate(&mut self.parts, &mut self.states, population, neuron)?;
        Ok(PopulationId { builder: self.id, number })
    }

    /// Adds the synapses of a projection from one population to another.
    ///
    /// # Errors
    /// A population belongs to another builder, or a parameter of the projection is out of range.
    pub fn connect(
        &mut self,
        source: PopulationId,
        target: PopulationId,
        projection: &Projection,
    ) -> Result<(), Error> {
        let weight = projection.weight.distribution(self.parts.fraction_bits)?;
        let delay = projection.delay.distribution(self.parts.dt)?;
        let ends = [self.resolve(source)?, self.resolve(target)?];
        let number = self.generators.len() as u64;
        let generator = Generator::new(self.parts.seed, number, ends, projection, [weight, delay])?;
        self.generators.push(generator);
        Ok(())
    }

    /// Adds the synapses of an explicit list.
    ///
    /// # Errors
    /// A population belongs to another builder, or a neuron, a weight or a delay is out of range.
    pub fn connect_list(
        &mut self,
        source: PopulationId,
        target: PopulationId,
        synapses: &[ListedSynapse],
    ) -> Result<(), Error> {
        let [sources, targets] =
            [self.resolve(source)?, self.resolve(target)?].map(|population| population.neurons.clone());
        let synapse = |listed: &ListedSynapse| {
            let source = check_index(listed.source, &sources)?;
            let target = check_index(listed.target, &targets)?;
            check_delay(listed.delay)?;
            Ok((source, Synapse { target, delay: listed.delay, weight: self.weight(listed.weight)? }))
        };
        let synapses: Vec<_> = synapses.iter().map(synapse).collect::<Result<_, Error>>()?;
        self.listed.extend(synapses);
        Ok(())
    }

    /// Adds a plasticity rule for all synapses between two populations. `weights` are the lower and upper limit of
    /// weights, in FEAGI's units or mV; the amounts of the rule are in weight units.
    ///
    /// # Errors
    /// A population belongs to another builder, or a limit is out of range.
    pub fn learn(
        &mut self,
        source: PopulationId,
        target: PopulationId,
        weights: [f64; 2],
        rule: PlasticityRule,
    ) -> Result<(), Error> {
        self.resolve(source)?;
        self.resolve(target)?;
        let weights = [self.weight(weights[0])?, self.weight(weights[1])?];
        self.parts.plasticity.push(Plasticity {
            source: source.number,
            target: target.number,
            weights,
            rule,
        });
        Ok(())
    }

    fn weight(&self, weight: f64) -> Result<i32, Error> {
        model::weight_units("weight", weight, self.parts.fraction_bits)
    }

    fn resolve(&self, population: PopulationId) -> Result<&Population, Error> {
        let populations = &self.parts.populations;
        let own = (population.builder == self.id).then(|| populations.get(population.number as usize));
        own.flatten().ok_or(Error::ForeignPopulation)
    }

    /// Generates all synapses and returns the network.
    ///
    /// # Errors
    /// A synapse needs more than 64 bits, memory is too small, or the inputs of a neuron in one step could overflow.
    pub fn build(mut self) -> Result<Network, Error> {
        let neurons = self.parts.record_of.len() as u32;
        self.generators.push(Generator::list(self.listed));
        let learned: Vec<i32> = self.parts.plasticity.iter().flat_map(|rule| rule.weights).collect();
        let packing = generate::packing(neurons, &self.generators, &learned)?;
        let delays =
            self.generators.iter().filter_map(|generator| generator.ranges().map(|[_, delays]| delays[1]));
        let longest = delays.max().unwrap_or(1) as u32;
        self.parts.max_delay = self.parts.max_delay.max(longest);
        self.parts.synapses = generate::generate(neurons, packing, &mut self.generators)?;
        self.parts.plasticity.sort_by_key(|rule| (rule.source, rule.target));
        self.parts.columns = columns(&self.states);
        Network::new(self.parts)
    }
}

/// Checks that a delay, in steps, is in range.
pub(crate) fn check_delay(delay: u32) -> Result<(), Error> {
    let is_delay = (1..=DELAY_MAX).contains(&delay);
    if is_delay { Ok(()) } else { Err(Error::parameter("delay", delay, format!("1 to {DELAY_MAX} steps"))) }
}

/// Transposes the states of neurons into columns.
pub(crate) fn columns(states: &[[u32; STATE_WORDS]]) -> Vec<u32> {
    (0..STATE_WORDS).flat_map(|word| states.iter().map(move |state| state[word])).collect()
}

/// Returns the number of the neuron at index `place` of a population.
fn check_index(place: u32, neurons: &Range<u32>) -> Result<u32, Error> {
    let count = neurons.end - neurons.start;
    if place < count {
        Ok(neurons.start + place)
    } else {
        Err(Error::NoSuchNeuron { neuron: place.into(), neurons: count.into() })
    }
}
