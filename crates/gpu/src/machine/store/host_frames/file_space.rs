//! The free space of the file of frames.

use std::collections::BTreeMap;

/// The free space of a file, in units.
#[derive(Debug)]
pub(super) struct FileSpace {
    /// The length of each free extent, by its first unit. No two of them touch.
    free: BTreeMap<u32, u32>,
}

impl FileSpace {
    /// Returns the space of a file of `units` units that is empty.
    pub(super) fn new(units: u32) -> Self {
        Self { free: (units > 0).then_some((0, units)).into_iter().collect() }
    }

    /// Takes space for pieces of these sizes: from extents of at least `run` units for one after the other, and then from all, each of
    /// which gets the largest pieces that fit. Returns the first unit of each piece, or `None` if there is no space for it.
    pub(super) fn place(&mut self, sizes: &[u32], run: u32) -> Vec<Option<u32>> {
        let mut placed = vec![None; sizes.len()];
        let (mut next, mut from) = (0, 0);
        while next < sizes.len()
            && let Some((&start, &length)) = self.free.range(from..).find(|(_, length)| **length >= run)
        {
            let mut end = start;
            while let Some(size) = sizes.get(next).filter(|size| **size <= start + length - end) {
                placed[next] = Some(end);
                end += size;
                next += 1;
            }
            self.shorten(start, end);
            from = end.max(start + 1);
        }
        let mut by_size: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for index in (next..sizes.len()).rev() {
            by_size.entry(sizes[index]).or_default().push(index);
        }
        from = 0;
        while !by_size.is_empty()
            && let Some((&start, &length)) = self.free.range(from..).next()
        {
            let mut end = start;
            while let Some((&size, indices)) = by_size.range_mut(..=start + length - end).next_back() {
                if let Some(index) = indices.pop() {
                    placed[index] = Some(end);
                    end += size;
                }
                if indices.is_empty() {
                    by_size.remove(&size);
                }
            }
            self.shorten(start, end);
            from = end.max(start + 1);
        }
        placed
    }

    /// Takes the units before `end` from the extent that begins at `start`.
    fn shorten(&mut self, start: u32, end: u32) {
        if end > start
            && let Some(length) = self.free.remove(&start)
            && end < start + length
        {
            self.free.insert(end, start + length - end);
        }
    }

    /// Makes space free that was taken.
    pub(super) fn give(&mut self, start: u32, units: u32) {
        let (mut start, mut end) = (start, start + units);
        if let Some((&before, &length)) = self.free.range(..start).next_back()
            && before + length == start
        {
            start = before;
        }
        if let Some(length) = self.free.remove(&end) {
            end += length;
        }
        self.free.insert(start, end - start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_in_a_row_where_there_is_space() {
        let mut space = FileSpace::new(100);
        assert_eq!(space.place(&[10, 20, 5], 16), [Some(0), Some(10), Some(30)], "one after the other");
        space.give(10, 20);
        assert_eq!(space.place(&[16, 4, 50], 16), [Some(10), Some(26), Some(35)], "first the space between");
        assert_eq!(space.place(&[10, 15, 1], 16), [None, Some(85), None], "the largest one fills the rest");
        [(0, 10), (30, 4), (95, 5)].iter().for_each(|&(start, units)| space.give(start, units));
        let expected = [Some(0), Some(30), Some(95), Some(6)];
        assert_eq!(space.place(&[6, 3, 5, 4], 16), expected, "each extent has the largest that fit");
    }

    #[test]
    fn free_extents_become_one() {
        let mut space = FileSpace::new(40);
        space.place(&[10; 4], 16);
        for start in [0, 20, 30, 10] {
            space.give(start, 10);
        }
        assert_eq!(space.free, BTreeMap::from([(0, 40)]), "the whole file");
    }
}
