//! The prefetcher of strides, by instruction.

use crate::access::{PageAccess, Trigger};
use crate::candidates::Candidates;
use crate::prefetcher::Prefetcher;

/// The number of instructions that the table knows by default.
const ENTRIES: usize = 64;

/// The prefetcher of strides: a reference prediction table (T.-F. Chen and J.-L. Baer, "Effective hardware-based data
/// prefetching for high-performance processors", IEEE Transactions on Computers, 1995), with pages in place of addresses.
///
/// Each entry has an instruction, the page of its last access, the stride to it, and one of four states. A prediction is that
/// the stride is the same again:
///
/// | state | right | wrong |
/// | --- | --- | --- |
/// | initial | steady | transient, new stride |
/// | transient | steady | no prediction, new stride |
/// | steady | steady | initial |
/// | no prediction | transient | no prediction, new stride |
///
/// Unless the state is now "no prediction" or the stride is 0, the pages at the next strides are named, as many as the degree; steady ones
/// are more certain than others. The table holds the instructions that were used last.
///
/// ```
/// use kvrm_prefetch::{Candidates, Degree, PageAccess, Prefetcher, Stride, Trigger};
///
/// let (mut stride, mut candidates) = (Stride::default(), Candidates::new(Degree::new(2)?));
/// for page in [10, 13, 16] {
///     candidates.clear();
///     stride.observe(&PageAccess { page, pc: 0x1000, ..PageAccess::default() }, Trigger::Miss, &mut candidates);
/// }
/// assert_eq!(candidates.pages().collect::<Vec<_>>(), [19, 22]);
/// # Ok::<(), kvrm_prefetch::InvalidDegree>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stride {
    /// The entries, the last used one first.
    entries: Vec<Entry>,
    capacity: usize,
}

/// An instruction with its last access.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Bits 2 to 33 of the address of the instruction. Programs that need more are not larger than that.
    tag: u32,
    stride: i32,
    /// The page, above two bits with the state.
    page_and_state: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Initial,
    Transient,
    Steady,
    NoPrediction,
}

impl State {
    /// Returns the state after a prediction.
    const fn after(self, is_right: bool) -> Self {
        match (self, is_right) {
            (Self::Initial | Self::Transient | Self::Steady, true) => Self::Steady,
            (Self::NoPrediction, true) | (Self::Initial, false) => Self::Transient,
            (Self::Steady, false) => Self::Initial,
            (Self::Transient | Self::NoPrediction, false) => Self::NoPrediction,
        }
    }
}

impl Entry {
    const fn new(tag: u32, page: u64) -> Self {
        Self { tag, stride: 0, page_and_state: page << 2 }
    }

    const fn page(self) -> u64 {
        self.page_and_state >> 2
    }

    const fn state(self) -> State {
        match self.page_and_state & 3 {
            0 => State::Initial,
            1 => State::Transient,
            2 => State::Steady,
            _ => State::NoPrediction,
        }
    }

    /// Compares an access with the prediction.
    fn update(&mut self, page: u64) {
        // Without a stride, because it is too long, no prediction is right.
        let distance = i32::try_from(page.wrapping_sub(self.page()).cast_signed()).ok();
        let (before, is_right) = (self.state(), distance == Some(self.stride));
        if !is_right && before != State::Steady {
            self.stride = distance.unwrap_or(0);
        }
        self.page_and_state = page << 2 | before.after(is_right) as u64;
    }
}

impl Default for Stride {
    fn default() -> Self {
        Self::with_entries(ENTRIES)
    }
}

impl Stride {
    /// Creates a prefetcher that knows as many instructions, at least one. Each takes 16 bytes, once it is known.
    #[must_use]
    pub fn with_entries(capacity: usize) -> Self {
        Self { entries: Vec::new(), capacity: capacity.max(1) }
    }
}

impl Prefetcher for Stride {
    fn observe(&mut self, access: &PageAccess, _: Trigger, candidates: &mut Candidates) {
        let tag = (access.pc >> 2) as u32;
        let place = match self.entries.iter().position(|entry| entry.tag == tag) {
            Some(place) => {
                self.entries[place].update(access.page);
                place
            }
            None => {
                let entry = Entry::new(tag, access.page);
                if self.entries.len() < self.capacity {
                    self.entries.push(entry);
                } else if let Some(oldest) = self.entries.last_mut() {
                    *oldest = entry;
                }
                self.entries.len() - 1
            }
        };
        self.entries[..=place].rotate_right(1);
        let entry = self.entries[0];
        let confidence = match entry.state() {
            State::NoPrediction => return,
            State::Initial | State::Transient => 0.5,
            State::Steady => 1.0,
        };
        for distance in 1..=candidates.degree() as i64 {
            candidates.push_relative(
                access.page,
                distance * i64::from(entry.stride),
                confidence / distance as f32,
            );
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.entries.capacity() * size_of::<Entry>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::PAGES;
    use crate::candidates::Degree;

    /// Returns the candidates at each access of instructions to pages.
    fn named(stride: &mut Stride, degree: usize, accesses: &[(u64, u64)]) -> Vec<Vec<u64>> {
        let mut candidates = Candidates::new(Degree::new(degree).expect("the degree is valid"));
        let observe = |(pc, page): &(u64, u64)| {
            candidates.clear();
            let access = PageAccess { page: *page, pc: *pc, ..PageAccess::default() };
            stride.observe(&access, Trigger::Miss, &mut candidates);
            candidates.pages().collect()
        };
        accesses.iter().map(observe).collect()
    }

    const NONE: [u64; 0] = [];

    #[test]
    fn a_stride_is_named_from_the_second_access_on() {
        let found = named(&mut Stride::default(), 2, &[(4, 100), (4, 97), (4, 94), (4, 91)]);
        assert_eq!(found, [NONE.to_vec(), vec![94, 91], vec![91, 88], vec![88, 85]], "backwards by three");
    }

    #[test]
    fn instructions_have_strides_of_their_own() {
        let accesses = [(4, 100), (8, 500), (4, 101), (8, 490), (4, 102), (8, 480)];
        let found = named(&mut Stride::default(), 1, &accesses);
        assert_eq!(found[4..], [[103], [470]], "one forwards and one backwards");
    }

    #[test]
    fn the_states_are_those_of_the_table() {
        // Right, wrong and right again: steady, initial with the old stride, steady.
        let found = named(&mut Stride::default(), 1, &[(4, 1), (4, 2), (4, 3), (4, 50), (4, 51), (4, 52)]);
        assert_eq!(found[2..], [[4], [51], [52], [53]], "one jump does not change a steady stride");
        // Random distances end in no prediction, and need two right ones to predict again.
        let found =
            named(&mut Stride::default(), 1, &[(4, 1), (4, 9), (4, 2), (4, 70), (4, 71), (4, 72), (4, 73)]);
        let expected = [vec![], vec![17], vec![], vec![], vec![], vec![73], vec![74]];
        assert_eq!(
            found, expected,
            "transient, no prediction, no prediction, no prediction, transient, steady"
        );
    }

    #[test]
    fn the_instruction_that_was_used_longest_ago_is_forgotten() {
        let mut stride = Stride::with_entries(2);
        named(&mut stride, 1, &[(4, 1), (8, 1), (4, 2), (12, 1)]);
        assert_eq!(named(&mut stride, 1, &[(4, 3)]), [[4]], "it was used after the other one");
        assert_eq!(named(&mut stride, 1, &[(8, 2)]), [NONE], "forgotten");
        assert_eq!(stride.entries.len(), 2, "no more than the capacity");
    }

    #[test]
    fn the_ends_of_the_address_space_are_no_exception() {
        let found =
            named(&mut Stride::default(), 4, &[(4, 0), (4, PAGES - 1), (4, 0), (4, 1), (4, 2), (4, 3)]);
        assert_eq!(found[5], [4, 5, 6, 7], "after strides that are too long");
        let found = named(&mut Stride::default(), 4, &[(4, 4), (4, 2), (4, 0)]);
        assert_eq!(found, [NONE.to_vec(), vec![0], vec![]], "not below 0");
    }
}
