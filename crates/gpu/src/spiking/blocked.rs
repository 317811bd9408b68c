//! Synapses sorted by block, source and target, for [`Kernel::Fused`](super::Kernel::Fused).
//!
//! ```text
//! block 0: synapses of source 0 | of source 1 | ...      block 1: synapses of source 0 | ...
//! word:    index of the sum in a step | delay | weight
//! ```
//!
//! The synapses of a source to a block are a segment. The kernel reads its words in quads, groups of four. The last quad of
//! a segment is filled with words of zero, synapses without weight, so that the kernel need not look for an end within it.

use std::iter;
use std::ops::Range;

use kvrm_shaders::interface::spiking::SpikingGroup;
use kvrm_spiking::{Network, Synapses};
use rayon::prelude::*;

use super::layout::partition_size;
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

/// The packing of the words of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPacking {
    /// The number of neurons of a block.
    size: u32,
    /// The number of sums of a neuron in a step.
    ports: u32,
    delay_bits: u32,
    /// The number of bits of a weight, which are the lowest ones.
    pub(super) weight_bits: u32,
}

impl BlockPacking {
    /// Returns the packing for a network in `blocks` blocks, or `None` if not all synapses fit in a word.
    pub(super) fn new(network: &Network, blocks: u32) -> Option<Self> {
        let size = partition_size(network.neurons(), blocks);
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
    pub(super) const fn weight_shift(self) -> u32 {
        u32::BITS - self.weight_bits
    }

    /// Returns the shift to the right that leaves the index of the sum of a word.
    pub(super) const fn index_shift(self) -> u32 {
        self.weight_bits + self.delay_bits
    }
}

/// Returns the size of the table of segments of `blocks` blocks, in bytes.
pub(super) fn segment_bytes(neurons: u32, blocks: u32) -> u64 {
    SpikingGroup::<()>::SEGMENTS_STRIDE * u64::from(blocks) * (u64::from(neurons) + 2)
}

/// Synapses from some sources to a block.
struct SortedPart {
    /// The end of the segment of each source, in quads.
    ends: Vec<u32>,
    words: Vec<u32>,
}

/// Returns the number of quads of each block from some sources.
fn count(synapses: &Synapses, sources: Range<u32>, packing: BlockPacking, blocks: u32) -> Vec<u32> {
    let mut quads = vec![0; blocks as usize];
    for source in sources {
        let mut row = synapses.row(source).map(|synapse| synapse.target / packing.size).peekable();
        while let Some(block) = row.next() {
            let mut length = 1_usize;
            while row.next_if_eq(&block).is_some() {
                length += 1;
            }
            quads[block as usize] += length.div_ceil(QUAD) as u32;
        }
    }
    quads
}

/// Sorts the synapses from some sources by block. `quads` has the number of quads of each block.
fn sort(synapses: &Synapses, sources: Range<u32>, packing: BlockPacking, quads: &[u32]) -> Vec<SortedPart> {
    let new = |&quads: &u32| SortedPart {
        ends: Vec::with_capacity(sources.len()),
        words: Vec::with_capacity(QUAD * quads as usize),
    };
    let mut parts: Vec<SortedPart> = quads.iter().map(new).collect();
    for source in sources {
        for synapse in synapses.row(source) {
            let (block, member) = (synapse.target / packing.size, synapse.target % packing.size);
            let port = if synapse.weight < 0 { packing.ports - 1 } else { 0 };
            let index = port * packing.size + member;
            let delay = synapse.delay - synapses.packing.min_delay;
            let weight = synapse.weight as u32 & u32::MAX >> packing.weight_shift();
            let word = index << packing.index_shift() | delay << packing.weight_bits | weight;
            parts[block as usize].words.push(word);
        }
        for part in &mut parts {
            part.words.resize(part.words.len().next_multiple_of(QUAD), 0);
            part.ends.push((part.words.len() / QUAD) as u32);
        }
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
/// nothing, if they do not fit in bindings of at most `max_bytes` bytes.
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
    let counts: Vec<Vec<u32>> =
        chunks.par_iter().map(|sources| count(synapses, sources.clone(), packing, blocks)).collect();
    let quads_of = |block| counts.iter().map(|counts| u64::from(counts[block])).sum();
    let Some(Allotment { places, bindings }) =
        allot((0..blocks as usize).map(quads_of), max_bytes / QUAD_BYTES)
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
        let beginning = [(*binding as u32) << 30 | *place as u32];
        buffers.segments.upload(table(block + 1) - 4, &beginning)?;
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
                // A segment begins where the one before ends.
                let ends = part.ends.iter().map(|end| begin + end);
                let bounds: Vec<u32> = iter::once(begin).chain(ends).collect();
                buffers.segments.upload(table(block) + 4 * u64::from(sources.start), &bounds)?;
                done[block] = bounds[bounds.len() - 1];
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
    fn blocks_are_in_one_binding_each() {
        let allotted = |blocks: &[u64], max| allot(blocks.iter().copied(), max);
        let allotment = Allotment { places: vec![(0, 0), (0, 4), (1, 0), (1, 7)], bindings: vec![7, 8] };
        assert_eq!(allotted(&[4, 3, 7, 1], 8), Some(allotment), "the third has no room in the first binding");
        assert_eq!(allotted(&[8, 8, 8, 8, 1], 8), None, "more than four bindings");
        assert_eq!(allotted(&[1, 9], 8), None, "a block that is larger than a binding");
    }
}
