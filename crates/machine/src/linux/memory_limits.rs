//! The limits on the memory of a process, which the calls that map memory check.

use std::ops::Range;

use super::call::Call;
use super::errno::ENOMEM;
use super::failure::Failure;
use super::limits::{Resource, UNLIMITED};
use crate::page_map::{PageMap, Region};
use crate::pages::{PAGE_BYTES, PAGE_SHIFT};

/// The pages that the stack counts as. A stack of Linux begins with so many and grows, one of a lane is mapped at once.
const STACK_PAGES: u64 = 33;

/// Pages that a call is about to map, or to make writable.
pub(super) struct Added<'a> {
    pub(super) count: u64,
    /// The pages that are not mapped any more afterwards.
    pub(super) replaced: &'a Range<u64>,
    /// Whether they are private and writable.
    pub(super) is_data: bool,
}

fn overlap(region: &Region, pages: &Range<u64>) -> u64 {
    let Range { start, end } = region.pages_within(pages);
    end.saturating_sub(start)
}

impl Call<'_> {
    /// Returns the number of pages that are mapped, and how many of them are private and writable, both without the stack.
    fn pages_without(&self, map: &PageMap, left_out: &Range<u64>) -> (u64, u64) {
        let space = self.kernel.space();
        let stack = space.areas.stack();
        let stack = stack.start >> PAGE_SHIFT..stack.end >> PAGE_SHIFT;
        let (mut all, mut data) = (0, 0);
        for region in map.regions() {
            let count = region.end_page - region.first_page;
            let count = count - overlap(region, &stack) - overlap(region, left_out);
            all += count;
            if region.permissions.write {
                let shared = space.shared.iter().map(|mapping| {
                    let Range { start, end } = mapping.pages;
                    // Those parts that are left out are not subtracted twice.
                    overlap(region, &(start..end.min(left_out.start.max(start))))
                        + overlap(region, &(start.max(left_out.end.min(end))..end))
                });
                data += count.saturating_sub(shared.sum());
            }
        }
        (all, data)
    }

    /// Checks that the process may have more memory.
    ///
    /// # Errors
    /// `ENOMEM` if it would have more than its limits permit.
    pub(super) fn check_memory(&mut self, added: &Added<'_>) -> Result<(), Failure> {
        let limits = &self.kernel.process().limits;
        let [all_max, data_max] =
            [Resource::MappedBytes, Resource::DataBytes].map(|resource| limits.soft(resource));
        if [all_max, data_max] == [UNLIMITED; 2] {
            return Ok(());
        }
        let map = self.guest.page_map()?;
        let (all, data) = self.pages_without(&map, added.replaced);
        let is_above = |pages: u64, limit: u64| pages.saturating_add(added.count) > limit >> PAGE_SHIFT;
        if is_above(all + STACK_PAGES, all_max) || added.is_data && is_above(data, data_max) {
            return Err(ENOMEM.into());
        }
        Ok(())
    }

    /// Checks that the process may write to all of these pages.
    pub(super) fn check_writable(&mut self, pages: &Range<u64>) -> Result<(), Failure> {
        if self.kernel.process().limits.soft(Resource::DataBytes) == UNLIMITED {
            return Ok(());
        }
        let map = self.guest.page_map()?;
        let closed = map.regions().iter().filter(|region| !region.permissions.write);
        let count: u64 = closed.map(|region| overlap(region, pages)).sum();
        let is_shared = self.kernel.space().shared.iter().any(|mapping| mapping.pages.contains(&pages.start));
        let (_, data) = self.pages_without(&map, &(0..0));
        let limit = self.kernel.process().limits.soft(Resource::DataBytes) >> PAGE_SHIFT;
        if count > 0 && !is_shared && data + count > limit { Err(ENOMEM.into()) } else { Ok(()) }
    }

    /// Returns the size of the stack of a program that the process executes, in bytes.
    pub(super) fn stack_bytes(&self) -> u64 {
        /// The limits on a stack. Linux maps at least so much, and a machine of a lane has no room for any size.
        const LEAST: u64 = STACK_PAGES * PAGE_BYTES as u64;
        const LARGEST: u64 = 1 << 30;
        let of_machine = self.kernel.settings.areas.stack_bytes;
        let limit = self.kernel.process().limits.soft(Resource::StackBytes);
        if limit == of_machine {
            return of_machine;
        }
        limit.clamp(LEAST, LARGEST.max(of_machine)).next_multiple_of(PAGE_BYTES as u64)
    }

    /// Returns the limit on the bytes of all arguments and variables of a program together, with a pointer for each.
    pub(super) fn argument_bytes(&self) -> usize {
        const LEAST: u64 = 128 << 10;
        const LARGEST: u64 = 6 << 20;
        (self.stack_bytes() / 4).clamp(LEAST, LARGEST) as usize
    }
}
