//! Memory that the current process shares: what other calls store and show, and `msync`.

use std::ops::Range;

use super::call::Call;
use super::errno::{EINVAL, ENOMEM};
use super::failure::{CallResult, Failure};
use super::files::InodeNumber;
use super::page_ranges::pages_of_call;
use super::space::SharedMapping;

impl Call<'_> {
    /// Stores what the process has written to memory that it shares.
    pub(super) fn sync_shared(&mut self) -> Result<(), Failure> {
        let now = self.now();
        self.kernel.sync_shared(&mut self.guest, now)
    }

    /// Stores what the process has written to memory that it shares with a file, before a call looks at the file.
    pub(super) fn sync_file(&mut self, number: InodeNumber) -> Result<(), Failure> {
        if !self.kernel.shared.has_file(number) {
            return Ok(());
        }
        self.sync_shared()
    }

    /// Shows a change of a file in the memory that shares it.
    pub(super) fn show_file(&mut self, number: InodeNumber) -> Result<(), Failure> {
        if !self.kernel.shared.has_file(number) {
            return Ok(());
        }
        self.kernel.shared.note_file(number);
        self.kernel.refresh_shared(&mut self.guest)
    }

    /// Ends the sharing of pages that are about to be unmapped or mapped again.
    pub(super) fn replace_shared(&mut self, pages: &Range<u64>) -> Result<(), Failure> {
        if self.kernel.space().shared.iter().any(|mapping| mapping.overlaps(pages)) {
            self.sync_shared()?;
            self.kernel.unshare_pages(pages);
        }
        Ok(())
    }

    /// Returns the sharing of pages that are moved to another range, which may be longer.
    pub(super) fn moved(&self, from: &Range<u64>, to: &Range<u64>) -> Option<SharedMapping> {
        let mut all = self.kernel.space().shared.iter();
        let mapping = all.find(|mapping| mapping.pages.contains(&from.start))?.clone();
        let first = mapping.first + (from.start - mapping.pages.start);
        Some(SharedMapping { pages: to.clone(), first, seen: 0, ..mapping })
    }

    /// Shares the pages of a mapping that has moved from another range, and nothing in the place of that.
    pub(super) fn finish_move(
        &mut self,
        from: &Range<u64>,
        moved: Option<SharedMapping>,
    ) -> Result<(), Failure> {
        let Some(mapping) = moved else { return Ok(()) };
        let object = mapping.object;
        let was_kept = self.kernel.shared.objects.get(&object).is_some_and(|object| object.is_kept);
        let keep = |call: &mut Self, kept: bool| {
            if let Some(object) = call.kernel.shared.objects.get_mut(&object) {
                object.is_kept = kept;
            }
        };
        // The object stays although its pages are in no range for a moment.
        keep(self, true);
        self.kernel.unshare_pages(from);
        self.kernel.share_pages(mapping);
        keep(self, was_kept);
        self.kernel.refresh_shared(&mut self.guest)
    }
}

pub(super) fn msync(call: &mut Call<'_>) -> CallResult {
    const MS_ASYNC: u64 = 1;
    const MS_SYNC: u64 = 4;
    let [address, bytes, flags, ..] = call.x;
    let both = MS_ASYNC | MS_SYNC;
    if flags & !7 != 0 || flags & both == both {
        return Err(EINVAL.into());
    }
    let range = pages_of_call(address, bytes)?;
    if !call.guest.page_map()?.covers(range) {
        return Err(ENOMEM.into());
    }
    call.sync_shared()?;
    Ok(0)
}
