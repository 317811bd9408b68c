//! Accesses to pages.

/// The number of pages of an address space: addresses have 48 bits, and a page has 4 KiB.
pub const PAGES: u64 = 1 << 36;

/// An access of a lane to a page.
///
/// An access to bytes of two pages counts as one access to each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageAccess {
    /// The number of the page: the address divided by 4096.
    pub page: u64,
    /// The number of bytes.
    pub size: u8,
    /// Whether it is a load. Otherwise it is a store.
    pub load: bool,
    /// The address of the instruction.
    pub pc: u64,
    /// The number of steps that the lane had retired before.
    pub step: u64,
}

/// The reason for which a prefetcher hears of an access. It never hears of others: the lane does not stop for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// The page is away.
    Miss,
    /// The access is the first one to a page that was prefetched, whether the page has arrived or not.
    FirstUse,
}
