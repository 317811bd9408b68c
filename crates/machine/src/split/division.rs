//! The division of a list of lanes among parts, and the reassembly of their results in the order of the list.

use super::parts::Part;

/// The lanes of a list that belong to one part.
#[derive(Debug)]
pub(super) struct Selection {
    /// The numbers of the lanes in the part, in the order of the list.
    pub(super) lanes: Vec<usize>,
    /// The place of each lane in the list.
    pub(super) places: Vec<usize>,
}

impl Selection {
    /// Returns the place in the list of the first occurrence of a lane of the part.
    pub(super) fn place_of(&self, lane: usize) -> usize {
        let index = self.lanes.iter().position(|other| *other == lane);
        index.and_then(|index| self.places.get(index)).copied().unwrap_or(usize::MAX)
    }

    /// Returns whether the lanes follow each other in the list, the first one at `place`.
    fn begins_at(&self, place: usize) -> bool {
        self.places.first() == Some(&place)
            && self.places.last().is_some_and(|last| last + 1 - place == self.places.len())
    }
}

/// Returns the index of the part that has a lane.
///
/// # Panics
/// No part has it.
pub(super) fn index_of(parts: &[Part], lane: usize) -> usize {
    let index = parts.partition_point(|part| part.first <= lane).saturating_sub(1);
    assert!(parts[index].lanes().contains(&lane), "lane {lane} is not below the number of lanes");
    index
}

/// Divides a list of lanes among the parts. Returns the parts that have lanes of the list, with these lanes.
///
/// # Panics
/// A lane belongs to no part.
pub(super) fn divide(
    parts: &mut [Part],
    lanes: impl IntoIterator<Item = usize>,
) -> Vec<(&mut Part, Selection)> {
    let mut selections: Vec<_> =
        parts.iter().map(|_| Selection { lanes: Vec::new(), places: Vec::new() }).collect();
    let (mut index, mut range) = (0, parts[0].lanes());
    for (place, lane) in lanes.into_iter().enumerate() {
        // The next lane mostly belongs to the same part.
        if !range.contains(&lane) {
            index = index_of(parts, lane);
            range = parts[index].lanes();
        }
        selections[index].lanes.push(lane - range.start);
        selections[index].places.push(place);
    }
    let all = parts.iter_mut().zip(selections);
    all.filter(|(_, selection)| !selection.lanes.is_empty()).collect()
}

/// Replaces the contents of `out` by rows of `bytes` bytes in the order of the list. Each part has the rows of its lanes.
pub(super) fn gather(rows_of_parts: &[(Selection, Vec<u8>)], bytes: usize, out: &mut Vec<u8>) {
    out.clear();
    let rows: usize = rows_of_parts.iter().map(|(selection, _)| selection.places.len()).sum();
    out.reserve(rows * bytes);
    let mut place = 0;
    let follow_each_other = rows_of_parts.iter().all(|(selection, _)| {
        let begins = selection.begins_at(place);
        place += selection.places.len();
        begins
    });
    if follow_each_other {
        rows_of_parts.iter().for_each(|(_, rows)| out.extend_from_slice(rows));
        return;
    }
    out.resize(rows * bytes, 0);
    for (selection, rows) in rows_of_parts {
        for (place, row) in selection.places.iter().zip(rows.chunks_exact(bytes.max(1))) {
            out[place * bytes..(place + 1) * bytes].copy_from_slice(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(places: &[usize]) -> Selection {
        Selection { lanes: (0..places.len()).collect(), places: places.to_vec() }
    }

    #[test]
    fn rows_are_gathered_in_the_order_of_the_list() {
        let gathered = |rows: &[(Selection, Vec<u8>)]| {
            let mut out = vec![9; 3];
            gather(rows, 2, &mut out);
            out
        };
        let one_after_another = [(selection(&[0, 1]), b"aabb".to_vec()), (selection(&[2]), b"cc".to_vec())];
        assert_eq!(gathered(&one_after_another), b"aabbcc", "one part after the other");
        let mixed = [(selection(&[1, 3]), b"bbdd".to_vec()), (selection(&[0, 2]), b"aacc".to_vec())];
        assert_eq!(gathered(&mixed), b"aabbccdd", "parts that take turns");
        let swapped = [(selection(&[1, 2]), b"bbcc".to_vec()), (selection(&[0]), b"aa".to_vec())];
        assert_eq!(gathered(&swapped), b"aabbcc", "the later part first");
        assert!(gathered(&[]).is_empty(), "no lanes");
    }
}
