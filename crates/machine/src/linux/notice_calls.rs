//! System calls of inotify, and the notices that other calls give.

use super::call::Call;
use super::errno::{EEXIST, EINVAL, ENOSPC, ENOTDIR};
use super::failure::{CallResult, Failure};
use super::files::{Inode, InodeNumber, Place};
use super::kernel::Kernel;
use super::notices::{
    IN_CREATE, IN_ISDIR, IN_MOVE_SELF, IN_MOVED_FROM, IN_MOVED_TO, IN_ONESHOT, Notices, Watch,
};
use super::open_files::{Description, EventFile, O_CLOEXEC, O_NONBLOCK, Object};

/// The limit on watches of an inotify file.
const WATCHES_MAX: usize = 8192;
const IN_ALL_EVENTS: u32 = 0xfff;
const IN_ONLYDIR: u32 = 0x100_0000;
const IN_DONT_FOLLOW: u32 = 0x200_0000;
const IN_EXCL_UNLINK: u32 = 0x400_0000;
const IN_MASK_CREATE: u32 = 0x1000_0000;
const IN_MASK_ADD: u32 = 0x2000_0000;

pub(super) fn inotify_init1(call: &mut Call<'_>) -> CallResult {
    let flags = call.x[0] as u32;
    if flags & !(O_CLOEXEC | O_NONBLOCK) != 0 {
        return Err(EINVAL.into());
    }
    call.open_event(EventFile::Notices(Notices::default()), flags)
}

impl Call<'_> {
    /// Returns the state of the inotify file of a descriptor, and its ID.
    fn notices(&mut self, descriptor: u64) -> Result<(u32, &mut Notices), Failure> {
        let Object::Event(event) = self.kernel.description(descriptor)?.object else {
            return Err(EINVAL.into());
        };
        match self.kernel.open.event_mut(event)? {
            EventFile::Notices(notices) => Ok((event, notices)),
            _ => Err(EINVAL.into()),
        }
    }
}

pub(super) fn inotify_add_watch(call: &mut Call<'_>) -> CallResult {
    let [descriptor, path, mask, ..] = call.x;
    let mask = mask as u32;
    let flags =
        IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK | IN_MASK_CREATE | IN_MASK_ADD | IN_ISDIR | IN_ONESHOT;
    let both = IN_MASK_ADD | IN_MASK_CREATE;
    if mask & (IN_ALL_EVENTS | flags) == 0 || mask & both == both {
        return Err(EINVAL.into());
    }
    call.notices(descriptor)?;
    let number = call.place(-100_i64 as u64, path, mask & IN_DONT_FOLLOW == 0)?.existing()?;
    if mask & IN_ONLYDIR != 0 && !call.kernel.files.inode(number).is_some_and(Inode::is_directory) {
        return Err(ENOTDIR.into());
    }
    let (_, notices) = call.notices(descriptor)?;
    let kept = mask & (IN_ALL_EVENTS | IN_ONESHOT);
    if let Some((id, watch)) = notices.watches.iter_mut().find(|(_, watch)| watch.number == number) {
        if mask & IN_MASK_CREATE != 0 {
            return Err(EEXIST.into());
        }
        watch.mask = kept | if mask & IN_MASK_ADD != 0 { watch.mask } else { 0 };
        return Ok(*id as u64);
    }
    if notices.watches.len() >= WATCHES_MAX || notices.last == i32::MAX {
        return Err(ENOSPC.into());
    }
    notices.last += 1;
    notices.watches.insert(notices.last, Watch { number, mask: kept });
    Ok(notices.last as u64)
}

pub(super) fn inotify_rm_watch(call: &mut Call<'_>) -> CallResult {
    let [descriptor, watch, ..] = call.x;
    let (event, notices) = call.notices(descriptor)?;
    if !notices.remove(watch as i32) {
        return Err(EINVAL.into());
    }
    call.kernel.open.note_change(Object::Event(event));
    Ok(0)
}

impl Kernel {
    /// Gives notice of an event of an inode to those that watch it, and with its name to those that watch the directory `place`.
    pub(super) fn notify(&mut self, number: InodeNumber, place: Option<(InodeNumber, &[u8])>, mask: u32) {
        if !self.open.has_notices() {
            return;
        }
        let directory = if self.files.inode(number).is_some_and(Inode::is_directory) { IN_ISDIR } else { 0 };
        if let Some((parent, name)) = place
            && (self.files.has_entry(parent, name, number)
                || self.files.inode(number).is_some_and(|inode| inode.link_count == 0))
        {
            // As on Linux, a file that was removed while it is open keeps its name.
            self.open.note(parent, mask | directory, 0, name);
        }
        self.open.note(number, mask | directory, 0, b"");
    }

    /// Gives notice of an event of the file of a description.
    pub(super) fn notify_opened(&mut self, description: u32, mask: u32) {
        if !self.open.has_notices() {
            return;
        }
        if let Ok(Description { object: Object::Inode(number), place, .. }) =
            self.open.get(description).cloned()
        {
            let place = place.as_deref().map(|(parent, name)| (*parent, &name[..]));
            self.notify(number, place, mask);
        }
    }

    /// Gives notice of an event of an entry to those that watch its directory.
    pub(super) fn notify_entry(&mut self, place: &Place, number: InodeNumber, mask: u32, cookie: u32) {
        if self.open.has_notices() {
            let is_directory = self.files.inode(number).is_some_and(Inode::is_directory);
            let mask = mask | if is_directory { IN_ISDIR } else { 0 };
            self.open.note(place.parent, mask, cookie, &place.name);
        }
    }

    /// Gives notice of a new entry.
    pub(super) fn notify_new(&mut self, place: &Place, number: InodeNumber) {
        self.notify_entry(place, number, IN_CREATE, 0);
    }

    /// Gives notice of an entry that has moved.
    pub(super) fn notify_move(&mut self, from: &Place, to: &Place, number: InodeNumber) {
        if self.open.has_notices() {
            let cookie = self.open.next_cookie();
            self.notify_entry(from, number, IN_MOVED_FROM, cookie);
            self.notify_entry(to, number, IN_MOVED_TO, cookie);
            self.notify(number, None, IN_MOVE_SELF);
        }
    }
}
