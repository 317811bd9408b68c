//! Whether the pages that a prefetcher names are fetched, by the use of those before.

/// The number of pages of a lane whose fate is known before a share of them counts.
const KNOWN_MIN: u32 = 16;
/// The number of pages at which both counts are halved, so that a share is that of the last pages.
const KNOWN_MAX: u32 = 64;
/// The share of used pages, in percent, below which few pages are fetched: the low threshold of the source.
const LOW: u32 = 40;
/// With such a share, the pages that are named after one access of so many are fetched. They show whether the share has grown.
const PROBE: u32 = 16;

/// The throttle of the prefetcher of a lane.
///
/// A page that leaves before it is used has cost a transfer, and a place that another page had. Where most pages are like that, as
/// in a pointer chase, prefetching makes a program slower. So all named pages are fetched only while at least 40 % of the last
/// ones were used. Below that, only the pages named after one access in 16 are fetched.
///
/// Source: the accuracy of Srinath, Mutlu, Kim, Patt: "Feedback Directed Prefetching", HPCA 2007, and its threshold.
///
/// ```
/// use kvrm_prefetch::Throttle;
///
/// let mut throttle = Throttle::default();
/// (0..20).for_each(|_| throttle.left_unused());
/// let fetched = (0..160).filter(|_| throttle.allows()).count();
/// assert_eq!(fetched, 10, "the prefetcher is wrong most of the time");
/// (0..20).for_each(|_| throttle.used());
/// assert!(throttle.allows());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    /// The pages that were used, and those that have left before.
    used: u32,
    unused: u32,
    /// The number of accesses since pages were last fetched in spite of a low share.
    refused: u32,
}

impl Throttle {
    /// Notes that a page was used after its prefetch.
    pub const fn used(&mut self) {
        self.used += 1;
        self.age();
    }

    /// Notes that a page has left before it was used.
    pub const fn left_unused(&mut self) {
        self.unused += 1;
        self.age();
    }

    /// Returns whether the pages that are named after the next access are to be fetched. It is called once for each access.
    #[must_use]
    pub const fn allows(&mut self) -> bool {
        let known = self.used + self.unused;
        if known < KNOWN_MIN || 100 * self.used >= LOW * known {
            return true;
        }
        self.refused = (self.refused + 1) % PROBE;
        self.refused == 0
    }

    const fn age(&mut self) {
        if self.used + self.unused >= KNOWN_MAX {
            self.used /= 2;
            self.unused /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a throttle after pages of which `used` of every hundred were used.
    fn after(pages: u32, used: u32) -> Throttle {
        let mut throttle = Throttle::default();
        for page in 0..pages {
            if page * 37 % 100 < used { throttle.used() } else { throttle.left_unused() }
        }
        throttle
    }

    #[test]
    fn prefetchers_that_are_often_wrong_are_refused() {
        for (pages, used, expected) in
            [(15, 0, 160), (1000, 60, 160), (1000, 50, 160), (1000, 25, 10), (1000, 0, 10), (0, 0, 160)]
        {
            let mut throttle = after(pages, used);
            let allowed = (0..160).filter(|_| throttle.allows()).count();
            assert_eq!(allowed, expected, "{pages} pages, of which {used} % were used");
        }
    }

    #[test]
    fn a_prefetcher_that_gets_better_is_heard_again() {
        let mut throttle = after(10_000, 0);
        let needed = (1..100).find(|_| {
            throttle.used();
            throttle.allows() && throttle.allows()
        });
        assert!(needed.is_some_and(|pages| (10..=64).contains(&pages)), "after {needed:?} used pages");
    }
}
