//! The files that an address space maps. The page map records pages only, so this is what `/proc/PID/maps` names files by.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::errno::{ENOMEM, Errno};
use super::files::InodeNumber;

/// The limit on mapped parts of files in an address space, which bounds the memory that they can cost the host.
const PARTS_MAX: usize = 16_384;
/// The number of the inode of shared object 0. Those of files are smaller: each creation of one is a call of its own.
const OBJECT_INODES: InodeNumber = 1 << 48;

/// A part of a file in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MappedFile {
    /// The page after the last.
    pub(super) end_page: u64,
    /// The page of the file that the first page shows.
    pub(super) offset: u64,
    pub(super) inode: InodeNumber,
    /// The path at which the file was opened.
    #[serde(with = "crate::interned")]
    pub(super) path: Arc<Vec<u8>>,
    pub(super) is_shared: bool,
}

impl MappedFile {
    /// Returns the part that a mapping shows which shares an object without a file. As on Linux it has a name, and an inode
    /// to which no path leads.
    pub(super) fn of_object(object: u32, name: &str) -> Self {
        let path = Arc::new(name.as_bytes().to_vec());
        Self { end_page: 0, offset: 0, inode: OBJECT_INODES + u64::from(object), path, is_shared: true }
    }
}

/// The mapped parts of files by first page. They do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MappedFiles(BTreeMap<u64, MappedFile>);

impl MappedFiles {
    /// Returns whether there is room for another part, wherever it is.
    pub(super) fn check_room(&self) -> Result<(), Errno> {
        // A part may divide another one.
        if self.0.len() + 2 > PARTS_MAX { Err(ENOMEM) } else { Ok(()) }
    }

    /// Notes a part of a file that begins at a page, in place of what was there.
    pub(super) fn map(&mut self, first_page: u64, file: MappedFile) {
        self.unmap(&(first_page..file.end_page));
        self.0.insert(first_page, file);
    }

    /// Forgets what is in a range of pages.
    pub(super) fn unmap(&mut self, pages: &Range<u64>) {
        for (first, file) in self.take(pages) {
            if first < pages.start {
                self.0.insert(first, MappedFile { end_page: pages.start, ..file.clone() });
            }
            if file.end_page > pages.end {
                let offset = file.offset + (pages.end - first);
                self.0.insert(pages.end, MappedFile { offset, ..file });
            }
        }
    }

    /// Moves what is in a range of pages to another one. What does not fit there is gone; what is shared fills it to its end.
    pub(super) fn relocate(&mut self, from: &Range<u64>, to: &Range<u64>) {
        let moved: Vec<_> = self.parts_in(from).collect();
        self.unmap(from);
        self.place(moved, from, to);
    }

    /// Notes what is in a range of pages for another one, too.
    pub(super) fn copy(&mut self, from: &Range<u64>, to: &Range<u64>) {
        let copied: Vec<_> = self.parts_in(from).collect();
        self.place(copied, from, to);
    }

    fn place(&mut self, parts: Vec<(Range<u64>, MappedFile)>, from: &Range<u64>, to: &Range<u64>) {
        self.unmap(to);
        for (range, file) in parts {
            let first = to.start + (range.start - from.start);
            let is_end = file.is_shared && range.end == from.end;
            let end = if is_end { to.end } else { to.end.min(first + (range.end - range.start)) };
            if first < end {
                self.map(first, MappedFile { end_page: end, ..file });
            }
        }
    }

    /// Returns the parts within a range of pages, cut to it.
    pub(super) fn parts_in(&self, pages: &Range<u64>) -> impl Iterator<Item = (Range<u64>, MappedFile)> {
        let pages = pages.clone();
        self.overlapping(&pages).map(move |(first, file)| {
            let range = first.max(pages.start)..file.end_page.min(pages.end);
            let offset = file.offset + (range.start - first);
            (range.clone(), MappedFile { end_page: range.end, offset, ..file.clone() })
        })
    }

    fn overlapping<'a>(
        &'a self,
        pages: &Range<u64>,
    ) -> impl Iterator<Item = (u64, &'a MappedFile)> + use<'a> {
        let first = self.0.range(..pages.start).next_back().map_or(pages.start, |(first, _)| *first);
        let start = pages.start;
        let all = self.0.range(first..pages.end.max(first));
        all.map(|(first, file)| (*first, file)).filter(move |(_, file)| file.end_page > start)
    }

    /// Removes the parts that have pages of a range.
    fn take(&mut self, pages: &Range<u64>) -> Vec<(u64, MappedFile)> {
        let firsts: Vec<u64> = self.overlapping(pages).map(|(first, _)| first).collect();
        firsts.into_iter().filter_map(|first| self.0.remove_entry(&first)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(end_page: u64, inode: u64) -> MappedFile {
        MappedFile { end_page, offset: 0, inode, path: Arc::default(), is_shared: false }
    }

    proptest! {
        /// Compares the parts with one file and offset for each page.
        #[test]
        fn parts_are_those_of_each_page(
            changes in prop::collection::vec((0..3, 0..40_u64, 1..20_u64, 0..40_u64), 1..40),
        ) {
            let mut files = MappedFiles::default();
            let mut pages: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
            for (number, (kind, first, count, to)) in (1..).zip(changes) {
                let range = first..first + count;
                let inside: Vec<_> = pages.range(range.clone()).map(|(page, file)| (*page, *file)).collect();
                pages.retain(|page, _| !range.contains(page));
                match kind {
                    0 => {
                        files.map(first, file(range.end, number));
                        pages.extend(range.map(|page| (page, (number, page - first))));
                    }
                    1 => files.unmap(&range),
                    _ => {
                        files.relocate(&range, &(100 + to..100 + to + count));
                        pages.retain(|page, _| !(100 + to..100 + to + count).contains(page));
                        let moved = inside.into_iter().map(|(page, file)| (page - first + 100 + to, file));
                        pages.extend(moved);
                    }
                }
                let mut found = BTreeMap::new();
                for (range, part) in files.parts_in(&(0..1000)) {
                    let inode = part.inode;
                    let of_page = range.clone().map(|page| (page, (inode, part.offset + page - range.start)));
                    found.extend(of_page);
                }
                prop_assert_eq!(&found, &pages);
            }
        }
    }
}
