//! The types through which translated code sees the memory of a lane.

/// The version of the code that a lane can execute. As long as it is the same, every page has the same instructions and
/// breakpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeVersion {
    /// 0 as long as the lane has the code of its image, else a number that is unique in the process.
    pub(crate) code: u64,
    /// 0 if there are no hooks, else a number that is unique in the process.
    pub(crate) hooks: u64,
}

impl CodeVersion {
    /// Returns whether the lane has the code of its image and no hooks.
    #[must_use]
    pub const fn is_of_image(self) -> bool {
        self.code == 0 && self.hooks == 0
    }
}

/// The layout of the TLB in an [`AddressSpace`](crate::AddressSpace), in bytes, for code that is generated.
///
/// Page number `n` is in entry `n % entries`. The entry serves a load if its word at `read` is the page number, and a
/// store if its word at `write` is. Then the host's address of a byte is its address plus the word at `addend`.
#[derive(Clone, Copy, Debug)]
pub struct TlbLayout {
    /// The offset of the first entry from the start of the address space.
    pub offset: usize,
    /// The number of entries, a power of two.
    pub entries: usize,
    /// The size of an entry, a power of two.
    pub entry_bytes: usize,
    /// The offset of the page number for loads within an entry.
    pub read: usize,
    /// The offset of the page number for stores within an entry.
    pub write: usize,
    /// The offset of the addend within an entry.
    pub addend: usize,
}
