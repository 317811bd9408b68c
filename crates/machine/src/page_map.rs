//! The page map: which pages of a lane are mapped, with which permissions, and which can be mapped.

use std::ops::Range;
use std::sync::Arc;

use kvrm_arm64::{Access, Fault, FaultKind};
use serde::{Deserialize, Serialize};

use crate::copied_pages::CopiedPages;
use crate::pages::{ADDRESS_BITS, PAGE_SHIFT, page_of};
use crate::permissions::Permissions;
use crate::shared::{assign, share};

/// The limit on regions of a lane, as on Linux. It bounds the memory that a lane can cost the host.
const REGIONS_MAX: usize = 65_530;

/// A run of consecutive mapped pages with the same permissions and either consecutive frames or frame 0 throughout.
///
/// In a machine that was made by [`Machine::fork`](crate::Machine::fork), pages that the forked lane had written are in
/// other frames than their region says. [`PageMap::page`] and [`PageMap::stretches`] take that into account.
///
/// The number of a page is its address divided by [`PAGE_BYTES`](crate::PAGE_BYTES).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// The first page.
    pub first_page: u64,
    /// The page after the last.
    pub end_page: u64,
    /// The permissions of the pages.
    pub permissions: Permissions,
    /// The frame behind the first page; the frames of the other pages follow it. `None` if frame 0, the zero frame, is
    /// behind all pages.
    pub first_frame: Option<u32>,
}

/// The frame and permissions of a page, as the page map has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImagePage {
    /// The frame behind the page, an index of [`Image::frames`](crate::Image::frames).
    pub frame: u32,
    /// The permissions of the page.
    pub permissions: Permissions,
}

/// A change to the mapping of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Maps the pages, filled with zeros, and replaces any previous mapping.
    Zero(Permissions),
    /// Maps the pages for the heap: as [`Mapping::Zero`] with read and write permission, but not subject to the limit
    /// on regions, so that an engine need not count regions.
    Heap,
    /// Changes the permissions and keeps the contents. All pages have to be mapped.
    Protect(Permissions),
    /// Unmaps the pages and discards their contents.
    Unmap,
}

/// The mapped pages of a lane with their permissions, and the pages that can be mapped.
///
/// Lanes start with the map of their image and share it until they change it, so a copy costs almost nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMap {
    /// The mapped regions, sorted and disjoint.
    #[serde(with = "crate::interned")]
    regions: Arc<Vec<Region>>,
    /// The mapped pages whose frames are not those of their regions.
    copied: CopiedPages,
    /// The pages that are or can be mapped: sorted ranges that neither overlap nor touch.
    #[serde(with = "crate::interned")]
    room: Arc<[Range<u64>]>,
}

/// The mappings of a [`PageMap`] at some time. They share nothing with the map, so that threads need not wait for each other.
#[derive(Clone, Debug)]
pub struct SavedMappings {
    regions: Vec<Region>,
    copied: CopiedPages,
}

impl PageMap {
    /// Creates a map of `regions`, which are sorted and disjoint. Their pages and those of `reserved` can be mapped.
    pub(crate) fn new(regions: Vec<Region>, reserved: &[Range<u64>]) -> Self {
        let regions = merged(regions);
        let mapped = regions.iter().map(|region| region.first_page..region.end_page);
        let mut ranges: Vec<_> =
            mapped.chain(reserved.iter().cloned()).filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut room: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            match room.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => room.push(range),
            }
        }
        Self { regions: Arc::new(regions), copied: CopiedPages::default(), room: room.into() }
    }

    /// Returns this map with other pages that can be mapped, besides those that are.
    pub(crate) fn with_room(&self, pages: Range<u64>) -> Self {
        let Self { room, .. } = Self::new(self.regions.to_vec(), &[pages]);
        Self { room, ..self.clone() }
    }

    /// Returns this map with other copied pages.
    pub(crate) fn with_copied(&self, copied: CopiedPages) -> Self {
        Self { copied, ..self.clone() }
    }

    /// Makes this map equal to `source` without needless writes: it uses its memory again, and leaves reference counts that
    /// other threads use alone.
    pub fn assign(&mut self, source: &Self) {
        let Self { regions, copied, room } = source;
        assign(&mut self.regions, regions);
        self.copied.assign(copied);
        share(&mut self.room, room);
    }

    /// Returns what [`PageMap::map`] changes, for [`PageMap::restore`].
    #[must_use]
    pub fn save(&self) -> SavedMappings {
        SavedMappings { regions: self.regions.to_vec(), copied: self.copied.own() }
    }

    /// Undoes all calls of [`PageMap::map`] since the mappings were saved.
    pub fn restore(&mut self, SavedMappings { regions, copied }: SavedMappings) {
        (self.regions, self.copied) = (Arc::new(regions), copied);
    }

    /// Returns the copied pages.
    pub(crate) const fn copied(&self) -> &CopiedPages {
        &self.copied
    }

    /// Returns the mapped regions, sorted by page.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Returns the range from the first page that is or can be mapped to the last.
    #[must_use]
    pub fn span(&self) -> Range<u64> {
        match &*self.room {
            [first, .., last] => first.start..last.end,
            [only] => only.clone(),
            [] => 0..1,
        }
    }

    /// Returns the frame and permissions of the page with this number, if it is mapped.
    #[must_use]
    pub fn page(&self, page: u64) -> Option<ImagePage> {
        let region = self.region(page)?;
        let of_region = || region.first_frame.map_or(0, |first| first + (page - region.first_page) as u32);
        let frame = self.copied.frame(page).unwrap_or_else(of_region);
        Some(ImagePage { frame, permissions: region.permissions })
    }

    /// Returns the longest run of mapped pages from `page` on that have the same permissions and either consecutive
    /// frames or frame 0 throughout; `None` if the page is not mapped.
    #[must_use]
    pub fn stretch(&self, page: u64) -> Option<Region> {
        let region = self.region(page)?;
        let part = region.part(self.copied.alike(page, region.end_page))?;
        Some(Region { first_frame: self.copied.frame(page).or(part.first_frame), ..part })
    }

    /// Returns all mapped pages as stretches, in ascending order: the regions, divided where frames are not
    /// consecutive.
    pub fn stretches(&self) -> impl Iterator<Item = Region> {
        self.regions.iter().flat_map(|region| {
            let first = self.stretch(region.first_page);
            let next = |stretch: &Region| {
                (stretch.end_page < region.end_page).then(|| self.stretch(stretch.end_page)).flatten()
            };
            std::iter::successors(first, next)
        })
    }

    /// Returns those of the pages that have other frames than frame 0, in rising order.
    pub(crate) fn framed(&self, pages: Range<u64>) -> impl Iterator<Item = u64> {
        let framed = self.stretches().filter(|stretch| stretch.first_frame.is_some());
        framed.flat_map(move |stretch| stretch.first_page.max(pages.start)..stretch.end_page.min(pages.end))
    }

    /// Returns the region that contains a page, if it is mapped.
    #[must_use]
    pub fn region(&self, page: u64) -> Option<&Region> {
        let after = self.regions.partition_point(|region| region.first_page <= page);
        self.regions[..after].last().filter(|region| page < region.end_page)
    }

    /// Returns whether all of these pages are mapped.
    #[must_use]
    pub fn covers(&self, pages: Range<u64>) -> bool {
        let mut page = pages.start;
        while page < pages.end {
            let Some(region) = self.region(page) else { return false };
            page = region.end_page;
        }
        true
    }

    /// Returns whether one of these pages is mapped and can be executed.
    pub(crate) fn has_code(&self, pages: &Range<u64>) -> bool {
        let first = self.regions.partition_point(|region| region.end_page <= pages.start);
        let mut touched = self.regions[first..].iter().take_while(|region| region.first_page < pages.end);
        touched.any(|region| region.permissions.execute)
    }

    /// Returns the first page of the highest `pages` consecutive unmapped pages in `within`, or `None` if there is no
    /// such gap.
    #[must_use]
    pub fn gap(&self, within: Range<u64>, pages: u64) -> Option<u64> {
        let mut end = within.end;
        let below = self.regions.partition_point(|region| region.first_page < end);
        for region in self.regions[..below].iter().rev() {
            if end.saturating_sub(region.end_page.max(within.start)) >= pages {
                break;
            }
            end = end.min(region.first_page);
        }
        end.checked_sub(pages).filter(|start| *start >= within.start)
    }

    /// Returns whether all of these pages can be mapped, because the image maps or reserves them.
    #[must_use]
    pub fn has_room(&self, pages: &Range<u64>) -> bool {
        self.room.iter().any(|room| room.start <= pages.start && pages.end <= room.end)
    }

    /// Changes the mapping of pages and returns whether that was possible. If not, nothing has changed.
    ///
    /// It is not possible if a page cannot be mapped, if a page to protect is not mapped, or if there would be too
    /// many regions. Engines call this to keep the record; it does not touch memory.
    pub fn map(&mut self, pages: &Range<u64>, mapping: Mapping) -> bool {
        if pages.is_empty() {
            return true;
        }
        let has_room = self.has_room(pages);
        let is_there = !matches!(mapping, Mapping::Protect(_)) || self.covers(pages.clone());
        let is_fragmented = mapping != Mapping::Heap && self.regions.len() + 2 > REGIONS_MAX;
        if !has_room || !is_there || is_fragmented {
            return false;
        }
        if !matches!(mapping, Mapping::Protect(_)) {
            self.copied.remove(pages);
        }
        let regions = Arc::make_mut(&mut self.regions);
        // Include the neighbours, because the new regions may merge with them.
        let first = regions.partition_point(|region| region.end_page < pages.start);
        let end = regions.partition_point(|region| region.first_page <= pages.end);
        let old: Vec<Region> = regions[first..end].to_vec();
        let before = old.iter().filter_map(|region| region.part(0..pages.start));
        let inside: Vec<Region> = match mapping {
            Mapping::Unmap => Vec::new(),
            Mapping::Zero(permissions) => vec![Region::zero(pages, permissions)],
            Mapping::Heap => vec![Region::zero(pages, Permissions::RW)],
            Mapping::Protect(permissions) => {
                let parts = old.iter().filter_map(|region| region.part(pages.clone()));
                parts.map(|part| Region { permissions, ..part }).collect()
            }
        };
        let behind = old.iter().filter_map(|region| region.part(pages.end..u64::MAX));
        regions.splice(first..end, merged(before.chain(inside).chain(behind)));
        true
    }

    /// Returns the changes that turn this map into `target`, or `None` if `target` has frames that this map has not.
    pub(crate) fn changes_to(&self, target: &Self) -> Option<Vec<(Range<u64>, Mapping)>> {
        let mut bounds: Vec<u64> = self
            .stretches()
            .chain(target.stretches())
            .flat_map(|part| [part.first_page, part.end_page])
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        let mut changes = Vec::new();
        // Between two bounds, all pages are alike in either map.
        for (&first, &end) in bounds.iter().zip(bounds.iter().skip(1)) {
            let mapping = match (self.page(first), target.page(first)) {
                (None, None) => continue,
                (Some(_), None) => Mapping::Unmap,
                (Some(own), Some(other)) if own.frame == other.frame => {
                    if own.permissions == other.permissions {
                        continue;
                    }
                    Mapping::Protect(other.permissions)
                }
                (_, Some(other)) if other.frame == 0 => Mapping::Zero(other.permissions),
                (_, Some(_)) => return None,
            };
            changes.push((first..end, mapping));
        }
        Some(changes)
    }

    /// Returns whether regions, copied pages and room are sorted and disjoint, regions are within the room, copied pages are mapped,
    /// and all frames are below `frames`. A map from a file may break that.
    pub(crate) fn is_valid(&self, frames: u64) -> bool {
        const PAGES: u64 = 1 << (ADDRESS_BITS - PAGE_SHIFT);
        let regions =
            self.regions.iter().map(|region| (region.first_page..region.end_page, region.first_frame));
        let copied = self.copied.runs();
        let has_frames = |(pages, frame): (Range<u64>, Option<u32>)| {
            frame.is_none_or(|frame| u64::from(frame) + (pages.end - pages.start) <= frames)
        };
        ascends(regions.clone().map(|(pages, _)| pages), PAGES)
            && ascends(copied.clone().map(|(pages, _)| pages), PAGES)
            && ascends(self.room.iter().cloned(), PAGES)
            && regions.clone().all(|(pages, _)| self.has_room(&pages))
            && copied.clone().all(|(pages, _)| self.covers(pages))
            && regions.chain(copied.map(|(pages, frame)| (pages, Some(frame)))).all(has_frames)
    }

    /// Checks every page of an access.
    ///
    /// `reported` is the access that a fault names. `permission` is the access to permit, or `None` if the pages only
    /// have to be mapped.
    ///
    /// # Errors
    /// The fault at the first byte that is not mapped or not permitted.
    pub fn check(
        &self,
        address: u64,
        bytes: u64,
        reported: Access,
        permission: Option<Access>,
    ) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        let fault = |kind, address| Fault { kind, access: reported, address };
        let mut at = address;
        let end = address.checked_add(bytes).filter(|&end| end <= 1 << ADDRESS_BITS);
        // An access that leaves the address space faults at the first byte outside, unless a page before it faults.
        let last = end.unwrap_or(1 << ADDRESS_BITS);
        while at < last {
            let region = self.region(page_of(at)).ok_or_else(|| fault(FaultKind::Translation, at))?;
            if permission.is_some_and(|access| !region.permissions.permit(access)) {
                return Err(fault(FaultKind::Permission, at));
            }
            at = region.end_page << PAGE_SHIFT;
        }
        if end.is_some() {
            Ok(())
        } else {
            Err(fault(FaultKind::Translation, address.max(1 << ADDRESS_BITS)))
        }
    }
}

/// Merges regions that continue each other. So which regions there are follows from what each page is.
fn merged(regions: impl IntoIterator<Item = Region>) -> Vec<Region> {
    let mut merged: Vec<Region> = Vec::new();
    for region in regions {
        match merged.last_mut().filter(|last| last.is_continued_by(&region)) {
            Some(last) => last.end_page = region.end_page,
            None => merged.push(region),
        }
    }
    merged
}

/// Returns whether ranges are not empty, are sorted and disjoint, and end at `end` at most.
fn ascends(mut ranges: impl Iterator<Item = Range<u64>>, end: u64) -> bool {
    let mut last = 0;
    ranges.all(|range| {
        let follows = last <= range.start && range.start < range.end && range.end <= end;
        last = range.end;
        follows
    })
}

impl Region {
    /// Returns a region of zero pages.
    const fn zero(pages: &Range<u64>, permissions: Permissions) -> Self {
        Self { first_page: pages.start, end_page: pages.end, permissions, first_frame: None }
    }

    /// Returns those of its pages that are among `pages`: an empty range if there are none.
    pub(crate) fn pages_within(&self, pages: &Range<u64>) -> Range<u64> {
        self.first_page.max(pages.start)..self.end_page.min(pages.end)
    }

    /// Returns the part of the region that lies in `pages`, if any.
    fn part(&self, pages: Range<u64>) -> Option<Self> {
        let Range { start: first_page, end: end_page } = self.pages_within(&pages);
        let first_frame =
            self.first_frame.map(|frame| frame + first_page.saturating_sub(self.first_page) as u32);
        (first_page < end_page).then_some(Self { first_page, end_page, first_frame, ..*self })
    }

    /// Returns whether `next` continues this region, so that both can be merged.
    fn is_continued_by(&self, next: &Self) -> bool {
        let frame = self.first_frame.map(|frame| frame + (self.end_page - self.first_page) as u32);
        self.end_page == next.first_page && self.permissions == next.permissions && frame == next.first_frame
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pages of the map: mapped ones with frames, zeros and copied pages, and reserved ones.
    const PAGES: u64 = 40;

    fn map() -> PageMap {
        let region = |first_page, end_page, first_frame| Region {
            first_page,
            end_page,
            permissions: Permissions::RW,
            first_frame,
        };
        let regions = vec![region(0, 6, Some(1)), region(6, 10, None), region(12, 16, Some(7))];
        PageMap::new(regions, std::slice::from_ref(&(16..PAGES)))
            .with_copied(CopiedPages::new([3, 4, 8, 14], 11))
    }

    fn changes() -> impl Strategy<Value = Vec<(Range<u64>, Mapping)>> {
        let permissions = prop::sample::select(vec![Permissions::R, Permissions::RW, Permissions::RX]);
        let mapping = prop_oneof![
            permissions.clone().prop_map(Mapping::Zero),
            permissions.prop_map(Mapping::Protect),
            Just(Mapping::Unmap),
            Just(Mapping::Heap),
        ];
        let pages = (0..PAGES, 1..12_u64).prop_map(|(first, count)| first..(first + count).min(PAGES));
        prop::collection::vec((pages, mapping), 0..30)
    }

    proptest! {
        #[test]
        fn changes_turn_a_map_into_another_one_of_the_same_image(changes in changes()) {
            let (mut target, mut own) = (map(), map());
            for (pages, mapping) in changes {
                target.map(&pages, mapping);
            }
            prop_assert!(target.is_valid(15), "{target:?}");
            for (pages, mapping) in own.changes_to(&target).expect("it is a map of the same frames") {
                prop_assert!(own.map(&pages, mapping), "{pages:?} {mapping:?}");
            }
            prop_assert_eq!(own, target, "the same regions and copied pages");
        }
    }

    #[test]
    fn maps_of_other_frames_and_broken_ones_are_found() {
        assert_eq!(
            PageMap::new(Vec::new(), std::slice::from_ref(&(0..PAGES))).changes_to(&map()),
            None,
            "the frames are nowhere"
        );
        assert!(map().is_valid(15) && !map().is_valid(14), "frame 14 is the last");
        let region = |first_page, end_page| Region {
            first_page,
            end_page,
            permissions: Permissions::R,
            first_frame: None,
        };
        for regions in
            [vec![region(5, 5)], vec![region(5, 7), region(6, 9)], vec![region(7, 9), region(5, 6)]]
        {
            let broken = PageMap { regions: Arc::new(regions.clone()), ..map() };
            assert!(!broken.is_valid(15), "{regions:?}");
        }
        let elsewhere = PageMap { regions: Arc::new(vec![region(10, 13)]), ..map() };
        assert!(!elsewhere.is_valid(15), "pages 10 and 11 are not reserved");
        let uncovered = PageMap { regions: Arc::new(vec![region(0, 6)]), ..map() };
        assert!(!uncovered.is_valid(15), "copied pages have to be mapped");
    }
}
