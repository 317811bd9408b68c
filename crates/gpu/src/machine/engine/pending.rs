//! The changes of a lane's memory that wait to be sent to the device.

use std::ops::Range;

use kvrm_machine::Mapping;

/// The largest number of bytes of writes for which a lane keeps memory after they are sent.
const KEPT_BYTES: usize = 1024;

/// The pending changes of a lane, in order. The bytes of all writes are together, so that lanes that are served again and again
/// need no new memory: threads would wait for each other in the allocator.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    changes: Vec<Entry>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
enum Entry {
    /// A write of this range of the bytes.
    Write {
        address: u64,
        bytes: Range<usize>,
    },
    Map {
        pages: Range<u64>,
        mapping: Mapping,
    },
    Clear,
}

/// A pending change of a lane's memory.
#[derive(Debug)]
pub(crate) enum Change<'a> {
    /// A write of bytes within a page.
    Write { address: u64, bytes: &'a [u8] },
    /// A change of mapping: pages are mapped, protected or unmapped.
    Map { pages: &'a Range<u64>, mapping: Mapping },
    /// The memory becomes that of the image.
    Clear,
}

impl Pending {
    /// Returns the number of changes.
    pub(super) const fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Adds a write of bytes within a page.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) {
        let first = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.changes.push(Entry::Write { address, bytes: first..self.bytes.len() });
    }

    /// Adds a change of mapping.
    pub(super) fn map(&mut self, pages: Range<u64>, mapping: Mapping) {
        self.changes.push(Entry::Map { pages, mapping });
    }

    /// Adds the change after which the memory is that of the image.
    pub(super) fn add_clear(&mut self) {
        self.changes.push(Entry::Clear);
    }

    /// Returns whether one of the changes makes the memory that of the image.
    pub(super) fn clears(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, Entry::Clear))
    }

    /// Returns the changes that still have an effect: those after the last [`Change::Clear`].
    pub(super) fn effective(&self) -> impl Iterator<Item = Change<'_>> {
        let last = self.changes.iter().rposition(|change| matches!(change, Entry::Clear));
        self.from(last.map_or(0, |last| last + 1))
    }

    /// Removes all changes. Keeps only little memory, because there may be many lanes.
    pub(super) fn clear(&mut self) {
        self.truncate(0);
        self.bytes.shrink_to(KEPT_BYTES);
    }

    /// Removes all changes but the first `changes`.
    pub(super) fn truncate(&mut self, changes: usize) {
        self.changes.truncate(changes);
        let end = self.changes.iter().rev().find_map(|change| match change {
            Entry::Write { bytes, .. } => Some(bytes.end),
            Entry::Map { .. } | Entry::Clear => None,
        });
        self.bytes.truncate(end.unwrap_or(0));
    }

    /// Returns the changes from the one with index `first` on.
    pub(crate) fn from(&self, first: usize) -> impl Iterator<Item = Change<'_>> {
        self.changes[first..].iter().map(|change| match change {
            Entry::Write { address, bytes } => {
                Change::Write { address: *address, bytes: &self.bytes[bytes.clone()] }
            }
            Entry::Map { pages, mapping } => Change::Map { pages, mapping: *mapping },
            Entry::Clear => Change::Clear,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the addresses or first pages and the bytes of changes.
    fn contents(pending: &Pending, first: usize) -> Vec<(u64, Vec<u8>)> {
        let of = |change: Change<'_>| match change {
            Change::Write { address, bytes } => (address, bytes.to_vec()),
            Change::Map { pages, .. } => (pages.start, Vec::new()),
            Change::Clear => (0, Vec::new()),
        };
        pending.from(first).map(of).collect()
    }

    #[test]
    fn changes_that_are_removed_leave_no_bytes_behind() {
        let mut pending = Pending::default();
        pending.write(1, b"ab");
        pending.map(7..9, Mapping::Unmap);
        pending.write(2, b"cde");
        pending.truncate(2);
        pending.write(3, b"f");
        assert_eq!(contents(&pending, 1), [(7, Vec::new()), (3, b"f".to_vec())], "from the second one on");
        assert_eq!(pending.bytes, b"abf", "the bytes of the removed one are gone");
        pending.truncate(0);
        assert!(pending.is_empty() && pending.bytes.is_empty(), "{pending:?}");
    }

    #[test]
    fn a_long_write_leaves_little_memory_behind() {
        let mut pending = Pending::default();
        pending.write(0, &[1; 100 * KEPT_BYTES]);
        pending.clear();
        assert!(pending.is_empty() && pending.bytes.is_empty(), "{pending:?}");
        let kept = pending.bytes.capacity();
        assert!((KEPT_BYTES..2 * KEPT_BYTES).contains(&kept), "memory for {kept} bytes");
    }
}
