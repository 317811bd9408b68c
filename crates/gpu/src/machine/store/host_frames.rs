//! The contents of frames that are on the host, in its memory or in a file.

mod checksum;
mod cold_order;
mod file_frames;
mod file_space;
mod open_file;
mod packed;

use kvrm_machine::PAGE_BYTES;
use rayon::prelude::*;

use self::cold_order::ColdOrder;
use self::file_frames::FileFrames;
use crate::device::error::Error;
use crate::machine::bounds::Bounds;
use crate::machine::host_faults::{HostFault, HostFaults};
use crate::machine::memory_limits::MemoryLimits;
use crate::machine::pages::{Words, ZEROES};

/// The number of frames of a chunk, which has 4 MiB.
const CHUNK: usize = 1 << 10;
/// The part of the frames in memory that go to the file together, so that writes are long.
const FILED_PART: usize = 16;
/// The largest number of these frames, which have 16 MiB.
const FILED_TOGETHER: usize = 1 << 12;
/// The slot of a frame that is not here.
const NONE: u32 = u32::MAX;
/// The slot of a frame whose words are all 0, which needs no memory.
const ZERO: u32 = u32::MAX - 1;
/// Marks the slot of a frame in the file; the other bits are the number of its record there.
const FILED: u32 = 1 << 31;

/// The contents of frames by the number of the frame. Memory is taken in chunks and kept. If it is full, the frames that came first go
/// to the file, if there is one.
#[derive(Debug, Default)]
pub(crate) struct HostFrames {
    /// The slot of each frame: `NONE`, `ZERO`, a slot in the chunks, or a record with `FILED`.
    slots: Vec<u32>,
    chunks: Vec<Box<[Words]>>,
    /// The slots of the chunks that have no contents.
    free: Vec<u32>,
    /// The largest number of slots in the chunks.
    max: usize,
    file: Option<FileFrames>,
    /// The frames in the chunks, if there is a file.
    order: ColdOrder,
    /// The number of frames that have gone to the file since the last report.
    filed: u64,
    faults: HostFaults,
}

/// The place of the contents of a frame.
enum Place<'a> {
    Nowhere,
    Zero,
    Memory(&'a Words),
    /// A record of the file.
    File(u32),
}

impl HostFrames {
    /// Creates a store for the contents of at most `max` frames in memory, besides those whose words are all 0.
    fn new(max: usize) -> Self {
        Self { max, ..Self::default() }
    }

    /// Creates the store of a machine with limits, and its file if the bounds name one.
    pub(super) fn with_limits(limits: MemoryLimits, bounds: &Bounds) -> Result<Self, Error> {
        let faults = bounds.host_faults.clone();
        let file = bounds.host_file.as_ref();
        let file = file.map(|file| FileFrames::create(file, limits, faults.clone())).transpose()?;
        Ok(Self { file, faults, ..Self::new(limits.host_frames() as usize) })
    }

    /// Returns the largest number of frames, besides those whose words are all 0.
    pub(super) fn max(&self) -> usize {
        self.max + self.file.as_ref().map_or(0, FileFrames::max)
    }

    /// Makes room in memory for the contents of `wanted` more frames, if it has to by moving others to the file. Returns the number of
    /// frames that there is room for, which is less if the limits are reached, or the host has no more memory or no space for the file.
    pub(super) fn reserve(&mut self, wanted: usize) -> usize {
        while self.free.len() < wanted {
            let first = self.chunks.len() * CHUNK;
            let count = CHUNK.min(self.max.saturating_sub(first));
            if count == 0 || self.free.try_reserve(count).is_err() || self.chunks.try_reserve(1).is_err() {
                break;
            }
            if self.faults.strikes(HostFault::NoMemory) {
                break;
            }
            // The system clears pages when they are first used, which is where many threads copy.
            let Ok(chunk) = bytemuck::try_zeroed_slice_box(count) else { break };
            self.chunks.push(chunk);
            self.free.extend((first..first + count).rev().map(|slot| slot as u32));
        }
        let missing = wanted.saturating_sub(self.free.len());
        if missing > 0 {
            self.file_coldest(missing.max((self.max / FILED_PART).min(FILED_TOGETHER)));
        }
        self.free.len().min(wanted)
    }

    /// Moves the contents of `count` frames that came first to the file, or of fewer if it has no room. The others stay where they are.
    fn file_coldest(&mut self, count: usize) {
        let Some(file) = &mut self.file else { return };
        let coldest = self.order.coldest(count);
        let page = |slot: u32| &self.chunks[slot as usize / CHUNK][slot as usize % CHUNK];
        let pages: Vec<&Words> = coldest.iter().map(|(slot, _)| page(*slot)).collect();
        for ((slot, frame), record) in coldest.into_iter().zip(file.write(&pages)) {
            let Some(record) = record else { continue };
            self.slots[frame as usize] = FILED | record;
            self.order.remove(slot);
            self.free.push(slot);
            self.filed += 1;
        }
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
            if slot < FILED {
                kept.push((slot as usize, page));
                if self.file.is_some() {
                    self.order.add(slot, frame);
                }
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

    /// Returns whether the contents of a frame are here.
    pub(crate) fn has(&self, frame: u32) -> bool {
        !matches!(self.place(frame), Place::Nowhere)
    }

    /// Returns whether the contents of a frame are in the file.
    pub(super) fn is_filed(&self, frame: u32) -> bool {
        matches!(self.place(frame), Place::File(_))
    }

    /// Returns the contents of frames. Those of frames that are not here are zero.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or its contents have changed. The frames stay where they are.
    pub(super) fn contents(&self, frames: &[u32]) -> Result<Vec<Words>, Error> {
        let mut all: Vec<Words> = frames
            .par_iter()
            .map(|frame| if let Place::Memory(words) = self.place(*frame) { *words } else { ZEROES })
            .collect();
        if let Some(file) = &self.file {
            let (indices, records): (Vec<usize>, Vec<u32>) = (0..)
                .zip(frames)
                .filter_map(|(index, frame)| match self.place(*frame) {
                    Place::File(record) => Some((index, record)),
                    _ => None,
                })
                .unzip();
            for (index, words) in indices.into_iter().zip(file.read(&records)?) {
                all[index] = words;
            }
        }
        Ok(all)
    }

    /// Drops the contents of a frame, if they are here.
    pub(super) fn drop_contents(&mut self, frame: u32) {
        let Some(slot) = self.slots.get_mut(frame as usize) else { return };
        match std::mem::replace(slot, NONE) {
            NONE | ZERO => {}
            slot @ FILED.. => {
                if let Some(file) = &mut self.file {
                    file.remove(slot & !FILED);
                }
            }
            slot => {
                self.order.remove(slot);
                self.free.push(slot);
            }
        }
    }

    /// Returns the number of frames that have gone to the file since the last call.
    pub(super) fn take_filed(&mut self) -> u64 {
        std::mem::take(&mut self.filed)
    }

    /// Returns the error if the last write to the file has failed, and lets frames be written again.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        self.file.as_mut()?.take_failure()
    }

    fn place(&self, frame: u32) -> Place<'_> {
        match self.slots.get(frame as usize).copied() {
            None | Some(NONE) => Place::Nowhere,
            Some(ZERO) => Place::Zero,
            Some(slot @ FILED..) => Place::File(slot & !FILED),
            Some(slot) => Place::Memory(&self.chunks[slot as usize / CHUNK][slot as usize % CHUNK]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::Range;

    use kvrm_testkit::random::Random;
    use proptest::prelude::*;

    use super::*;
    use crate::machine::host_file::HostFile;

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
        let contents = frames.contents(&[0, 5, 15, 10]).expect("there is no file");
        let expected = [ZEROES, words(99), words(3), ZEROES];
        assert!(contents == expected, "frame 0 is zero, 5 was replaced, 15 kept and 10 dropped");
        let has: Vec<bool> = [0, 5, 10, 11].iter().map(|frame| frames.has(*frame)).collect();
        assert_eq!(has, [true, true, false, false], "10 was dropped, and 11 never there");
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

    /// Returns a store for `max` frames in memory and some in a file that has `file` bytes.
    fn with_file(max: usize, file: u64) -> (HostFrames, HostFaults, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let faults = HostFaults::new();
        let bounds = Bounds {
            host_file: Some(HostFile::new(folder.path().join("frames")).with_bytes(file)),
            host_faults: faults.clone(),
            ..Bounds::NONE
        };
        let limits = MemoryLimits::new(0, (max * PAGE_BYTES) as u64);
        let frames = HostFrames::with_limits(limits, &bounds).expect("the folder is writable");
        (frames, faults, folder)
    }

    /// Returns contents that cannot be packed.
    fn noise(seed: u64) -> Words {
        let mut random = Random::new(seed);
        std::array::from_fn(|_| random.bits())
    }

    /// Adds frames with noise while there is room, and returns their number.
    fn fill(frames: &mut HostFrames, numbers: Range<u32>) -> u32 {
        for frame in numbers.clone() {
            if frames.reserve(1) == 0 {
                return frame - numbers.start;
            }
            frames.keep(frame, bytemuck::bytes_of(&noise(frame.into())));
        }
        numbers.end - numbers.start
    }

    /// Checks that frames have the noise that they had.
    fn check(frames: &HostFrames, numbers: Range<u32>) {
        let numbers: Vec<u32> = numbers.rev().collect();
        let contents = frames.contents(&numbers).expect("no read fails");
        for (frame, words) in numbers.into_iter().zip(contents) {
            assert!(words == noise(frame.into()), "frame {frame} has its contents");
        }
    }

    #[test]
    fn frames_that_came_first_go_to_the_file() {
        let (mut frames, _, _folder) = with_file(100, (200 * PAGE_BYTES) as u64);
        assert_eq!(frames.max(), 300, "both together");
        assert_eq!(fill(&mut frames, 0..1000), 300, "until both are full");
        assert!((0..200).all(|frame| frames.is_filed(frame)), "the first ones");
        assert!(!(200..300).any(|frame| frames.is_filed(frame)), "the last ones are in memory");
        assert_eq!(frames.take_filed(), 200, "they are counted");
        check(&frames, 0..300);
        // Space of frames that are dropped is used again.
        (50..120).for_each(|frame| frames.drop_contents(frame));
        assert_eq!(fill(&mut frames, 1000..2000), 70, "as many as were dropped");
        check(&frames, 0..50);
        check(&frames, 120..300);
        check(&frames, 1000..1070);
        frames.keep(3, bytemuck::bytes_of(&ZEROES));
        assert_eq!(frames.reserve(9), 1, "a frame that becomes zero leaves the file");
        assert_eq!(frames.take_failure(), None, "a full file is no failure");
    }

    #[test]
    fn no_frame_is_lost_when_a_write_fails() {
        for (fault, before) in
            [(HostFault::WriteFails, 0), (HostFault::WriteFails, 3), (HostFault::WriteEnds, 1)]
        {
            let (mut frames, faults, _folder) = with_file(100, (200 * PAGE_BYTES) as u64);
            faults.inject(fault, before, 1);
            let kept = fill(&mut frames, 0..1000);
            assert!((100..300).contains(&kept), "the file counts as full after the failure: {kept}");
            check(&frames, 0..kept);
            let failure = frames.take_failure().map(|error| error.to_string()).unwrap_or_default();
            assert!(failure.contains("frames"), "the error names the file: {failure}");
            assert_eq!(fill(&mut frames, kept..1000), 300 - kept, "the next write succeeds");
            check(&frames, 0..300);
            assert_eq!(frames.take_failure(), None, "it is reported once");
        }
    }

    #[test]
    fn a_read_that_fails_is_an_error_and_may_succeed_later() {
        let (mut frames, faults, _folder) = with_file(20, (100 * PAGE_BYTES) as u64);
        assert_eq!(fill(&mut frames, 0..80), 80, "there is room");
        for fault in [HostFault::ReadFails, HostFault::ReadEnds, HostFault::ReadDamages] {
            faults.inject(fault, 0, 1);
            let error = frames.contents(&(0..80).collect::<Vec<_>>()).expect_err("a read fails");
            assert!(matches!(&error, Error::HostFile { done: "read", .. }), "{error}");
            check(&frames, 0..80);
        }
    }

    #[test]
    fn without_memory_frames_go_to_the_file_early() {
        let (mut frames, faults, _folder) = with_file(3 * CHUNK, (4 * CHUNK * PAGE_BYTES) as u64);
        faults.inject(HostFault::NoMemory, 1, u32::MAX);
        assert_eq!(fill(&mut frames, 0..9000), 5 * CHUNK as u32, "a chunk of memory, and the file");
        check(&frames, 0..5 * CHUNK as u32);
    }

    proptest! {
        /// Frames have the contents that they had last, whatever fails.
        #[test]
        fn contents_are_the_last_ones_or_an_error(seed: u64) {
            let mut random = Random::new(seed);
            let (mut frames, faults, _folder) = with_file(30, (60 * PAGE_BYTES) as u64);
            let mut expected: BTreeMap<u32, Words> = BTreeMap::new();
            for _ in 0..200 {
                let first = random.below(120) as u32;
                let some: Vec<u32> = (first..first + 1 + random.below(8) as u32).collect();
                match random.below(8) {
                    0 => {
                        let fault = *random.pick(&HostFault::ALL);
                        faults.inject(fault, random.below(4) as u32, random.below(3) as u32);
                    }
                    1 | 2 => some.iter().for_each(|frame| {
                        frames.drop_contents(*frame);
                        expected.remove(frame);
                    }),
                    3 => drop(frames.take_failure()),
                    4 | 5 => {
                        let words: Vec<Words> = some
                            .iter()
                            .map(|frame| expected.get(frame).copied().unwrap_or(ZEROES))
                            .collect();
                        if let Ok(contents) = frames.contents(&some) {
                            prop_assert!(contents == words, "frames {some:?}");
                        }
                    }
                    _ => {
                        if frames.reserve(some.len()) < some.len() {
                            continue;
                        }
                        let kind = random.below(3);
                        let words: Vec<Words> = some
                            .iter()
                            .map(|_| match kind {
                                0 => ZEROES,
                                1 => words(random.bits()),
                                _ => noise(random.bits()),
                            })
                            .collect();
                        frames.keep_all(&some, bytemuck::cast_slice(&words));
                        expected.extend(some.iter().copied().zip(words));
                    }
                }
            }
            faults.clear();
            for frame in 0..130 {
                prop_assert_eq!(frames.has(frame), expected.contains_key(&frame), "frame {}", frame);
            }
            let (numbers, words): (Vec<u32>, Vec<Words>) = expected.into_iter().unzip();
            prop_assert!(frames.contents(&numbers).expect("no fault is left") == words, "all frames");
        }
    }
}
