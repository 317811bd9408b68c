//! The settings of a replay.

use std::error::Error;
use std::fmt;

use crate::candidates::Degree;
use crate::eviction::Eviction;

/// Where the pages of a lane are when a replay begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Start {
    /// All pages are away, as if the lane had been moved out as a whole. So the first access to each page is a miss, unless the page is
    /// prefetched.
    #[default]
    Away,
    /// No page exists yet. The first access to a page makes it in the pool, without a fetch. No prefetcher can name it before.
    Fresh,
}

/// The settings of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplaySettings {
    /// The number of pages that the pool holds, those on their way included. At least one.
    pub pages: usize,
    /// The policy that chooses the page that leaves.
    pub eviction: Eviction,
    /// The time from the request of a page to its arrival, in steps of the lane.
    pub latency: u64,
    /// The largest number of pages that are on their way at a time, at least one. One place is kept for a page that the lane
    /// needs, so at most one fewer are prefetched.
    pub batch: usize,
    /// The largest number of pages that a prefetcher names at once.
    pub degree: Degree,
    /// Where the pages are in the beginning.
    pub start: Start,
    /// Whether few pages are fetched while most of them leave unused: see [`Throttle`](crate::Throttle).
    pub is_throttled: bool,
}

impl ReplaySettings {
    /// Returns settings for a pool of so many pages: the clock, a latency of 10,000 steps, batches of 32 pages, one candidate
    /// at once, all pages away, and no throttle.
    #[must_use]
    pub const fn new(pages: usize) -> Self {
        Self {
            pages,
            eviction: Eviction::Clock,
            latency: 10_000,
            batch: 32,
            degree: Degree::ONE,
            start: Start::Away,
            is_throttled: false,
        }
    }

    pub(crate) fn check(&self) -> Result<(), InvalidSettings> {
        for (name, value) in [("pages of the pool", self.pages), ("pages of a batch", self.batch)] {
            // Slots have numbers of 32 bits.
            if value == 0 || value >= u32::MAX as usize {
                return Err(InvalidSettings { name, value });
            }
        }
        Ok(())
    }
}

/// A setting of a replay is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSettings {
    name: &'static str,
    value: usize,
}

impl fmt::Display for InvalidSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the number of {} is {}; expected 1 to {}", self.name, self.value, u32::MAX - 1)
    }
}

impl Error for InvalidSettings {}
