//! Memory that processes share with each other and with files.
//!
//! Only one address space is in the executor at a time, so sharing needs nothing from engines. An object has the contents. When the
//! executor gets another space, or when a call needs the contents, the pages that the lane has written are stored in the object; a
//! space that the executor gets is brought up to date from it. Mappings of one object in the same space are brought up to date then,
//! too, and not at once.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::errno::Errno;
use super::failure::Failure;
use super::guest::Guest;
use super::kernel::Kernel;
use super::shared_objects::Source;
use super::space::SharedMapping;
use crate::lane_memory::{Contents, LaneMemory};
use crate::pages::{Frame, PAGE_BYTES, PAGE_SHIFT, page_of};

const PAGE: u64 = PAGE_BYTES as u64;

/// A page that was written: object, number in it, and contents.
type WrittenPage = (u32, u64, Frame);

impl Kernel {
    /// Returns the pages of the loaded space that differ from the objects that they share.
    fn written_pages(&self, guest: &mut Guest<'_>) -> Result<Vec<WrittenPage>, Failure> {
        let mut written = Vec::new();
        let Some(space) = self.spaces.get(&self.loaded) else { return Ok(written) };
        let filled = guest.filled_pages(&space.shared_span())?;
        for mapping in space.shared.iter().filter(|mapping| mapping.is_writable) {
            for page in filled.range(mapping.pages.clone()) {
                let (mut own, there) = ([0; PAGE_BYTES], mapping.first + (page - mapping.pages.start));
                guest.lane.read_memory(page << PAGE_SHIFT, &mut own, None)?.map_err(Failure::Stop)?;
                if own != self.shared.page(&self.files, mapping.object, there) {
                    written.push((mapping.object, there, own));
                }
            }
        }
        Ok(written)
    }

    /// Stores pages in the objects that they share, and returns whether there were any.
    fn store_pages(&mut self, written: Vec<WrittenPage>, now: u64) {
        let mut changed = Vec::new();
        for (object, page, bytes) in written {
            let Some(there) = self.shared.objects.get_mut(&object) else { continue };
            match &mut there.source {
                Source::Pages(pages) => drop(pages.insert(page, Contents::new(&bytes))),
                Source::File(number) => {
                    let end = self.files.inode(*number).map_or(0, |inode| inode.bytes());
                    let start = page.saturating_mul(PAGE);
                    let count = end.saturating_sub(start).min(PAGE) as usize;
                    // Without room the file stays as it is, as on Linux, where the process gets SIGBUS instead.
                    let _ = self.files.write(*number, start, &bytes[..count], now);
                }
            }
            changed.push(object);
        }
        changed.sort_unstable();
        changed.dedup();
        for id in changed {
            let Some(object) = self.shared.objects.get_mut(&id) else { continue };
            let before = object.version;
            object.version += 1;
            let version = object.version;
            let Some(space) = self.spaces.get_mut(&self.loaded) else { continue };
            let mut own = space.shared.iter_mut().filter(|mapping| mapping.object == id);
            // Other mappings in the same space do not have the new contents yet.
            if let (Some(only), None) = (own.next(), own.next())
                && only.seen == before
            {
                only.seen = version;
            }
        }
    }

    /// Stores what the loaded space has written, before the executor gets another one.
    pub(super) fn store_shared(&mut self, guest: &mut Guest<'_>, now: u64) -> Result<(), Failure> {
        if self.space_shares() {
            let written = self.written_pages(guest)?;
            self.store_pages(written, now);
        }
        Ok(())
    }

    fn space_shares(&self) -> bool {
        self.spaces.get(&self.loaded).is_some_and(|space| !space.shared.is_empty())
    }

    /// Brings the memory of a space up to date, before the executor gets it.
    pub(super) fn update_memory(&mut self, space: u32, memory: &mut LaneMemory) {
        let Some(space) = self.spaces.get_mut(&space) else { return };
        let mut new: BTreeMap<u64, Contents> = BTreeMap::new();
        for mapping in &mut space.shared {
            let version = self.shared.version(mapping.object);
            if std::mem::replace(&mut mapping.seen, version) == version {
                continue;
            }
            let written = memory.pages.iter().map(|(page, _)| *page);
            let mut pages: BTreeSet<u64> = written.filter(|page| mapping.pages.contains(page)).collect();
            pages.extend(memory.map.framed(mapping.pages.clone()));
            pages.extend(self.shared.filled_pages(&self.files, mapping));
            for page in pages {
                let there = mapping.first + (page - mapping.pages.start);
                let bytes = self.shared.page(&self.files, mapping.object, there);
                new.insert(page, Contents::new(&bytes));
            }
        }
        if !new.is_empty() {
            let mut all: BTreeMap<u64, Contents> = memory.pages.drain(..).collect();
            all.extend(new);
            memory.pages = all.into_iter().collect();
        }
    }

    /// Stores what the loaded space has written while the executor has it, and brings its mappings up to date.
    pub(super) fn sync_shared(&mut self, guest: &mut Guest<'_>, now: u64) -> Result<(), Failure> {
        if !self.space_shares() {
            return Ok(());
        }
        self.store_shared(guest, now)?;
        self.refresh_shared(guest)
    }

    /// Brings the mappings of the loaded space up to date, after a call has changed an object.
    pub(super) fn refresh_shared(&mut self, guest: &mut Guest<'_>) -> Result<(), Failure> {
        let Some(space) = self.spaces.get_mut(&self.loaded) else { return Ok(()) };
        for mapping in &mut space.shared {
            let version = self.shared.version(mapping.object);
            if mapping.seen == version {
                continue;
            }
            let mut pages = guest.filled_pages(&mapping.pages)?;
            pages.extend(self.shared.filled_pages(&self.files, mapping));
            for page in pages {
                let there = mapping.first + (page - mapping.pages.start);
                let (address, mut before) = (page << PAGE_SHIFT, [0; PAGE_BYTES]);
                let bytes = self.shared.page(&self.files, mapping.object, there);
                if guest.lane.read_memory(address, &mut before, None)?.is_ok() && before != bytes {
                    guest.lane.write_memory(address, &bytes, None)?.map_err(Failure::Stop)?;
                }
            }
            mapping.seen = version;
        }
        Ok(())
    }

    /// Adds a mapping to the loaded space.
    pub(super) fn share_pages(&mut self, mapping: SharedMapping) {
        if let Some(Source::File(_)) = self.shared.objects.get(&mapping.object).map(|object| &object.source)
            && mapping.is_writable
        {
            // Only the host can store in the file what the program has written before its end.
            self.state.more_threads = self.state.more_threads.saturating_add(1);
        }
        if let Some(space) = self.spaces.get_mut(&self.loaded) {
            space.shared.push(mapping);
        }
    }

    /// Removes pages from the mappings of the loaded space. What was written there has been stored.
    pub(super) fn unshare_pages(&mut self, pages: &Range<u64>) {
        let Some(space) = self.spaces.get_mut(&self.loaded) else { return };
        if space.shared.is_empty() {
            return;
        }
        space.unshare(pages);
        self.collect_shared();
    }

    /// Makes zeros of pages of an object.
    pub(super) fn remove_shared(&mut self, object: u32, pages: &Range<u64>, now: u64) -> Result<(), Errno> {
        let Some(there) = self.shared.objects.get_mut(&object) else { return Ok(()) };
        there.version += 1;
        match &mut there.source {
            Source::Pages(all) => all.retain(|page, _| !pages.contains(page)),
            Source::File(number) => {
                let bytes = self.files.inode(*number).map_or(0, |inode| inode.bytes());
                let [start, end] = [pages.start, pages.end].map(|page| page.saturating_mul(PAGE).min(bytes));
                self.files.write(*number, start, &vec![0; (end - start) as usize], now)?;
            }
        }
        Ok(())
    }

    /// Drops the objects that nothing uses any more.
    pub(super) fn collect_shared(&mut self) {
        let used: Vec<u32> =
            self.spaces.values().flat_map(|space| &space.shared).map(|mapping| mapping.object).collect();
        let mut files = Vec::new();
        self.shared.objects.retain(|id, object| {
            let stays = object.is_kept || used.contains(id);
            if let (false, Source::File(number)) = (stays, &object.source) {
                files.push(*number);
            }
            stays
        });
        files.into_iter().for_each(|number| self.release_inode(number));
        let objects = &self.shared.objects;
        self.ipc.segments.all.retain(|_, segment| objects.contains_key(&segment.object));
    }

    /// Returns the object and the address within it that an address of the loaded space shares with other spaces.
    pub(super) fn shared_place(&self, address: u64) -> Option<(u32, u64)> {
        let mapping = self.spaces.get(&self.loaded)?.shared.iter();
        let page = page_of(address);
        let mapping = mapping.clone().find(|mapping| mapping.pages.contains(&page))?;
        Some((mapping.object, (mapping.first + (page - mapping.pages.start)) * PAGE + address % PAGE))
    }
}
