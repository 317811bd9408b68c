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

    /// Takes space for pieces of these sizes, one after the other as far as possible: from extents of at least `run` units, and then
    /// from any. Returns the first unit of each piece, or `None` if there is no space for it.
    pub(super) fn place(&mut self, sizes: &[u32], run: u32) -> Vec<Option<u32>> {
        let mut placed = Vec::with_capacity(sizes.len());
        for least in [run, 1] {
            let mut from = 0;
            while let Some((&start, &length)) = self.free.range(from..).find(|(_, length)| **length >= least)
            {
                let mut end = start;
                while let Some(size) = sizes.get(placed.len()).filter(|size| **size <= start + length - end) {
                    placed.push(Some(end));
                    end += size;
                }
                if end > start {
                    self.free.remove(&start);
                    if end < start + length {
                        self.free.insert(end, start + length - end);
                    }
                }
                if placed.len() == sizes.len() {
                    return placed;
                }
                from = end.max(start + 1);
            }
        }
        placed.resize(sizes.len(), None);
        placed
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
        assert_eq!(space.place(&[10, 15, 1], 16), [Some(85), None, None], "the rest is too small");
        space.give(0, 10);
        space.give(30, 5);
        assert_eq!(space.place(&[5, 5, 5, 5], 16), [Some(0), Some(5), Some(30), Some(95)], "small extents");
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
