//! The pages that lanes have written, for what is copied from them: forks and saved machines.

use super::Machine;
use crate::error::Error;
use crate::pages::{Frame, PAGE_BYTES, page_of};

/// The number of pages that are fetched from the engine at once.
const PAGES_AT_ONCE: usize = 1 << 14;

impl Machine {
    /// Calls `each` with every mapped page that one of `lanes` has written: the lane, the number of the page, and its contents. Pages
    /// come lane by lane, in ascending order. A page that a lane has written and then unmapped has no contents.
    pub(super) fn for_each_written_page(
        &mut self,
        lanes: impl Iterator<Item = usize>,
        mut each: impl FnMut(usize, u64, &Frame),
    ) -> Result<(), Error> {
        let mut pages = Vec::new();
        for lane in lanes {
            let map = self.executor.page_map(lane)?;
            let written = self.executor.private_pages(lane)?.into_iter();
            let mapped = written.filter(|address| map.region(page_of(*address)).is_some());
            pages.extend(mapped.map(|address| (lane, address, PAGE_BYTES)));
        }
        // A transfer from a GPU takes about as long for one page as for many.
        for some in pages.chunks(PAGES_AT_ONCE) {
            self.executor.prefetch(some)?;
            for &(lane, address, _) in some {
                let mut frame = [0; PAGE_BYTES];
                let read = self.executor.read_memory(lane, address, &mut frame, None)?;
                read.map_err(|stop| Error::Memory { lane, stop })?;
                each(lane, page_of(address), &frame);
            }
        }
        Ok(())
    }
}
