//! Synapses sorted by block, source and target, for [`Kernel::Fused`](super::Kernel::Fused).
//!
//! ```text
//! block 0: synapses of source 0 | of source 1 | ...      block 1: synapses of source 0 | ...
//! word:    index of the sum in a step | delay | weight
//! ```
//!
//! The synapses of a source to a block are a segment. It is filled up to a multiple of four words with synapses that have
//! no weight, so that the kernel reads four words at a time, and looks at no end within them.

use kvrm_shaders::interface::spiking::SpikingGroup;
use kvrm_spiking::{Network, Synapses};
use rayon::prelude::*;

use super::layout::partition_size;
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The approximate number of synapses that a thread sorts at a time.
const CHUNK: u64 = 1 << 22;
/// The number of bindings.
const BINDINGS: usize = 4;
/// The size of four words.
const QUAD_BYTES: u64 = 16;

/// The packing of the synapses of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPacking {
    /// The number of neurons of a block.
    size: u32,
    ports: u32,
    delay_bits: u32,
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

    pub(super) const fn weight_shift(self) -> u32 {
        u32::BITS - self.weight_bits
    }

    pub(super) const fn index_shift(self) -> u32 {
        self.weight_bits + self.delay_bits
    }
}

/// Returns the size of the table of segments of `blocks` blocks, in bytes.
pub(super) fn segment_bytes(neurons: u32, blocks: u32) -> u64 {
    4 * u64::from(blocks) * (u64::from(neurons) + 2)
}

/// Synapses of some sources to a block.
#[derive(Clone, Debug, Default)]
struct Piece {
    /// The end of each source's segment in `words`, in units of four words.
    ends: Vec<u32>,
    words: Vec<u32>,
}

/// Returns the number of times four words of each block for some sources.
fn count(synapses: &Synapses, sources: &[u32], packing: BlockPacking, blocks: usize) -> Vec<u32> {
    let mut quads = vec![0; blocks];
    for &source in sources {
        let mut row = synapses.row(source).map(|synapse| synapse.target / packing.size).peekable();
        while let Some(block) = row.next() {
            let mut length = 1_u32;
            while row.next_if_eq(&block).is_some() {
                length += 1;
            }
            quads[block as usize] += length.div_ceil(4);
        }
    }
    quads
}

/// Sorts the synapses of some sources by block.
fn sort(synapses: &Synapses, sources: &[u32], packing: BlockPacking, quads: &[u32]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = quads
        .iter()
        .map(|&quads| Piece {
            ends: Vec::with_capacity(sources.len()),
            words: Vec::with_capacity(4 * quads as usize),
        })
        .collect();
    for &source in sources {
        for synapse in synapses.row(source) {
            let (block, member) = (synapse.target / packing.size, synapse.target % packing.size);
            let port = if synapse.weight < 0 { packing.ports - 1 } else { 0 };
            let index = port * packing.size + member;
            let delay = synapse.delay - synapses.packing.min_delay;
            let weight = synapse.weight as u32 & u32::MAX >> packing.weight_shift();
            let word = index << packing.index_shift() | delay << packing.weight_bits | weight;
            pieces[block as usize].words.push(word);
        }
        for piece in &mut pieces {
            piece.words.resize(piece.words.len().next_multiple_of(4), 0);
            piece.ends.push((piece.words.len() / 4) as u32);
        }
    }
    pieces
}

/// Sorts the synapses into `blocks` blocks, and uploads them with the table of their segments.
pub(super) fn upload(
    device: &Device,
    synapses: &Synapses,
    packing: BlockPacking,
    blocks: u32,
    buffers: &mut SpikingGroup<Buffer>,
) -> Result<(), Error> {
    let sources: Vec<u32> = (0..synapses.lengths.len() as u32).collect();
    let row = (synapses.count() / sources.len().max(1) as u64).max(1);
    let chunks: Vec<&[u32]> = sources.chunks((CHUNK / row).max(64) as usize).collect();
    let counts: Vec<Vec<u32>> =
        chunks.par_iter().map(|sources| count(synapses, sources, packing, blocks as usize)).collect();
    let max = device.limits().storage_bytes() / QUAD_BYTES;
    // The binding of each block, and the index of its first four words.
    let mut places = Vec::with_capacity(blocks as usize);
    let mut parts = vec![0_u64];
    for block in 0..blocks as usize {
        let quads: u64 = counts.iter().map(|counts| u64::from(counts[block])).sum();
        let last = parts.len() - 1;
        if parts[last] + quads > max && parts[last] > 0 {
            parts.push(0);
        }
        let part = parts.len() - 1;
        places.push((part, parts[part]));
        parts[part] += quads;
    }
    if parts.len() > BINDINGS || parts.iter().any(|&quads| quads > max) {
        return Err(Error::OutOfMemory {
            doing: "sorting synapses by block".to_owned(),
            max: QUAD_BYTES * max,
        });
    }
    buffers.segments.grow(segment_bytes(sources.len() as u32, blocks))?;
    let targets =
        [&mut buffers.blocks_a, &mut buffers.blocks_b, &mut buffers.blocks_c, &mut buffers.blocks_d];
    for (buffer, quads) in targets.into_iter().zip(&parts) {
        buffer.grow(QUAD_BYTES * quads)?;
    }
    let blocked = [&buffers.blocks_a, &buffers.blocks_b, &buffers.blocks_c, &buffers.blocks_d];
    let stride = sources.len() as u64 + 2;
    for (block, (part, place)) in (0..).zip(&places) {
        let head = [(*part as u32) << 30 | *place as u32];
        buffers.segments.upload(4 * (stride * block + stride - 1), &head)?;
    }
    let mut done = vec![0_u32; blocks as usize];
    let threads = rayon::current_num_threads().max(1);
    for (number, some) in chunks.chunks(threads).enumerate() {
        let first = number * threads;
        let sorted: Vec<Vec<Piece>> = some
            .par_iter()
            .zip(&counts[first..])
            .map(|(sources, counts)| sort(synapses, sources, packing, counts))
            .collect();
        for (sources, pieces) in some.iter().zip(sorted) {
            for (block, piece) in pieces.into_iter().enumerate() {
                let begin = done[block];
                let (part, place) = places[block];
                blocked[part].upload(QUAD_BYTES * (place + u64::from(begin)), &piece.words)?;
                let ends: Vec<u32> = piece.ends.iter().map(|end| begin + end).collect();
                // The end of a segment is the beginning of the next one. The first begins at zero.
                let at = stride * block as u64 + u64::from(sources[0]) + 1;
                buffers.segments.upload(4 * at, &ends)?;
                done[block] = ends.last().copied().unwrap_or(begin);
            }
        }
        // wgpu keeps the written bytes in the memory of the host until a later submission has ended.
        let filling = device.submit("sorting synapses by block", |_| {})?;
        device.wait(&filling)?;
    }
    for block in 0..u64::from(blocks) {
        buffers.segments.upload(4 * stride * block, &[0_u32])?;
    }
    Ok(())
}
