//! Accesses in groups, each of which is a sequence that is simpler than the whole.

use crate::access::PageAccess;

/// The number of groups of a lane.
pub const GROUPS: usize = 16;
/// The largest distance of a page to the last one of its group, in pages, unless it is a stride.
const NEAR_PAGES: u64 = 64;

/// Divides the accesses of a lane into groups.
///
/// A lane that walks through several arrays at once makes accesses whose distances are long and say little. An access belongs
/// to the group whose last page is nearest, if that is at most 64 pages away. Otherwise it belongs to the group with the last access
/// by the same instruction, if the distance to that is the same as from the instruction's access before. Otherwise it begins a
/// group, in place of the one that was used longest ago if there are [`GROUPS`] groups.
///
/// ```
/// use kvrm_prefetch::{Groups, PageAccess};
///
/// let mut groups = Groups::default();
/// let mut place = |page, pc| {
///     let found = groups.place(&PageAccess { page, pc, ..PageAccess::default() });
///     (found.group, found.delta)
/// };
/// assert_eq!(place(1000, 4), (0, None), "the first access");
/// assert_eq!(place(5000, 8), (1, None), "far away");
/// assert_eq!(place(1001, 12), (0, Some(1)), "near page 1000");
/// assert_eq!(place(5700, 8), (2, None), "far away again");
/// assert_eq!(place(6400, 8), (2, Some(700)), "at the same distance as before");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    time: u64,
}

/// The last access of a group.
#[derive(Clone, Copy, Debug)]
struct Group {
    page: u64,
    pc: u64,
    /// The distance from the access before by the same instruction, in any group.
    stride: Option<i64>,
    used: u64,
}

/// The group of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the group, below [`GROUPS`].
    pub group: usize,
    /// The page of the access minus that of the group's access before. It is `None` if the access begins the group. What was
    /// known of another group with this number has to be forgotten then.
    pub delta: Option<i64>,
}

impl Groups {
    /// Returns the number of bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
    }

    /// Returns the group of the next access.
    pub fn place(&mut self, access: &PageAccess) -> Place {
        self.time += 1;
        let distance = |group: &Group| access.page.wrapping_sub(group.page).cast_signed();
        let same = (0..self.groups.len()).filter(|place| self.groups[*place].pc == access.pc);
        let same = same.max_by_key(|place| self.groups[*place].used);
        let stride = same.map(|place| distance(&self.groups[place]));
        // Of groups that are equally near, the one that was used last.
        let order = |group: &Group| (distance(group).unsigned_abs(), std::cmp::Reverse(group.used));
        let near = (0..self.groups.len())
            .min_by_key(|place| order(&self.groups[*place]))
            .filter(|place| distance(&self.groups[*place]).unsigned_abs() <= NEAR_PAGES);
        let strided = same.filter(|place| self.groups[*place].stride == stride);
        let group = Group { page: access.page, pc: access.pc, stride, used: self.time };
        if let Some(place) = near.or(strided) {
            let delta = distance(&self.groups[place]);
            self.groups[place] = group;
            return Place { group: place, delta: Some(delta) };
        }
        if self.groups.len() < GROUPS {
            self.groups.push(group);
            return Place { group: self.groups.len() - 1, delta: None };
        }
        let oldest = (0..GROUPS).min_by_key(|place| self.groups[*place].used).unwrap_or(0);
        self.groups[oldest] = group;
        Place { group: oldest, delta: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the groups and distances of accesses by instructions to pages.
    fn places(accesses: impl IntoIterator<Item = (u64, u64)>) -> Vec<(usize, Option<i64>)> {
        let mut groups = Groups::default();
        let place = |(pc, page)| {
            let found = groups.place(&PageAccess { page, pc, ..PageAccess::default() });
            (found.group, found.delta)
        };
        accesses.into_iter().map(place).collect()
    }

    #[test]
    fn arrays_have_groups_of_their_own_even_with_the_same_instruction() {
        let found = places((0..30).map(|n| (4, [1000, 1065, 900_000][n as usize % 3] + n / 3)));
        for (n, place) in found.iter().enumerate() {
            assert_eq!(*place, (n % 3, (n >= 3).then_some(1)), "the array of access {n}");
        }
    }

    #[test]
    fn the_nearest_group_counts_and_the_last_one_of_equally_near_ones() {
        let found = places([(4, 100), (8, 200), (4, 149), (8, 151), (12, 150)]);
        assert_eq!(found[2..], [(0, Some(49)), (0, Some(2)), (0, Some(-1))], "{found:?}");
        let found = places([(4, 100), (8, 180), (12, 140)]);
        assert_eq!(found[2], (1, Some(-40)), "both are 40 pages away");
    }

    #[test]
    fn long_strides_of_an_instruction_are_a_group() {
        // Columns of two matrices.
        let found =
            places((0..20).map(|n| (4 * (n % 2), 100_000 * (n % 2) + [300, 5000][n as usize % 2] * (n / 2))));
        for (n, place) in found.iter().enumerate().skip(4) {
            assert_eq!(*place, (2 + n % 2, Some([300, 5000][n % 2])), "the matrix of access {n}");
        }
    }

    #[test]
    fn the_group_that_was_used_longest_ago_is_given_up() {
        let first = (0..GROUPS as u64).map(|n| (n, 1000 * n * n));
        let found = places(first.chain([(0, 1), (50, 50_500), (2, 4000), (60, 1000)]));
        assert_eq!(found[GROUPS..], [(0, Some(1)), (1, None), (2, Some(0)), (3, None)], "{found:?}");
    }
}
