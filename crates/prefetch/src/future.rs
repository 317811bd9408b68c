//! The future of a recorded stream: when each page is used again.

use std::collections::HashMap;

use crate::recorded::RecordedAccess;

/// The position of a use that never comes.
pub(crate) const NEVER: usize = usize::MAX;

/// For each access, its page as a small number, and the position of the next access to the same page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Future {
    /// The numbers of the pages, from 0 in the order of their first accesses.
    pub(crate) pages: Vec<usize>,
    /// The positions of the next accesses, or [`NEVER`].
    pub(crate) next: Vec<usize>,
    /// The number of different pages.
    pub(crate) page_count: usize,
}

impl Future {
    pub(crate) fn new(accesses: &[RecordedAccess]) -> Self {
        let (mut numbers, mut last) = (HashMap::new(), Vec::new());
        let mut future = Self { pages: Vec::new(), next: vec![NEVER; accesses.len()], page_count: 0 };
        for (position, recorded) in accesses.iter().enumerate() {
            let new = last.len();
            let number = *numbers.entry(recorded.access.page).or_insert(new);
            if number == new {
                last.push(position);
            } else {
                future.next[std::mem::replace(&mut last[number], position)] = position;
            }
            future.pages.push(number);
        }
        future.page_count = last.len();
        future
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::PageAccess;

    #[test]
    fn next_uses_are_those_of_the_same_page() {
        let pages = [70, 80, 70, 90, 80, 70];
        let accesses = pages.map(|page| RecordedAccess {
            access: PageAccess { page, ..PageAccess::default() },
            ..RecordedAccess::default()
        });
        let future = Future::new(&accesses);
        assert_eq!(future.pages, [0, 1, 0, 2, 1, 0], "numbers in the order of first uses");
        assert_eq!(future.next, [2, 4, 5, NEVER, NEVER, NEVER], "positions");
        assert_eq!(future.page_count, 3, "different pages");
    }
}
