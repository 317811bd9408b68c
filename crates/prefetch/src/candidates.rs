//! The pages that a prefetcher names.

use std::error::Error;
use std::fmt;
use std::num::NonZeroU8;
use std::str::FromStr;

use crate::access::PAGES;

/// The largest degree.
pub const DEGREE_MAX: usize = 16;

/// The degree of prefetching: the largest number of pages that are named at once, from 1 to [`DEGREE_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Degree(NonZeroU8);

/// A degree that is 0 or too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidDegree(String);

impl Degree {
    /// One page at once.
    pub const ONE: Self = Self(NonZeroU8::MIN);

    /// Creates a degree.
    ///
    /// # Errors
    /// The degree is 0 or above [`DEGREE_MAX`].
    pub fn new(degree: usize) -> Result<Self, InvalidDegree> {
        let checked = u8::try_from(degree).ok().filter(|_| degree <= DEGREE_MAX).and_then(NonZeroU8::new);
        checked.map(Self).ok_or_else(|| InvalidDegree(degree.to_string()))
    }

    /// Returns the number of pages.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0.get() as usize
    }
}

/// Four pages, with which most prefetchers of docs/prefetch.md wait least.
impl Default for Degree {
    fn default() -> Self {
        Self(NonZeroU8::MIN.saturating_add(3))
    }
}

impl FromStr for Degree {
    type Err = InvalidDegree;

    fn from_str(text: &str) -> Result<Self, InvalidDegree> {
        let degree = text.parse().map_err(|_| InvalidDegree(text.to_owned()))?;
        Self::new(degree)
    }
}

impl fmt::Display for Degree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for InvalidDegree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the degree of prefetching is `{}`; expected a number from 1 to {DEGREE_MAX}", self.0)
    }
}

impl Error for InvalidDegree {}

/// A page that a prefetcher names.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    /// The number of the page.
    pub page: u64,
    /// How sure the prefetcher is, from 0 to 1. A baseline only orders its own pages by it.
    pub confidence: f32,
}

/// The pages that a prefetcher names at an access, best first: at most as many as the degree, no page twice, and only
/// pages of the address space.
///
/// ```
/// use kvrm_prefetch::{Candidates, Degree};
///
/// let mut candidates = Candidates::new(Degree::new(2)?);
/// for (page, confidence) in [(7, 0.1), (8, 0.9), (9, 0.5), (8, 0.2)] {
///     candidates.push(page, confidence);
/// }
/// assert_eq!(candidates.pages().collect::<Vec<_>>(), [8, 9]);
/// # Ok::<(), kvrm_prefetch::InvalidDegree>(())
/// ```
#[derive(Clone, Debug)]
pub struct Candidates {
    degree: Degree,
    count: usize,
    best: [Candidate; DEGREE_MAX],
}

impl Candidates {
    /// Creates an empty list.
    #[must_use]
    pub fn new(degree: Degree) -> Self {
        Self { degree, count: 0, best: [Candidate::default(); DEGREE_MAX] }
    }

    /// Returns the degree.
    #[must_use]
    pub const fn degree(&self) -> usize {
        self.degree.get()
    }

    /// Removes all pages.
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a page, if it is one of the best. Of pages with the same confidence, earlier ones come first. A confidence below 0
    /// or none counts as 0, one above 1 as 1.
    pub fn push(&mut self, page: u64, confidence: f32) {
        let confidence = if confidence > 0.0 { confidence.min(1.0) } else { 0.0 };
        if page >= PAGES {
            return;
        }
        if let Some(known) = self.as_slice().iter().position(|known| known.page == page) {
            if self.best[known].confidence >= confidence {
                return;
            }
            self.best.copy_within(known + 1..self.count, known);
            self.count -= 1;
        }
        let place = self.as_slice().partition_point(|known| known.confidence >= confidence);
        if place >= self.degree() {
            return;
        }
        self.count = (self.count + 1).min(self.degree());
        self.best.copy_within(place..self.count - 1, place + 1);
        self.best[place] = Candidate { page, confidence };
    }

    /// Adds the page at a distance from another, unless the distance is 0 or the page is outside of the address space.
    pub fn push_relative(&mut self, page: u64, delta: i64, confidence: f32) {
        if let Some(there) = page.checked_add_signed(delta).filter(|_| delta != 0) {
            self.push(there, confidence);
        }
    }

    /// Returns the candidates, best first.
    #[must_use]
    pub fn as_slice(&self) -> &[Candidate] {
        &self.best[..self.count]
    }

    /// Returns the pages, best first.
    pub fn pages(&self) -> impl Iterator<Item = u64> {
        self.as_slice().iter().map(|candidate| candidate.page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(degree: usize, pushed: &[(u64, f32)]) -> Vec<u64> {
        let mut candidates = Candidates::new(Degree::new(degree).expect("the degree is valid"));
        pushed.iter().for_each(|(page, confidence)| candidates.push(*page, *confidence));
        candidates.pages().collect()
    }

    #[test]
    fn the_best_pages_stay_and_are_sorted() {
        let pushed = [(1, 0.5), (2, 0.75), (3, 0.5), (4, 0.25), (5, 1.0)];
        assert_eq!(pages(16, &pushed), [5, 2, 1, 3, 4], "equal ones in their order");
        assert_eq!(pages(3, &pushed), [5, 2, 1], "the best three");
        assert_eq!(pages(1, &pushed), [5], "the best");
    }

    #[test]
    fn a_page_that_is_named_twice_has_its_higher_confidence() {
        assert_eq!(pages(4, &[(1, 0.5), (2, 0.6), (1, 0.7)]), [1, 2], "moves to the front");
        assert_eq!(pages(4, &[(1, 0.5), (2, 0.6), (2, 0.1)]), [2, 1], "stays in front");
        assert_eq!(
            pages(2, &[(1, 0.5), (2, 0.4), (2, 0.9), (3, 0.45)]),
            [2, 1],
            "its old place is free again"
        );
    }

    #[test]
    fn pages_outside_of_the_address_space_are_left_out() {
        assert_eq!(
            pages(4, &[(PAGES, 1.0), (u64::MAX, 1.0), (PAGES - 1, 0.5)]),
            [PAGES - 1],
            "the last page"
        );
        let mut candidates = Candidates::new(Degree::ONE);
        candidates.push_relative(0, -1, 1.0);
        candidates.push_relative(PAGES - 1, 1, 1.0);
        candidates.push_relative(7, 0, 1.0);
        assert_eq!(candidates.as_slice(), [], "before, behind, and the page itself");
        candidates.push_relative(7, -7, 1.0);
        assert_eq!(candidates.pages().collect::<Vec<_>>(), [0], "the first page");
    }

    #[test]
    fn confidences_are_from_0_to_1() {
        let mut candidates = Candidates::new(Degree::new(4).expect("4 is valid"));
        for (page, confidence) in [(1, f32::NAN), (2, -3.0), (3, f32::INFINITY)] {
            candidates.push(page, confidence);
        }
        let confidences: Vec<_> =
            candidates.as_slice().iter().map(|candidate| candidate.confidence).collect();
        assert_eq!(confidences, [1.0, 0.0, 0.0], "infinite, none, negative");
    }

    #[test]
    fn a_wrong_degree_is_named() {
        for text in ["0", "17", "300", "-1", "many"] {
            let error = text.parse::<Degree>().expect_err("the degree is wrong");
            let expected = format!("the degree of prefetching is `{text}`; expected a number from 1 to 16");
            assert_eq!(error.to_string(), expected, "the message");
        }
        assert_eq!("16".parse(), Degree::new(16), "the largest");
    }
}
