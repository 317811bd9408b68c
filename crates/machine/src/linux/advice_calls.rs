//! `madvise`.

use std::ops::Range;

use super::call::Call;
use super::errno::{EACCES, EINVAL, ENOMEM};
use super::failure::{CallResult, Failure};
use super::files::Kind;
use super::page_ranges::pages_of_call;
use crate::page_map::{Mapping, PageMap};
use crate::pages::PAGE_BYTES;

const PAGE: u64 = PAGE_BYTES as u64;

impl Call<'_> {
    /// Returns whether all pages of a range are private and show no file.
    fn are_anonymous(&self, pages: &Range<u64>) -> bool {
        let space = self.kernel.space();
        !space.shared.iter().any(|mapping| mapping.overlaps(pages))
            && space.files.parts_in(pages).next().is_none()
    }

    /// Discards what the process has written to pages. Private pages of files then show the files, shared ones what is shared.
    fn discard_pages(&mut self, range: &Range<u64>, map: &PageMap) -> Result<(), Failure> {
        // Shared pages keep what was stored in them.
        self.sync_shared()?;
        for mapping in &mut self.kernel.space_mut().shared {
            mapping.seen = 0;
        }
        // Pages with frames of the image hold the program's file and stay as they are.
        for region in map.regions().iter().filter(|region| region.first_frame.is_none()) {
            let part = region.pages_within(range);
            if part.is_empty() {
                continue;
            }
            self.guest.map(part.clone(), Mapping::Zero(region.permissions), ENOMEM)?;
            let files: Vec<_> = self.kernel.space().files.parts_in(&part).collect();
            for (pages, file) in files.into_iter().filter(|(_, file)| !file.is_shared) {
                let Some(Kind::File(data)) = self.kernel.files.inode(file.inode).map(|inode| &inode.kind)
                else {
                    continue;
                };
                let start = file.offset.saturating_mul(PAGE).min(data.len() as u64) as usize;
                let bytes = ((pages.end - pages.start) * PAGE) as usize;
                let data = &data[start..data.len().min(start.saturating_add(bytes))];
                for (page, data) in (pages.start..).zip(data.chunks(PAGE_BYTES)) {
                    // Pages of zeros need no frame.
                    if data.iter().any(|byte| *byte != 0) {
                        let written = self.guest.lane.write_memory(page * PAGE, data, None)?;
                        written.map_err(Failure::Stop)?;
                    }
                }
            }
        }
        self.kernel.refresh_shared(&mut self.guest)
    }

    /// Makes a hole in what pages share.
    fn remove_pages(&mut self, range: &Range<u64>, map: &PageMap) -> Result<(), Failure> {
        let now = self.now();
        self.sync_shared()?;
        for region in map.regions() {
            let part = region.pages_within(range);
            if part.is_empty() {
                continue;
            }
            if self.are_anonymous(&part) {
                return Err(EINVAL.into());
            }
            let mut shared = self.kernel.space().shared.iter();
            let mapping = shared.find(|mapping| mapping.pages.contains(&part.start)).cloned();
            let mapping = mapping.filter(|mapping| mapping.is_writable && region.permissions.write);
            let mut mapping = mapping.ok_or(EACCES)?;
            let mut at = part.start;
            loop {
                let end = mapping.pages.end.min(part.end);
                let first = mapping.first + (at - mapping.pages.start);
                self.kernel.remove_shared(mapping.object, &(first..first + (end - at)), now)?;
                at = end;
                if at == part.end {
                    break;
                }
                let mut shared = self.kernel.space().shared.iter();
                let next = shared.find(|mapping| mapping.pages.contains(&at) && mapping.is_writable);
                mapping = next.cloned().ok_or(EACCES)?;
            }
        }
        self.kernel.refresh_shared(&mut self.guest)
    }
}

pub(super) fn madvise(call: &mut Call<'_>) -> CallResult {
    const MADV_DONTNEED: u64 = 4;
    const MADV_REMOVE: u64 = 9;
    const MADV_DONTFORK: u64 = 10;
    const MADV_DOFORK: u64 = 11;
    const MADV_WIPEONFORK: u64 = 18;
    const MADV_KEEPONFORK: u64 = 19;
    const MADV_DONTNEED_LOCKED: u64 = 24;
    /// Advice about how pages are read, kept, merged and dumped, which the kernel need not follow, and to populate pages, which
    /// are there.
    const HINTS: [u64; 15] = [0, 1, 2, 3, 8, 12, 13, 14, 15, 16, 17, 20, 21, 22, 23];
    let [address, bytes, advice, ..] = call.x;
    let is_known = matches!(
        advice,
        MADV_DONTNEED
            | MADV_DONTNEED_LOCKED
            | MADV_REMOVE
            | MADV_DONTFORK
            | MADV_DOFORK
            | MADV_WIPEONFORK
            | MADV_KEEPONFORK
    );
    if !is_known && !HINTS.contains(&advice) {
        return Err(EINVAL.into());
    }
    let range = pages_of_call(address, bytes)?;
    if range.is_empty() {
        return Ok(0);
    }
    let map = call.guest.page_map()?;
    match advice {
        MADV_DONTNEED | MADV_DONTNEED_LOCKED => call.discard_pages(&range, &map)?,
        MADV_REMOVE => call.remove_pages(&range, &map)?,
        MADV_DONTFORK => call.kernel.space_mut().advice.absent.add(&range)?,
        MADV_DOFORK => call.kernel.space_mut().advice.absent.remove(&range),
        MADV_WIPEONFORK if !call.are_anonymous(&range) => return Err(EINVAL.into()),
        MADV_WIPEONFORK => call.kernel.space_mut().advice.wiped.add(&range)?,
        MADV_KEEPONFORK => call.kernel.space_mut().advice.wiped.remove(&range),
        _ => {}
    }
    // Those parts that are mapped have followed the advice.
    if map.covers(range) { Ok(0) } else { Err(ENOMEM.into()) }
}
