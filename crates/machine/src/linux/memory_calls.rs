//! System calls on memory: the heap, the arena of `mmap`, permissions.
//!
//! The lane's page map is the only record of mappings, so snapshot and reset preserve them.

use std::ops::Range;

use super::call::Call;
use super::errno::{EACCES, EBADF, EEXIST, EFAULT, EINVAL, ENODEV, ENOENT, ENOMEM};
use super::failure::{CallResult, Failure};
use super::files::Kind;
use super::guest::Guest;
use super::open_files::Object;
use crate::page_map::Mapping;
use crate::pages::{ADDRESS_BITS, PAGE_BYTES, PAGE_SHIFT};
use crate::permissions::Permissions;

const PAGE: u64 = PAGE_BYTES as u64;

/// Returns the pages of a range: its address has to be page aligned, its size is rounded up to whole pages.
fn pages(address: u64, bytes: u64) -> Option<Range<u64>> {
    let end = address.checked_add(bytes)?.checked_next_multiple_of(PAGE)?;
    let is_there = address.is_multiple_of(PAGE) && bytes > 0 && end <= 1 << ADDRESS_BITS;
    is_there.then_some(address >> PAGE_SHIFT..end >> PAGE_SHIFT)
}

/// Returns the permissions for `PROT_READ`, `PROT_WRITE` and `PROT_EXEC`. Writable pages are readable, too, as in page
/// tables of A64.
fn permissions(protection: u64) -> Result<Permissions, Failure> {
    /// Branch target identification, which is accepted although the machine does not have it.
    const PROT_BTI: u64 = 0x10;
    if protection & !(7 | PROT_BTI) != 0 {
        return Err(EINVAL.into());
    }
    let has = |bit: u64| protection & bit != 0;
    Ok(Permissions { read: has(1) || has(2), write: has(2), execute: has(4) })
}

pub(super) fn brk(call: &mut Call<'_>) -> CallResult {
    let heap = call.kernel.space().areas.heap.clone();
    let (old, new) = (call.kernel.state.heap_end, call.x[0]);
    if !(heap.start..=heap.end).contains(&new) {
        return Ok(old);
    }
    let (from, to) = (old.div_ceil(PAGE), new.div_ceil(PAGE));
    let (range, mapping) = if to > from { (from..to, Mapping::Heap) } else { (to..from, Mapping::Unmap) };
    // On failure `brk` returns the old end of the heap.
    if call.guest.lane.map(range, mapping)? {
        call.kernel.state.heap_end = new;
    }
    Ok(call.kernel.state.heap_end)
}

impl Guest<'_> {
    /// Unmaps those of the pages that are mapped.
    fn unmap(&mut self, pages: &Range<u64>) -> Result<(), Failure> {
        let map = self.page_map()?;
        let regions = map.regions().iter();
        let inside = regions.filter(|region| region.first_page < pages.end && pages.start < region.end_page);
        for region in inside {
            let part = region.first_page.max(pages.start)..region.end_page.min(pages.end);
            self.map(part, Mapping::Unmap, ENOMEM)?;
        }
        Ok(())
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
    let permissions = permissions(protection)?;
    let sharing = flags & 0xf;
    if !matches!(sharing, MAP_SHARED | MAP_PRIVATE | MAP_SHARED_VALIDATE)
        || !offset.is_multiple_of(PAGE)
        || bytes == 0
    {
        return Err(EINVAL.into());
    }
    let count = bytes.checked_next_multiple_of(PAGE).ok_or(ENOMEM)? / PAGE;
    let data = if flags & MAP_ANONYMOUS != 0 {
        Vec::new()
    } else {
        let description = call.kernel.description(descriptor)?;
        let Object::Inode(number) = description.object else { return Err(ENODEV.into()) };
        if !description.is_readable() {
            return Err(if description.is_writable() { EACCES } else { EBADF }.into());
        }
        // A writable shared mapping would have to write through to the file, which is not supported.
        if sharing != MAP_PRIVATE && permissions.write {
            return Err(ENODEV.into());
        }
        match &call.kernel.files.inode(number).ok_or(ENOENT)?.kind {
            Kind::File(data) => {
                let start = offset.min(data.len() as u64) as usize;
                let end = offset.saturating_add(bytes).min(data.len() as u64) as usize;
                data[start..end].to_vec()
            }
            Kind::Device(_) => Vec::new(),
            _ => return Err(ENODEV.into()),
        }
    };
    let map = call.guest.page_map()?;
    let arena = &call.kernel.space().areas.arena;
    let range = if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0 {
        let range =
            pages(address, bytes).ok_or(if address.is_multiple_of(PAGE) { ENOMEM } else { EINVAL })?;
        let is_used =
            map.regions().iter().any(|other| other.first_page < range.end && range.start < other.end_page);
        if is_used && flags & MAP_FIXED_NOREPLACE != 0 {
            return Err(EEXIST.into());
        }
        range
    } else {
        let first = map.gap(arena.start / PAGE..arena.end / PAGE, count).ok_or(ENOMEM)?;
        first..first + count
    };
    call.guest.map(range.clone(), Mapping::Zero(permissions), ENOMEM)?;
    let start = range.start * PAGE;
    if !data.is_empty()
        && let Err(stop) = call.guest.lane.write_memory(start, &data, None)?
    {
        // The lane stops for lack of frames and makes the call again later.
        call.guest.unmap(&range)?;
        return Err(Failure::Stop(stop));
    }
    Ok(start)
}

pub(super) fn munmap(call: &mut Call<'_>) -> CallResult {
    let range = pages(call.x[0], call.x[1]).ok_or(EINVAL)?;
    call.guest.unmap(&range)?;
    Ok(0)
}

pub(super) fn mprotect(call: &mut Call<'_>) -> CallResult {
    let [address, bytes, protection, ..] = call.x;
    let permissions = permissions(protection)?;
    if bytes == 0 && address.is_multiple_of(PAGE) {
        return Ok(0);
    }
    let range = pages(address, bytes).ok_or(if address.is_multiple_of(PAGE) { ENOMEM } else { EINVAL })?;
    call.guest.map(range, Mapping::Protect(permissions), ENOMEM)?;
    Ok(0)
}

pub(super) fn mremap(call: &mut Call<'_>) -> CallResult {
    const MREMAP_MAYMOVE: u64 = 1;
    let [address, old_bytes, new_bytes, flags, ..] = call.x;
    if flags & !MREMAP_MAYMOVE != 0 {
        return Err(EINVAL.into());
    }
    let old = pages(address, old_bytes).ok_or(EINVAL)?;
    let count = new_bytes.checked_next_multiple_of(PAGE).filter(|&bytes| bytes > 0).ok_or(EINVAL)? / PAGE;
    let map = call.guest.page_map()?;
    let region = *map.region(old.start).ok_or(EFAULT)?;
    if region.end_page < old.end {
        return Err(EFAULT.into());
    }
    let there = old.end - old.start;
    if count <= there {
        call.guest.unmap(&(old.start + count..old.end))?;
        return Ok(address);
    }
    let arena = call.kernel.space().areas.arena.clone();
    let arena = arena.start / PAGE..arena.end / PAGE;
    let more = old.end..old.start.saturating_add(count);
    if arena.contains(&old.start) && more.end <= arena.end && map.gap(more.clone(), count - there).is_some() {
        call.guest.map(more, Mapping::Zero(region.permissions), ENOMEM)?;
        return Ok(address);
    }
    if flags & MREMAP_MAYMOVE == 0 {
        return Err(ENOMEM.into());
    }
    let first = map.gap(arena, count).ok_or(ENOMEM)?;
    call.guest.map(first..first + count, Mapping::Zero(Permissions::RW), ENOMEM)?;
    let new = first..first + count;
    for (from, to) in old.clone().zip(new.clone()) {
        let mut bytes = [0; PAGE_BYTES];
        let read = call.guest.lane.read_memory(from * PAGE, &mut bytes, None)?;
        // Pages of zeros need no frame.
        if read.is_err() || bytes == [0; PAGE_BYTES] {
            continue;
        }
        if let Err(stop) = call.guest.lane.write_memory(to * PAGE, &bytes, None)? {
            call.guest.unmap(&new)?;
            return Err(Failure::Stop(stop));
        }
    }
    call.guest.map(new, Mapping::Protect(region.permissions), ENOMEM)?;
    call.guest.unmap(&old)?;
    Ok(first * PAGE)
}

pub(super) fn madvise(call: &mut Call<'_>) -> CallResult {
    const MADV_DONTNEED: u64 = 4;
    let [address, bytes, advice, ..] = call.x;
    if !address.is_multiple_of(PAGE) {
        return Err(EINVAL.into());
    }
    let Some(range) = pages(address, bytes) else {
        return if bytes == 0 { Ok(0) } else { Err(ENOMEM.into()) };
    };
    let map = call.guest.page_map()?;
    if !map.covers(range.clone()) {
        return Err(ENOMEM.into());
    }
    if advice == MADV_DONTNEED {
        // Pages with frames of the image hold the program's file and stay as they are.
        for region in map.regions().iter().filter(|region| region.first_frame.is_none()) {
            let part = region.first_page.max(range.start)..region.end_page.min(range.end);
            if !part.is_empty() {
                call.guest.map(part, Mapping::Zero(region.permissions), ENOMEM)?;
            }
        }
    }
    Ok(0)
}

pub(super) fn mincore(call: &mut Call<'_>) -> CallResult {
    let [address, bytes, vector, ..] = call.x;
    if !address.is_multiple_of(PAGE) {
        return Err(EINVAL.into());
    }
    let Some(range) = pages(address, bytes) else {
        return if bytes == 0 { Ok(0) } else { Err(ENOMEM.into()) };
    };
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
