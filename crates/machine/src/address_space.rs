//! The memory of one lane: the shared image, and private copies of the pages the lane has written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use kvrm_arm64::{Access, Fault, FaultKind, Instruction, Memory, Stop};

use crate::audit::{Damage, Violation};
use crate::error::Error;
use crate::image::{CodePage, Image};
use crate::page_map::ImagePage;
use crate::page_map::{Mapping, PageMap};
use crate::pages::{Frame, PAGE_BYTES, PAGE_SHIFT, page_of, pieces};

/// Entries of the translation cache; a power of two.
const TLB_ENTRIES: usize = 128;
/// How many pages of code a lane remembers, beside the current one; a power of two.
const RECENT_PAGES: usize = 16;
/// No page has this number.
const NO_PAGE: u64 = u64::MAX;
/// Set in a frame number that means a private frame.
const PRIVATE: u32 = 1 << 31;

/// A cached translation, valid for an access if the page number stands in the field of that access.
#[derive(Clone, Copy, Debug)]
struct TlbEntry {
    read: u64,
    write: u64,
    frame: u32,
}

const EMPTY: TlbEntry = TlbEntry { read: NO_PAGE, write: NO_PAGE, frame: 0 };

/// A page the lane has written.
#[derive(Debug)]
struct PrivatePage {
    page: u64,
    bytes: Box<Frame>,
    /// The decoded page, if it has been executed. Writes then go the slow way and keep it up to date.
    code: Option<Arc<CodePage>>,
    /// Whether it has been written since the last snapshot or reset.
    dirty: bool,
}

/// The address space of one lane.
///
/// It costs memory in proportion to the pages written, whatever the image maps.
#[derive(Debug)]
pub struct AddressSpace {
    image: Arc<Image>,
    /// What is mapped: what the image maps, until the lane changes it.
    map: PageMap,
    /// Private pages in the order of their first write: the dirty list.
    private: Vec<PrivatePage>,
    /// Index into `private` by page number.
    index: BTreeMap<u64, u32>,
    frames_max: usize,
    /// The snapshot that `dirty` flags count from.
    generation: u64,
    tlb: [TlbEntry; TLB_ENTRIES],
    /// The first address of the page that `code` decodes, or a value that no page begins at.
    code_base: u64,
    /// The page fetches currently come from, at hand without going through image or dirty list.
    code: Arc<CodePage>,
    /// Pages that fetches came from before, by page number; of the image only, as the lane's own change.
    recent: [Option<(u64, Arc<CodePage>)>; RECENT_PAGES],
}

/// The pages a lane had written at some moment.
#[derive(Clone, Debug, Default)]
pub struct MemorySnapshot {
    pages: Vec<Box<Frame>>,
    map: Option<PageMap>,
    /// Which snapshot of its lane it is.
    generation: u64,
}

impl AddressSpace {
    /// A lane's view of `image`, which may write up to `frames_max` different pages.
    #[must_use]
    pub fn new(image: Arc<Image>, frames_max: usize) -> Self {
        Self {
            map: image.map().clone(),
            image,
            private: Vec::new(),
            index: BTreeMap::new(),
            frames_max,
            generation: 0,
            tlb: [EMPTY; TLB_ENTRIES],
            code_base: NO_PAGE,
            code: no_code(),
            recent: [const { None }; RECENT_PAGES],
        }
    }

    /// The image underneath.
    #[must_use]
    pub const fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// The pages written so far, as page-aligned addresses in order of their first write, and their bytes.
    pub fn dirty_pages(&self) -> impl Iterator<Item = (u64, &[u8; PAGE_BYTES])> {
        self.private.iter().map(|private| (private.page << PAGE_SHIFT, &*private.bytes))
    }

    /// Changes how many pages the lane may write.
    pub const fn set_frames_max(&mut self, frames_max: usize) {
        self.frames_max = frames_max;
    }

    /// Copies memory out, as the guest (`access` checks that permission) or as the host (`None`).
    ///
    /// # Errors
    /// At the first byte that is not mapped or not permitted.
    pub fn read_bytes(&self, address: u64, out: &mut [u8], access: Option<Access>) -> Result<(), Fault> {
        self.map.check(address, out.len() as u64, Access::Read, access)?;
        let mut done = 0;
        for (page, range) in pieces(address, out.len()) {
            let frame = self.frame_of(page).unwrap_or(0);
            let bytes = &self.frame(frame)[range];
            out[done..done + bytes.len()].copy_from_slice(bytes);
            done += bytes.len();
        }
        Ok(())
    }

    /// Copies memory in, as the guest (`access` checks that permission) or as the host (`None`).
    ///
    /// # Errors
    /// A fault at the first byte that is not mapped or not permitted, or that frames have run out; nothing
    /// is written then.
    pub fn write_bytes(&mut self, address: u64, bytes: &[u8], access: Option<Access>) -> Result<(), Stop> {
        self.map.check(address, bytes.len() as u64, Access::Write, access)?;
        let fresh = pieces(address, bytes.len()).filter(|(page, _)| !self.index.contains_key(page)).count();
        if fresh > 0 && self.private.len() + fresh > self.frames_max {
            return Err(Stop::OutOfFrames);
        }
        let mut done = 0;
        for (page, range) in pieces(address, bytes.len()) {
            if self.code_base == page << PAGE_SHIFT {
                self.leave_code_page();
            }
            let features = self.image.features();
            let private = self.own(page);
            let piece = &bytes[done..done + range.len()];
            private.dirty = true;
            private.bytes[range.clone()].copy_from_slice(piece);
            if let Some(code) = &mut private.code {
                // Nobody else holds it, so this changes it in place.
                Arc::make_mut(code).refresh(&private.bytes, range.start, range.end, features);
            }
            done += piece.len();
        }
        Ok(())
    }

    /// Which pages are mapped, and how.
    #[must_use]
    pub const fn page_map(&self) -> &PageMap {
        &self.map
    }

    /// Maps, protects or unmaps pages, given by number; says whether it could. It takes no frames: a page that
    /// has been written keeps its frame, however it is mapped afterwards.
    pub fn map(&mut self, pages: &Range<u64>, mapping: Mapping) -> bool {
        if pages.is_empty() || !self.map.map(pages, mapping) {
            return pages.is_empty();
        }
        if !matches!(mapping, Mapping::Protect(_)) {
            for (_, index) in self.index.range(pages.clone()) {
                let private = &mut self.private[*index as usize];
                private.bytes.fill(0);
                private.code = None;
                private.dirty = true;
            }
        }
        self.flush();
        true
    }

    /// Remembers the pages written so far.
    pub fn snapshot(&mut self) -> MemorySnapshot {
        for private in &mut self.private {
            private.dirty = false;
        }
        // Writes must pass the slow path again to be noticed.
        self.flush();
        // Unique among all lanes, so that no lane takes another's snapshot for its own.
        static GENERATION: AtomicU64 = AtomicU64::new(1);
        self.generation = GENERATION.fetch_add(1, Ordering::Relaxed);
        let pages = self.private.iter().map(|private| private.bytes.clone()).collect();
        MemorySnapshot { pages, map: Some(self.map.clone()), generation: self.generation }
    }

    /// Goes back to the last snapshot of this lane, at the cost of the pages written since.
    ///
    /// # Errors
    /// If it is not the last one, from which changes are counted.
    pub fn reset(&mut self, snapshot: &MemorySnapshot) -> Result<(), Error> {
        if snapshot.generation != self.generation {
            return Err(Error::StaleSnapshot);
        }
        let kept = snapshot.pages.len();
        for private in self.private.drain(kept..) {
            self.index.remove(&private.page);
        }
        for (private, bytes) in
            self.private.iter_mut().zip(&snapshot.pages).filter(|(private, _)| private.dirty)
        {
            private.bytes.copy_from_slice(&**bytes);
            private.code = None;
            private.dirty = false;
        }
        if let Some(map) = &snapshot.map {
            self.map.clone_from(map);
        }
        self.flush();
        Ok(())
    }

    /// Checks that the dirty list and its index agree, that cached translations permit no more than the map and lead
    /// where it leads, and that decoded code is that of the bytes.
    pub(crate) fn audit(&self) -> Vec<Violation> {
        let address = |page: u64| page << PAGE_SHIFT;
        let mut found = Vec::new();
        for (place, private) in (0..).zip(&self.private) {
            if self.index.get(&private.page) != Some(&place) {
                found.push(Violation::new(Damage::Orphan { place: place + 1 }).at(address(private.page)));
            }
            if let Some(code) = &private.code {
                found.extend(self.audit_code(private.page, &private.bytes, code));
            }
        }
        if self.index.len() != self.private.len() {
            let (counted, noted) = (self.private.len() as u32, self.index.len() as u32);
            let max = u32::try_from(self.frames_max).unwrap_or(u32::MAX);
            found.push(Violation::new(Damage::WrittenCount { counted, noted, allowed: max, max }));
        }
        for entry in &self.tlb {
            for (page, access) in [(entry.read, Access::Read), (entry.write, Access::Write)] {
                let is_permitted = self.map.page(page).is_some_and(|there| there.permissions.permit(access));
                let is_right = is_permitted && self.frame_of(page) == Some(entry.frame);
                if page != NO_PAGE && !is_right {
                    let expected = self.frame_of(page).unwrap_or(0);
                    let damage = Damage::EntryImage { entry: entry.frame, level: 0, expected };
                    found.push(Violation::new(damage).at(address(page)));
                }
            }
        }
        let recent = self.recent.iter().flatten().map(|(page, code)| (*page, code));
        let current = (self.code_base != NO_PAGE).then_some((page_of(self.code_base), &self.code));
        for (page, code) in recent.chain(current) {
            let frame = self.frame(self.frame_of(page).unwrap_or(0));
            found.extend(self.audit_code(page, frame, code));
        }
        found
    }

    /// The first instruction of a page that was decoded from other bytes.
    fn audit_code(&self, page: u64, frame: &Frame, code: &CodePage) -> Option<Violation> {
        let decoded = CodePage::decode(frame, self.image.features());
        let at = |code: &CodePage, index: usize| code.at(4 * index as u64);
        let index = (0..PAGE_BYTES / 4).find(|index| at(&decoded, *index) != at(code, *index))?;
        let word = at(&decoded, index).word;
        Some(Violation::new(Damage::Code { index, word }).at(page << PAGE_SHIFT))
    }

    /// Forgets all cached translations.
    fn flush(&mut self) {
        self.tlb.fill(EMPTY);
        self.recent = [const { None }; RECENT_PAGES];
        self.leave_code_page();
    }

    /// Makes the next fetch look its page up.
    fn leave_code_page(&mut self) {
        self.code_base = NO_PAGE;
        self.code = no_code();
    }

    /// The frame behind a page: that of the lane, or of the image.
    fn frame_of(&self, page: u64) -> Option<u32> {
        let own = self.index.get(&page).map(|index| index | PRIVATE);
        own.or_else(|| self.map.page(page).map(|image| image.frame))
    }

    #[inline(always)]
    fn frame(&self, frame: u32) -> &Frame {
        if frame & PRIVATE == 0 {
            self.image.frame(frame)
        } else {
            &self.private[(frame & !PRIVATE) as usize].bytes
        }
    }

    /// The private copy of a mapped page, made if there is none yet.
    fn own(&mut self, page: u64) -> &mut PrivatePage {
        if !self.index.contains_key(&page) {
            let ImagePage { frame, .. } =
                self.map.page(page).expect("writes are checked first, so the page is mapped");
            self.index.insert(page, self.private.len() as u32);
            let bytes = Box::new(*self.image.frame(frame));
            self.private.push(PrivatePage { page, bytes, code: None, dirty: true });
            // Cached translations still lead to the shared frame.
            self.tlb[page as usize % TLB_ENTRIES] = EMPTY;
            self.recent[page as usize % RECENT_PAGES] = None;
        }
        &mut self.private[self.index[&page] as usize]
    }

    #[cold]
    fn read_slow<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        let mut bytes = [0; N];
        self.read_bytes(address, &mut bytes, Some(Access::Read))?;
        let page = page_of(address);
        if let Some(frame) = self.frame_of(page) {
            let entry = &mut self.tlb[page as usize % TLB_ENTRIES];
            if entry.write != page {
                *entry = TlbEntry { read: page, write: NO_PAGE, frame };
            }
            entry.read = page;
        }
        Ok(bytes)
    }

    #[cold]
    fn write_slow<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        self.write_bytes(address, &bytes, Some(Access::Write))?;
        let page = page_of(address);
        let index = self.index[&page];
        // A page with decoded code is never written the fast way.
        let private = &self.private[index as usize];
        if private.code.is_none() {
            let readable = self.map.page(page).is_some_and(|page| page.permissions.read);
            let read = if readable { page } else { NO_PAGE };
            self.tlb[page as usize % TLB_ENTRIES] = TlbEntry { read, write: page, frame: index | PRIVATE };
        }
        Ok(())
    }

    #[cold]
    fn fetch_slow(&mut self, pc: u64) -> Result<Instruction, Stop> {
        let fault = |kind| Stop::from(Fault { kind, access: Access::Execute, address: pc });
        if !pc.is_multiple_of(4) {
            return Err(fault(FaultKind::Alignment));
        }
        let page = page_of(pc);
        let recent = page as usize % RECENT_PAGES;
        if let Some((number, code)) = &self.recent[recent]
            && *number == page
        {
            self.code = Arc::clone(code);
            self.code_base = page << PAGE_SHIFT;
            return Ok(self.code.at(pc));
        }
        self.map.check(pc, 4, Access::Execute, Some(Access::Execute))?;
        let code = if let Some(&index) = self.index.get(&page) {
            // From now on writes to this page must go the slow way.
            self.tlb[page as usize % TLB_ENTRIES] = EMPTY;
            let features = self.image.features();
            let PrivatePage { bytes, code, .. } = &mut self.private[index as usize];
            code.get_or_insert_with(|| Arc::new(CodePage::decode(bytes, features)))
        } else {
            let code = self.image.code(self.map.page(page).map_or(0, |image| image.frame));
            self.recent[recent] = Some((page, Arc::clone(code)));
            code
        };
        self.code = Arc::clone(code);
        self.code_base = page << PAGE_SHIFT;
        Ok(self.code.at(pc))
    }
}

/// A page shared by all lanes that have none at hand.
fn no_code() -> Arc<CodePage> {
    static NONE: LazyLock<Arc<CodePage>> = LazyLock::new(|| Arc::new(CodePage::UNDEFINED));
    Arc::clone(&NONE)
}

impl Memory for AddressSpace {
    #[inline(always)]
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        // One comparison checks the page and that the pc is a multiple of four.
        if pc & !(PAGE_BYTES as u64 - 4) == self.code_base {
            Ok(self.code.at(pc))
        } else {
            self.fetch_slow(pc)
        }
    }

    #[inline(always)]
    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        let (page, offset) = (page_of(address), address as usize % PAGE_BYTES);
        let entry = &self.tlb[page as usize % TLB_ENTRIES];
        if entry.read == page
            && let Some(bytes) = self.frame(entry.frame)[offset..].first_chunk()
        {
            return Ok(*bytes);
        }
        self.read_slow(address)
    }

    #[inline(always)]
    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        let (page, offset) = (page_of(address), address as usize % PAGE_BYTES);
        let entry = self.tlb[page as usize % TLB_ENTRIES];
        if entry.write == page
            && let Some(place) =
                self.private[(entry.frame & !PRIVATE) as usize].bytes[offset..].first_chunk_mut()
        {
            *place = bytes;
            return Ok(());
        }
        self.write_slow(address, bytes)
    }

    fn check_write(&mut self, address: u64, bytes: u64) -> Result<(), Stop> {
        Ok(self.map.check(address, bytes, Access::Write, Some(Access::Write))?)
    }
}
