//! How networks are made.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::connect::{DELAY_MAX, Projection};
use crate::generate::{self, Generator};
use crate::parts::{INJECTION_LIMIT, Parts};
use crate::registry::{Registry, next_population};
use crate::{
    Error, Kind, Model, Network, Plasticity, Population, Rule, STATE_WORDS, Synapse, Synapses, model,
};

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

/// Collects populations and projections, and makes a network of them.
#[derive(Debug)]
pub struct Builder {
    id: u64,
    parts: Parts,
    /// The initial state, neuron by neuron.
    states: Vec<[u32; STATE_WORDS]>,
    registry: Registry,
    generators: Vec<Generator>,
    links: Vec<(u32, Synapse)>,
}

impl Builder {
    /// A network whose steps are `dt` ms long.
    #[must_use]
    pub fn new(dt: f64) -> Self {
        static BUILDERS: AtomicU64 = AtomicU64::new(0);
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
            synapses: Synapses::none(),
        };
        Self {
            id: BUILDERS.fetch_add(1, Ordering::Relaxed),
            parts,
            states: Vec::new(),
            registry: Registry::default(),
            generators: Vec::new(),
            links: Vec::new(),
        }
    }

    /// What random numbers depend on, those of rules and those of runs.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.parts.seed = seed;
        self
    }

    /// How many fraction bits weights have: 0 unless said otherwise, 20 at most.
    #[must_use]
    pub const fn fraction_bits(mut self, bits: u32) -> Self {
        self.parts.fraction_bits = bits;
        self
    }

    /// The most that may be injected into a neuron in a step, and the greatest drive, in weight units.
    #[must_use]
    pub const fn injection_limit(mut self, units: i32) -> Self {
        self.parts.injection_limit = units;
        self
    }

    /// Leaves room for delays of so many steps, which a change may need later.
    #[must_use]
    pub const fn max_delay(mut self, steps: u32) -> Self {
        self.parts.max_delay = steps;
        self
    }

    /// Adds neurons of the same parameters.
    ///
    /// # Errors
    /// A parameter is out of range, or there are too many neurons.
    pub fn population(&mut self, name: &str, neurons: u32, model: &Model) -> Result<PopulationId, Error> {
        self.populate(name, [neurons, 1, 1], model.kind(), |_| (model.clone(), None))
    }

    /// Adds a grid of neurons of some model, each with parameters, and perhaps an initial potential, of its own.
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
        let population = next_population(&self.parts, name, dimensions, kind)?;
        self.registry.populate(&mut self.parts, &mut self.states, population, neuron)?;
        Ok(PopulationId { builder: self.id, number })
    }

    /// Adds the synapses of a rule.
    ///
    /// # Errors
    /// A population is not of this builder, or a parameter of the rule is out of range.
    pub fn connect(
        &mut self,
        source: PopulationId,
        target: PopulationId,
        projection: &Projection,
    ) -> Result<(), Error> {
        let weight = projection.weight.distribution(self.parts.fraction_bits)?;
        let delay = projection.delay.distribution(self.parts.dt)?;
        let ends = [self.of(source)?, self.of(target)?];
        let number = self.generators.len() as u64;
        let generator = Generator::new(self.parts.seed, number, ends, projection, [weight, delay])?;
        self.generators.push(generator);
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
        let [sources, targets] =
            [self.of(source)?, self.of(target)?].map(|population| population.neurons.clone());
        let synapse = |link: &Link| {
            let source = check_place(link.source, &sources)?;
            let target = check_place(link.target, &targets)?;
            check_delay(link.delay)?;
            Ok((source, Synapse { target, delay: link.delay, weight: self.weight(link.weight)? }))
        };
        let synapses: Vec<_> = links.iter().map(synapse).collect::<Result<_, Error>>()?;
        self.links.extend(synapses);
        Ok(())
    }

    /// Lets the synapses between two populations learn; the limits of weights are in FEAGI's units or mV, and what the
    /// rule adds and takes away is in weight units.
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
        self.of(source)?;
        self.of(target)?;
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

    fn of(&self, population: PopulationId) -> Result<&Population, Error> {
        let populations = &self.parts.populations;
        let own = (population.builder == self.id).then(|| populations.get(population.number as usize));
        own.flatten().ok_or(Error::ForeignPopulation)
    }

    /// Makes the network.
    ///
    /// # Errors
    /// Synapses do not fit in 64 bits or in memory, or too much can arrive at a neuron in a step.
    pub fn build(mut self) -> Result<Network, Error> {
        let neurons = self.parts.record_of.len() as u32;
        self.generators.push(Generator::list(self.links));
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

/// Checks a delay in steps.
pub(crate) fn check_delay(delay: u32) -> Result<(), Error> {
    let is_delay = (1..=DELAY_MAX).contains(&delay);
    if is_delay { Ok(()) } else { Err(Error::parameter("delay", delay, format!("1 to {DELAY_MAX} steps"))) }
}

/// The states of neurons, column by column.
pub(crate) fn columns(states: &[[u32; STATE_WORDS]]) -> Vec<u32> {
    (0..STATE_WORDS).flat_map(|word| states.iter().map(move |state| state[word])).collect()
}

/// The neurons of a population, as places in it.
fn check_place(place: u32, neurons: &Range<u32>) -> Result<u32, Error> {
    let count = neurons.end - neurons.start;
    if place < count {
        Ok(neurons.start + place)
    } else {
        Err(Error::NoSuchNeuron { neuron: place.into(), neurons: count.into() })
    }
}
