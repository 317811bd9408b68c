//! System calls on memory: the heap, the arena of `mmap`, permissions.
//!
//! The lane's page map is the only record of mappings, so snapshot and reset preserve them.

use std::ops::Range;
use std::sync::Arc;

use kvrm_arm64::Stop;

use super::call::Call;
use super::errno::{EACCES, EBADF, EEXIST, EFAULT, EINVAL, ENODEV, ENOMEM, EPERM};
use super::failure::{CallResult, Failure};
use super::files::Kind;
use super::guest::Guest;
use super::mapped_files::MappedFile;
use super::memory_limits::Added;
use super::open_files::Object;
use super::page_ranges::{pages, pages_of_call};
use super::process::READ_IMPLIES_EXEC;
use super::space::SharedMapping;
use crate::image::LINUX_PAGES;
use crate::page_map::Mapping;
use crate::pages::PAGE_BYTES;
use crate::permissions::Permissions;

const PAGE: u64 = PAGE_BYTES as u64;
/// The limit on shared mappings of an address space.
pub(super) const SHARED_MAX: usize = 4096;

/// The ranges of pages in which `mmap` looks for room, one after the other, if the arena has none: they need page tables of
/// two, three and four levels.
const FAR_PAGES: [Range<u64>; 3] = [LINUX_PAGES.start..1 << 20, 1 << 20..1 << 30, 1 << 30..LINUX_PAGES.end];

impl Call<'_> {
    /// Returns the permissions for `PROT_READ`, `PROT_WRITE` and `PROT_EXEC`. Writable pages are readable, too, as in page
    /// tables of A64.
    fn permissions(&self, protection: u64) -> Result<Permissions, Failure> {
        /// Branch target identification, which is accepted although the machine does not have it.
        const PROT_BTI: u64 = 0x10;
        if protection & !(7 | PROT_BTI) != 0 {
            return Err(EINVAL.into());
        }
        let has = |bit: u64| protection & bit != 0;
        let read = has(1) || has(2);
        let implies = self.kernel.process().personality & READ_IMPLIES_EXEC != 0;
        Ok(Permissions { read, write: has(2), execute: has(4) || (read && implies) })
    }

    /// Returns the first of `count` consecutive pages that are not mapped: at the address `hint`, if there is room, or where
    /// the kernel chooses.
    pub(super) fn find_room(&mut self, hint: u64, count: u64) -> Result<u64, Failure> {
        let map = self.guest.page_map()?;
        let areas = &self.kernel.space().areas;
        let page = hint.div_ceil(PAGE).max(LINUX_PAGES.start);
        // The heap may still grow.
        let heap = areas.heap.start / PAGE..areas.heap.end.div_ceil(PAGE);
        let end = page.checked_add(count).filter(|end| *end <= LINUX_PAGES.end);
        if let Some(end) = end.filter(|end| hint != 0 && (*end <= heap.start || heap.end <= page))
            && map.gap(page..end, count).is_some()
        {
            return Ok(page);
        }
        let near = areas.arena.start / PAGE..areas.arena.end / PAGE;
        let behind = |range: Range<u64>| range.start.max(near.end)..range.end;
        let ranges = std::iter::once(near.clone()).chain(FAR_PAGES.into_iter().map(behind));
        let found = ranges.filter(|range| !range.is_empty()).find_map(|range| map.gap(range, count));
        Ok(found.ok_or(ENOMEM)?)
    }
}

pub(super) fn brk(call: &mut Call<'_>) -> CallResult {
    let heap = call.kernel.space().areas.heap.clone();
    let (old, new) = (call.kernel.state.heap_end, call.x[0]);
    if !(heap.start..=heap.end).contains(&new) {
        return Ok(old);
    }
    let (from, to) = (old.div_ceil(PAGE), new.div_ceil(PAGE));
    let (range, mapping) = if to > from { (from..to, Mapping::Heap) } else { (to..from, Mapping::Unmap) };
    let added = Added { count: to.saturating_sub(from), replaced: &(0..0), is_data: true };
    // On failure `brk` returns the old end of the heap.
    match call.check_memory(&added) {
        Err(Failure::Errno(_)) if added.count > 0 => return Ok(old),
        Err(failure @ Failure::Engine(_)) => return Err(failure),
        _ => {}
    }
    if call.guest.lane.map(range, mapping)? {
        call.kernel.state.heap_end = new;
    }
    Ok(call.kernel.state.heap_end)
}

impl Guest<'_> {
    /// Unmaps those of the pages that are mapped.
    pub(super) fn unmap(&mut self, pages: &Range<u64>) -> Result<(), Failure> {
        let map = self.page_map()?;
        let regions = map.regions().iter();
        let inside = regions.filter(|region| region.first_page < pages.end && pages.start < region.end_page);
        for region in inside {
            let part = region.pages_within(pages);
            self.map(part, Mapping::Unmap, ENOMEM)?;
        }
        Ok(())
    }

    /// Copies pages to others, which are mapped and zero. Returns the stop if the lane may not write so many.
    fn copy_pages(&mut self, from: Range<u64>, to: u64) -> Result<Result<(), Stop>, Failure> {
        /// The limit on pages that are read at once.
        const PAGES: u64 = 64;
        let mut filled = self.filled_pages(&from)?.into_iter().peekable();
        while let Some(first) = filled.next() {
            let mut end = first + 1;
            while end - first < PAGES && filled.next_if_eq(&end).is_some() {
                end += 1;
            }
            let mut bytes = vec![0; (end - first) as usize * PAGE_BYTES];
            if let Err(stop) = self.lane.read_memory(first * PAGE, &mut bytes, None)? {
                return Ok(Err(stop));
            }
            for (page, bytes) in (first..).zip(bytes.chunks_exact(PAGE_BYTES)) {
                // Pages of zeros need no frame.
                if bytes.iter().any(|byte| *byte != 0)
                    && let Err(stop) = self.lane.write_memory((to + page - from.start) * PAGE, bytes, None)?
                {
                    return Ok(Err(stop));
                }
            }
        }
        Ok(Ok(()))
    }
}

pub(super) fn mmap(call: &mut Call<'_>) -> CallResult {
    const MAP_SHARED: u64 = 1;
    const MAP_PRIVATE: u64 = 2;
    const MAP_SHARED_VALIDATE: u64 = 3;
    const MAP_FIXED: u64 = 0x10;
    const MAP_ANONYMOUS: u64 = 0x20;
    const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;
    let [address, bytes, protection, flags, descriptor, offset] = call.x;
    let permissions = call.permissions(protection)?;
    let sharing = flags & 0xf;
    if !matches!(sharing, MAP_SHARED | MAP_PRIVATE | MAP_SHARED_VALIDATE)
        || !offset.is_multiple_of(PAGE)
        || bytes == 0
    {
        return Err(EINVAL.into());
    }
    let count = bytes.checked_next_multiple_of(PAGE).ok_or(ENOMEM)? / PAGE;
    let is_shared = sharing != MAP_PRIVATE;
    let (mut may_write, mut file, mut shown) = (true, None, None);
    if is_shared || flags & MAP_ANONYMOUS == 0 {
        call.kernel.space().files.check_room()?;
    }
    let data = if flags & MAP_ANONYMOUS != 0 {
        Vec::new()
    } else {
        let description = call.kernel.description(descriptor)?;
        let Object::Inode(number) = description.object else { return Err(ENODEV.into()) };
        if !description.is_readable() {
            return Err(if description.is_writable() { EACCES } else { EBADF }.into());
        }
        may_write = description.is_writable();
        if is_shared && permissions.write && !may_write {
            return Err(EACCES.into());
        }
        let path = Arc::clone(&description.path);
        shown = Some(MappedFile { end_page: 0, offset: offset / PAGE, inode: number, path, is_shared });
        call.sync_file(number)?;
        match &call.kernel.files.inode(number).ok_or(ENODEV)?.kind {
            Kind::File(data) => {
                file = Some(number);
                let start = offset.min(data.len() as u64) as usize;
                let end = offset.saturating_add(bytes).min(data.len() as u64) as usize;
                data[start..end].to_vec()
            }
            Kind::Device(_) => Vec::new(),
            _ => return Err(ENODEV.into()),
        }
    };
    let range = if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0 {
        let range = pages_of_call(address, bytes)?;
        let is_free = call.guest.page_map()?.gap(range.clone(), range.end - range.start).is_some();
        if !is_free && flags & MAP_FIXED_NOREPLACE != 0 {
            return Err(EEXIST.into());
        }
        // Linux reserves the first pages, so that null pointers fault.
        if range.start < LINUX_PAGES.start {
            return Err(EPERM.into());
        }
        range
    } else {
        let first = call.find_room(address, count)?;
        first..first + count
    };
    if is_shared && call.kernel.space().shared.len() >= SHARED_MAX {
        return Err(ENOMEM.into());
    }
    let is_data = !is_shared && permissions.write;
    call.check_memory(&Added { count: range.end - range.start, replaced: &range, is_data })?;
    call.replace_shared(&range)?;
    call.guest.map(range.clone(), Mapping::Zero(permissions), ENOMEM)?;
    call.kernel.space_mut().advice.forget(&range);
    let start = range.start * PAGE;
    if !data.is_empty()
        && let Err(stop) = call.guest.lane.write_memory(start, &data, None)?
    {
        // The lane stops for lack of frames and makes the call again later.
        call.guest.unmap(&range)?;
        return Err(Failure::Stop(stop));
    }
    if is_shared {
        let shared = &mut call.kernel.shared;
        let object = match file {
            Some(number) => shared.of_file(number),
            None => shared.add_pages(),
        };
        let seen = shared.version(object);
        let (first, is_writable) = (if file.is_some() { offset / PAGE } else { 0 }, may_write);
        let pages = range.clone();
        let mapping = SharedMapping { pages, object, first, is_writable, seen, is_segment: false };
        call.kernel.share_pages(mapping);
        shown = shown.or_else(|| Some(MappedFile::of_object(object, "/dev/zero")));
    }
    let files = &mut call.kernel.space_mut().files;
    match shown {
        Some(file) => files.map(range.start, MappedFile { end_page: range.end, ..file }),
        None => files.unmap(&range),
    }
    Ok(start)
}

pub(super) fn munmap(call: &mut Call<'_>) -> CallResult {
    let range = pages(call.x[0], call.x[1]).ok_or(EINVAL)?;
    call.replace_shared(&range)?;
    call.guest.unmap(&range)?;
    call.kernel.space_mut().forget(&range);
    Ok(0)
}

pub(super) fn mprotect(call: &mut Call<'_>) -> CallResult {
    /// The range begins where the stack does, however far it has grown.
    const PROT_GROWSDOWN: u64 = 0x0100_0000;
    let [address, bytes, protection, ..] = call.x;
    let permissions = call.permissions(protection & !PROT_GROWSDOWN)?;
    let mut range = pages_of_call(address, bytes)?;
    if range.is_empty() {
        return Ok(0);
    }
    if protection & PROT_GROWSDOWN != 0 {
        let stack = call.kernel.space().areas.stack();
        if !stack.contains(&address) {
            return Err(EINVAL.into());
        }
        let map = call.guest.page_map()?;
        range.start = map.region(range.start).ok_or(ENOMEM)?.first_page.max(stack.start / PAGE);
    }
    if permissions.write {
        call.check_writable(&range)?;
    }
    call.guest.map(range, Mapping::Protect(permissions), ENOMEM)?;
    Ok(0)
}

pub(super) fn mremap(call: &mut Call<'_>) -> CallResult {
    const MREMAP_MAYMOVE: u64 = 1;
    const MREMAP_FIXED: u64 = 2;
    const MREMAP_DONTUNMAP: u64 = 4;
    let [address, old_bytes, new_bytes, flags, new_address, _] = call.x;
    let has = |flag: u64| flags & flag != 0;
    let old = pages(address, old_bytes).ok_or(EINVAL)?;
    let count = new_bytes.checked_next_multiple_of(PAGE).filter(|&bytes| bytes > 0).ok_or(EINVAL)? / PAGE;
    let there = old.end - old.start;
    let keeps = has(MREMAP_DONTUNMAP);
    if flags & !(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP) != 0
        || (flags > MREMAP_MAYMOVE && !has(MREMAP_MAYMOVE))
        || (keeps && count != there)
    {
        return Err(EINVAL.into());
    }
    let fixed = if has(MREMAP_FIXED) {
        let new = pages(new_address, new_bytes).ok_or(EINVAL)?;
        if new.start < old.end && old.start < new.end {
            return Err(EINVAL.into());
        }
        if new.start < LINUX_PAGES.start {
            return Err(EPERM.into());
        }
        Some(new)
    } else {
        None
    };
    let map = call.guest.page_map()?;
    let region = *map.region(old.start).ok_or(EFAULT)?;
    if region.end_page < old.end.min(old.start + count) {
        return Err(EFAULT.into());
    }
    call.sync_shared()?;
    let is_shared = call.kernel.space().shared.iter().any(|mapping| mapping.pages.contains(&old.start));
    if keeps && is_shared {
        return Err(EINVAL.into());
    }
    let count_added = if keeps { count } else { count.saturating_sub(there) };
    if count_added > 0 {
        let is_data = region.permissions.write && !is_shared;
        let replaced = fixed.clone().unwrap_or(0..0);
        call.check_memory(&Added { count: count_added, replaced: &replaced, is_data })?;
    }
    if fixed.is_none() && !keeps {
        if count <= there {
            let left = old.start + count..old.end;
            call.kernel.unshare_pages(&left);
            call.guest.unmap(&left)?;
            call.kernel.space_mut().forget(&left);
            return Ok(address);
        }
        if region.end_page < old.end {
            return Err(EFAULT.into());
        }
        let more = old.end..old.start.saturating_add(count);
        let heap = &call.kernel.space().areas.heap;
        let meets_heap = more.start * PAGE < heap.end && heap.start / PAGE < more.end;
        if more.end <= LINUX_PAGES.end && !meets_heap && map.gap(more.clone(), count - there).is_some() {
            call.guest.map(more.clone(), Mapping::Zero(region.permissions), ENOMEM)?;
            let new = old.start..more.end;
            let moved = call.moved(&old, &new);
            call.finish_move(&old, moved)?;
            call.kernel.space_mut().relocate(&old, &new);
            return Ok(address);
        }
        if !has(MREMAP_MAYMOVE) {
            return Err(ENOMEM.into());
        }
    }
    let new = match fixed {
        Some(new) => new,
        None => {
            let first = call.find_room(new_address * u64::from(keeps), count)?;
            first..first + count
        }
    };
    call.replace_shared(&new)?;
    call.guest.map(new.clone(), Mapping::Zero(Permissions::RW), ENOMEM)?;
    if let Err(stop) = call.guest.copy_pages(old.start..old.start + count.min(there), new.start)? {
        // The lane stops for lack of frames and makes the call again later.
        call.guest.unmap(&new)?;
        return Err(Failure::Stop(stop));
    }
    call.guest.map(new.clone(), Mapping::Protect(region.permissions), ENOMEM)?;
    let moved = call.moved(&old, &new);
    call.finish_move(&old, moved)?;
    if keeps {
        call.kernel.space_mut().files.copy(&old, &new);
        call.guest.map(old, Mapping::Zero(region.permissions), ENOMEM)?;
    } else {
        call.kernel.space_mut().relocate(&old, &new);
        call.guest.unmap(&old)?;
    }
    Ok(new.start * PAGE)
}

pub(super) fn mincore(call: &mut Call<'_>) -> CallResult {
    let [address, bytes, vector, ..] = call.x;
    let range = pages_of_call(address, bytes)?;
    if range.is_empty() {
        return Ok(0);
    }
    let map = call.guest.page_map()?;
    let room = call.guest.writable(vector, range.end - range.start)?;
    if room < range.end - range.start {
        return Err(EFAULT.into());
    }
    if !map.covers(range.clone()) {
        return Err(ENOMEM.into());
    }
    // Every page counts as one in memory.
    for start in (0..room).step_by(1 << 16) {
        let ones = vec![1; (room - start).min(1 << 16) as usize];
        call.guest.write(vector + start, &ones)?;
    }
    Ok(0)
}
