//! Locks of files: those of `flock`, and record locks of processes and of open file descriptions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::errno::{ENOLCK, Errno};
use super::files::InodeNumber;

/// The limit on locks of a lane.
const LOCKS_MAX: usize = 4096;

/// The holder of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Owner {
    Process(u32),
    Description(u32),
}

/// A lock, or one that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lock {
    pub(super) owner: Owner,
    /// Whether it is a lock of `flock`, which excludes no record locks.
    pub(super) is_whole: bool,
    pub(super) is_exclusive: bool,
    /// The first and the last byte.
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Lock {
    const fn overlaps(&self, other: &Self) -> bool {
        self.is_whole == other.is_whole && self.first <= other.last && other.first <= self.last
    }
}

/// The locks of all files of a lane, by inode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Locks(BTreeMap<InodeNumber, Vec<Lock>>);

impl Locks {
    /// Returns all locks with the files that they lock.
    pub(super) fn iter(&self) -> impl Iterator<Item = (InodeNumber, &Lock)> {
        self.0.iter().flat_map(|(number, all)| all.iter().map(|lock| (*number, lock)))
    }

    /// Returns the first lock that excludes another one.
    pub(super) fn conflict(&self, number: InodeNumber, wanted: &Lock) -> Option<&Lock> {
        let mut all = self.0.get(&number)?.iter();
        all.find(|lock| {
            lock.owner != wanted.owner && lock.overlaps(wanted) && (lock.is_exclusive || wanted.is_exclusive)
        })
    }

    /// Adds a lock that nothing excludes. It replaces those of its owner in its range.
    pub(super) fn lock(&mut self, number: InodeNumber, lock: Lock) -> Result<(), Errno> {
        if self.0.values().map(Vec::len).sum::<usize>() >= LOCKS_MAX {
            return Err(ENOLCK);
        }
        self.unlock(number, &lock);
        let all = self.0.entry(number).or_default();
        let mut lock = lock;
        // Neighbours of the same kind become one lock.
        all.retain(|other| {
            let touches =
                other.first <= lock.last.saturating_add(1) && lock.first <= other.last.saturating_add(1);
            let is_same = other.owner == lock.owner
                && other.is_whole == lock.is_whole
                && other.is_exclusive == lock.is_exclusive;
            if touches && is_same {
                (lock.first, lock.last) = (lock.first.min(other.first), lock.last.max(other.last));
            }
            !(touches && is_same)
        });
        all.push(lock);
        all.sort_by_key(|lock| lock.first);
        Ok(())
    }

    /// Removes the locks of an owner in the range of `area`.
    pub(super) fn unlock(&mut self, number: InodeNumber, area: &Lock) {
        let Some(all) = self.0.get_mut(&number) else { return };
        let mut rest = Vec::new();
        all.retain(|lock| {
            let is_hit = lock.owner == area.owner && lock.overlaps(area);
            if is_hit && lock.first < area.first {
                rest.push(Lock { last: area.first - 1, ..*lock });
            }
            if is_hit && lock.last > area.last {
                rest.push(Lock { first: area.last + 1, ..*lock });
            }
            !is_hit
        });
        all.extend(rest);
        all.sort_by_key(|lock| lock.first);
        if all.is_empty() {
            self.0.remove(&number);
        }
    }

    /// Removes the locks of an owner, of one file or of all.
    pub(super) fn forget(&mut self, number: Option<InodeNumber>, owner: Owner) {
        self.0.retain(|own, all| {
            if number.is_none_or(|number| number == *own) {
                all.retain(|lock| lock.owner != owner);
            }
            !all.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares ranges with bytes that are locked one by one.
        #[test]
        fn ranges_are_as_if_each_byte_was_locked(
            changes in prop::collection::vec((0..2_u32, 0..3_u8, 0..12_u64, 0..6_u64), 1..40),
        ) {
            let mut locks = Locks::default();
            let mut bytes: BTreeMap<(u32, u64), bool> = BTreeMap::new();
            for (process, kind, first, more) in changes {
                let lock = Lock {
                    owner: Owner::Process(process),
                    is_whole: false,
                    is_exclusive: kind == 2,
                    first,
                    last: first + more,
                };
                let excludes = |byte: u64| bytes.get(&(1 - process, byte)).is_some_and(|there| *there || kind == 2);
                let is_free = kind == 0 || !(first..=first + more).any(excludes);
                if kind == 0 {
                    locks.unlock(1, &lock);
                    (first..=first + more).for_each(|byte| { bytes.remove(&(process, byte)); });
                } else {
                    prop_assert_eq!(locks.conflict(1, &lock).is_none(), is_free, "{:?}", lock);
                    if is_free {
                        prop_assert_eq!(locks.lock(1, lock), Ok(()), "there is room");
                        (first..=first + more).for_each(|byte| { bytes.insert((process, byte), kind == 2); });
                    }
                }
                let all = locks.0.get(&1).cloned().unwrap_or_default();
                let mut shown = BTreeMap::new();
                for lock in &all {
                    let Owner::Process(process) = lock.owner else { unreachable!("only processes lock") };
                    for byte in lock.first..=lock.last {
                        let before = shown.insert((process, byte), lock.is_exclusive);
                        prop_assert_eq!(before, None, "locks of an owner do not overlap");
                    }
                }
                prop_assert_eq!(&shown, &bytes, "the same bytes");
            }
        }
    }
}
