//! Synapses sorted by block, source and target, for [`Kernel::Fused`](super::Kernel::Fused).
//!
//! ```text
//! block 0: synapses of source 0 | of source 1 | ...      block 1: synapses of source 0 | ...
//! word:    index of the sum in a step | delay | weight
//! ```
//!
//! The synapses of a source to a block are a segment. The kernel reads its words in quads, groups of four. The last quad of
//! a segment is filled with words of zero, synapses without weight, so that the kernel need not look for an end within it. A
//! short segment lies in one line, which is an aligned range of 64 bytes.

use std::ops::Range;

use kvrm_shaders::interface::spiking::{Settings, SpikingGroup};
use kvrm_shaders::layout::spiking::STAGED_QUADS_BITS;
use kvrm_spiking::{Network, Synapse, Synapses};
use rayon::prelude::*;

use super::layout::{STAGE_MAX, block_size};
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The approximate number of synapses that a thread sorts at a time.
const CHUNK: u64 = 1 << 22;
/// The number of bindings for the synapses.
const BINDINGS: usize = 4;
/// The number of words of a quad.
const QUAD: usize = 4;
/// The size of a quad, in bytes.
const QUAD_BYTES: u64 = 4 * QUAD as u64;
/// The number of quads of a line.
const LINE: u64 = 4;
/// The maximum number of quads of a segment, so that a counter has enough bits for those of all staged segments.
const SEGMENT_QUADS_MAX: u64 = (1 << STAGED_QUADS_BITS) / STAGE_MAX as u64 - 1;

/// The packing of the words of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPacking {
    /// The number of neurons of a block.
    size: u32,
    /// The number of sums of a neuron in a step.
    ports: u32,
    delay_bits: u32,
    /// The number of bits of a weight, which are the lowest ones.
    weight_bits: u32,
}

impl BlockPacking {
    /// Returns the packing for a network in `blocks` blocks, or `None` if not all synapses fit in a word.
    pub(super) fn new(network: &Network, blocks: u32) -> Option<Self> {
        let size = block_size(network.neurons(), blocks);
        let ports = network.parts().ports;
        let packing = network.synapses().packing;
        let index_bits = u32::BITS - (ports * size - 1).leading_zeros();
        let weight_bits = u32::BITS.checked_sub(index_bits + packing.delay_bits).filter(|&bits| bits > 0)?;
        let made = Self { size, ports, delay_bits: packing.delay_bits, weight_bits };
        let fits = |weight: i32| weight << made.weight_shift() >> made.weight_shift() == weight;
        let sources = 0..network.neurons();
        let are_known_to_fit = packing.words == 1 && packing.weight_bits <= weight_bits;
        let do_fit = are_known_to_fit
            || sources
                .into_par_iter()
                .all(|source| network.synapses().row(source).all(|synapse| fits(synapse.weight)));
        do_fit.then_some(made)
    }

    /// Returns the shift, first left and then right, that extracts the weight of a word.
    const fn weight_shift(self) -> u32 {
        u32::BITS - self.weight_bits
    }

    /// Returns the shift to the right that leaves the index of the sum of a word.
    const fn index_shift(self) -> u32 {
        self.weight_bits + self.delay_bits
    }

    /// Returns the word of a synapse of a network whose shortest delay is `min_delay`.
    const fn word(self, synapse: &Synapse, min_delay: u32) -> u32 {
        let port = if synapse.weight < 0 { self.ports - 1 } else { 0 };
        let index = port * self.size + synapse.target % self.size;
        let weight = synapse.weight as u32 & u32::MAX >> self.weight_shift();
        index << self.index_shift() | (synapse.delay - min_delay) << self.weight_bits | weight
    }

    /// Sets the packing in the settings of a slice.
    pub(super) const fn set(self, settings: &mut Settings) {
        settings.block_weight_shift = self.weight_shift();
        settings.block_delay_shift = self.weight_bits;
        settings.block_index_shift = self.index_shift();
    }
}

/// Returns the size of the table of segments of `blocks` blocks, in bytes.
pub(super) fn segment_bytes(neurons: u32, blocks: u32) -> u64 {
    SpikingGroup::<()>::SEGMENTS_STRIDE * u64::from(blocks) * (u64::from(neurons) + 2)
}

/// Synapses from some sources to a block.
struct SortedPart {
    /// The segment of each source: the index of its first quad, and the number of its quads, which is 0 if there is none.
    segments: Vec<[u32; 2]>,
    words: Vec<u32>,
}

/// The numbers of quads of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BlockQuads {
    /// The number of all quads.
    all: u64,
    /// The number of quads of the longest segment.
    longest: u64,
}

/// Returns the place of a segment of `quads` quads that is added behind `end` quads: the next one, or the beginning of
/// the next line if it would lie in two lines although it fits in one.
const fn place_behind(end: u64, quads: u64) -> u64 {
    if quads <= LINE && end % LINE + quads > LINE { end.next_multiple_of(LINE) } else { end }
}

/// Returns the segments of a row: the number of the block, and the synapses to it. Rows are sorted by target.
fn segments_of(row: &[Synapse], packing: BlockPacking) -> impl Iterator<Item = (usize, &[Synapse])> {
    let block = move |synapse: &Synapse| synapse.target / packing.size;
    row.chunk_by(move |left, right| block(left) == block(right))
        .map(move |segment| (block(&segment[0]) as usize, segment))
}

/// Counts the quads of each block from some sources, as `sort` makes them.
fn count(synapses: &Synapses, sources: Range<u32>, packing: BlockPacking, blocks: u32) -> Vec<BlockQuads> {
    let mut counted = vec![BlockQuads::default(); blocks as usize];
    let mut row = Vec::new();
    for source in sources {
        row.clear();
        row.extend(synapses.row(source));
        for (block, segment) in segments_of(&row, packing) {
            let (block, quads) = (&mut counted[block], segment.len().div_ceil(QUAD) as u64);
            block.all = place_behind(block.all, quads) + quads;
            block.longest = block.longest.max(quads);
        }
    }
    for block in &mut counted {
        block.all = block.all.next_multiple_of(LINE);
    }
    counted
}

/// Sorts the synapses from some sources by block. `counted` has the numbers of quads of each block.
fn sort(
    synapses: &Synapses,
    sources: Range<u32>,
    packing: BlockPacking,
    counted: &[BlockQuads],
) -> Vec<SortedPart> {
    let new = |quads: &BlockQuads| SortedPart {
        segments: vec![[0; 2]; sources.len()],
        words: Vec::with_capacity(QUAD * quads.all as usize),
    };
    let mut parts: Vec<SortedPart> = counted.iter().map(new).collect();
    let mut row = Vec::new();
    for (number, source) in sources.enumerate() {
        row.clear();
        row.extend(synapses.row(source));
        for (block, segment) in segments_of(&row, packing) {
            let SortedPart { segments, words } = &mut parts[block];
            let quads = segment.len().div_ceil(QUAD);
            let place = place_behind((words.len() / QUAD) as u64, quads as u64) as usize;
            segments[number] = [place as u32, quads as u32];
            words.resize(QUAD * place, 0);
            words.extend(segment.iter().map(|synapse| packing.word(synapse, synapses.packing.min_delay)));
            words.resize(QUAD * (place + quads), 0);
        }
    }
    for part in &mut parts {
        part.words.resize(part.words.len().next_multiple_of(QUAD * LINE as usize), 0);
    }
    parts
}

/// The places of blocks in the bindings.
#[derive(Debug, PartialEq, Eq)]
struct Allotment {
    /// For each block, the number of its binding, and the index of its first quad.
    places: Vec<(usize, u64)>,
    /// The number of quads of each binding.
    bindings: Vec<u64>,
}

/// Allots a place in bindings of at most `max` quads to each block. `blocks` has their numbers of quads. Returns `None` if
/// there are not enough bindings.
fn allot(blocks: impl Iterator<Item = u64>, max: u64) -> Option<Allotment> {
    let (mut places, mut bindings) = (Vec::new(), vec![0_u64]);
    for quads in blocks {
        if bindings[bindings.len() - 1] + quads > max {
            bindings.push(0);
        }
        let last = bindings.len() - 1;
        places.push((last, bindings[last]));
        bindings[last] += quads;
    }
    let fits = bindings.len() <= BINDINGS && bindings.iter().all(|&quads| quads <= max);
    fits.then_some(Allotment { places, bindings })
}

/// Sorts the synapses into `blocks` blocks, and uploads them with the table of their segments. Returns false, and changes
/// nothing, if they do not fit in bindings of at most `max_bytes` bytes, or a segment does not fit in the table.
pub(super) fn upload(
    device: &Device,
    synapses: &Synapses,
    (packing, blocks): (BlockPacking, u32),
    max_bytes: u64,
    buffers: &mut SpikingGroup<Buffer>,
) -> Result<bool, Error> {
    let neurons = synapses.lengths.len() as u32;
    let row = (synapses.count() / u64::from(neurons.max(1))).max(1);
    let chunk = (CHUNK / row).max(64) as u32;
    let chunks: Vec<Range<u32>> = (0..neurons.div_ceil(chunk))
        .map(|number| number * chunk..(number * chunk).saturating_add(chunk).min(neurons))
        .collect();
    let counts: Vec<Vec<BlockQuads>> =
        chunks.par_iter().map(|sources| count(synapses, sources.clone(), packing, blocks)).collect();
    let quads_of = |block: usize| counts.iter().map(|counts: &Vec<BlockQuads>| counts[block].all).sum();
    let quads: Vec<u64> = (0..blocks as usize).map(quads_of).collect();
    let longest = counts.iter().flatten().map(|counted| counted.longest).max().unwrap_or(0);
    // The low bits of an entry of the table are a place in a block, and the others the length of a segment.
    let length_bits = u64::BITS - longest.leading_zeros();
    let place_bits = u32::BITS - length_bits.max(1);
    let do_segments_fit = longest <= SEGMENT_QUADS_MAX && quads.iter().all(|&quads| quads >> place_bits == 0);
    let Some(Allotment { places, bindings }) =
        allot(quads.iter().copied(), max_bytes / QUAD_BYTES).filter(|_| do_segments_fit)
    else {
        return Ok(false);
    };
    buffers.segments.grow(segment_bytes(neurons, blocks))?;
    let targets =
        [&mut buffers.blocks_a, &mut buffers.blocks_b, &mut buffers.blocks_c, &mut buffers.blocks_d];
    for (buffer, quads) in targets.into_iter().zip(&bindings) {
        buffer.grow(QUAD_BYTES * quads)?;
    }
    let targets = [&buffers.blocks_a, &buffers.blocks_b, &buffers.blocks_c, &buffers.blocks_d];
    let table = |block: usize| segment_bytes(neurons, 1) * block as u64;
    for (block, (binding, place)) in places.iter().enumerate() {
        let beginning = [(*binding as u32) << 30 | *place as u32, place_bits];
        buffers.segments.upload(table(block + 1) - size_of_val(&beginning) as u64, &beginning)?;
    }
    let mut done = vec![0_u32; blocks as usize];
    let threads = rayon::current_num_threads().max(1);
    for (some, counts) in chunks.chunks(threads).zip(counts.chunks(threads)) {
        let sorted: Vec<Vec<SortedPart>> = some
            .par_iter()
            .zip(counts)
            .map(|(sources, counts)| sort(synapses, sources.clone(), packing, counts))
            .collect();
        for (sources, parts) in some.iter().zip(sorted) {
            for (block, part) in parts.into_iter().enumerate() {
                let (binding, place) = places[block];
                let begin = done[block];
                targets[binding].upload(QUAD_BYTES * (place + u64::from(begin)), &part.words)?;
                let entry = |[place, quads]: &[u32; 2]| quads << place_bits | (begin + place);
                let entries: Vec<u32> = part.segments.iter().map(entry).collect();
                buffers.segments.upload(table(block) + 4 * u64::from(sources.start), &entries)?;
                done[block] += (part.words.len() / QUAD) as u32;
            }
        }
        // wgpu keeps the written bytes in the memory of the host until a later submission has ended.
        let filling = device.submit("sorting synapses by block", |_| {})?;
        device.wait(&filling)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_segments_lie_in_one_line() {
        for (end, quads, place) in
            [(3, 1, 3), (3, 2, 4), (5, 3, 5), (6, 3, 8), (6, 4, 8), (6, 5, 6), (7, 0, 7)]
        {
            assert_eq!(place_behind(end, quads), place, "{quads} quads behind {end}");
        }
    }

    #[test]
    fn blocks_are_in_one_binding_each() {
        let allotted = |blocks: &[u64], max| allot(blocks.iter().copied(), max);
        let allotment = Allotment { places: vec![(0, 0), (0, 4), (1, 0), (1, 7)], bindings: vec![7, 8] };
        assert_eq!(allotted(&[4, 3, 7, 1], 8), Some(allotment), "the third has no room in the first binding");
        assert_eq!(allotted(&[8, 8, 8, 8, 1], 8), None, "more than four bindings");
        assert_eq!(allotted(&[1, 9], 8), None, "a block that is larger than a binding");
    }
}
