//! Several items of a slice at once.

use rayon::prelude::*;

/// The smallest number of items for which another thread is woken.
const ITEMS_MIN: usize = 16;

/// The items of these indices, which ascend.
///
/// # Panics
/// If they do not ascend, or there is no such item.
pub fn pick<'a, T>(items: &'a mut [T], indices: &[usize]) -> Vec<&'a mut T> {
    let (mut left, mut begin) = (items, 0);
    let mut picked = Vec::with_capacity(indices.len());
    for &index in indices {
        let (item, rest) = left[index - begin..].split_first_mut().expect("there is such an item");
        picked.push(item);
        (left, begin) = (rest, index + 1);
    }
    picked
}

/// Calls `call` with the item of each index and the place of the index in the list; for several items at the same time if the
/// indices ascend.
///
/// # Panics
/// There is no such item.
pub fn for_each_picked<T: Send>(items: &mut [T], indices: &[usize], call: impl Fn(usize, &mut T) + Sync) {
    if indices.is_sorted_by(|a, b| a < b) {
        let picked = pick(items, indices).into_par_iter().enumerate().with_min_len(ITEMS_MIN);
        picked.for_each(|(place, item)| call(place, item));
    } else {
        indices.iter().enumerate().for_each(|(place, index)| call(place, &mut items[*index]));
    }
}

#[cfg(test)]
mod tests {
    use super::{for_each_picked, pick};

    #[test]
    fn items_are_those_of_the_indices() {
        let mut items = [10, 11, 12, 13, 14];
        pick(&mut items, &[0, 3, 4]).into_iter().for_each(|item| *item *= 2);
        assert_eq!(items, [20, 11, 12, 26, 28], "of three items");
        assert!(pick(&mut items, &[]).is_empty(), "none");
    }

    #[test]
    fn each_item_is_called_as_often_as_its_index_appears() {
        let mut items = vec![0; 100];
        let ascending: Vec<usize> = (0..100).step_by(2).collect();
        for_each_picked(&mut items, &ascending, |place, item| *item += 1 + place);
        assert_eq!(items[..7], [1, 0, 2, 0, 3, 0, 4], "the place is that in the list");
        for_each_picked(&mut items, &[5, 2, 5], |place, item| *item += 10 * (place + 1));
        assert_eq!(items[..7], [1, 0, 22, 0, 3, 40, 4], "in any order");
    }
}
