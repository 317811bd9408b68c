//! The objects whose contents mappings share.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::files::{Files, InodeNumber, Kind};
use super::space::SharedMapping;
use crate::lane_memory::Contents;
use crate::pages::{Frame, PAGE_BYTES};

const PAGE: u64 = PAGE_BYTES as u64;

/// The place where the contents of an object are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Source {
    /// Pages by number; the others are zeros.
    Pages(BTreeMap<u64, Contents>),
    File(InodeNumber),
}

/// Contents that mappings share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SharedObject {
    pub(super) source: Source,
    /// The number of changes.
    pub(super) version: u64,
    /// Whether it stays without mappings, as a segment of System V does.
    pub(super) is_kept: bool,
}

/// The objects of a lane that mappings share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SharedMemory {
    pub(super) objects: BTreeMap<u32, SharedObject>,
    next: u32,
}

impl SharedMemory {
    fn add(&mut self, source: Source) -> u32 {
        self.next += 1;
        self.objects.insert(self.next, SharedObject { source, version: 1, is_kept: false });
        self.next
    }

    /// Adds an object without contents.
    pub(super) fn add_pages(&mut self) -> u32 {
        self.add(Source::Pages(BTreeMap::new()))
    }

    /// Returns the object of a file.
    pub(super) fn of_file(&mut self, number: InodeNumber) -> u32 {
        let there = self.objects.iter().find(|(_, object)| object.source == Source::File(number));
        match there.map(|(id, _)| *id) {
            Some(id) => id,
            None => self.add(Source::File(number)),
        }
    }

    /// Returns whether mappings share a file.
    pub(super) fn has_file(&self, number: InodeNumber) -> bool {
        self.objects.values().any(|object| object.source == Source::File(number))
    }

    pub(super) fn version(&self, object: u32) -> u64 {
        self.objects.get(&object).map_or(0, |object| object.version)
    }

    /// Notes that a call has changed a file.
    pub(super) fn note_file(&mut self, number: InodeNumber) {
        for object in self.objects.values_mut().filter(|object| object.source == Source::File(number)) {
            object.version += 1;
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        self.objects.keys().all(|id| *id <= self.next)
    }

    /// Returns the pages of a mapping whose contents in the object may be other than zeros, in rising order.
    pub(super) fn filled_pages(&self, files: &Files, mapping: &SharedMapping) -> Vec<u64> {
        let end = mapping.first.saturating_add(mapping.pages.end - mapping.pages.start);
        let of_object: Vec<u64> = match self.objects.get(&mapping.object).map(|object| &object.source) {
            Some(Source::Pages(pages)) => pages.range(mapping.first..end).map(|(page, _)| *page).collect(),
            Some(Source::File(number)) => {
                let bytes = files.inode(*number).map_or(0, |inode| inode.bytes());
                (mapping.first..end.min(bytes.div_ceil(PAGE))).collect()
            }
            None => Vec::new(),
        };
        of_object.into_iter().map(|page| mapping.pages.start + (page - mapping.first)).collect()
    }

    /// Returns the contents of a page of an object.
    pub(super) fn page(&self, files: &Files, object: u32, page: u64) -> Frame {
        let mut bytes = [0; PAGE_BYTES];
        match self.objects.get(&object).map(|object| &object.source) {
            Some(Source::Pages(pages)) => {
                if let Some(contents) = pages.get(&page) {
                    bytes = *contents.bytes();
                }
            }
            Some(Source::File(number)) => {
                if let Some(Kind::File(data)) = files.inode(*number).map(|inode| &inode.kind) {
                    let start = page.saturating_mul(PAGE).min(data.len() as u64) as usize;
                    let part = &data[start..data.len().min(start + PAGE_BYTES)];
                    bytes[..part.len()].copy_from_slice(part);
                }
            }
            None => {}
        }
        bytes
    }
}
