//! The moves of frames between the pools and the host.

use std::ops::Range;

use kvrm_machine::PAGE_BYTES;
use kvrm_shaders::interface::machine::{Move, MoveChoice, MovesGroup};
use kvrm_shaders::layout::{
    COLUMN_TLB, DISPATCH_ROW, INFO_AWAY, INFO_CODE_PAGE, INFO_NODE, INFO_PLACE, INFO_PLACE_BIT, MOVE_AGES,
    RANKS,
};

use super::kept::KeptBuffers;
use super::parameters::Launch;
use super::places::{Places, places_of};
use super::resident::Store;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::machine::kernels::WORKGROUP;
use crate::machine::pages::{Words, ZEROES};

/// The number of orders of frames.
const ORDERS: usize = (RANKS * MOVE_AGES) as usize;
/// The largest number of frames that move in a dispatch. They have 16 MiB, so their buffers are kept.
const MOVES_MAX: u32 = 1 << 12;

/// Returns the page of a lane, whose frame is sought.
pub(crate) const fn lane_page(lane: usize, page: u64) -> Move {
    Move { frame: 0, place: page as u32, lane: lane as u32, detail: (page >> 32) as u32 }
}

/// Returns the number of the page of a lane.
pub(crate) const fn page_number(page: &Move) -> u64 {
    page.place as u64 | (page.detail as u64) << 32
}

/// The numbers of frames in the pools, by order.
pub(crate) type Tallies = [u32; ORDERS];

impl Store {
    /// Returns the size of the buffer of places for `frames` frames, in bytes.
    pub(super) fn places_bytes(max: u32, frames: u32) -> u64 {
        4 * (u64::from(max) + 2 * u64::from(frames))
    }

    /// Adds free places to the ring.
    pub(super) fn add_places(&mut self, added: &[u32]) -> Result<(), Error> {
        let Some(places) = &mut self.places else { return Ok(()) };
        let end = (places.first_free + places.free) % places.max.max(1);
        let before_wrap = added.len().min((places.max - end) as usize);
        let (first, rest) = added.split_at(before_wrap);
        for (at, part) in [(end, first), (0, rest)] {
            if !part.is_empty() {
                places.ring[at as usize..][..part.len()].copy_from_slice(part);
                self.places_buffer.upload(4 * u64::from(at), part)?;
            }
        }
        places.free += added.len() as u32;
        Ok(())
    }

    /// Makes room in the pools for at least `wanted` frames, or for as many as may be. Returns whether there are more places than
    /// before.
    pub(crate) fn grow_places(&mut self, wanted: u32) -> Result<bool, Error> {
        let Some(places) = &self.places else { return Ok(false) };
        let (before, max) = (places.count, places.max);
        let grown = self.grow_pools(before, wanted.min(max))?;
        let added: Vec<u32> = (before..grown).collect();
        self.add_places(&added)?;
        if let Some(places) = &mut self.places {
            places.count = grown;
        }
        Ok(grown > before)
    }

    /// Counts the frames from `first` to `end` that may leave, by their order. `ranks` has the rank of each lane.
    pub(crate) fn tally(&mut self, frames: (u32, u32), ranks: &[u32]) -> Result<Tallies, Error> {
        let (buffers, group) = self.move_buffers(ranks, 1)?;
        buffers[0].upload(0, &[choice(frames, 0, 0)])?;
        buffers[2].upload(0, &[0_u32; ORDERS + 2])?;
        let kernel = self.kernels.moves(&self.device)?.tally;
        self.dispatch(&kernel, Launch::default(), Some(&group), rows(frames.1 - frames.0, WORKGROUP))?;
        let tallies = self.device.download(&[(&buffers[2], 0..4 * ORDERS as u64)])?;
        Ok(bytemuck::pod_read_unaligned(&tallies[0]))
    }

    /// Moves frames from the pools to the host: at most `wanted` of those that `tallies`, from the same frames and ranks, counts.
    /// Frames of the greatest orders leave first, and no frame of an order below `least`. Returns the number of frames that have
    /// left, which is less if the host has no room.
    pub(crate) fn evict(
        &mut self,
        frames: (u32, u32),
        ranks: &[u32],
        tallies: &Tallies,
        (wanted, least): (u32, u32),
    ) -> Result<u32, Error> {
        let Some(places) = &mut self.places else { return Ok(0) };
        let wanted = places.host.reserve(wanted.min(MOVES_MAX) as usize) as u32;
        let Some(Cut { order, quota, count }) = cut(tallies, wanted, least) else { return Ok(0) };
        let (buffers, group) = self.move_buffers(ranks, count)?;
        buffers[0].upload(0, &[choice(frames, order, quota)])?;
        buffers[2].upload(0, &[0_u32; ORDERS + 2])?;
        let kernels = self.kernels.moves(&self.device)?;
        let dispatches =
            [(&kernels.choose, rows(frames.1 - frames.0, WORKGROUP)), (&kernels.evict, rows(count, 1))];
        self.columns.flush()?;
        self.dispatch_each(&dispatches, Launch { jobs: count, ..Launch::default() }, Some(&group))?;
        let moves_bytes = u64::from(count) * size_of::<Move>() as u64;
        let words = u64::from(count) * PAGE_BYTES as u64;
        let Some(places) = &mut self.places else { return Ok(0) };
        let mut moves: Vec<Move> = Vec::new();
        self.device.download_each(
            &[(&buffers[3], 0..moves_bytes), (&buffers[4], 0..words)],
            &mut |bytes| {
                if moves.is_empty() {
                    moves = bytemuck::pod_collect_to_vec(bytes);
                } else {
                    let frames: Vec<u32> = moves.iter().map(|moved| moved.frame).collect();
                    places.host.keep_all(&frames, bytes);
                }
            },
        )?;
        places.moves.evicted += u64::from(count);
        let freed: Vec<u32> = moves.iter().map(|moved| moved.place).collect();
        self.add_places(&freed)?;
        if moves.iter().any(|moved| moved.lane as usize >= self.lanes) {
            self.columns.forget_pages();
        } else {
            self.columns.invalidate_some([COLUMN_TLB]);
        }
        Ok(count)
    }

    /// Takes their places from frames that no lane uses, and drops their contents. `info` is the information about all frames.
    pub(crate) fn release(&mut self, unused: &[u32], info: &mut [[u32; 4]]) -> Result<(), Error> {
        let Some(places) = &mut self.places else { return Ok(()) };
        let mut freed = Vec::new();
        for &frame in unused {
            let Some([low, high, _, code]) = info.get_mut(frame as usize) else { continue };
            if *high & INFO_AWAY == 0 {
                freed.push(frame ^ (*high & INFO_PLACE) >> INFO_PLACE_BIT);
            }
            places.host.drop_contents(frame);
            (*low, *high) = (0, INFO_AWAY);
            // The frame keeps its code page, but has no words that are lowered there.
            *code &= INFO_CODE_PAGE;
        }
        self.info.upload(0, info.as_flattened())?;
        self.add_places(&freed)
    }

    /// Moves frames that are away from the host to the pools, as many as there are free places for. Returns their number. If they
    /// `are_prefetched`, no lane has asked for them.
    pub(crate) fn fetch(&mut self, frames: &[u32], are_prefetched: bool) -> Result<u32, Error> {
        let mut done = 0;
        while let Some(places) = &self.places {
            let left = &frames[done as usize..];
            let count = (left.len() as u32).min(places.free).min(MOVES_MAX);
            if count == 0 {
                break;
            }
            self.fetch_some(&left[..count as usize], are_prefetched)?;
            done += count;
        }
        Ok(done)
    }

    /// Moves frames to the pools, for which there are free places.
    fn fetch_some(&mut self, frames: &[u32], are_prefetched: bool) -> Result<(), Error> {
        let Some(places) = &self.places else { return Ok(()) };
        let words = places.host.contents(frames)?;
        debug_assert!(frames.iter().all(|frame| places.host.has(*frame)), "frames are fetched once");
        let free = (places.first_free..).map(|index| places.ring[(index % places.max) as usize]);
        let moves: Vec<Move> = frames
            .iter()
            .zip(free)
            .map(|(&frame, place)| Move { frame, place, detail: are_prefetched.into(), ..Move::default() })
            .collect();
        let count = frames.len() as u32;
        let (buffers, group) = self.move_buffers(&[], count)?;
        buffers[3].upload(0, &moves)?;
        buffers[4].upload(0, words.as_flattened())?;
        let kernel = self.kernels.moves(&self.device)?.fetch;
        self.dispatch(&kernel, Launch { jobs: count, ..Launch::default() }, Some(&group), rows(count, 1))?;
        if let Some(places) = &mut self.places {
            places.take(count);
            places.moves.fetched += u64::from(count);
            places.moves.prefetched += if are_prefetched { count.into() } else { 0 };
            for frame in frames {
                places.moves.from_file += u64::from(places.host.is_filed(*frame));
                places.host.drop_contents(*frame);
            }
        }
        Ok(())
    }

    /// Sets the frames of pages that are away, and those of other pages to 0.
    pub(crate) fn locate(&mut self, pages: &mut [Move]) -> Result<(), Error> {
        self.columns.flush()?;
        let kernel = self.kernels.moves(&self.device)?.locate;
        let (found, bytes) = self.look_at(&kernel, pages)?;
        let found = self.device.download(&[(&found, 0..bytes)])?;
        pages.copy_from_slice(&bytemuck::pod_collect_to_vec(&found[0]));
        Ok(())
    }

    /// Asks which of these frames lanes have used since they were prefetched. The answer comes with the next counters.
    pub(crate) fn ask_used(&mut self, pages: &[Move]) -> Result<(), Error> {
        let kernel = self.kernels.moves(&self.device)?.find_used;
        let asked = self.look_at(&kernel, pages)?;
        if let Some(places) = &mut self.places {
            places.asked = Some(asked);
        }
        Ok(())
    }

    /// Returns the answer to [`Store::ask_used`], once: the frame is 0 if no lane has used it, and `FRAME_LOST` if it has left before.
    pub(crate) fn take_uses(&mut self) -> Vec<Move> {
        self.places.as_mut().map_or_else(Vec::new, |places| std::mem::take(&mut places.uses))
    }

    /// Lets a kernel look at pages. Returns the buffer with the result, and its bytes.
    fn look_at(&mut self, kernel: &wgpu::ComputePipeline, pages: &[Move]) -> Result<(Buffer, u64), Error> {
        let (count, bytes) = (pages.len() as u32, size_of_val(pages) as u64);
        let sizes = self.move_sizes(bytes, 0);
        let ([.., moves, _], group) = self.bind_moves(sizes, |places| {
            // An answer that nobody has read is overwritten.
            places.asked = None;
            &mut places.look_buffers
        })?;
        moves.upload(0, pages)?;
        let launch = Launch { jobs: count, ..Launch::default() };
        self.dispatch(kernel, launch, Some(&group), rows(count, WORKGROUP))?;
        Ok((moves, bytes))
    }

    /// Returns the contents of frames, whose places are in `places`. Frames that have no contents yet are zero.
    pub(crate) fn contents_of(
        &self,
        places: &[Option<u32>],
        frames: Range<u32>,
    ) -> Result<Vec<Words>, Error> {
        let Some(moving) = &self.places else {
            let contents = self.device.download(&self.frame_places(&frames))?;
            return Ok(contents.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec(bytes)).collect());
        };
        let there = |frame: u32| places[frame as usize];
        let ranges: Vec<_> = frames
            .clone()
            .filter_map(there)
            .flat_map(|place| self.frame_places(&(place..place + 1)))
            .collect();
        let away: Vec<u32> = frames.clone().filter(|frame| there(*frame).is_none()).collect();
        let mut away = moving.host.contents(&away)?.into_iter();
        let mut resident = self.device.download(&ranges)?.into_iter();
        let words = |frame| match there(frame) {
            Some(_) => resident.next().map_or(ZEROES, |bytes| bytemuck::pod_read_unaligned(&bytes)),
            None => away.next().unwrap_or(ZEROES),
        };
        Ok(frames.map(words).collect())
    }

    /// Returns the contents of frames in pieces, each for some consecutive frames.
    pub(crate) fn save_frames(&self, frames: Range<u32>) -> Result<Vec<Vec<u8>>, Error> {
        if self.places.is_none() {
            return self.device.download(&self.frame_places(&frames));
        }
        let bytes = self.device.download(&[(&self.info, self.info_places(&(0..frames.end)))])?;
        let places = places_of(&bytemuck::pod_collect_to_vec::<u8, [u32; 4]>(&bytes[0]));
        let mut pieces = Vec::new();
        for first in frames.clone().step_by(MOVES_MAX as usize) {
            let words = self.contents_of(&places, first..frames.end.min(first + MOVES_MAX))?;
            pieces.push(bytemuck::cast_slice(words.as_flattened()).to_vec());
        }
        Ok(pieces)
    }

    /// Replaces the contents of frames by those of [`Store::save_frames`]. If frames move, only nodes get places, which are noted in
    /// the information about the frames, and the others are away. Returns whether there is room.
    pub(crate) fn restore_frames(
        &mut self,
        frames: Range<u32>,
        pieces: &[Vec<u8>],
        info: &mut [[u32; 4]],
    ) -> Result<bool, Error> {
        if self.places.is_none() {
            for ((pool, place), bytes) in self.frame_places(&frames).iter().zip(pieces) {
                pool.upload(place.start, bytes)?;
            }
            return Ok(true);
        }
        let nodes = info.iter().filter(|[_, high, ..]| high & INFO_NODE != 0).count() as u32;
        self.grow_places(frames.start + nodes)?;
        let Some(places) = &mut self.places else { return Ok(true) };
        // All places but those of the images are free now.
        let (shared, count) = (frames.start, places.count);
        (places.first_free, places.free) = (0, 0);
        self.add_places(&(shared..count).collect::<Vec<_>>())?;
        let mut uploads = Vec::new();
        let Some(places) = &mut self.places else { return Ok(true) };
        let words = pieces.iter().flat_map(|bytes| bytes.chunks_exact(PAGE_BYTES));
        for ((frame, words), [_, high, ..]) in frames.zip(words).zip(info) {
            if *high & INFO_NODE == 0 {
                if places.host.reserve(1) == 0 {
                    return Ok(false);
                }
                places.host.keep(frame, words);
                *high |= INFO_AWAY;
                continue;
            }
            let Some(place) = places.free_numbers().next() else { return Ok(false) };
            places.take(1);
            *high |= (place ^ frame) << INFO_PLACE_BIT;
            uploads.push((place, words));
        }
        for (place, words) in uploads {
            for (pool, range) in self.frame_places(&(place..place + 1)) {
                pool.upload(range.start, words)?;
            }
        }
        Ok(true)
    }

    /// Returns the buffers of the kernels that move `count` frames, with the ranks of lanes, and their bind group.
    fn move_buffers(&mut self, ranks: &[u32], count: u32) -> Result<([Buffer; 5], wgpu::BindGroup), Error> {
        let bytes = |of_each: usize| u64::from(count) * of_each as u64;
        let sizes = self.move_sizes(bytes(size_of::<Move>()), bytes(PAGE_BYTES));
        let (buffers, group) = self.bind_moves(sizes, |places| &mut places.buffers)?;
        if !ranks.is_empty() {
            buffers[1].upload(0, ranks)?;
        }
        Ok((buffers, group))
    }

    /// Returns the sizes of the buffers of kernels, with so many bytes of frames or pages, and of words.
    const fn move_sizes(&self, moves: u64, words: u64) -> [(&'static str, u64); 5] {
        [
            ("the choice of frames", size_of::<MoveChoice>() as u64),
            ("ranks of lanes", 4 * self.lanes as u64),
            ("tallies of frames", 4 * (ORDERS as u64 + 2)),
            ("frames that move", if moves == 0 { size_of::<Move>() as u64 } else { moves }),
            ("words of frames that move", if words == 0 { 8 } else { words }),
        ]
    }

    /// Returns buffers of these sizes out of those that are kept, and their bind group.
    fn bind_moves(
        &mut self,
        sizes: [(&'static str, u64); 5],
        kept: impl FnOnce(&mut Places) -> &mut KeptBuffers,
    ) -> Result<([Buffer; 5], wgpu::BindGroup), Error> {
        let (device, kernels) = (self.device.clone(), self.kernels.clone());
        let Some(places) = &mut self.places else { return Err(Error::OutOfFrames { frames: self.capacity }) };
        kept(places).get(&device, sizes, |[choice, lane_ranks, tallies, moves, move_words]| {
            let group = MovesGroup { choice, lane_ranks, tallies, moves, move_words };
            kernels.layouts.moves.bind(&device, group)
        })
    }
}

/// Which frames leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// The least order of frames that leave.
    order: u32,
    /// The number of frames of this order that leave.
    quota: u32,
    /// The number of frames that leave.
    count: u32,
}

/// Returns which frames leave if `wanted` should, but none of an order below `least`. Returns `None` if no frame leaves.
fn cut(tallies: &Tallies, wanted: u32, least: u32) -> Option<Cut> {
    let mut above = 0;
    for (order, here) in (0..).zip(*tallies).skip(least as usize).collect::<Vec<_>>().into_iter().rev() {
        if above + here >= wanted {
            return (wanted > 0).then_some(Cut { order, quota: wanted - above, count: wanted });
        }
        above += here;
    }
    (above > 0).then_some(Cut { order: least, quota: u32::MAX, count: above })
}

/// Returns the choice of frames.
const fn choice((first, end): (u32, u32), order: u32, quota: u32) -> MoveChoice {
    MoveChoice { first, frames: end - first, order, quota }
}

/// Returns the grid of workgroups for `count` items, of which each workgroup has `per`.
const fn rows(count: u32, per: u32) -> (u32, u32, u32) {
    let jobs = count.div_ceil(per);
    let row = if jobs < DISPATCH_ROW { jobs } else { DISPATCH_ROW };
    (1, row, jobs.div_ceil(DISPATCH_ROW))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_greatest_orders_leave() {
        let mut tallies = [0; ORDERS];
        (tallies[90], tallies[40], tallies[3]) = (5, 10, 20);
        let of = |wanted, least| cut(&tallies, wanted, least).map(|cut| (cut.order, cut.quota, cut.count));
        assert_eq!(of(0, 0), None, "none is wanted");
        assert_eq!(of(4, 0), Some((90, 4, 4)), "four of five");
        assert_eq!(of(5, 0), Some((90, 5, 5)), "all of an order");
        assert_eq!(of(12, 0), Some((40, 7, 12)), "and some of the next");
        assert_eq!(of(100, 0), Some((0, u32::MAX, 35)), "all there are");
        assert_eq!(of(100, 4), Some((4, u32::MAX, 15)), "but those of small orders");
        assert_eq!(of(100, 91), None, "there are no others");
    }
}
