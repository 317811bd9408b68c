//! Notices of inotify: what watches of files and directories have seen.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::files::InodeNumber;

pub(super) const IN_ACCESS: u32 = 1;
pub(super) const IN_MODIFY: u32 = 2;
pub(super) const IN_ATTRIB: u32 = 4;
pub(super) const IN_CLOSE_WRITE: u32 = 8;
pub(super) const IN_CLOSE_NOWRITE: u32 = 0x10;
pub(super) const IN_OPEN: u32 = 0x20;
pub(super) const IN_MOVED_FROM: u32 = 0x40;
pub(super) const IN_MOVED_TO: u32 = 0x80;
pub(super) const IN_CREATE: u32 = 0x100;
pub(super) const IN_DELETE: u32 = 0x200;
pub(super) const IN_DELETE_SELF: u32 = 0x400;
pub(super) const IN_MOVE_SELF: u32 = 0x800;
const IN_Q_OVERFLOW: u32 = 0x4000;
pub(super) const IN_IGNORED: u32 = 0x8000;
pub(super) const IN_ISDIR: u32 = 0x4000_0000;
pub(super) const IN_ONESHOT: u32 = 0x8000_0000;

/// The limit on notices that were not read (`max_queued_events`).
const NOTICES_MAX: usize = 16_384;
/// The size of the head of a notice, of which names are filled up to a multiple.
const HEAD_BYTES: usize = 16;

/// A watch of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Watch {
    pub(super) number: InodeNumber,
    /// The events that are noted, and `IN_ONESHOT`.
    pub(super) mask: u32,
}

/// A notice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) watch: i32,
    pub(super) mask: u32,
    /// The number that both notices of a move have.
    pub(super) cookie: u32,
    /// The name of an entry of the directory that is watched; empty for the file itself.
    pub(super) name: Vec<u8>,
}

impl Note {
    /// Returns the `struct inotify_event`.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let name = if self.name.is_empty() { 0 } else { (self.name.len() + 1).next_multiple_of(HEAD_BYTES) };
        let mut out = [self.watch as u32, self.mask, self.cookie, name as u32].map(u32::to_le_bytes).concat();
        out.extend(&self.name);
        out.resize(HEAD_BYTES + name, 0);
        out
    }
}

/// The state of an inotify file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Notices {
    pub(super) watches: BTreeMap<i32, Watch>,
    pub(super) queue: VecDeque<Note>,
    /// The number of the last watch.
    pub(super) last: i32,
}

impl Notices {
    /// Adds a notice, unless it repeats the one before it. If the queue is full, one about that takes its place.
    pub(super) fn push(&mut self, note: Note) -> bool {
        if self.queue.back() == Some(&note) {
            return false;
        }
        if self.queue.len() < NOTICES_MAX {
            self.queue.push_back(note);
            return true;
        }
        let full = Note { watch: -1, mask: IN_Q_OVERFLOW, cookie: 0, name: Vec::new() };
        if self.queue.back() != Some(&full) {
            self.queue.push_back(full);
        }
        false
    }

    /// Removes a watch, which is noted.
    pub(super) fn remove(&mut self, watch: i32) -> bool {
        let is_there = self.watches.remove(&watch).is_some();
        if is_there {
            self.push(Note { watch, mask: IN_IGNORED, cookie: 0, name: Vec::new() });
        }
        is_there
    }

    /// Notes an event of an inode, if it is watched for that.
    pub(super) fn note(&mut self, number: InodeNumber, mask: u32, cookie: u32, name: &[u8]) -> bool {
        let found = self
            .watches
            .iter()
            .find(|(_, watch)| watch.number == number && watch.mask & mask & !IN_ISDIR != 0);
        let Some((&watch, &Watch { mask: wanted, .. })) = found else { return false };
        self.push(Note { watch, mask, cookie, name: name.to_vec() });
        if wanted & IN_ONESHOT != 0 {
            self.remove(watch);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fill_up_to_whole_heads() {
        let note = |name: &[u8]| Note { watch: 1, mask: IN_CREATE, cookie: 0, name: name.to_vec() };
        let sizes = [&b""[..], b"a", &[b'x'; 15], &[b'x'; 16]].map(|name| note(name).bytes().len());
        assert_eq!(sizes, [16, 32, 32, 48], "with a NUL");
    }

    #[test]
    fn a_full_queue_says_so_once() {
        let mut notices = Notices::default();
        notices.watches.insert(1, Watch { number: 9, mask: IN_MODIFY | IN_ACCESS });
        for round in 0..NOTICES_MAX + 10 {
            notices.note(9, if round % 2 == 0 { IN_MODIFY } else { IN_ACCESS }, 0, b"");
            notices.note(9, if round % 2 == 0 { IN_MODIFY } else { IN_ACCESS }, 0, b"");
        }
        assert_eq!(notices.queue.len(), NOTICES_MAX + 1, "repetitions are dropped");
        assert_eq!(notices.queue.back().map(|note| note.mask), Some(IN_Q_OVERFLOW), "the last one");
    }
}
