//! File descriptors: the table in which a process has the open file descriptions that its numbers refer to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::errno::{EBADF, EMFILE, Errno};

/// The limit on file descriptors of a process; numbers are below it.
pub(super) const DESCRIPTORS_MAX: u64 = 1024;

/// A file descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Descriptor {
    /// The ID of the open file description.
    pub(super) description: u32,
    pub(super) close_on_exec: bool,
}

/// The table of file descriptors of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Descriptors(BTreeMap<u64, Descriptor>);

impl Descriptors {
    /// Returns a table whose first descriptors refer to `descriptions`.
    pub(super) fn new(descriptions: &[u32]) -> Self {
        let of = |description: &u32| Descriptor { description: *description, close_on_exec: false };
        Self((0..).zip(descriptions.iter().map(of)).collect())
    }

    /// Returns the descriptors by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Descriptor)> {
        self.0.iter().map(|(number, descriptor)| (*number, descriptor))
    }

    /// Returns the lowest unused descriptor that is at least `from` and below `limit`.
    pub(super) fn lowest_free(&self, from: u64, limit: u64) -> Result<u64, Errno> {
        (from..limit).find(|number| !self.0.contains_key(number)).ok_or(EMFILE)
    }

    pub(super) fn get(&self, number: u64) -> Result<Descriptor, Errno> {
        self.0.get(&u64::from(number as u32)).copied().ok_or(EBADF)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Result<&mut Descriptor, Errno> {
        self.0.get_mut(&u64::from(number as u32)).ok_or(EBADF)
    }

    /// Makes the unused descriptor `number` refer to a description.
    pub(super) fn insert(&mut self, number: u64, descriptor: Descriptor) {
        self.0.insert(number, descriptor);
    }

    /// Removes a descriptor and returns the ID of its description.
    pub(super) fn remove(&mut self, number: u64) -> Result<u32, Errno> {
        self.0.remove(&u64::from(number as u32)).map(|removed| removed.description).ok_or(EBADF)
    }
}
