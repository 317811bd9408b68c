//! Synapses from rules, straight into packed rows.
//!
//! Every row of every rule has random numbers of its own, so the result does not depend on threads. Rows are generated
//! twice, to count and to write, and nothing is kept in between but the length of each row. Only rules that go by
//! targets do not know rows: their synapses are written in any order to the front of the rows, which are sorted at
//! last.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bytemuck::Zeroable;
use rayon::prelude::*;

use crate::connect::{Connect, Projection};
use crate::distribution::Distribution;
use crate::random::Stream;
use crate::{Error, Kind, Packing, Population, Synapse, Synapses};

/// Ends of synapses that are drawn with the same random numbers.
const BATCH: u64 = 1 << 16;

/// Synapses that are written by the same task.
const BLOCK: usize = 1 << 16;

/// A projection between two populations of a network, ready to be generated.
#[derive(Debug)]
pub(crate) struct Generator {
    seed: u64,
    number: u64,
    sources: Population,
    targets: Population,
    rule: Rule,
    weight: Distribution,
    delay: Distribution,
    /// Whether a source has to be left out among its targets.
    skips_self: bool,
    multapses: bool,
}

#[derive(Debug)]
enum Rule {
    Connect(Connect),
    /// The synapses of each source, counted.
    Counted(Vec<u32>),
    /// Sorted.
    List(Vec<(u32, Synapse)>),
}

impl Generator {
    /// A generator for the projection of this number.
    pub(crate) fn new(
        seed: u64,
        number: u64,
        [sources, targets]: [&Population; 2],
        projection: &Projection,
        weight: Distribution,
        delay: Distribution,
    ) -> Result<Self, Error> {
        let skips_self = !projection.autapses && sources.neurons == targets.neurons;
        let generator = Self {
            seed,
            number,
            sources: sources.clone(),
            targets: targets.clone(),
            rule: Rule::Connect(projection.connect.clone()),
            weight,
            delay,
            skips_self,
            multapses: projection.multapses,
        };
        generator.check(&projection.connect)?;
        Ok(generator)
    }

    /// A generator for synapses that are known.
    pub(crate) fn list(mut links: Vec<(u32, Synapse)>) -> Self {
        let everywhere = Population {
            name: String::new(),
            neurons: 0..u32::MAX,
            kind: Kind::Poisson,
            dimensions: [u32::MAX, 1, 1],
        };
        links.sort_unstable();
        let range = |of: fn(&Synapse) -> i64| {
            let values = links.iter().map(|(_, synapse)| of(synapse));
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
            rule: Rule::List(links),
            skips_self: false,
            multapses: true,
        }
    }

    fn check(&self, connect: &Connect) -> Result<(), Error> {
        let [sources, targets] =
            [&self.sources, &self.targets].map(|population| population.neurons.len() as u64);
        let to = targets - u64::from(self.skips_self && targets > 0);
        let from = sources - u64::from(self.skips_self && sources > 0);
        let distinct = |degree: u32, most: u64, rows: u64| {
            let is_possible =
                rows == 0 || degree == 0 || (most > 0 && (self.multapses || u64::from(degree) <= most));
            let expected = || format!("at most {most}, as many as there are");
            if is_possible { Ok(()) } else { Err(Error::parameter("degree", degree, expected())) }
        };
        match *connect {
            Connect::OneToOne if sources != targets => Err(Error::parameter(
                "one-to-one with targets",
                targets,
                format!("{sources}, as many as sources"),
            )),
            Connect::Probability(probability) if !(0.0..=1.0).contains(&probability) => {
                Err(Error::parameter("probability", probability, "0 to 1"))
            }
            Connect::OutDegree(degree) => distinct(degree, to, sources),
            Connect::InDegree(degree) => distinct(degree, from, targets),
            Connect::Total(total) if total > 0 && (sources == 0 || to == 0) => {
                Err(Error::parameter("number of synapses", total, "0, as there are no neurons to connect"))
            }
            Connect::Total(_) if !self.multapses => {
                Err(Error::parameter("multapses", false, "true, if the number of synapses is given"))
            }
            _ => Ok(()),
        }
    }

    /// Lowest and highest weight and delay, `None` if it certainly has no synapses.
    pub(crate) fn ranges(&self) -> Option<[[i64; 2]; 2]> {
        let is_empty = self.sources.neurons.is_empty()
            || self.targets.neurons.is_empty()
            || matches!(&self.rule, Rule::List(links) if links.is_empty());
        (!is_empty).then(|| [self.weight.range(), self.delay.range()])
    }

    /// Draws the sources of all synapses of a rule that says only how many there are: then rows know their lengths.
    fn count(&mut self) {
        let Rule::Connect(Connect::Total(total)) = self.rule else { return };
        let sources = self.sources.neurons.len();
        // Numbers from behind those of rows.
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
        self.rule = Rule::Counted(counts);
    }

    fn stream(&self, row: u32) -> Stream {
        Stream::new(self.seed, self.number, row.into())
    }

    /// A synapse to a target of the population, with the next random numbers.
    fn synapse(&self, target: u32, stream: &mut Stream) -> Synapse {
        let weight = self.weight.draw(|| stream.bits()) as i32;
        let delay = self.delay.draw(|| stream.bits()) as u32;
        Synapse { target: self.targets.neurons.start + target, delay, weight }
    }

    /// Some of the neurons of a population of `size`, given as places in it, without the one to be skipped.
    fn choose(
        &self,
        degree: u32,
        size: u32,
        skipped: u32,
        stream: &mut Stream,
        mut give: impl FnMut(u32, &mut Stream),
    ) {
        let size = size - u32::from(self.skips_self);
        let place = |chosen: u32| chosen + u32::from(self.skips_self && chosen >= skipped);
        if self.multapses {
            for _ in 0..degree {
                let chosen = place(stream.below(size));
                give(chosen, stream);
            }
            return;
        }
        // Floyd's: each of the last numbers, or, if it was chosen before, the greatest that may be.
        let mut chosen = HashSet::new();
        for most in size - degree..size {
            let next = stream.below(most + 1);
            let next = if chosen.insert(next) { next } else { most };
            chosen.insert(next);
            give(place(next), stream);
        }
    }

    /// The synapses of a source, in any order, unless the rule goes by targets.
    fn row(&self, source: u32, mut give: impl FnMut(Synapse)) {
        if !self.sources.neurons.contains(&source) {
            return;
        }
        let (row, targets) = (source - self.sources.neurons.start, self.targets.neurons.len() as u32);
        let mut stream = self.stream(row);
        let mut to = |target: u32, stream: &mut Stream| give(self.synapse(target, stream));
        let is_skipped = |target: u32| self.skips_self && target == row;
        match &self.rule {
            Rule::List(links) => {
                let start = links.partition_point(|(other, _)| *other < source);
                links[start..]
                    .iter()
                    .take_while(|(other, _)| *other == source)
                    .for_each(|(_, synapse)| give(*synapse));
            }
            Rule::Counted(counts) => self.choose(counts[row as usize], targets, row, &mut stream, to),
            Rule::Connect(Connect::OutDegree(degree)) => self.choose(*degree, targets, row, &mut stream, to),
            Rule::Connect(Connect::OneToOne) => {
                if !is_skipped(row) {
                    to(row, &mut stream);
                }
            }
            Rule::Connect(Connect::AllToAll) => {
                (0..targets).filter(|&target| !is_skipped(target)).for_each(|target| to(target, &mut stream));
            }
            Rule::Connect(Connect::Probability(probability)) => {
                // The gaps between successes are geometrically distributed.
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
            Rule::Connect(Connect::Offsets(offsets)) => {
                for offset in offsets {
                    if let Some(target) = self.at_offset(row, offset).filter(|&target| !is_skipped(target)) {
                        to(target, &mut stream);
                    }
                }
            }
            Rule::Connect(Connect::InDegree(_) | Connect::Total(_)) => {}
        }
    }

    /// The target at some distance from the place of a source.
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

    /// The synapses of all targets, in any order, if the rule goes by targets.
    fn by_target(&self, give: impl Fn(u32, Synapse) + Sync) {
        let Rule::Connect(Connect::InDegree(degree)) = self.rule else { return };
        let (sources, targets) = (self.sources.neurons.clone(), self.targets.neurons.len() as u32);
        (0..targets).into_par_iter().for_each(|target| {
            let mut stream = self.stream(target);
            self.choose(degree, sources.len() as u32, target, &mut stream, |source, stream| {
                give(sources.start + source, self.synapse(target, stream));
            });
        });
    }
}

/// The packing for these generators and weights that can be learned.
pub(crate) fn packing(neurons: u32, generators: &[Generator], learned: &[i32]) -> Result<Packing, Error> {
    let ranges = generators.iter().filter_map(Generator::ranges);
    let join = |a: [i64; 2], b: [i64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let none = [[i64::MAX, i64::MIN]; 2];
    let [weights, delays] = ranges.fold(none, |all, next| [join(all[0], next[0]), join(all[1], next[1])]);
    let weights = learned.iter().fold(weights, |all, &weight| join(all, [weight.into(); 2]));
    let weights = join(weights, [0, 0]);
    let delays = if delays[0] > delays[1] { [1, 1] } else { delays };
    Packing::new(neurons, delays.map(|delay| delay as u32), weights.map(|weight| weight as i32))
}

/// The synapses of all generators.
pub(crate) fn generate(
    neurons: u32,
    packing: Packing,
    generators: &mut [Generator],
) -> Result<Synapses, Error> {
    generators.iter_mut().for_each(Generator::count);
    let generators = &*generators;
    let scattered = scattered_lengths(neurons, generators);
    let lengths = lengths(neurons, generators, &scattered)?;
    let mut starts = Vec::with_capacity(lengths.len());
    let mut end = 0_u64;
    for &length in &lengths {
        starts.push(end);
        end += u64::from(length) * u64::from(packing.words);
    }
    let mut words = scatter(end, &packing, &starts, generators, !scattered.is_empty())?;
    let rows: Vec<u32> = (0..neurons).collect();
    let mut blocks: Vec<(&[u32], &mut [u32])> = Vec::new();
    let (mut rest, mut first) = (words.as_mut_slice(), 0);
    for (next, start) in starts.iter().copied().skip(1).chain([end]).take(starts.len()).enumerate() {
        let length = (start - starts[first]) as usize;
        if length >= BLOCK || next + 1 == starts.len() {
            let block;
            (block, rest) = rest.split_at_mut(length);
            blocks.push((&rows[first..=next], block));
            first = next + 1;
            if first == starts.len() {
                break;
            }
        }
    }
    blocks.into_par_iter().for_each(|(sources, block)| {
        let mut rest = block;
        let mut row = Vec::new();
        for &source in sources {
            let place;
            (place, rest) = rest.split_at_mut(lengths[source as usize] as usize * packing.words as usize);
            write_row(source, &packing, generators, scattered.get(source as usize).copied(), &mut row, place);
        }
    });
    Ok(Synapses { starts, lengths, words, packing })
}

/// Writes a row, sorted, at whose front some synapses are already.
fn write_row(
    source: u32,
    packing: &Packing,
    generators: &[Generator],
    scattered: Option<u32>,
    row: &mut Vec<u64>,
    place: &mut [u32],
) {
    row.clear();
    row.extend((0..scattered.unwrap_or(0) as usize).map(|index| packing.read(place, index)));
    row.sort_unstable();
    for generator in generators {
        let before = row.len();
        generator.row(source, |synapse| row.push(packing.pack(&synapse)));
        row[before..].sort_unstable();
    }
    // Merges what is in order already.
    row.sort();
    for (index, &packed) in row.iter().enumerate() {
        packing.write(place, index, packed);
    }
}

/// How many synapses of rules that go by targets each row has; empty if there are no such rules.
fn scattered_lengths(neurons: u32, generators: &[Generator]) -> Vec<u32> {
    let by_targets = |generator: &Generator| matches!(generator.rule, Rule::Connect(Connect::InDegree(_)));
    if !generators.iter().any(by_targets) {
        return Vec::new();
    }
    let lengths: Vec<AtomicU32> = (0..neurons).map(|_| AtomicU32::new(0)).collect();
    for generator in generators {
        generator.by_target(|source, _| {
            lengths[source as usize].fetch_add(1, Relaxed);
        });
    }
    lengths.into_iter().map(AtomicU32::into_inner).collect()
}

/// The lengths of all rows.
fn lengths(neurons: u32, generators: &[Generator], scattered: &[u32]) -> Result<Vec<u32>, Error> {
    let length = |source: u32| {
        let mut count = u64::from(scattered.get(source as usize).copied().unwrap_or(0));
        for generator in generators {
            match &generator.rule {
                // Known without drawing.
                Rule::Connect(Connect::OutDegree(degree)) if generator.sources.neurons.contains(&source) => {
                    count += u64::from(*degree);
                }
                Rule::Counted(counts) if generator.sources.neurons.contains(&source) => {
                    count += u64::from(counts[(source - generator.sources.neurons.start) as usize]);
                }
                _ => generator.row(source, |_| count += 1),
            }
        }
        let limit = u32::MAX.into();
        u32::try_from(count).map_err(|_| Error::TooMany { what: "synapses of a neuron", count, limit })
    };
    (0..neurons).into_par_iter().with_min_len(64).map(length).collect()
}

/// Room for all rows, with the synapses of rules that go by targets at their fronts.
fn scatter(
    length: u64,
    packing: &Packing,
    starts: &[u64],
    generators: &[Generator],
    is_needed: bool,
) -> Result<Vec<u32>, Error> {
    if !is_needed {
        return room(length);
    }
    let words: Vec<AtomicU32> = room(length)?;
    let cursors: Vec<AtomicU32> = starts.iter().map(|_| AtomicU32::new(0)).collect();
    for generator in generators {
        generator.by_target(|source, synapse| {
            let index = cursors[source as usize].fetch_add(1, Relaxed) as usize;
            let place = starts[source as usize] as usize + index * packing.words as usize;
            let packed = packing.pack(&synapse);
            for word in 0..packing.words as usize {
                words[place + word].store((packed >> (32 * word)) as u32, Relaxed);
            }
        });
    }
    Ok(words.into_iter().map(AtomicU32::into_inner).collect())
}

/// Zeroed words.
fn room<T: Zeroable>(length: u64) -> Result<Vec<T>, Error> {
    let words =
        usize::try_from(length).ok().and_then(|words| bytemuck::allocation::try_zeroed_vec(words).ok());
    words.ok_or(Error::TooMany {
        what: "words of synapses, more than memory holds",
        count: length,
        limit: length,
    })
}

/// The neurons of a population, as places in it.
pub(crate) fn check_place(place: u32, neurons: &Range<u32>) -> Result<u32, Error> {
    let count = neurons.end - neurons.start;
    if place < count {
        Ok(neurons.start + place)
    } else {
        Err(Error::NoSuchNeuron { neuron: place.into(), neurons: count.into() })
    }
}
