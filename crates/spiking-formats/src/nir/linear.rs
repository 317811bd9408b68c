//! [`Map`]: linear maps between layers, as lists of nonzero weights.

use std::collections::BTreeMap;

/// The largest number of weights of a map, which has to fit in memory.
const ENTRIES_MAX: usize = 1 << 28;

/// A nonzero weight of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) input: u32,
    pub(crate) output: u32,
    pub(crate) weight: f64,
    /// The delay, in seconds, which is NIR's unit.
    pub(crate) delay: f64,
}

/// A linear map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Map {
    /// The shape of the outputs, in row-major order.
    pub(crate) shape: Vec<usize>,
    pub(crate) entries: Vec<Entry>,
}

/// A sliding window over a picture, or over a line if the height is 1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) kernel: [usize; 2],
    pub(crate) stride: [usize; 2],
    /// The zeros before the first and behind the last row and column.
    pub(crate) padding: [[usize; 2]; 2],
    pub(crate) dilation: [usize; 2],
}

impl Map {
    pub(crate) fn identity(shape: &[usize]) -> Self {
        Self::diagonal(shape, |_| 1.0)
    }

    /// Returns the map that multiplies each input by a factor.
    pub(crate) fn diagonal(shape: &[usize], weight: impl Fn(usize) -> f64) -> Self {
        let entry = |index: usize| Entry {
            input: index as u32,
            output: index as u32,
            weight: weight(index),
            delay: 0.0,
        };
        Self { shape: shape.to_vec(), entries: (0..size(shape)).map(entry).collect() }
    }

    /// Returns the map that delays each input.
    pub(crate) fn delaying(shape: &[usize], delay: impl Fn(usize) -> f64) -> Self {
        let mut map = Self::identity(shape);
        for entry in &mut map.entries {
            entry.delay = delay(entry.input as usize);
        }
        map
    }

    /// Returns the map from a single input, which is always 1, to constant outputs.
    pub(crate) fn constant(shape: &[usize], value: impl Fn(usize) -> f64) -> Self {
        let mut map = Self::diagonal(shape, value);
        for entry in &mut map.entries {
            entry.input = 0;
        }
        map.without_zeros()
    }

    /// Returns the map of a matrix with one row per output.
    pub(crate) fn dense(rows: usize, columns: usize, weights: &[f64]) -> Self {
        let entry = |(index, &weight): (usize, &f64)| Entry {
            input: (index % columns) as u32,
            output: (index / columns) as u32,
            weight,
            delay: 0.0,
        };
        Self { shape: vec![rows], entries: weights.iter().enumerate().map(entry).collect() }.without_zeros()
    }

    /// Returns the map of a sliding window over the channels of a picture. `weight` returns the weight for an output
    /// channel, an input channel and a place in the kernel, or `None` if the channels are not connected. Returns `None`
    /// if the window is larger than the picture, or if there are too many weights.
    pub(crate) fn windowed(
        [channels, height, width]: [usize; 3],
        outputs: usize,
        window: &Window,
        weight: impl Fn(usize, usize, [usize; 2]) -> Option<f64>,
    ) -> Option<Self> {
        let extent = |axis: usize, length: usize| {
            let [before, after] = window.padding[axis];
            let reach = window.dilation[axis].checked_mul(window.kernel[axis].checked_sub(1)?)?;
            let room = length.checked_add(before)?.checked_add(after)?.checked_sub(reach)?.checked_sub(1)?;
            Some(room.checked_div(window.stride[axis])? + 1)
        };
        let (rows, columns) = (extent(0, height)?, extent(1, width)?);
        // The coordinate in the picture of a place in the kernel.
        let at = |axis: usize, position: usize, place: usize, length: usize| {
            let padded = position * window.stride[axis] + place * window.dilation[axis];
            padded.checked_sub(window.padding[axis][0]).filter(|at| *at < length)
        };
        let mut entries = Vec::new();
        for output in 0..outputs {
            for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
                for (channel, y, x) in places(channels, window.kernel) {
                    let (Some(weight), Some(from_y), Some(from_x)) =
                        (weight(output, channel, [y, x]), at(0, row, y, height), at(1, column, x, width))
                    else {
                        continue;
                    };
                    if entries.len() == ENTRIES_MAX {
                        return None;
                    }
                    entries.push(Entry {
                        input: ((channel * height + from_y) * width + from_x) as u32,
                        output: ((output * rows + row) * columns + column) as u32,
                        weight,
                        delay: 0.0,
                    });
                }
            }
        }
        Some(Self { shape: vec![outputs, rows, columns], entries }.without_zeros())
    }

    /// Returns the composition of this map and `next`. Weights with the same input, output and delay are added. Returns
    /// `None` if there are too many weights.
    pub(crate) fn then(&self, next: &Self) -> Option<Self> {
        let mut rows = vec![Vec::new(); size(&self.shape)];
        for entry in &next.entries {
            rows.get_mut(entry.input as usize)?.push(entry);
        }
        // Delays are not negative, so the order of their bits is the order of their values.
        let mut sums = BTreeMap::<(u32, u32, u64), f64>::new();
        for first in &self.entries {
            for second in &rows[first.output as usize] {
                let delay = first.delay + second.delay;
                *sums.entry((first.input, second.output, delay.to_bits())).or_default() +=
                    first.weight * second.weight;
            }
            if sums.len() > ENTRIES_MAX {
                return None;
            }
        }
        let entry =
            |((input, output, delay), weight)| Entry { input, output, weight, delay: f64::from_bits(delay) };
        Some(
            Self { shape: next.shape.clone(), entries: sums.into_iter().map(entry).collect() }
                .without_zeros(),
        )
    }

    fn without_zeros(mut self) -> Self {
        self.entries.retain(|entry| entry.weight != 0.0);
        self
    }
}

/// Returns all channels and all places of a kernel.
fn places(channels: usize, [height, width]: [usize; 2]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..channels)
        .flat_map(move |channel| (0..height).flat_map(move |y| (0..width).map(move |x| (channel, y, x))))
}

/// Returns the number of values of a shape.
pub(crate) fn size(shape: &[usize]) -> usize {
    shape.iter().product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(map: &Map) -> Vec<(u32, u32, f64)> {
        map.entries.iter().map(|entry| (entry.input, entry.output, entry.weight)).collect()
    }

    #[test]
    fn composed_maps_multiply_weights_and_add_delays() {
        let first = Map::dense(2, 3, &[1.0, 0.0, 2.0, 0.0, 3.0, 0.0]);
        assert_eq!(weights(&first), [(0, 0, 1.0), (2, 0, 2.0), (1, 1, 3.0)], "zeros are left out");
        let second = Map::dense(1, 2, &[10.0, -1.0]);
        let both = first.then(&second).expect("the map is small");
        assert_eq!(weights(&both), [(0, 0, 10.0), (1, 0, -3.0), (2, 0, 20.0)], "the product of the matrices");
        assert_eq!(both.shape, [1], "the shape of the last map");
        let late = Map::delaying(&[3], |index| index as f64).then(&first).expect("the map is small");
        assert_eq!(
            late.entries.iter().map(|entry| entry.delay).collect::<Vec<_>>(),
            [0.0, 1.0, 2.0],
            "delays are kept"
        );
    }

    #[test]
    fn windows_connect_inputs_below_their_kernel() {
        let plain = Window { kernel: [1, 2], stride: [1, 1], padding: [[0, 0]; 2], dilation: [1, 1] };
        let map = Map::windowed([1, 1, 3], 1, &plain, |_, _, [_, x]| Some((x + 1) as f64))
            .expect("the window fits");
        assert_eq!(map.shape, [1, 1, 2], "one output less than inputs");
        assert_eq!(weights(&map), [(0, 0, 1.0), (1, 0, 2.0), (1, 1, 1.0), (2, 1, 2.0)], "cross-correlation");
        let padded = Window { padding: [[0, 0], [1, 1]], stride: [1, 2], ..plain.clone() };
        let map = Map::windowed([1, 1, 3], 1, &padded, |_, _, _| Some(1.0)).expect("the window fits");
        assert_eq!(weights(&map), [(0, 0, 1.0), (1, 1, 1.0), (2, 1, 1.0)], "zeros around the input");
        let large = Window { kernel: [1, 4], ..plain };
        assert_eq!(Map::windowed([1, 1, 3], 1, &large, |_, _, _| Some(1.0)), None, "larger than the picture");
    }
}
