//! The memory of one lane on the reference: the shared image, and private copies of the pages that the lane has
//! written.

mod observed;
mod translated;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use kvrm_arm64::{Access, Fault, FaultKind, Instruction, Memory, Stop};

use crate::audit::{Damage, Violation};
use crate::data_access::DataAccess;
use crate::error::Error;
use crate::hooks::{HookKind, Hooks};
use crate::image::{CodePage, Image};
use crate::page_map::ImagePage;
use crate::page_map::{Mapping, PageMap};
use crate::pages::{Frame, PAGE_BYTES, PAGE_SHIFT, page_of, pieces};
use crate::translation::CodeVersion;

/// The number of TLB entries; a power of two. Games read hundreds of pages for each picture, and in translated code, a miss takes
/// far longer than a hit.
const TLB_ENTRIES: usize = 512;
/// The number of code pages that a lane caches besides the current one; a power of two.
const RECENT_PAGES: usize = 16;
/// A page number that no page has.
const NO_PAGE: u64 = u64::MAX;
/// The bit of a frame number that marks a private frame; the other bits are then an index into `private`.
const PRIVATE: u32 = 1 << 31;

/// A TLB entry. It is valid for an access if the field of that access holds the number of the page.
#[derive(Clone, Copy, Debug)]
struct TlbEntry {
    read: u64,
    write: u64,
    /// What to add to an address in the page to get the host's address of the byte, for translated code.
    addend: u64,
    frame: u32,
}

/// A TLB entry that is valid for no page.
const EMPTY: TlbEntry = TlbEntry { read: NO_PAGE, write: NO_PAGE, addend: 0, frame: 0 };

/// The lane's private copy of a page that it has written.
#[derive(Debug)]
struct PrivatePage {
    page: u64,
    bytes: Box<Frame>,
    /// The decoded instructions, if the page has been executed. Writes to it then take the slow path, which keeps them
    /// up to date.
    code: Option<Arc<CodePage>>,
    /// Whether the page has been written since the last snapshot or reset.
    dirty: bool,
}

/// The address space of one lane on the reference.
///
/// Its memory cost is proportional to the number of pages written, however large the image is.
///
/// ```
/// use std::sync::Arc;
/// use kvrm_machine::{AddressSpace, Features, Image, Permissions, Segment};
///
/// let data = Segment { address: 0x1000, bytes: 4096, data: vec![7], permissions: Permissions::RW };
/// let image = Arc::new(Image::new(&[data], Features::ARMV8_0)?);
/// let mut memory = AddressSpace::new(image, 1);
/// memory.write_bytes(0x1001, &[8], None).expect("the page is mapped");
/// let mut bytes = [0; 2];
/// memory.read_bytes(0x1000, &mut bytes, None).expect("the page is mapped");
/// assert_eq!(bytes, [7, 8]);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Debug)]
pub struct AddressSpace {
    image: Arc<Image>,
    /// The page map: that of the image until the lane changes it.
    map: PageMap,
    /// The private pages, in the order of their first write.
    private: Vec<PrivatePage>,
    /// Frames of pages that a reset has dropped, so that the next writes need no new ones.
    spare: Vec<Box<Frame>>,
    /// The index into `private`, by page number.
    index: BTreeMap<u64, u32>,
    /// The limit on private pages.
    frames_max: usize,
    /// The ID of the snapshot to which the `dirty` flags refer.
    generation: u64,
    /// Whether the private pages have been dropped since that snapshot, so that none of them is one of the snapshot.
    was_cleared: bool,
    /// The hooks, unless there are none. The TLB holds no page for a kind of access that is hooked in the page, and the
    /// caches of code pages hold no page with a breakpoint.
    hooks: Option<Arc<Hooks>>,
    /// The accesses to data since [`AddressSpace::take_accesses`], if they are noted.
    observed: Option<Vec<DataAccess>>,
    /// See [`AddressSpace::code_version`].
    code_version: CodeVersion,
    tlb: [TlbEntry; TLB_ENTRIES],
    /// The address of the page that `code` decodes, or a value at which no page begins.
    code_base: u64,
    /// The code page that fetches currently come from, cached to avoid a look-up.
    code: Arc<CodePage>,
    /// Code pages that fetches came from before, by page number. Only pages of the image, because private pages change.
    recent: [Option<(u64, Arc<CodePage>)>; RECENT_PAGES],
}

/// A snapshot of a lane's private pages and page map.
#[derive(Clone, Debug, Default)]
pub struct MemorySnapshot {
    /// The private pages: number and contents of each.
    pages: Vec<(u64, Box<Frame>)>,
    map: Option<PageMap>,
    /// The ID of the snapshot, unique in the process.
    generation: u64,
    /// Whether the lane had the code of its image.
    has_code_of_image: bool,
}

impl AddressSpace {
    /// Creates a lane's view of `image`. The lane may write up to `frames_max` different pages.
    #[must_use]
    pub fn new(image: Arc<Image>, frames_max: usize) -> Self {
        Self {
            map: image.map().clone(),
            image,
            private: Vec::new(),
            spare: Vec::new(),
            index: BTreeMap::new(),
            frames_max,
            generation: 0,
            was_cleared: false,
            hooks: None,
            observed: None,
            code_version: CodeVersion::default(),
            tlb: [EMPTY; TLB_ENTRIES],
            code_base: NO_PAGE,
            code: no_code(),
            recent: [const { None }; RECENT_PAGES],
        }
    }

    /// Returns the shared image.
    #[must_use]
    pub const fn image(&self) -> &Arc<Image> {
        &self.image
    }

    /// Returns the private pages in the order of their first write: the address and the contents of each.
    pub fn private_pages(&self) -> impl Iterator<Item = (u64, &[u8; PAGE_BYTES])> {
        self.private.iter().map(|private| (private.page << PAGE_SHIFT, &*private.bytes))
    }

    /// Changes the number of different pages that the lane may write.
    pub const fn set_frames_max(&mut self, frames_max: usize) {
        self.frames_max = frames_max;
    }

    /// Replaces the hooks, at which loads, stores and fetches of the guest stop the lane.
    pub fn set_hooks(&mut self, hooks: Option<Arc<Hooks>>) {
        self.code_version.hooks = if hooks.is_some() { unique() } else { 0 };
        self.hooks = hooks;
        self.flush();
    }

    /// Reads memory into `out`. The pages have to permit `access`; with `None`, they only have to be mapped.
    ///
    /// # Errors
    /// The fault at the first byte that is not mapped or not permitted. Nothing is read then.
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

    /// Returns the bytes from an address to the end of its page, if the guest may read them.
    pub(crate) fn readable_bytes(&self, address: u64) -> Option<&[u8]> {
        let page = page_of(address);
        self.map.page(page).filter(|page| page.permissions.read)?;
        let frame = self.frame(self.frame_of(page)?);
        Some(&frame[address as usize % PAGE_BYTES..])
    }

    /// Writes `bytes` to memory. The pages have to permit `access`; with `None`, they only have to be mapped.
    ///
    /// # Errors
    /// The fault at the first byte that is not mapped or not permitted, or [`Stop::OutOfFrames`] if the lane has no
    /// frames left. Nothing is written then.
    pub fn write_bytes(&mut self, address: u64, bytes: &[u8], access: Option<Access>) -> Result<(), Stop> {
        self.check_room(address, bytes.len(), access)?;
        self.change_bytes(address, bytes.len(), |done, piece| {
            piece.copy_from_slice(&bytes[done..done + piece.len()]);
        });
        Ok(())
    }

    /// Changes bytes for which [`AddressSpace::check_room`] has found room, page by page. `change` gets the number of bytes before
    /// those of a page, and the bytes, which it has to overwrite.
    pub(crate) fn change_bytes(
        &mut self,
        address: u64,
        bytes: usize,
        mut change: impl FnMut(usize, &mut [u8]),
    ) {
        let mut done = 0;
        for (page, range) in pieces(address, bytes) {
            if self.code_base == page << PAGE_SHIFT {
                self.leave_code_page();
            }
            let features = self.image.features();
            // Bytes that are all overwritten need no copy.
            let private = self.make_private(page, range.len() < PAGE_BYTES);
            private.dirty = true;
            change(done, &mut private.bytes[range.clone()]);
            done += range.len();
            let mut is_code = false;
            if let Some(code) = &mut private.code {
                is_code = true;
                // `leave_code_page` has dropped the reference of the fetches, so this changes the page in place unless
                // translated code refers to it.
                Arc::make_mut(code).refresh(&private.bytes, range.start, range.end, features);
            }
            if is_code {
                self.change_code();
            }
        }
    }

    /// Checks whether [`AddressSpace::write_bytes`] can write `bytes` bytes.
    pub(crate) fn check_room(&self, address: u64, bytes: usize, access: Option<Access>) -> Result<(), Stop> {
        self.map.check(address, bytes as u64, Access::Write, access)?;
        let fresh = self.fresh_pages(address, bytes);
        if fresh > 0 && self.private.len() + fresh > self.frames_max {
            return Err(Stop::OutOfFrames);
        }
        Ok(())
    }

    /// Returns the number of pages of these bytes that the lane has not written.
    pub(crate) fn fresh_pages(&self, address: u64, bytes: usize) -> usize {
        pieces(address, bytes).filter(|(page, _)| !self.index.contains_key(page)).count()
    }

    /// Returns the number of pages that the lane may still write for the first time.
    pub(crate) const fn frames_left(&self) -> usize {
        self.frames_max.saturating_sub(self.private.len())
    }

    /// Returns the number of pages that the lane may write.
    pub(crate) const fn frames_max(&self) -> usize {
        self.frames_max
    }

    /// Returns whether there are hooks.
    pub(crate) const fn has_hooks(&self) -> bool {
        self.hooks.is_some()
    }

    /// Returns the page map of the lane.
    #[must_use]
    pub const fn page_map(&self) -> &PageMap {
        &self.map
    }

    /// Maps, protects or unmaps pages, given by number, and returns whether that was possible.
    ///
    /// It allocates no frames. A page that has been written keeps its frame, however it is mapped afterwards.
    pub fn map(&mut self, pages: &Range<u64>, mapping: Mapping) -> bool {
        let was_code = self.map.has_code(pages);
        if pages.is_empty() || !self.map.map(pages, mapping) {
            return pages.is_empty();
        }
        if was_code || self.map.has_code(pages) {
            self.change_code();
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

    /// Takes a snapshot, from which later writes are tracked.
    pub fn snapshot(&mut self) -> MemorySnapshot {
        for private in &mut self.private {
            private.dirty = false;
        }
        // Send writes through the slow path again, so that they set `dirty`.
        self.flush();
        // Unique among all lanes, so that no lane accepts the snapshot of another.
        (self.generation, self.was_cleared) = (unique(), false);
        let pages = self.private.iter().map(|private| (private.page, private.bytes.clone())).collect();
        let has_code_of_image = self.code_version.code == 0;
        MemorySnapshot { pages, map: Some(self.map.clone()), generation: self.generation, has_code_of_image }
    }

    /// Restores the last snapshot of this lane. The cost is proportional to the pages written since.
    ///
    /// # Errors
    /// [`Error::StaleSnapshot`] if it is not the last snapshot of this lane, because writes are tracked from that.
    pub fn reset(&mut self, snapshot: &MemorySnapshot) -> Result<(), Error> {
        if snapshot.generation != self.generation {
            return Err(Error::StaleSnapshot);
        }
        if std::mem::take(&mut self.was_cleared) {
            self.drop_private(0);
            for (page, bytes) in &snapshot.pages {
                self.index.insert(*page, self.private.len() as u32);
                self.private.push(PrivatePage {
                    page: *page,
                    bytes: bytes.clone(),
                    code: None,
                    dirty: false,
                });
            }
        }
        self.drop_private(snapshot.pages.len());
        for (private, (_, bytes)) in
            self.private.iter_mut().zip(&snapshot.pages).filter(|(private, _)| private.dirty)
        {
            private.bytes.copy_from_slice(&**bytes);
            private.code = None;
            private.dirty = false;
        }
        if let Some(map) = &snapshot.map {
            self.map.clone_from(map);
        }
        // Private pages with code may have been executed first after the snapshot, so their version says nothing.
        self.code_version.code = if snapshot.has_code_of_image { 0 } else { unique() };
        self.flush();
        Ok(())
    }

    /// Returns to the memory of the image, as if the lane had written nothing and changed no mapping.
    pub fn clear(&mut self) {
        self.drop_private(0);
        self.was_cleared = true;
        self.map.clone_from(self.image.map());
        self.code_version.code = 0;
        self.flush();
    }

    /// Drops all private pages but the first `kept`.
    fn drop_private(&mut self, kept: usize) {
        for private in self.private.drain(kept..) {
            self.index.remove(&private.page);
            self.spare.push(private.bytes);
        }
    }

    /// Checks that the private pages and their index agree, that TLB entries have the frames of the page map and at
    /// most its permissions, and that decoded code matches the bytes.
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
                let expected = self.frame_of(page).filter(|_| is_permitted);
                let is_right = |frame| entry.frame == frame && entry.addend == self.addend(page, frame);
                if page != NO_PAGE && !expected.is_some_and(is_right) {
                    let damage = Damage::TlbEntry { access, entry: entry.frame, expected };
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

    /// Returns a violation for the first decoded instruction that does not match the bytes of its page.
    fn audit_code(&self, page: u64, frame: &Frame, code: &CodePage) -> Option<Violation> {
        let decoded = CodePage::decode(frame, self.image.features());
        let at = |code: &CodePage, index: usize| code.at(4 * index as u64);
        let index = (0..PAGE_BYTES / 4).find(|index| at(&decoded, *index) != at(code, *index))?;
        let word = at(&decoded, index).word;
        Some(Violation::new(Damage::Code { index, word }).at(page << PAGE_SHIFT))
    }

    /// Empties the TLB and the cache of code pages.
    fn flush(&mut self) {
        self.tlb.fill(EMPTY);
        self.recent = [const { None }; RECENT_PAGES];
        self.leave_code_page();
    }

    /// Makes the next fetch look up its page.
    fn leave_code_page(&mut self) {
        self.code_base = NO_PAGE;
        self.code = no_code();
    }

    /// Returns the frame behind a page, private or of the image; `None` if the page is not mapped.
    fn frame_of(&self, page: u64) -> Option<u32> {
        let own = self.index.get(&page).map(|index| index | PRIVATE);
        own.or_else(|| self.map.page(page).map(|image| image.frame))
    }

    /// Returns the `addend` of TLB entries for a page with this frame.
    fn addend(&self, page: u64, frame: u32) -> u64 {
        let host = self.frame(frame).as_ptr().expose_provenance();
        (host as u64).wrapping_sub(page << PAGE_SHIFT)
    }

    /// Gives the code of the lane a new version.
    fn change_code(&mut self) {
        self.code_version.code = unique();
    }

    #[inline(always)]
    fn frame(&self, frame: u32) -> &Frame {
        if frame & PRIVATE == 0 {
            self.image.frame(frame)
        } else {
            &self.private[(frame & !PRIVATE) as usize].bytes
        }
    }

    /// Returns the private copy of a mapped page, and creates it if needed. If it does not have to be a copy, it may have any bytes then.
    fn make_private(&mut self, page: u64, copies: bool) -> &mut PrivatePage {
        if !self.index.contains_key(&page) {
            let ImagePage { frame, permissions } =
                self.map.page(page).expect("the caller has checked that the page is mapped");
            self.index.insert(page, self.private.len() as u32);
            let from = self.image.frame(frame);
            let bytes = match self.spare.pop() {
                Some(mut bytes) => {
                    if copies {
                        bytes.copy_from_slice(from);
                    }
                    bytes
                }
                None => Box::new(*from),
            };
            self.private.push(PrivatePage { page, bytes, code: None, dirty: true });
            // Cached translations still refer to the shared frame.
            self.tlb[page as usize % TLB_ENTRIES] = EMPTY;
            self.recent[page as usize % RECENT_PAGES] = None;
            if permissions.execute {
                self.change_code();
            }
        }
        &mut self.private[self.index[&page] as usize]
    }

    /// Checks that the pages permit an access of the guest, and then that no hook stops the lane before it.
    fn check_access(&self, address: u64, bytes: usize, access: Access) -> Result<(), Stop> {
        self.map.check(address, bytes as u64, access, Some(access))?;
        let stop = self.hooks.as_ref().and_then(|hooks| hooks.stop_before(access, address, bytes as u64));
        stop.map_or(Ok(()), Err)
    }

    /// Returns whether a page has a hook for this kind of access.
    fn is_hooked(&self, page: u64, access: Access) -> bool {
        let find =
            |hooks: &Arc<Hooks>| hooks.find(HookKind::from(access), page << PAGE_SHIFT, PAGE_BYTES as u64);
        self.hooks.as_ref().and_then(find).is_some()
    }

    #[cold]
    fn read_slow<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        if self.hooks.is_some() {
            self.check_access(address, N, Access::Read)?;
        }
        let mut bytes = [0; N];
        self.read_bytes(address, &mut bytes, Some(Access::Read))?;
        if self.observe(Access::Read, address, &bytes) {
            return Ok(bytes);
        }
        let page = page_of(address);
        if let Some(frame) = self.frame_of(page).filter(|_| !self.is_hooked(page, Access::Read)) {
            let addend = self.addend(page, frame);
            let entry = &mut self.tlb[page as usize % TLB_ENTRIES];
            if entry.write != page {
                *entry = TlbEntry { read: page, write: NO_PAGE, addend, frame };
            }
            entry.read = page;
        }
        Ok(bytes)
    }

    #[cold]
    fn write_slow<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        if self.hooks.is_some() {
            self.check_access(address, N, Access::Write)?;
        }
        self.write_bytes(address, &bytes, Some(Access::Write))?;
        if self.observe(Access::Write, address, &bytes) {
            return Ok(());
        }
        let page = page_of(address);
        let index = self.index[&page];
        // The TLB never holds a write entry for a private page with decoded code.
        let private = &self.private[index as usize];
        if private.code.is_none() && !self.is_hooked(page, Access::Write) {
            let readable = self.map.page(page).is_some_and(|page| page.permissions.read);
            let read = if readable && !self.is_hooked(page, Access::Read) { page } else { NO_PAGE };
            let frame = index | PRIVATE;
            let addend = self.addend(page, frame);
            self.tlb[page as usize % TLB_ENTRIES] = TlbEntry { read, write: page, addend, frame };
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
        self.check_access(pc, 4, Access::Execute)?;
        let is_hooked = self.is_hooked(page, Access::Execute);
        let code = if let Some(&index) = self.index.get(&page) {
            // From now on, writes to this page have to take the slow path.
            self.tlb[page as usize % TLB_ENTRIES] = EMPTY;
            let features = self.image.features();
            let PrivatePage { bytes, code, .. } = &mut self.private[index as usize];
            code.get_or_insert_with(|| Arc::new(CodePage::decode(bytes, features)))
        } else {
            let code = self.image.code(self.map.page(page).map_or(0, |image| image.frame));
            if !is_hooked {
                self.recent[recent] = Some((page, Arc::clone(code)));
            }
            code
        };
        if is_hooked {
            return Ok(code.at(pc));
        }
        self.code = Arc::clone(code);
        self.code_base = page << PAGE_SHIFT;
        Ok(self.code.at(pc))
    }
}

/// Returns a number that no other call in the process returns, and not 0.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Returns the code page of lanes without a current one; all lanes share it.
fn no_code() -> Arc<CodePage> {
    static NONE: LazyLock<Arc<CodePage>> = LazyLock::new(|| Arc::new(CodePage::UNDEFINED));
    Arc::clone(&NONE)
}

impl Memory for AddressSpace {
    #[inline(always)]
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        // One comparison checks both the page and the alignment of the pc.
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

#[cfg(test)]
mod tests {
    use kvrm_arm64::Features;

    use super::*;
    use crate::permissions::Permissions;
    use crate::segment::Segment;

    const READ_ONLY: u64 = 0x1000;
    const WRITABLE: u64 = 0x2000;

    /// Returns an address space of two pages with an entry for each in the TLB.
    fn two_pages() -> AddressSpace {
        let page = |address, permissions| Segment { address, bytes: 4096, data: vec![7], permissions };
        let segments = [page(READ_ONLY, Permissions::R), page(WRITABLE, Permissions::RW)];
        let image = Image::new(&segments, Features::ARMV8_0).expect("the segments do not overlap");
        let mut memory = AddressSpace::new(Arc::new(image), 4);
        memory.read::<1>(READ_ONLY).expect("the page is readable");
        memory.write(WRITABLE, [8]).expect("the page is writable");
        memory
    }

    fn tlb_entry(memory: &mut AddressSpace, address: u64) -> &mut TlbEntry {
        &mut memory.tlb[page_of(address) as usize % TLB_ENTRIES]
    }

    #[test]
    fn an_audit_finds_a_wrong_entry_of_the_tlb() {
        let mut memory = two_pages();
        assert_eq!(memory.audit(), [], "the TLB agrees with the page map");
        let right = tlb_entry(&mut memory, READ_ONLY).frame;
        tlb_entry(&mut memory, READ_ONLY).frame = PRIVATE;
        let damage = Damage::TlbEntry { access: Access::Read, entry: PRIVATE, expected: Some(right) };
        let violation = Violation::new(damage).at(READ_ONLY);
        let text = format!("address 0x1000: the TLB has frame 0x80000000 for reads, expected {right:#x}");
        assert_eq!(violation.to_string(), text, "all numbers");
        assert_eq!(memory.audit(), [violation], "the frame of the other page");

        let mut memory = two_pages();
        tlb_entry(&mut memory, READ_ONLY).write = page_of(READ_ONLY);
        let damage = Damage::TlbEntry { access: Access::Write, entry: right, expected: None };
        let violation = Violation::new(damage).at(READ_ONLY);
        assert!(violation.to_string().contains("for writes, expected no entry"), "{violation}");
        assert_eq!(memory.audit(), [violation], "an access that is not permitted");

        let mut memory = two_pages();
        *tlb_entry(&mut memory, 0x5000) = TlbEntry { read: 5, write: NO_PAGE, addend: 0, frame: right };
        let damage = Damage::TlbEntry { access: Access::Read, entry: right, expected: None };
        assert_eq!(memory.audit(), [Violation::new(damage).at(0x5000)], "a page that is not mapped");
    }
}
