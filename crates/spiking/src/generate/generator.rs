//! [`Generator`], which draws the synapses of one projection.

use std::collections::HashSet;

use rayon::prelude::*;

use crate::connect::{ConnectionRule, Projection};
use crate::distribution::Distribution;
use crate::random::Stream;
use crate::{Error, Kind, Population, Synapse};

/// The number of sources that are drawn from one random stream.
const BATCH: u64 = 1 << 16;

/// A projection between two populations of a network, with checked parameters.
#[derive(Debug)]
pub(crate) struct Generator {
    seed: u64,
    number: u64,
    pub(super) sources: Population,
    targets: Population,
    pub(super) rule: SynapseRule,
    weight: Distribution,
    delay: Distribution,
    /// Whether a source is excluded from its own targets.
    skips_self: bool,
    multapses: bool,
}

/// The rule that determines the synapses of a generator.
#[derive(Debug)]
pub(super) enum SynapseRule {
    /// A connection rule, by which synapses are drawn.
    Drawn(ConnectionRule),
    /// The number of synapses of each source.
    Counted(Vec<u32>),
    /// An explicit list, sorted by source.
    List(Vec<(u32, Synapse)>),
}

/// A random choice of neurons from a population.
#[derive(Clone, Copy)]
struct Choice {
    /// The number of neurons to choose.
    degree: u32,
    /// The size of the population.
    size: u32,
    /// The index of the neuron that is excluded if autapses are.
    skipped: u32,
}

impl Generator {
    /// Makes the generator of a projection. `number` selects its random numbers.
    pub(crate) fn new(
        seed: u64,
        number: u64,
        [sources, targets]: [&Population; 2],
        projection: &Projection,
        [weight, delay]: [Distribution; 2],
    ) -> Result<Self, Error> {
        let skips_self = !projection.autapses && sources.neurons == targets.neurons;
        let generator = Self {
            seed,
            number,
            sources: sources.clone(),
            targets: targets.clone(),
            rule: SynapseRule::Drawn(projection.rule.clone()),
            weight,
            delay,
            skips_self,
            multapses: projection.multapses,
        };
        generator.check(&projection.rule)?;
        Ok(generator)
    }

    /// Makes the generator of an explicit list of synapses.
    pub(crate) fn list(mut synapses: Vec<(u32, Synapse)>) -> Self {
        let everywhere = Population {
            name: String::new(),
            neurons: 0..u32::MAX,
            kind: Kind::Poisson,
            dimensions: [u32::MAX, 1, 1],
        };
        synapses.sort_unstable();
        let range = |of: fn(&Synapse) -> i64| {
            let values = synapses.iter().map(|(_, synapse)| of(synapse));
            let [low, high] =
                values.fold([i64::MAX, i64::MIN], |[low, high], value| [low.min(value), high.max(value)]);
            Distribution::uniform(low, high).unwrap_or(Distribution::constant(1))
        };
        Self {
            seed: 0,
            number: 0,
            sources: everywhere.clone(),
            targets: everywhere,
            weight: range(|synapse| synapse.weight.into()),
            delay: range(|synapse| synapse.delay.into()),
            rule: SynapseRule::List(synapses),
            skips_self: false,
            multapses: true,
        }
    }

    fn check(&self, rule: &ConnectionRule) -> Result<(), Error> {
        let [sources, targets] =
            [&self.sources, &self.targets].map(|population| population.neurons.len() as u64);
        let to = targets - u64::from(self.skips_self && targets > 0);
        let from = sources - u64::from(self.skips_self && sources > 0);
        let distinct = |degree: u32, most: u64, rows: u64| {
            let is_possible =
                rows == 0 || degree == 0 || (most > 0 && (self.multapses || u64::from(degree) <= most));
            let expected = || format!("at most {most}, the number of neurons to choose from");
            if is_possible { Ok(()) } else { Err(Error::parameter("degree", degree, expected())) }
        };
        match *rule {
            ConnectionRule::OneToOne if sources != targets => Err(Error::parameter(
                "number of targets of a one-to-one rule",
                targets,
                format!("{sources}, the number of sources"),
            )),
            ConnectionRule::Probability(probability) if !(0.0..=1.0).contains(&probability) => {
                Err(Error::parameter("probability", probability, "0 to 1"))
            }
            ConnectionRule::OutDegree(degree) => distinct(degree, to, sources),
            ConnectionRule::InDegree(degree) => distinct(degree, from, targets),
            ConnectionRule::Total(total) if total > 0 && (sources == 0 || to == 0) => Err(Error::parameter(
                "number of synapses",
                total,
                "0, because there are no neurons to connect",
            )),
            ConnectionRule::Total(total) if total > u32::MAX.into() => {
                Err(Error::parameter("number of synapses", total, "less than 2^32"))
            }
            ConnectionRule::Total(_) if !self.multapses => Err(Error::parameter(
                "multapses",
                false,
                "true, because the rule has a fixed number of synapses",
            )),
            _ => Ok(()),
        }
    }

    /// Returns the lowest and highest weight and delay; `None` if there are certainly no synapses.
    pub(crate) fn ranges(&self) -> Option<[[i64; 2]; 2]> {
        let is_empty = self.sources.neurons.is_empty()
            || self.targets.neurons.is_empty()
            || matches!(&self.rule, SynapseRule::List(synapses) if synapses.is_empty());
        (!is_empty).then(|| [self.weight.range(), self.delay.range()])
    }

    /// Returns a number of synapses that the rule certainly makes. Probabilities make fewer with a chance of less than
    /// 10^-14.
    pub(super) fn synapses_min(&self) -> u64 {
        let [sources, targets] =
            [&self.sources, &self.targets].map(|population| population.neurons.len() as u64);
        let pairs = sources * targets - if self.skips_self { sources } else { 0 };
        match &self.rule {
            SynapseRule::Drawn(rule) => match rule {
                ConnectionRule::OneToOne => {
                    if self.skips_self {
                        0
                    } else {
                        sources
                    }
                }
                ConnectionRule::AllToAll => pairs,
                ConnectionRule::Probability(probability) => {
                    let mean = pairs as f64 * probability;
                    (mean - 8.0 * mean.sqrt()).max(0.0) as u64
                }
                ConnectionRule::InDegree(degree) => targets * u64::from(*degree),
                ConnectionRule::OutDegree(degree) => sources * u64::from(*degree),
                ConnectionRule::Total(total) => *total,
                ConnectionRule::Offsets(_) => 0,
            },
            SynapseRule::Counted(counts) => counts.iter().map(|&count| u64::from(count)).sum(),
            SynapseRule::List(synapses) => synapses.len() as u64,
        }
    }

    /// Draws the sources of all synapses of a rule with a fixed total, which determines the lengths of the rows.
    pub(super) fn count(&mut self) {
        let SynapseRule::Drawn(ConnectionRule::Total(total)) = self.rule else { return };
        let sources = self.sources.neurons.len();
        // Stream numbers from the end of the range, which no row uses.
        let count = |mut counts: Vec<u32>, batch: usize| {
            let batch = batch as u64;
            let mut stream = Stream::new(self.seed, self.number, u64::MAX - batch);
            for _ in 0..BATCH.min(total - batch * BATCH) {
                counts[stream.below(sources as u32) as usize] += 1;
            }
            counts
        };
        let batches = (0..total.div_ceil(BATCH) as usize).into_par_iter().with_min_len(sources / 4096 + 16);
        let counts = batches.fold(|| vec![0; sources], count).reduce(
            || vec![0; sources],
            |mut left, right| {
                left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
                left
            },
        );
        self.rule = SynapseRule::Counted(counts);
    }

    fn stream(&self, row: u32) -> Stream {
        Stream::new(self.seed, self.number, row.into())
    }

    /// Draws a synapse to a target, given by its index in the population.
    fn synapse(&self, target: u32, stream: &mut Stream) -> Synapse {
        let weight = self.weight.draw(|| stream.bits()) as i32;
        let delay = self.delay.draw(|| stream.bits()) as u32;
        Synapse { target: self.targets.neurons.start + target, delay, weight }
    }

    /// Chooses random neurons and passes their indices in the population to `give`.
    fn choose(&self, choice: Choice, stream: &mut Stream, mut give: impl FnMut(u32, &mut Stream)) {
        let Choice { degree, size, skipped } = choice;
        let size = size - u32::from(self.skips_self);
        let place = |chosen: u32| chosen + u32::from(self.skips_self && chosen >= skipped);
        if self.multapses {
            for _ in 0..degree {
                let chosen = place(stream.below(size));
                give(chosen, stream);
            }
            return;
        }
        // Floyd's algorithm: draws from a growing range; if the number was chosen before, takes the greatest of the
        // range.
        let mut chosen = HashSet::new();
        for most in size - degree..size {
            let next = stream.below(most + 1);
            let next = if chosen.insert(next) { next } else { most };
            chosen.insert(next);
            give(place(next), stream);
        }
    }

    /// Passes the synapses of a source to `give`, in any order. Rules that generate synapses by target have none here.
    pub(super) fn row(&self, source: u32, mut give: impl FnMut(Synapse)) {
        if !self.sources.neurons.contains(&source) {
            return;
        }
        let (row, targets) = (source - self.sources.neurons.start, self.targets.neurons.len() as u32);
        let mut stream = self.stream(row);
        let mut to = |target: u32, stream: &mut Stream| give(self.synapse(target, stream));
        let among = |degree| Choice { degree, size: targets, skipped: row };
        let is_skipped = |target: u32| self.skips_self && target == row;
        match &self.rule {
            SynapseRule::List(synapses) => {
                let start = synapses.partition_point(|(other, _)| *other < source);
                synapses[start..]
                    .iter()
                    .take_while(|(other, _)| *other == source)
                    .for_each(|(_, synapse)| give(*synapse));
            }
            SynapseRule::Counted(counts) => self.choose(among(counts[row as usize]), &mut stream, to),
            SynapseRule::Drawn(ConnectionRule::OutDegree(degree)) => {
                self.choose(among(*degree), &mut stream, to);
            }
            SynapseRule::Drawn(ConnectionRule::OneToOne) => {
                if !is_skipped(row) {
                    to(row, &mut stream);
                }
            }
            SynapseRule::Drawn(ConnectionRule::AllToAll) => {
                (0..targets).filter(|&target| !is_skipped(target)).for_each(|target| to(target, &mut stream));
            }
            SynapseRule::Drawn(ConnectionRule::Probability(probability)) => {
                // The gaps between connected targets are geometrically distributed.
                let scale = libm::log1p(-probability);
                let mut next = 0.0;
                loop {
                    let gap = if scale == 0.0 { f64::INFINITY } else { libm::log(stream.unit()) / scale };
                    next += libm::floor(gap);
                    if next >= f64::from(targets) {
                        break;
                    }
                    if !is_skipped(next as u32) {
                        to(next as u32, &mut stream);
                    }
                    next += 1.0;
                }
            }
            SynapseRule::Drawn(ConnectionRule::Offsets(offsets)) => {
                for offset in offsets {
                    if let Some(target) = self.at_offset(row, offset).filter(|&target| !is_skipped(target)) {
                        to(target, &mut stream);
                    }
                }
            }
            SynapseRule::Drawn(ConnectionRule::InDegree(_) | ConnectionRule::Total(_)) => {}
        }
    }

    /// Returns the target at an offset from the coordinates of a source, if the grid of the targets contains it.
    fn at_offset(&self, row: u32, offset: &[i32; 3]) -> Option<u32> {
        let [width, height, _] = self.sources.dimensions;
        let place = [row % width, row / width % height, row / width / height];
        let mut target = 0;
        for axis in [2, 1, 0] {
            let extent = self.targets.dimensions[axis];
            let at = i64::from(place[axis]) + i64::from(offset[axis]);
            let at = u32::try_from(at).ok().filter(|&at| at < extent)?;
            target = target * extent + at;
        }
        Some(target)
    }

    /// Passes the synapses of all targets to `give`, in any order, if the rule generates synapses by target.
    pub(super) fn by_target(&self, give: impl Fn(u32, Synapse) + Sync) {
        let SynapseRule::Drawn(ConnectionRule::InDegree(degree)) = self.rule else { return };
        let (sources, targets) = (self.sources.neurons.clone(), self.targets.neurons.len() as u32);
        (0..targets).into_par_iter().for_each(|target| {
            let mut stream = self.stream(target);
            let choice = Choice { degree, size: sources.len() as u32, skipped: target };
            self.choose(choice, &mut stream, |source, stream| {
                give(sources.start + source, self.synapse(target, stream));
            });
        });
    }
}
