//! Several items of a slice at once.

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

#[cfg(test)]
mod tests {
    use super::pick;

    #[test]
    fn items_are_those_of_the_indices() {
        let mut items = [10, 11, 12, 13, 14];
        pick(&mut items, &[0, 3, 4]).into_iter().for_each(|item| *item *= 2);
        assert_eq!(items, [20, 11, 12, 26, 28], "of three items");
        assert!(pick(&mut items, &[]).is_empty(), "none");
    }
}
