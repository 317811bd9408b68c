//! Synapses from rules, straight into packed rows.
//!
//! Every row of every rule has random numbers of its own, so the result does not depend on threads. Rows are generated
//! twice, to count and to write, and nothing is kept in between but the length of each row. Only rules that go by
//! targets do not know rows: their synapses are written in any order to the front of the rows, which are sorted at
//! last.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use bytemuck::Zeroable;
use rayon::prelude::*;

use crate::connect::Connect;
use crate::{Error, Packing, Synapses};

mod generator;

pub(crate) use generator::Generator;
use generator::Rule;

/// Synapses that are written by the same task.
const BLOCK: usize = 1 << 16;

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
    let writer = RowWriter { packing: &packing, generators, scattered: &scattered };
    blocks.into_par_iter().for_each(|(sources, block)| {
        let mut rest = block;
        let mut row = Vec::new();
        for &source in sources {
            let place;
            (place, rest) = rest.split_at_mut(lengths[source as usize] as usize * packing.words as usize);
            writer.write(source, &mut row, place);
        }
    });
    Ok(Synapses { starts, lengths, words, packing })
}

/// Writes rows.
struct RowWriter<'a> {
    packing: &'a Packing,
    generators: &'a [Generator],
    /// How many synapses each row has at its front already; empty if none has.
    scattered: &'a [u32],
}

impl RowWriter<'_> {
    /// Writes the row of a source to its place, sorted. `row` is room to work in.
    fn write(&self, source: u32, row: &mut Vec<u64>, place: &mut [u32]) {
        let scattered = self.scattered.get(source as usize).copied().unwrap_or(0);
        row.clear();
        row.extend((0..scattered as usize).map(|index| self.packing.read(place, index)));
        row.sort_unstable();
        for generator in self.generators {
            let before = row.len();
            generator.row(source, |synapse| row.push(self.packing.pack(&synapse)));
            row[before..].sort_unstable();
        }
        // Merges what is in order already.
        row.sort();
        for (index, &packed) in row.iter().enumerate() {
            self.packing.write(place, index, packed);
        }
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
