//! The image: the memory that lanes start with and share until they write.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use kvrm_arm64::{Access, Fault, Features, Instruction};

use crate::copied_pages::CopiedPages;
use crate::error::Error;
use crate::page_map::{ImagePage, PageMap, Region};
use crate::pages::{ADDRESS_BITS, Frame, PAGE_BYTES, PAGE_SHIFT, page_of};
use crate::permissions::Permissions;
use crate::segment::Segment;

/// The decoded instructions of one page of code.
#[derive(Clone, Debug)]
pub struct CodePage([Instruction; PAGE_BYTES / 4]);

impl CodePage {
    /// A page of undefined instructions.
    pub(crate) const UNDEFINED: Self = Self([Instruction { word: 0, op: None }; PAGE_BYTES / 4]);

    /// Decodes all words of a frame.
    pub(crate) fn decode(frame: &Frame, features: Features) -> Self {
        let mut code = Self::UNDEFINED;
        code.refresh(frame, 0, PAGE_BYTES, features);
        code
    }

    /// Returns the instruction at a word-aligned `pc` in this page.
    #[must_use]
    #[inline(always)]
    pub const fn at(&self, pc: u64) -> Instruction {
        self.0[(pc >> 2) as usize % (PAGE_BYTES / 4)]
    }

    /// Decodes again the words that contain the bytes `offset..end` of the frame.
    pub(crate) fn refresh(&mut self, frame: &Frame, offset: usize, end: usize, features: Features) {
        for index in offset / 4..end.div_ceil(4) {
            let word = frame[4 * index..][..4].try_into().map_or(0, u32::from_le_bytes);
            self.0[index] = Instruction::new(word, features);
        }
    }
}

/// The pages that programs for Linux can map: from 64 KiB, the lowest address that Linux gives to programs.
pub(crate) const LINUX_PAGES: Range<u64> = 0x10..1 << (ADDRESS_BITS - PAGE_SHIFT);
/// The end of the pages that programs for Linux are likely to map: 4 GiB.
const LIKELY_PAGES: u64 = 1 << 20;

/// The frames that all lanes share read-only when a machine is built, and the page map that lanes start with.
///
/// ```
/// use kvrm_machine::{Features, Image, Permissions, Segment};
///
/// let code = Segment { address: 0x1000, bytes: 4, data: vec![0; 4], permissions: Permissions::RX };
/// let image = Image::new(&[code], Features::ARMV8_0)?;
/// assert_eq!((image.frames_used(), image.end()), (1, 0x2000));
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Debug)]
pub struct Image {
    map: PageMap,
    /// The frames. Frame 0 is all zeros and is behind every page without data. Frames of copied pages are at the end.
    frames: Vec<Frame>,
    /// The decoded instructions of each frame, created when the frame is first executed.
    code: Vec<OnceLock<Arc<CodePage>>>,
    features: Features,
    /// The pages from the first to the last that lanes are likely to map.
    window: Range<u64>,
}

impl Image {
    /// Builds the image of `segments`. A page has the permissions of all segments that share it. Where data overlaps,
    /// the later segment wins.
    ///
    /// # Errors
    /// [`Error::Segment`] if a segment leaves the address space or has no room for its data.
    pub fn new(segments: &[Segment], features: Features) -> Result<Self, Error> {
        Self::with_room(segments, features, &[])
    }

    /// Builds an image as [`Image::new`] does, and reserves the address ranges `room` for pages that lanes map later.
    ///
    /// # Errors
    /// [`Error::Segment`] if a segment leaves the address space or has no room for its data.
    pub fn with_room(segments: &[Segment], features: Features, room: &[Range<u64>]) -> Result<Self, Error> {
        segments.iter().try_for_each(Segment::check)?;
        // The change, at each page, of the number of segments that permit reading, that permit writing, that permit
        // executing, of all segments, and of those with data.
        let mut changes: BTreeMap<u64, [i32; 5]> = BTreeMap::new();
        for segment in segments.iter().filter(|segment| segment.bytes > 0) {
            let Permissions { read, write, execute } = segment.permissions;
            let first = page_of(segment.address);
            let mut add = |bytes: u64, counts: [i32; 5]| {
                let end = (segment.address + bytes).div_ceil(PAGE_BYTES as u64);
                for (page, sign) in [(first, 1), (end, -1)] {
                    let change = changes.entry(page).or_default();
                    change.iter_mut().zip(counts).for_each(|(change, count)| *change += sign * count);
                }
            };
            add(segment.bytes, [read.into(), write.into(), execute.into(), 1, 0]);
            if !segment.data.is_empty() {
                add(segment.data.len() as u64, [0, 0, 0, 0, 1]);
            }
        }

        let (mut regions, mut frames) = (Vec::new(), vec![[0; PAGE_BYTES]]);
        let mut counts = [0; 5];
        let mut next = changes.iter().peekable();
        while let (Some((&first, change)), Some(&(&end, _))) = (next.next(), next.peek()) {
            counts.iter_mut().zip(change).for_each(|(count, change)| *count += change);
            let [read, write, execute, exists, data] = counts.map(|count| count > 0);
            if !exists {
                continue;
            }
            let first_frame = data.then(|| {
                let frame = frames.len() as u32;
                frames.resize(frames.len() + (end - first) as usize, [0; PAGE_BYTES]);
                frame
            });
            let permissions = Permissions { read, write, execute };
            regions.push(Region { first_page: first, end_page: end, permissions, first_frame });
        }
        let limit = 1 << (ADDRESS_BITS - PAGE_SHIFT);
        let pages = |range: &Range<u64>| page_of(range.start).min(limit)..page_of(range.end).min(limit);
        let map = PageMap::new(regions, &room.iter().map(pages).collect::<Vec<_>>());
        let window = map.span();
        let mut image = Self { map, frames, code: Vec::new(), features, window };
        image.code.resize_with(image.frames.len(), OnceLock::new);
        for segment in segments {
            image.fill(segment.address, &segment.data);
        }
        Ok(image)
    }

    /// Builds an image of a page map and frames. Returns `None` if the map is not valid for them, or frame 0 is not zero.
    pub(crate) fn from_parts(
        map: PageMap,
        frames: Vec<Frame>,
        features: Features,
        window: Range<u64>,
    ) -> Option<Self> {
        let zero_is_first = frames.first().is_some_and(|frame| frame.iter().all(|byte| *byte == 0));
        let has_window = window.start < window.end
            && map
                .regions()
                .iter()
                .all(|region| window.start <= region.first_page && region.end_page <= window.end);
        if !zero_is_first || !has_window || !map.is_valid(frames.len() as u64) {
            return None;
        }
        let code = (0..frames.len()).map(|_| OnceLock::new()).collect();
        Some(Self { map, frames, code, features, window })
    }

    /// Lets lanes map pages anywhere from 64 KiB, the lowest address that Linux gives to programs, to the end of the address
    /// space. The window ends at 4 GiB, or behind the pages that the image maps or reserves.
    #[must_use]
    pub fn with_all_room(mut self) -> Self {
        self.window = 0..self.window.end.max(LIKELY_PAGES);
        self.map = self.map.with_room(LINUX_PAGES);
        self
    }

    /// Returns the pages from the first to the last that lanes are likely to map: those that the image maps or reserves. The page
    /// table of an engine covers them; it grows when a lane maps others.
    #[must_use]
    pub fn window(&self) -> Range<u64> {
        self.window.clone()
    }

    /// Builds the image of a fork of a lane: the page map of the lane, and `written`, the contents of the pages that the
    /// lane has written, by page number. Pages that are not mapped are left out.
    ///
    /// The frames of the program stay in their places. Frames that an earlier fork has copied are dropped if no page of
    /// the lane is in them any more.
    #[must_use]
    pub fn fork(&self, map: &PageMap, written: &BTreeMap<u64, Box<[u8; PAGE_BYTES]>>) -> Self {
        let program_frames = self.frames.len() - self.map.copied().iter().count();
        let (mut frames, mut code) = (self.frames[..program_frames].to_vec(), Vec::new());
        code.extend_from_slice(&self.code[..program_frames]);
        // A page that was copied before and written since is in both; what was written counts.
        let mut copied: BTreeMap<u64, (&Frame, OnceLock<Arc<CodePage>>)> = BTreeMap::new();
        for (page, frame) in map.copied().iter() {
            copied.insert(page, (self.frame(frame), self.code[frame as usize].clone()));
        }
        for (page, frame) in written.iter().filter(|(page, _)| map.region(**page).is_some()) {
            copied.insert(*page, (frame, OnceLock::new()));
        }
        let map = map.with_copied(CopiedPages::new(copied.keys().copied(), program_frames as u32));
        for (frame, decoded) in copied.into_values() {
            frames.push(*frame);
            code.push(decoded);
        }
        let mapped = map.regions();
        let first = mapped.first().map_or(self.window.start, |region| region.first_page);
        let end = mapped.last().map_or(self.window.end, |region| region.end_page);
        let window = self.window.start.min(first)..self.window.end.max(end);
        Self { map, frames, code, features: self.features, window }
    }

    /// Copies `data` to `address`. The pages have to be mapped to frames of their own.
    fn fill(&mut self, mut address: u64, mut data: &[u8]) {
        while let (false, Some(page)) = (data.is_empty(), self.page(page_of(address))) {
            let offset = address as usize % PAGE_BYTES;
            let (now, later) = data.split_at(data.len().min(PAGE_BYTES - offset));
            self.frames[page.frame as usize][offset..offset + now.len()].copy_from_slice(now);
            address += now.len() as u64;
            data = later;
        }
    }

    /// Returns the mapped regions, sorted by page.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        self.map.regions()
    }

    /// Returns the page map that lanes start with.
    #[must_use]
    pub const fn map(&self) -> &PageMap {
        &self.map
    }

    /// Returns all frames. Frame 0 is all zeros and is behind every page without data.
    #[must_use]
    pub fn frames(&self) -> &[[u8; PAGE_BYTES]] {
        &self.frames
    }

    /// Returns the frame and permissions of the page with this number, if it is mapped.
    #[must_use]
    pub fn page(&self, page: u64) -> Option<ImagePage> {
        self.map.page(page)
    }

    /// Checks every page of an access against the page map that lanes start with.
    ///
    /// `reported` is the access that a fault names. `permission` is the access to permit, or `None` if the pages only
    /// have to be mapped.
    ///
    /// # Errors
    /// The fault at the first byte that is not mapped or not permitted.
    pub fn check(
        &self,
        address: u64,
        bytes: u64,
        reported: Access,
        permission: Option<Access>,
    ) -> Result<(), Fault> {
        self.map.check(address, bytes, reported, permission)
    }

    #[inline(always)]
    pub(crate) fn frame(&self, frame: u32) -> &Frame {
        &self.frames[frame as usize]
    }

    /// Returns the decoded instructions of a frame, and decodes them if needed.
    pub(crate) fn code(&self, frame: u32) -> &Arc<CodePage> {
        let decode = || Arc::new(CodePage::decode(self.frame(frame), self.features));
        self.code[frame as usize].get_or_init(decode)
    }

    /// Returns the features that code is decoded for.
    #[must_use]
    pub const fn features(&self) -> Features {
        self.features
    }

    /// Returns the number of frames with data, not counting the zero frame.
    #[must_use]
    pub fn frames_used(&self) -> usize {
        self.frames.len() - 1
    }

    /// Returns the end address of the highest mapped page; 0 if nothing is mapped.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.regions().last().map_or(0, |region| region.end_page << PAGE_SHIFT)
    }
}
