//! System calls on segments of shared memory of System V.

use super::call::Call;
use super::errno::{EINVAL, ENOMEM, ENOSPC};
use super::failure::CallResult;
use super::fields::Fields;
use super::ipc::{IPC_RMID, IPC_SET, IPC_STAT, Permission, Segment};
use super::mapped_files::MappedFile;
use super::memory_calls::SHARED_MAX;
use super::memory_limits::Added;
use super::page_ranges::pages;
use super::space::SharedMapping;
use super::time_calls::NANOSECONDS;
use crate::page_map::Mapping;
use crate::pages::{PAGE_BYTES, PAGE_SHIFT};
use crate::permissions::Permissions;

const PAGE: u64 = PAGE_BYTES as u64;
/// The limits on the size of a segment, and of all together.
const SEGMENT_BYTES_MAX: u64 = 1 << 36;
const ALL_BYTES_MAX: u64 = 1 << 38;
/// The mode of a segment that is removed when nothing has it attached any more.
const SHM_DEST: u32 = 0o1000;

pub(super) fn shmget(call: &mut Call<'_>) -> CallResult {
    let [key, bytes, flags, ..] = call.x;
    if let Some(id) = call.kernel.ipc.segments.find(key, flags)? {
        if bytes > call.kernel.ipc.segments.get(id.into())?.bytes {
            return Err(EINVAL.into());
        }
        return Ok(id.into());
    }
    if bytes == 0 || bytes > SEGMENT_BYTES_MAX {
        return Err(EINVAL.into());
    }
    let used: u64 = call.kernel.ipc.segments.all.values().map(|segment| segment.bytes).sum();
    if used + bytes > ALL_BYTES_MAX {
        return Err(ENOSPC.into());
    }
    let object = call.kernel.shared.add_pages();
    if let Some(object) = call.kernel.shared.objects.get_mut(&object) {
        object.is_kept = true;
    }
    let permission = Permission { key: key as u32, owner: 0, group: 0, mode: flags as u32 & 0o777 };
    let times = [0, 0, call.now() / NANOSECONDS];
    let creator = call.kernel.process_id();
    Ok(call.kernel.ipc.segments.add(Segment { permission, object, bytes, times, creator, last: 0 }).into())
}

pub(super) fn shmat(call: &mut Call<'_>) -> CallResult {
    const SHM_RDONLY: u64 = 0o10_000;
    const SHM_RND: u64 = 0o20_000;
    const SHM_REMAP: u64 = 0o40_000;
    const SHM_EXEC: u64 = 0o100_000;
    let [id, address, flags, ..] = call.x;
    let segment = call.kernel.ipc.segments.get(id)?.clone();
    let address = if flags & SHM_RND != 0 { address & !(PAGE - 1) } else { address };
    if !address.is_multiple_of(PAGE) || flags & SHM_REMAP != 0 && address == 0 {
        return Err(EINVAL.into());
    }
    if call.kernel.space().shared.len() >= SHARED_MAX {
        return Err(ENOMEM.into());
    }
    call.kernel.space().files.check_room()?;
    let range = if address == 0 {
        let count = segment.bytes.div_ceil(PAGE);
        let first = call.find_room(0, count)?;
        first..first + count
    } else {
        let range = pages(address, segment.bytes).ok_or(EINVAL)?;
        let is_free = call.guest.page_map()?.gap(range.clone(), range.end - range.start).is_some();
        if !is_free && flags & SHM_REMAP == 0 {
            return Err(EINVAL.into());
        }
        range
    };
    call.check_memory(&Added { count: range.end - range.start, replaced: &range, is_data: false })?;
    call.replace_shared(&range)?;
    let write = flags & SHM_RDONLY == 0;
    let permissions = Permissions { read: true, write, execute: flags & SHM_EXEC != 0 };
    call.guest.map(range.clone(), Mapping::Zero(permissions), ENOMEM)?;
    call.kernel.space_mut().advice.forget(&range);
    let start = range.start << PAGE_SHIFT;
    // Version 0 was never shown.
    let mapping = SharedMapping {
        pages: range,
        object: segment.object,
        first: 0,
        is_writable: write,
        seen: 0,
        is_segment: true,
    };
    let name = format!("/SYSV{:08x}", segment.permission.key);
    let shown = MappedFile::of_object(segment.object, &name);
    let first = mapping.pages.start;
    call.kernel.space_mut().files.map(first, MappedFile { end_page: mapping.pages.end, ..shown });
    call.kernel.share_pages(mapping);
    call.kernel.refresh_shared(&mut call.guest)?;
    let (now, process) = (call.now() / NANOSECONDS, call.kernel.process_id());
    let segment = call.kernel.ipc.segments.get_mut(id)?;
    (segment.times[0], segment.last) = (now, process);
    Ok(start)
}

pub(super) fn shmdt(call: &mut Call<'_>) -> CallResult {
    let page = call.x[0] >> PAGE_SHIFT;
    let mut all = call.kernel.space().shared.iter();
    let found = all.find(|mapping| mapping.is_segment && mapping.pages.start == page).cloned();
    let mapping = found.filter(|_| call.x[0].is_multiple_of(PAGE)).ok_or(EINVAL)?;
    let (now, process) = (call.now() / NANOSECONDS, call.kernel.process_id());
    for segment in
        call.kernel.ipc.segments.all.values_mut().filter(|segment| segment.object == mapping.object)
    {
        (segment.times[1], segment.last) = (now, process);
    }
    call.replace_shared(&mapping.pages)?;
    call.guest.unmap(&mapping.pages)?;
    call.kernel.space_mut().files.unmap(&mapping.pages);
    Ok(0)
}

pub(super) fn shmctl(call: &mut Call<'_>) -> CallResult {
    const SHM_LOCK: u32 = 11;
    const SHM_UNLOCK: u32 = 12;
    let [id, command, address, ..] = call.x;
    let now = call.now() / NANOSECONDS;
    let object = call.kernel.ipc.segments.get(id)?.object;
    match command as u32 {
        IPC_STAT => {
            let attached = call.attached(object);
            let segment = call.kernel.ipc.segments.get(id)?;
            let mut out = Fields([0; 112]);
            segment.permission.write(&mut out);
            out.u64(48, segment.bytes);
            (56..).step_by(8).zip(segment.times).for_each(|(at, time)| out.u64(at, time));
            out.u32(80, segment.creator);
            out.u32(84, segment.last);
            out.u64(88, attached);
            call.guest.write(address, &out.0)?;
        }
        IPC_SET => {
            let raw = call.guest.read(address, Permission::BYTES as u64)?;
            let segment = call.kernel.ipc.segments.get_mut(id)?;
            segment.permission.set(&raw);
            segment.times[2] = now;
        }
        IPC_RMID => {
            let segment = call.kernel.ipc.segments.get_mut(id)?;
            (segment.permission.key, segment.permission.mode) = (0, segment.permission.mode | SHM_DEST);
            if let Some(object) = call.kernel.shared.objects.get_mut(&object) {
                object.is_kept = false;
            }
            call.kernel.collect_shared();
        }
        SHM_LOCK | SHM_UNLOCK => {}
        _ => return Err(EINVAL.into()),
    }
    Ok(0)
}

impl Call<'_> {
    /// Returns how often a segment is attached.
    fn attached(&self, object: u32) -> u64 {
        let mappings = self.kernel.spaces.values().flat_map(|space| &space.shared);
        mappings.filter(|mapping| mapping.object == object && mapping.is_segment).count() as u64
    }
}
