//! Synapses sorted by block, source and target, for [`Kernel::Fused`](super::Kernel::Fused).
//!
//! ```text
//! block 0: synapses of source 0 | of source 1 | ...      block 1: synapses of source 0 | ...
//! word:    index of the sum in a step | delay | amount
//! ```
//!
//! The amount is the weight, or its multiple of a divisor if a word counts the input of both ports of a neuron.
//!
//! The synapses of a source to a block are a segment. The kernel reads its words in quads, groups of four. The last quad of
//! a segment is filled with words of zero, synapses without weight, so that the kernel need not look for an end within it.
//!
//! A *line* is an aligned range of 64 bytes. There are two layouts. In the one with a *table*, segments lie one behind the
//! other, and an entry of the table says where each begins; a short segment does not cross the end of a line. In the one
//! with *lines*, each segment has a line of its own, so the kernel finds it without a table. A line has room for 15 synapses;
//! its last word is zero, or the entry of the rest of the segment, which lies behind all lines of the block.

use std::ops::Range;

use kvrm_shaders::interface::spiking::{Settings, SpikingGroup};
use kvrm_shaders::layout::spiking::{BLOCK_QUAD_BITS, LINE_QUADS, STAGED_QUADS_BITS};
use kvrm_shaders::variants::{BlockParts, Segments, Sums};
use kvrm_spiking::{Network, Synapse, Synapses};
use rayon::prelude::*;

use super::divisors::{Divisors, sums_of_neuron};
use super::layout::{STAGE_MAX, block_size};
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The approximate number of synapses that a thread sorts at a time.
const CHUNK: u64 = 1 << 22;
/// The number of words of a quad.
const QUAD: usize = 4;
/// The size of a quad, in bytes.
const QUAD_BYTES: u64 = 4 * QUAD as u64;
/// The number of quads of a line.
const LINE: u64 = LINE_QUADS as u64;
/// The number of words of a line.
const LINE_WORDS: usize = QUAD * LINE as usize;
/// The number of synapses of a line that belongs to a segment.
const LINE_SYNAPSES: usize = LINE_WORDS - 1;
/// Segments have lines if at most one of this many does not fit in its line. Such a segment needs another read, for which
/// the other invocations of a subgroup wait.
const LONG_SEGMENT: u64 = 16;
/// The maximum number of quads of a segment, so that a counter has enough bits for those of all staged segments.
const SEGMENT_QUADS_MAX: u64 = (1 << STAGED_QUADS_BITS) / STAGE_MAX as u64 - 1;

/// The packing of the words of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPacking {
    /// The number of neurons of a block.
    size: u32,
    /// The number of sums of a neuron in a step.
    sums: u32,
    /// The divisors of weights, if a neuron with two ports has one sum. Then words have multiples of them.
    divisors: Option<Divisors>,
    delay_bits: u32,
    /// The number of bits of an amount, which are the lowest ones.
    amount_bits: u32,
}

impl BlockPacking {
    /// Returns the packing for a network in `blocks` blocks, or `None` if not all synapses fit in a word.
    pub(super) fn new(network: &Network, blocks: u32, divisors: Option<Divisors>) -> Option<Self> {
        let size = block_size(network.neurons(), blocks);
        let sums = sums_of_neuron(network, divisors);
        let packing = network.synapses().packing;
        let index_bits = u32::BITS - (sums * size - 1).leading_zeros();
        let amount_bits = u32::BITS.checked_sub(index_bits + packing.delay_bits).filter(|&bits| bits > 0)?;
        let made = Self { size, sums, divisors, delay_bits: packing.delay_bits, amount_bits };
        let fits = |weight: i32| {
            let amount = made.amount(weight);
            amount << made.amount_shift() >> made.amount_shift() == amount
        };
        let sources = 0..network.neurons();
        let are_known_to_fit = packing.words == 1 && packing.weight_bits <= amount_bits;
        let do_fit = are_known_to_fit
            || sources
                .into_par_iter()
                .all(|source| network.synapses().row(source).all(|synapse| fits(synapse.weight)));
        do_fit.then_some(made)
    }

    /// Returns the amount that a word has for a weight.
    fn amount(self, weight: i32) -> i32 {
        self.divisors.map_or(weight, |divisors| divisors.multiple(weight))
    }

    /// Returns the shift, first left and then right, that extracts the amount of a word.
    const fn amount_shift(self) -> u32 {
        u32::BITS - self.amount_bits
    }

    /// Returns the shift to the right that leaves the index of the sum of a word.
    const fn index_shift(self) -> u32 {
        self.amount_bits + self.delay_bits
    }

    /// Returns the word of a synapse of a network whose shortest delay is `min_delay`.
    fn word(self, synapse: &Synapse, min_delay: u32) -> u32 {
        let sum = if synapse.weight < 0 { self.sums - 1 } else { 0 };
        let index = sum * self.size + synapse.target % self.size;
        let amount = self.amount(synapse.weight) as u32 & u32::MAX >> self.amount_shift();
        index << self.index_shift() | (synapse.delay - min_delay) << self.amount_bits | amount
    }

    /// Sets the packing in the settings of a slice.
    pub(super) const fn set(self, settings: &mut Settings) {
        settings.block_amount_shift = self.amount_shift();
        settings.block_delay_shift = self.amount_bits;
        settings.block_index_shift = self.index_shift();
        if let Some(divisors) = self.divisors {
            divisors.set(settings);
        }
    }

    /// Returns the format of the sums that the words have indices of.
    pub(super) const fn format(self) -> Sums {
        if self.divisors.is_some() { Sums::Narrow } else { Sums::Wide }
    }
}

/// Synapses that have been sorted by block and uploaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct SortedBlocks {
    pub(super) packing: BlockPacking,
    pub(super) segments: Segments,
    /// The bindings over which they are split.
    pub(super) parts: BlockParts,
}

/// The room for sorted synapses, and the layout that the options ask for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The maximum number of bindings.
    pub(super) bindings: usize,
    /// The maximum size of a binding, in bytes.
    pub(super) bytes: u64,
    /// Whether segments have lines; `None` if that depends on their lengths.
    pub(super) lines: Option<bool>,
}

/// The size of the places of `blocks` blocks, in bytes: two words each.
const fn places_bytes(blocks: u64) -> u64 {
    2 * SpikingGroup::<()>::SEGMENTS_STRIDE * blocks
}

/// Returns the size of the places of `blocks` blocks and of the table of their segments, in bytes.
pub(super) fn table_bytes(neurons: u32, blocks: u32) -> u64 {
    let blocks = u64::from(blocks);
    places_bytes(blocks) + SpikingGroup::<()>::SEGMENTS_STRIDE * blocks * u64::from(neurons)
}

/// Synapses from some sources to a block.
struct SortedPart {
    /// For each source its entry in the table, or its line.
    heads: Vec<u32>,
    /// The quads of segments, or of those parts of segments that do not fit in lines.
    words: Vec<u32>,
}

/// The numbers of quads of a block in a layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BlockQuads {
    /// The number of all quads, without lines.
    all: u64,
    /// The number of quads of the longest segment, without its line.
    longest: u64,
}

impl BlockQuads {
    /// Counts the quads of a segment of `synapses` synapses as well.
    fn add(&mut self, segments: Segments, synapses: usize) {
        let quads = quads_of(segments, synapses);
        self.all = place_behind(segments, self.all, quads) + quads;
        self.longest = self.longest.max(quads);
    }
}

/// What is known of the segments of a block before they are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    /// The number of segments.
    segments: u64,
    /// The number of those that do not fit in a line.
    long: u64,
    table: BlockQuads,
    lines: BlockQuads,
}

impl Counted {
    /// Returns the numbers of quads in a layout.
    const fn quads(&self, segments: Segments) -> BlockQuads {
        match segments {
            Segments::Table => self.table,
            Segments::Lines => self.lines,
        }
    }
}

/// Returns the number of quads of a segment of `synapses` synapses, without its line.
const fn quads_of(segments: Segments, synapses: usize) -> u64 {
    match segments {
        Segments::Table => synapses.div_ceil(QUAD) as u64,
        Segments::Lines => synapses.saturating_sub(LINE_SYNAPSES).div_ceil(QUAD) as u64,
    }
}

/// Returns the place of `quads` quads of a segment that are added behind `end` quads: the next one or, in a table, the
/// beginning of the next line if the segment would lie in two lines although it fits in one.
const fn place_behind(segments: Segments, end: u64, quads: u64) -> u64 {
    let is_split = matches!(segments, Segments::Table) && quads <= LINE && end % LINE + quads > LINE;
    if is_split { end.next_multiple_of(LINE) } else { end }
}

/// Returns the segments of a row: the number of the block, and the synapses to it. Rows are sorted by target.
fn segments_of(row: &[Synapse], packing: BlockPacking) -> impl Iterator<Item = (usize, &[Synapse])> {
    let block = move |synapse: &Synapse| synapse.target / packing.size;
    row.chunk_by(move |left, right| block(left) == block(right))
        .map(move |segment| (block(&segment[0]) as usize, segment))
}

/// Counts the segments of each block from some sources, and their quads as `sort` makes them.
fn count(synapses: &Synapses, sources: Range<u32>, packing: BlockPacking, blocks: u32) -> Vec<Counted> {
    let mut counted = vec![Counted::default(); blocks as usize];
    let mut row = Vec::new();
    for source in sources {
        row.clear();
        row.extend(synapses.row(source));
        for (block, segment) in segments_of(&row, packing) {
            let Counted { segments, long, table, lines } = &mut counted[block];
            *segments += 1;
            *long += u64::from(segment.len() > LINE_SYNAPSES);
            table.add(Segments::Table, segment.len());
            lines.add(Segments::Lines, segment.len());
        }
    }
    for block in &mut counted {
        block.table.all = block.table.all.next_multiple_of(LINE);
    }
    counted
}

/// A layout of sorted synapses.
#[derive(Clone, Copy, Debug)]
struct SortedLayout {
    packing: BlockPacking,
    segments: Segments,
    /// The number of low bits of an entry that are a place in a block. The others are a number of quads.
    place_bits: u32,
}

/// Sorts the synapses from some sources by block. `begins` has the place of the first quad behind lines in each block.
fn sort(synapses: &Synapses, sources: Range<u32>, layout: SortedLayout, begins: &[u64]) -> Vec<SortedPart> {
    let SortedLayout { packing, segments, place_bits } = layout;
    let head_words = match segments {
        Segments::Table => 1,
        Segments::Lines => LINE_WORDS,
    };
    let new = |_: &u64| SortedPart { heads: vec![0; head_words * sources.len()], words: Vec::new() };
    let mut parts: Vec<SortedPart> = begins.iter().map(new).collect();
    let mut row = Vec::new();
    for (number, source) in sources.enumerate() {
        row.clear();
        row.extend(synapses.row(source));
        for (block, segment) in segments_of(&row, packing) {
            let SortedPart { heads, words } = &mut parts[block];
            let head = &mut heads[head_words * number..][..head_words];
            let packed = segment.iter().map(|synapse| packing.word(synapse, synapses.packing.min_delay));
            let in_line = if segments == Segments::Lines { LINE_SYNAPSES } else { 0 };
            head.iter_mut().zip(packed.clone().take(in_line)).for_each(|(word, synapse)| *word = synapse);
            let quads = quads_of(segments, segment.len());
            if quads == 0 {
                continue;
            }
            let place = place_behind(segments, (words.len() / QUAD) as u64, quads);
            head[head_words - 1] = (quads as u32) << place_bits | (begins[block] + place) as u32;
            words.resize(QUAD * place as usize, 0);
            words.extend(packed.skip(in_line));
            words.resize(QUAD * (place + quads) as usize, 0);
        }
    }
    if segments == Segments::Table {
        for part in &mut parts {
            part.words.resize(part.words.len().next_multiple_of(LINE_WORDS), 0);
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

/// Allots a place in at most `most` bindings of at most `max` quads to each block. `blocks` has their numbers of quads. Returns
/// `None` if there are not enough bindings.
fn allot(blocks: impl Iterator<Item = u64>, most: usize, max: u64) -> Option<Allotment> {
    let (mut places, mut bindings) = (Vec::new(), vec![0_u64]);
    for quads in blocks {
        if bindings[bindings.len() - 1] + quads > max {
            bindings.push(0);
        }
        let last = bindings.len() - 1;
        places.push((last, bindings[last]));
        bindings[last] += quads;
    }
    let fits = bindings.len() <= most && bindings.iter().all(|&quads| quads <= max);
    fits.then_some(Allotment { places, bindings })
}

/// Returns the layout of blocks whose sources have been counted in chunks, with the places of the blocks, or `None` if the
/// synapses do not fit in it.
fn lay_out(
    counts: &[Vec<Counted>],
    neurons: u32,
    (packing, segments): (BlockPacking, Segments),
    room: Room,
) -> Option<(SortedLayout, Allotment)> {
    let blocks = counts.first().map_or(0, Vec::len);
    let lines = if segments == Segments::Lines { LINE * u64::from(neurons) } else { 0 };
    let behind = |block: usize| counts.iter().map(|counts| counts[block].quads(segments).all).sum::<u64>();
    let quads: Vec<u64> = (0..blocks).map(|block| lines + behind(block)).collect();
    let longest = counts.iter().flatten().map(|counted| counted.quads(segments).longest).max().unwrap_or(0);
    let place_bits = u32::BITS - (u64::BITS - longest.leading_zeros()).max(1);
    let do_segments_fit = longest <= SEGMENT_QUADS_MAX && quads.iter().all(|&quads| quads >> place_bits == 0);
    let max = (room.bytes / QUAD_BYTES).min(1 << BLOCK_QUAD_BITS);
    let allotment = allot(quads.into_iter(), room.bindings, max);
    let layout = SortedLayout { packing, segments, place_bits };
    allotment.filter(|_| do_segments_fit).map(|allotment| (layout, allotment))
}

/// Returns the layouts to try, the better one first.
fn candidates(counts: &[Vec<Counted>], lines: Option<bool>) -> &'static [Segments] {
    let [segments, long] = counts
        .iter()
        .flatten()
        .fold([0, 0], |[segments, long], counted| [segments + counted.segments, long + counted.long]);
    match lines {
        Some(true) => &[Segments::Lines],
        Some(false) => &[Segments::Table],
        None if LONG_SEGMENT * long <= segments => &[Segments::Lines, Segments::Table],
        None => &[Segments::Table],
    }
}

/// Sorts the synapses into `blocks` blocks, and uploads them with the places of their segments. Returns `None`, and changes
/// nothing, if they do not fit in the room, or a segment is too long for an entry.
pub(super) fn upload(
    device: &Device,
    synapses: &Synapses,
    (packing, blocks): (BlockPacking, u32),
    room: Room,
    buffers: &mut SpikingGroup<Buffer>,
) -> Result<Option<SortedBlocks>, Error> {
    let neurons = synapses.lengths.len() as u32;
    let row = (synapses.count() / u64::from(neurons.max(1))).max(1);
    let chunk = (CHUNK / row).max(64) as u32;
    let chunks: Vec<Range<u32>> = (0..neurons.div_ceil(chunk))
        .map(|number| number * chunk..(number * chunk).saturating_add(chunk).min(neurons))
        .collect();
    let counts: Vec<Vec<Counted>> =
        chunks.par_iter().map(|sources| count(synapses, sources.clone(), packing, blocks)).collect();
    let laid_out = candidates(&counts, room.lines)
        .iter()
        .find_map(|&segments| lay_out(&counts, neurons, (packing, segments), room));
    let Some((layout, Allotment { places, bindings })) = laid_out else { return Ok(None) };
    let segments = layout.segments;
    buffers.segments.grow(match segments {
        Segments::Table => table_bytes(neurons, blocks),
        Segments::Lines => places_bytes(blocks.into()),
    })?;
    let mut targets = [
        &mut buffers.blocks_a,
        &mut buffers.blocks_b,
        &mut buffers.blocks_c,
        &mut buffers.blocks_d,
        &mut buffers.blocks_e,
        &mut buffers.blocks_f,
        &mut buffers.blocks_g,
        &mut buffers.blocks_h,
    ];
    for (buffer, quads) in targets.iter_mut().zip(&bindings) {
        buffer.grow(QUAD_BYTES * quads)?;
    }
    let beginning = |&(binding, place): &(usize, u64)| {
        [(binding as u32) << BLOCK_QUAD_BITS | place as u32, layout.place_bits]
    };
    let beginnings: Vec<[u32; 2]> = places.iter().map(beginning).collect();
    buffers.segments.upload(0, &beginnings)?;
    let table = table_bytes(neurons, 1) - places_bytes(1);
    let lines = if segments == Segments::Lines { LINE } else { 0 };
    let mut begins = vec![lines * u64::from(neurons); blocks as usize];
    let threads = rayon::current_num_threads().max(1);
    for (some, counts) in chunks.chunks(threads).zip(counts.chunks(threads)) {
        // The places behind the lines at which the blocks of each chunk begin.
        let chunk_begins: Vec<Vec<u64>> = counts
            .iter()
            .map(|counts| {
                let before = begins.clone();
                for (begin, counted) in begins.iter_mut().zip(counts) {
                    *begin += counted.quads(segments).all;
                }
                before
            })
            .collect();
        let sorted: Vec<Vec<SortedPart>> = some
            .par_iter()
            .zip(&chunk_begins)
            .map(|(sources, begins)| sort(synapses, sources.clone(), layout, begins))
            .collect();
        for ((sources, parts), begins) in some.iter().zip(sorted).zip(&chunk_begins) {
            for (block, part) in parts.into_iter().enumerate() {
                let (binding, place) = places[block];
                let source = u64::from(sources.start);
                match segments {
                    Segments::Table => {
                        let place = places_bytes(blocks.into()) + table * block as u64;
                        buffers.segments.upload(place + 4 * source, &part.heads)?;
                    }
                    Segments::Lines => {
                        targets[binding].upload(QUAD_BYTES * (place + LINE * source), &part.heads)?;
                    }
                }
                targets[binding].upload(QUAD_BYTES * (place + begins[block]), &part.words)?;
            }
        }
        // wgpu keeps the written bytes in the memory of the host until a later submission has ended.
        let filling = device.submit("sorting synapses by block", |_| {})?;
        device.wait(&filling)?;
    }
    Ok(Some(SortedBlocks { packing, segments, parts: BlockParts::of(bindings.len()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_segments_lie_in_one_line() {
        for (end, quads, place) in
            [(3, 1, 3), (3, 2, 4), (5, 3, 5), (6, 3, 8), (6, 4, 8), (6, 5, 6), (7, 0, 7)]
        {
            assert_eq!(place_behind(Segments::Table, end, quads), place, "{quads} quads behind {end}");
            assert_eq!(
                place_behind(Segments::Lines, end, quads),
                end,
                "{quads} quads behind {end}, with lines"
            );
        }
    }

    #[test]
    fn segments_have_lines_if_nearly_all_fit() {
        let counts = |segments, long| vec![vec![Counted { segments, long, ..Counted::default() }; 2]];
        for (segments, long, lines, first) in [
            (32, 2, None, Segments::Lines),
            (32, 3, None, Segments::Table),
            (32, 3, Some(true), Segments::Lines),
            (32, 0, Some(false), Segments::Table),
        ] {
            let found = candidates(&counts(segments, long), lines);
            assert_eq!(found[0], first, "{long} of {segments} segments are long, asked for {lines:?}");
        }
    }

    #[test]
    fn blocks_are_in_one_binding_each() {
        let allotted = |blocks: &[u64], max| allot(blocks.iter().copied(), 4, max);
        let allotment = Allotment { places: vec![(0, 0), (0, 4), (1, 0), (1, 7)], bindings: vec![7, 8] };
        assert_eq!(allotted(&[4, 3, 7, 1], 8), Some(allotment), "the third has no room in the first binding");
        assert_eq!(allotted(&[8, 8, 8, 8, 1], 8), None, "more than four bindings");
        assert_eq!(allotted(&[1, 9], 8), None, "a block that is larger than a binding");
    }
}
