//! Dot products in a form that compilers turn into vector instructions.

/// The number of partial sums of a dot product.
const LANES: usize = 8;

/// Returns the dot product of two slices of the same length.
#[inline]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    dots([a], b)[0]
}

/// Returns the dot products of `R` slices with the same slice, which is loaded once for all of them.
#[inline]
pub(super) fn dots<const R: usize>(rows: [&[f32]; R], with: &[f32]) -> [f32; R] {
    let rows = rows.map(|row| &row[..with.len()]);
    let mut sums = [[0.0; LANES]; R];
    let whole = with.len() / LANES * LANES;
    let mut at = 0;
    while at < whole {
        let values = &with[at..at + LANES];
        for (sums, row) in sums.iter_mut().zip(&rows) {
            let weights = &row[at..at + LANES];
            for lane in 0..LANES {
                sums[lane] += weights[lane] * values[lane];
            }
        }
        at += LANES;
    }
    std::array::from_fn(|index| {
        let rest = rows[index][whole..].iter().zip(&with[whole..]);
        let rest: f32 = rest.map(|(weight, value)| weight * value).sum();
        sums[index].iter().sum::<f32>() + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_counts_once() {
        for len in [0, 1, 7, 8, 9, 131] {
            let a: Vec<f32> = (0..len).map(|index| index as f32).collect();
            let b: Vec<f32> = (0..len).map(|index| (index % 5) as f32).collect();
            let right: usize = (0..len).map(|index| index * (index % 5)).sum();
            assert_eq!(dot(&a, &b), right as f32, "of {len} elements");
            assert_eq!(dots([&a, &b], &vec![1.0; len])[1], b.iter().sum::<f32>(), "of the second row");
        }
    }
}
