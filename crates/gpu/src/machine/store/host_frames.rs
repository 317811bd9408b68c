//! The contents of frames that are on the host.

use kvrm_machine::PAGE_BYTES;
use rayon::prelude::*;

use crate::machine::pages::Words;

/// The number of frames of a chunk, which has 4 MiB.
const CHUNK: usize = 1 << 10;
/// The slot of a frame that is not here.
const NONE: u32 = u32::MAX;
/// The slot of a frame whose words are all 0, which needs no memory.
const ZERO: u32 = u32::MAX - 1;
/// The contents of a frame whose words are all 0.
pub(super) const ZEROES: Words = [0; size_of::<Words>() / 8];

/// The contents of frames by the number of the frame. Memory is taken in chunks and kept.
#[derive(Debug, Default)]
pub(crate) struct HostFrames {
    /// The slot of each frame, `NONE` or `ZERO`.
    slots: Vec<u32>,
    chunks: Vec<Box<[Words]>>,
    /// The slots that have no contents.
    free: Vec<u32>,
    /// The largest number of slots.
    max: usize,
}

impl HostFrames {
    /// Creates a store for the contents of at most `max` frames, besides those whose words are all 0.
    pub(super) fn new(max: usize) -> Self {
        Self { max, ..Self::default() }
    }

    /// Returns the largest number of frames, besides those whose words are all 0.
    pub(super) const fn max(&self) -> usize {
        self.max
    }

    /// Makes room for the contents of `wanted` more frames. Returns the number that there is room for, which is less if the limit is
    /// reached or the host has no more memory.
    pub(super) fn reserve(&mut self, wanted: usize) -> usize {
        while self.free.len() < wanted {
            let first = self.chunks.len() * CHUNK;
            let count = CHUNK.min(self.max.saturating_sub(first));
            if count == 0 || self.free.try_reserve(count).is_err() || self.chunks.try_reserve(1).is_err() {
                break;
            }
            // The system clears pages when they are first used, which is where many threads copy.
            let Ok(chunk) = bytemuck::try_zeroed_slice_box(count) else { break };
            self.chunks.push(chunk);
            self.free.extend((first..first + count).rev().map(|slot| slot as u32));
        }
        self.free.len().min(wanted)
    }

    /// Keeps the contents of frames, for which there is room. `bytes` has those of the first frame, then those of the second.
    pub(super) fn keep_all(&mut self, frames: &[u32], bytes: &[u8]) {
        let are_zero: Vec<bool> =
            bytes.par_chunks_exact(PAGE_BYTES).map(|page| page == bytemuck::bytes_of(&ZEROES)).collect();
        // The slot and the page of each frame.
        let mut kept: Vec<(usize, &[u8])> = Vec::with_capacity(frames.len());
        for ((&frame, is_zero), page) in frames.iter().zip(are_zero).zip(bytes.chunks_exact(PAGE_BYTES)) {
            self.drop_contents(frame);
            if self.slots.len() <= frame as usize {
                self.slots.resize(frame as usize + 1, NONE);
            }
            let slot = if is_zero { ZERO } else { self.free.pop().unwrap_or(NONE) };
            self.slots[frame as usize] = slot;
            if slot < ZERO {
                kept.push((slot as usize, page));
            }
        }
        kept.sort_unstable_by_key(|(slot, _)| *slot);
        let mut copies = Vec::new();
        let mut left = &kept[..];
        for (number, chunk) in self.chunks.iter_mut().enumerate() {
            let here = left.partition_point(|(slot, _)| slot / CHUNK == number);
            let (now, later) = left.split_at(here);
            left = later;
            if !now.is_empty() {
                copies.push((chunk, now));
            }
        }
        copies.into_par_iter().for_each(|(chunk, pages)| {
            for (slot, page) in pages {
                bytemuck::bytes_of_mut(&mut chunk[slot % CHUNK]).copy_from_slice(page);
            }
        });
    }

    /// Keeps the contents of a frame, for which there is room.
    pub(super) fn keep(&mut self, frame: u32, page: &[u8]) {
        self.keep_all(&[frame], page);
    }

    /// Returns the contents of a frame, if they are here.
    pub(crate) fn contents(&self, frame: u32) -> Option<&Words> {
        match self.slots.get(frame as usize).copied() {
            None | Some(NONE) => None,
            Some(ZERO) => Some(&ZEROES),
            Some(slot) => Some(&self.chunks[slot as usize / CHUNK][slot as usize % CHUNK]),
        }
    }

    /// Drops the contents of a frame, if they are here.
    pub(super) fn drop_contents(&mut self, frame: u32) {
        if let Some(slot) = self.slots.get_mut(frame as usize) {
            let slot = std::mem::replace(slot, NONE);
            if slot < ZERO {
                self.free.push(slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the contents of a frame.
    fn words(value: u64) -> Words {
        let mut words = ZEROES;
        words[7] = value;
        words
    }

    #[test]
    fn contents_are_kept_until_they_are_dropped() {
        let mut frames = HostFrames::new(3 * CHUNK);
        assert_eq!(frames.reserve(2 * CHUNK), 2 * CHUNK, "there is room");
        for frame in 0..2 * CHUNK as u32 {
            frames.keep(5 * frame, bytemuck::bytes_of(&words(u64::from(frame))));
        }
        frames.keep(5, bytemuck::bytes_of(&words(99)));
        frames.drop_contents(10);
        frames.drop_contents(11);
        assert_eq!(frames.contents(0), Some(&ZEROES), "frame 0 is zero");
        assert_eq!(frames.contents(5), Some(&words(99)), "replaced");
        assert_eq!([frames.contents(10), frames.contents(11)], [None, None], "dropped, and never there");
        assert_eq!(frames.contents(15), Some(&words(3)), "kept");
    }

    #[test]
    fn there_is_no_more_room_than_the_limit() {
        let mut frames = HostFrames::new(CHUNK + 2);
        assert_eq!(frames.reserve(usize::MAX), CHUNK + 2, "all of it");
        for frame in 0..(CHUNK + 2) as u32 {
            frames.keep(frame, bytemuck::bytes_of(&words(1)));
        }
        assert_eq!(frames.reserve(1), 0, "it is full");
        frames.drop_contents(1);
        assert_eq!(frames.reserve(2), 1, "of the frame that was dropped");
        frames.keep(1, bytemuck::bytes_of(&ZEROES));
        assert_eq!(frames.reserve(2), 1, "zeros need no room");
    }
}
