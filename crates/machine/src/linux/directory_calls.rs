//! System calls on paths: directories, links, and file status.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::call::Call;
use super::errno::{EACCES, EINVAL, ENOENT, ENOTDIR, EPERM, ERANGE, EROFS, Errno};
use super::failure::{CallResult, Failure};
use super::fields::Fields;
use super::files::{
    Device, Inode, InodeNumber, Kind, Nodes as _, Place, S_IFCHR, S_IFIFO, S_IFREG, S_IFSOCK, S_ISGID,
};
use super::guest::TRANSFER_BYTES_MAX;
use super::notices::{IN_ACCESS, IN_ATTRIB, IN_DELETE, IN_ISDIR};
use super::open_files::Object;
use super::proc_node::{Node, is_node};
use super::process::Process;

const AT_SYMLINK_NOFOLLOW: u64 = 0x100;
const AT_REMOVEDIR: u64 = 0x200;
const AT_SYMLINK_FOLLOW: u64 = 0x400;
const AT_EMPTY_PATH: u64 = 0x1000;

/// An object, and the directory and the name by which it was found.
type PlacedObject = (Object, Option<(InodeNumber, Vec<u8>)>);

pub(super) fn getcwd(call: &mut Call<'_>) -> CallResult {
    let [address, bytes, ..] = call.x;
    let Process { root, directory, .. } = *call.kernel.process();
    let mut path = match is_node(directory) {
        true => call.kernel.seen(call.kernel.path_of_inode(directory)),
        false => call.kernel.files.path(root, directory)?,
    };
    path.push(0);
    if path.len() as u64 > bytes {
        return Err(ERANGE.into());
    }
    call.guest.write(address, &path)?;
    Ok(path.len() as u64)
}

impl Call<'_> {
    fn check_directory(&self, number: InodeNumber) -> Result<(), Errno> {
        let is_directory = match is_node(number) {
            true => self.kernel.is_directory(number),
            false => self.kernel.files.inode(number).ok_or(ENOENT)?.is_directory(),
        };
        if is_directory { Ok(()) } else { Err(ENOTDIR) }
    }

    fn change_directory(&mut self, number: InodeNumber) -> CallResult {
        self.check_directory(number)?;
        let left = std::mem::replace(&mut self.kernel.process_mut().directory, number);
        self.kernel.release_inode(left);
        Ok(0)
    }

    /// Looks up the path whose address is in argument register `argument`, starting at the current directory.
    fn place_here(&mut self, argument: usize, follow: bool) -> Result<Place, Failure> {
        self.place(-100_i64 as u64, self.x[argument], follow)
    }

    fn make(&mut self, place: &Place, inode: Inode) -> CallResult {
        let number = self.kernel.files.add(place, inode)?;
        self.kernel.notify_new(place, number);
        Ok(0)
    }

    /// Returns the object that `path` names relative to the directory `descriptor`. With `AT_EMPTY_PATH` and an empty
    /// path, returns the object of the descriptor itself.
    pub(super) fn object(&mut self, descriptor: u64, path: u64, flags: u64) -> Result<Object, Failure> {
        Ok(self.object_at(descriptor, path, flags)?.0)
    }

    /// Returns what [`Call::object`] returns, with the directory and the name by which it was found.
    fn object_at(&mut self, descriptor: u64, path: u64, flags: u64) -> Result<PlacedObject, Failure> {
        if flags & AT_EMPTY_PATH != 0 && (path == 0 || self.guest.path(path)?.is_empty()) {
            return match self.kernel.description(descriptor) {
                Ok(description) => Ok((description.object, description.place.as_deref().cloned())),
                Err(errno) => {
                    let directory = self.base_directory(descriptor).map_err(|_| errno)?;
                    Ok((Object::Inode(directory), None))
                }
            };
        }
        let place = self.place(descriptor, path, flags & AT_SYMLINK_NOFOLLOW == 0)?;
        let object = self.kernel.object_of(place.existing()?)?;
        Ok((object, Some((place.parent, place.name))))
    }

    /// Returns the object of a descriptor likewise.
    fn object_of(&self, descriptor: u64) -> Result<PlacedObject, Failure> {
        let open = self.kernel.description(descriptor)?;
        Ok((open.object, open.place.as_deref().cloned()))
    }

    /// Applies `change` to the inode of `object` and updates its status change time. Other objects stay as they are.
    fn modify(&mut self, (object, place): PlacedObject, change: impl FnOnce(&mut Inode)) -> CallResult {
        if let Object::Inode(number) = object {
            let now = self.now();
            let inode = self.kernel.files.inode_mut(number)?;
            change(inode);
            inode.times[2] = now;
            let place = place.as_ref().map(|(parent, name)| (*parent, &name[..]));
            self.kernel.notify(number, place, IN_ATTRIB);
        }
        Ok(0)
    }
}

pub(super) fn chdir(call: &mut Call<'_>) -> CallResult {
    let number = call.place_here(0, true)?.existing()?;
    call.change_directory(number)
}

pub(super) fn fchdir(call: &mut Call<'_>) -> CallResult {
    match call.kernel.description(call.x[0])?.object {
        Object::Inode(number) => call.change_directory(number),
        _ => Err(ENOTDIR.into()),
    }
}

pub(super) fn chroot(call: &mut Call<'_>) -> CallResult {
    let number = call.place_here(0, true)?.existing()?;
    call.check_directory(number)?;
    let left = std::mem::replace(&mut call.kernel.process_mut().root, number);
    call.kernel.release_inode(left);
    Ok(0)
}

pub(super) fn mknodat(call: &mut Call<'_>) -> CallResult {
    let [directory, path, mode, device, ..] = call.x;
    let (mode, device) = (mode as u32, device as u32);
    let kind = match mode & 0o170_000 {
        0 | S_IFREG => Kind::File(Vec::new().into()),
        S_IFIFO => Kind::Fifo,
        S_IFSOCK => Kind::Socket,
        S_IFCHR => {
            let numbers = ((device & 0xf_ff00) >> 8, device & 0xff | device >> 12 & 0xf_ff00);
            Kind::Device(Device::of(numbers).ok_or(EPERM)?)
        }
        0o040_000 | 0o060_000 => return Err(EPERM.into()),
        _ => return Err(EINVAL.into()),
    };
    let place = call.place(directory, path, false)?;
    let mode = mode & 0o7777 & !call.kernel.process().umask;
    call.make(&place, Inode::new(kind, mode, call.now()))
}

pub(super) fn mkdirat(call: &mut Call<'_>) -> CallResult {
    let place = call.place(call.x[0], call.x[1], false)?;
    let mode = call.x[2] as u32 & 0o1777 & !call.kernel.process().umask;
    let kind = Kind::Directory { entries: BTreeMap::new(), parent: place.parent };
    call.make(&place, Inode::new(kind, mode, call.now()))
}

pub(super) fn symlinkat(call: &mut Call<'_>) -> CallResult {
    let target = call.guest.path(call.x[0])?;
    if target.is_empty() {
        return Err(ENOENT.into());
    }
    let place = call.place(call.x[1], call.x[2], false)?;
    call.make(&place, Inode::new(Kind::Symlink(target), 0o777, call.now()))
}

pub(super) fn linkat(call: &mut Call<'_>) -> CallResult {
    let [from, old, to, new, flags, _] = call.x;
    let follow = flags & AT_SYMLINK_FOLLOW != 0;
    let number =
        match call.object(from, old, flags & AT_EMPTY_PATH | if follow { 0 } else { AT_SYMLINK_NOFOLLOW })? {
            Object::Inode(number) => number,
            _ => return Err(EPERM.into()),
        };
    let (place, now) = (call.place(to, new, false)?, call.now());
    call.kernel.files.link(number, &place, now)?;
    call.kernel.notify(number, None, IN_ATTRIB);
    call.kernel.notify_new(&place, number);
    Ok(0)
}

pub(super) fn unlinkat(call: &mut Call<'_>) -> CallResult {
    let [directory, path, flags, ..] = call.x;
    if flags & !AT_REMOVEDIR != 0 {
        return Err(EINVAL.into());
    }
    let (place, now) = (call.place(directory, path, false)?, call.now());
    let is_directory = flags & AT_REMOVEDIR != 0;
    let number = call.kernel.files.remove(&place, is_directory, now)?;
    if !is_directory {
        call.kernel.notify(number, None, IN_ATTRIB);
    }
    // As on Linux, the end of the inode is noted first.
    call.kernel.release_inode(number);
    call.kernel.open.note(place.parent, IN_DELETE | if is_directory { IN_ISDIR } else { 0 }, 0, &place.name);
    Ok(0)
}

pub(super) fn renameat(call: &mut Call<'_>) -> CallResult {
    call.x[4] = 0;
    renameat2(call)
}

pub(super) fn renameat2(call: &mut Call<'_>) -> CallResult {
    const RENAME_NOREPLACE: u64 = 1;
    let [from, old, to, new, flags, _] = call.x;
    if flags & !RENAME_NOREPLACE != 0 {
        return Err(EINVAL.into());
    }
    let (from, to, now) = (call.place(from, old, false)?, call.place(to, new, false)?, call.now());
    let paths = [&from, &to].map(|place| call.kernel.path_of(place));
    let gone = call.kernel.files.rename(&from, &to, flags & RENAME_NOREPLACE == 0, now)?;
    call.kernel.follow_rename(&paths);
    if let Some(number) = from.inode.filter(|_| from.inode != to.inode) {
        call.kernel.notify_move(&from, &to, number);
    }
    if let Some(number) = gone {
        call.kernel.notify(number, None, IN_ATTRIB);
        call.kernel.release_inode(number);
    }
    Ok(0)
}

pub(super) fn readlinkat(call: &mut Call<'_>) -> CallResult {
    let [directory, path, address, bytes, ..] = call.x;
    if bytes as i32 <= 0 {
        return Err(EINVAL.into());
    }
    let Object::Inode(number) = call.object(directory, path, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)? else {
        return Err(ENOENT.into());
    };
    let target = match (Node::of(number), call.kernel.files.inode(number).map(|inode| &inode.kind)) {
        (Some(node), _) => call.kernel.link_text(node)?,
        (None, Some(Kind::Symlink(target))) => Some(target.clone()),
        _ => None,
    };
    let target = target.ok_or(EINVAL)?;
    let target = &target[..target.len().min(bytes as usize)];
    call.guest.write(address, target)?;
    Ok(target.len() as u64)
}

pub(super) fn faccessat(call: &mut Call<'_>) -> CallResult {
    const X_OK: u32 = 1;
    const W_OK: u32 = 2;
    let [directory, path, mode, ..] = call.x;
    // `faccessat2` (439) has a flags argument; `faccessat` has none.
    let has_flags = call.cpu.x(8) as u32 == 439;
    let flags = if has_flags { call.x[3] } else { 0 };
    let mode = mode as u32;
    if mode > 7 {
        return Err(EINVAL.into());
    }
    let Object::Inode(number) = call.object(directory, path, flags)? else { return Ok(0) };
    if is_node(number) {
        // Root may read and write all of them.
        let mode_of_node = call.status(Object::Inode(number)).mode;
        let is_executable = call.kernel.is_directory(number) || mode_of_node & 0o111 != 0;
        return if mode & X_OK != 0 && !is_executable { Err(EACCES.into()) } else { Ok(0) };
    }
    let inode = call.kernel.files.inode(number).ok_or(ENOENT)?;
    if mode & W_OK != 0 && inode.read_only {
        return Err(EROFS.into());
    }
    // Root may access everything, but may execute a file only if it has at least one execute bit.
    if mode & X_OK != 0 && !inode.is_directory() && inode.mode & 0o111 == 0 {
        return Err(EACCES.into());
    }
    Ok(0)
}

pub(super) fn newfstatat(call: &mut Call<'_>) -> CallResult {
    let [directory, path, address, flags, ..] = call.x;
    let object = call.object(directory, path, flags)?;
    let status = call.status(object);
    call.guest.write(address, &status.stat())?;
    Ok(0)
}

pub(super) fn fstat(call: &mut Call<'_>) -> CallResult {
    let object = call.kernel.description(call.x[0])?.object;
    let status = call.status(object);
    call.guest.write(call.x[1], &status.stat())?;
    Ok(0)
}

pub(super) fn statx(call: &mut Call<'_>) -> CallResult {
    let [directory, path, flags, _, address, _] = call.x;
    let object = call.object(directory, path, flags)?;
    let status = call.status(object);
    call.guest.write(address, &status.statx())?;
    Ok(0)
}

/// Writes `struct statfs`. The file system of a lane is in memory, so it reports itself as `tmpfs`, and `/proc` as itself.
fn write_statfs(call: &mut Call<'_>, object: Object, address: u64) -> CallResult {
    const PROC_MAGIC: u64 = 0x9fa0;
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    const BLOCK: u64 = 4096;
    let (room, free) = call.kernel.files.space();
    let mut out = Fields([0; 120]);
    let words = match object {
        Object::Inode(number) if is_node(number) => [PROC_MAGIC, BLOCK, 0, 0, 0, 0, 0],
        _ => [TMPFS_MAGIC, BLOCK, room / BLOCK, free / BLOCK, free / BLOCK, 65_536, 65_536],
    };
    (0..).step_by(8).zip(words).for_each(|(at, word)| out.u64(at, word));
    out.u64(64, 255);
    out.u64(72, BLOCK);
    call.guest.write(address, &out.0)?;
    Ok(0)
}

pub(super) fn statfs(call: &mut Call<'_>) -> CallResult {
    let number = call.place_here(0, true)?.existing()?;
    write_statfs(call, Object::Inode(number), call.x[1])
}

pub(super) fn fstatfs(call: &mut Call<'_>) -> CallResult {
    let object = call.kernel.description(call.x[0])?.object;
    write_statfs(call, object, call.x[1])
}

pub(super) fn getdents64(call: &mut Call<'_>) -> CallResult {
    let [descriptor, address, bytes, ..] = call.x;
    let bytes = u64::from(bytes as u32).min(TRANSFER_BYTES_MAX) as usize;
    let id = call.kernel.opened(descriptor)?;
    let Object::Inode(number) = call.kernel.open.get(id)?.object else { return Err(ENOTDIR.into()) };
    let list = match &call.kernel.open.get(id)?.listing {
        Some(list) => Arc::clone(list),
        None => Arc::new(call.kernel.list(number)?),
    };
    let description = call.kernel.open.get_mut(id)?;
    description.listing = Some(Arc::clone(&list));
    let start = description.position.min(list.len() as u64) as usize;
    let mut out: Vec<u8> = Vec::new();
    let mut position = start;
    for (name, number) in &list[start..] {
        let record = (19 + name.len() + 1).next_multiple_of(8);
        if out.len() + record > bytes {
            break;
        }
        position += 1;
        let kind = (call.status(Object::Inode(*number)).mode >> 12) as u8;
        let end = out.len() + record;
        out.extend(number.to_le_bytes());
        out.extend((position as u64).to_le_bytes());
        out.extend((record as u16).to_le_bytes());
        out.push(kind);
        out.extend(name);
        out.resize(end, 0);
    }
    if out.is_empty() && start < list.len() {
        return Err(EINVAL.into());
    }
    call.guest.write(address, &out)?;
    call.kernel.notify_opened(id, IN_ACCESS);
    call.kernel.description_mut(descriptor)?.position = position as u64;
    Ok(out.len() as u64)
}

pub(super) fn fchmod(call: &mut Call<'_>) -> CallResult {
    let object = call.object_of(call.x[0])?;
    let mode = call.x[1] as u32 & 0o7777;
    call.modify(object, |inode| inode.mode = mode)
}

pub(super) fn fchmodat(call: &mut Call<'_>) -> CallResult {
    let object = call.object_at(call.x[0], call.x[1], 0)?;
    let mode = call.x[2] as u32 & 0o7777;
    call.modify(object, |inode| inode.mode = mode)
}

impl Call<'_> {
    /// Changes user and group of an object. As on Linux, a program then no longer runs as its owner.
    fn change_owner(&mut self, object: PlacedObject, owner: u64, group: u64) -> CallResult {
        const S_ISUID: u32 = 0o4000;
        const S_IXGRP: u32 = 0o10;
        self.modify(object, |inode| {
            for (of, new) in [(&mut inode.owner, owner), (&mut inode.group, group)] {
                *of = if new as u32 == u32::MAX { *of } else { new as u32 };
            }
            if matches!(inode.kind, Kind::File(_)) {
                let of_group = if inode.mode & S_IXGRP != 0 { S_ISGID } else { 0 };
                inode.mode &= !(S_ISUID | of_group);
            }
        })
    }
}

pub(super) fn fchown(call: &mut Call<'_>) -> CallResult {
    let object = call.object_of(call.x[0])?;
    call.change_owner(object, call.x[1], call.x[2])
}

pub(super) fn fchownat(call: &mut Call<'_>) -> CallResult {
    let [directory, path, owner, group, flags, _] = call.x;
    if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
        return Err(EINVAL.into());
    }
    let object = call.object_at(directory, path, flags)?;
    call.change_owner(object, owner, group)
}

pub(super) fn utimensat(call: &mut Call<'_>) -> CallResult {
    const UTIME_NOW: u64 = 0x3fff_ffff;
    const UTIME_OMIT: u64 = 0x3fff_fffe;
    let [directory, path, times, flags, ..] = call.x;
    // Without a path, the call is on the file of the descriptor.
    let object = match path {
        0 => call.object_at(directory, 0, AT_EMPTY_PATH)?,
        _ => call.object_at(directory, path, flags)?,
    };
    let now = call.now();
    let mut new = [Some(now); 2];
    if times != 0 {
        for (new, address) in new.iter_mut().zip([times, times.wrapping_add(16)]) {
            let (seconds, nanoseconds) =
                (call.guest.read_u64(address)?, call.guest.read_u64(address.wrapping_add(8))?);
            *new = match nanoseconds {
                UTIME_NOW => Some(now),
                UTIME_OMIT => None,
                0..1_000_000_000 => Some(seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)),
                _ => return Err(EINVAL.into()),
            };
        }
    }
    call.modify(object, |inode| {
        for (time, new) in inode.times.iter_mut().zip(new) {
            *time = new.unwrap_or(*time);
        }
    })
}
