//! Communication of System V: what the kernel of a lane keeps of segments of memory, sets of semaphores, and message queues.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::errno::{EEXIST, EIDRM, EINVAL, ENOENT, ENOSPC, Errno};
use super::fields::{Fields, u32_at};

pub(super) const IPC_RMID: u32 = 0;
pub(super) const IPC_SET: u32 = 1;
pub(super) const IPC_STAT: u32 = 2;
pub(super) const IPC_NOWAIT: u32 = 0o4000;
const IPC_PRIVATE: u32 = 0;
const IPC_CREAT: u32 = 0o1000;
const IPC_EXCL: u32 = 0o2000;
/// The limit on objects of each kind.
const OBJECTS_MAX: usize = 4096;

/// The key and the owner of an object, as `struct ipc64_perm` has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Permission {
    pub(super) key: u32,
    pub(super) owner: u32,
    pub(super) group: u32,
    pub(super) mode: u32,
}

impl Permission {
    pub(super) const BYTES: usize = 48;

    /// Writes the `struct ipc64_perm` to the start of a structure.
    pub(super) fn write<const N: usize>(&self, out: &mut Fields<N>) {
        let words = [self.key, self.owner, self.group, 0, 0, self.mode];
        (0..).step_by(4).zip(words).for_each(|(at, word)| out.u32(at, word));
    }

    /// Takes over owner, group and mode of a `struct ipc64_perm` that a program has written.
    pub(super) fn set(&mut self, raw: &[u8]) {
        let word = |at| u32_at(raw, at);
        (self.owner, self.group) = (word(4), word(8));
        self.mode = self.mode & !0o777 | word(20) & 0o777;
    }
}

/// A segment of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Segment {
    pub(super) permission: Permission,
    /// The ID of the object that has the contents.
    pub(super) object: u32,
    pub(super) bytes: u64,
    /// The times, in seconds, of the last attachment, detachment and change.
    pub(super) times: [u64; 3],
    /// The processes that have made it and last used it.
    pub(super) creator: u32,
    pub(super) last: u32,
}

/// A semaphore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Semaphore {
    pub(super) value: u16,
    /// The process that has changed it last.
    pub(super) last: u32,
}

/// A set of semaphores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SemaphoreSet {
    pub(super) permission: Permission,
    pub(super) semaphores: Vec<Semaphore>,
    /// The times, in seconds, of the last operation and change.
    pub(super) times: [u64; 2],
    /// The number of changes, so that threads that wait try again.
    pub(super) version: u64,
    /// The changes that are undone when a process ends: process, semaphore, and what is added then.
    pub(super) undo: BTreeMap<(u32, u16), i16>,
}

/// A message: its type and its text.
pub(super) type Text = (i64, Vec<u8>);

/// A message queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MessageQueue {
    pub(super) permission: Permission,
    pub(super) messages: VecDeque<Text>,
    /// The limit on bytes.
    pub(super) bytes_max: u64,
    /// The times, in seconds, of the last sending, receiving and change, and the processes of the first two.
    pub(super) times: [u64; 3],
    pub(super) processes: [u32; 2],
    pub(super) version: u64,
}

impl MessageQueue {
    pub(super) fn bytes(&self) -> u64 {
        self.messages.iter().map(|(_, text)| text.len() as u64).sum()
    }
}

/// An object of System V.
pub(super) trait Keyed {
    fn permission(&self) -> &Permission;
}

impl Keyed for Segment {
    fn permission(&self) -> &Permission {
        &self.permission
    }
}

impl Keyed for SemaphoreSet {
    fn permission(&self) -> &Permission {
        &self.permission
    }
}

impl Keyed for MessageQueue {
    fn permission(&self) -> &Permission {
        &self.permission
    }
}

/// The objects of one kind by ID.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Objects<T> {
    pub(super) all: BTreeMap<u32, T>,
    next: u32,
}

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), next: 0 }
    }
}

impl<T: Keyed> Objects<T> {
    pub(super) fn get(&self, id: u64) -> Result<&T, Errno> {
        self.all.get(&(id as u32)).ok_or(EINVAL)
    }

    pub(super) fn get_mut(&mut self, id: u64) -> Result<&mut T, Errno> {
        self.all.get_mut(&(id as u32)).ok_or(EINVAL)
    }

    /// Returns the errno for an ID without an object: another one if the object was there when the call began to wait.
    pub(super) const fn missing(has_waited: bool) -> Errno {
        if has_waited { EIDRM } else { EINVAL }
    }

    /// Returns the object with a key, or `None` if the call has to make it.
    pub(super) fn find(&self, key: u64, flags: u64) -> Result<Option<u32>, Errno> {
        let (key, flags) = (key as u32, flags as u32);
        let there = self.all.iter().find(|(_, object)| key != IPC_PRIVATE && object.permission().key == key);
        match there {
            Some(_) if flags & IPC_CREAT != 0 && flags & IPC_EXCL != 0 => Err(EEXIST),
            Some((id, _)) => Ok(Some(*id)),
            None if key != IPC_PRIVATE && flags & IPC_CREAT == 0 => Err(ENOENT),
            None if self.all.len() >= OBJECTS_MAX => Err(ENOSPC),
            None => Ok(None),
        }
    }

    pub(super) fn add(&mut self, object: T) -> u32 {
        // IDs are not used again, and are positive.
        self.next = (self.next + 1) & 0x7fff_ffff;
        self.all.insert(self.next - 1, object);
        self.next - 1
    }
}

/// The objects of a lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Ipc {
    pub(super) segments: Objects<Segment>,
    pub(super) sets: Objects<SemaphoreSet>,
    pub(super) queues: Objects<MessageQueue>,
}

impl Ipc {
    /// Undoes the changes of a process that has ended.
    pub(super) fn undo(&mut self, process: u32) {
        for set in self.sets.all.values_mut() {
            let own: Vec<(u16, i16)> = set
                .undo
                .range((process, 0)..=(process, u16::MAX))
                .map(|((_, number), change)| (*number, *change))
                .collect();
            for (number, change) in own {
                set.undo.remove(&(process, number));
                if let Some(semaphore) = set.semaphores.get_mut(usize::from(number)) {
                    let value = (i32::from(semaphore.value) + i32::from(change)).clamp(0, 32_767);
                    (semaphore.value, semaphore.last) = (value as u16, process);
                }
                set.version += 1;
            }
        }
    }
}
