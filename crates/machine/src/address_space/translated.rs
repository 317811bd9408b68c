//! What translated code needs of an address space: the layout of its TLB, its code, and whether the code is still the
//! same.

use std::mem::offset_of;
use std::sync::Arc;

use kvrm_arm64::{Access, Memory};

use super::{AddressSpace, TLB_ENTRIES, TlbEntry};
use crate::image::CodePage;
use crate::pages::PAGE_SHIFT;
use crate::translation::{CodeVersion, TlbLayout};

impl AddressSpace {
    /// The layout of the TLB.
    pub const TLB: TlbLayout = TlbLayout {
        offset: offset_of!(Self, tlb),
        entries: TLB_ENTRIES,
        entry_bytes: size_of::<TlbEntry>(),
        read: offset_of!(TlbEntry, read),
        write: offset_of!(TlbEntry, write),
        addend: offset_of!(TlbEntry, addend),
    };

    /// Returns the version of the lane's code.
    #[must_use]
    pub const fn code_version(&self) -> CodeVersion {
        self.code_version
    }

    /// Returns the decoded instructions of the page with this number, or `None` if it cannot be executed or has a
    /// breakpoint. From then on, a change of the page changes [`AddressSpace::code_version`].
    pub fn code_page(&mut self, page: u64) -> Option<Arc<CodePage>> {
        if self.is_hooked(page, Access::Execute) {
            return None;
        }
        self.fetch(page.checked_mul(1 << PAGE_SHIFT)?).ok()?;
        Some(Arc::clone(&self.code))
    }
}

const _: () = assert!(
    size_of::<TlbEntry>().is_power_of_two() && TLB_ENTRIES.is_power_of_two(),
    "generated code selects an entry by a mask"
);
