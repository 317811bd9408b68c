//! The proof of the arithmetic: logits are the same bits on every device.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use crate::error::WeightsError;
use crate::tuple::{TUPLES, Tuple};
use crate::tuple_network::{EXACT_UNITS, TupleNetwork};

/// The number of units of 2^-12 in one.
const UNITS: f32 = 4_096.0;

/// The size of the sums that a network forms, in units of 2^-12, the grid of products of weights and activations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exactness {
    /// Whether all weights are multiples of 2^-6.
    pub on_grid: bool,
    /// The greatest magnitude of a weight.
    pub largest_weight: f32,
    /// The greatest sum of the magnitudes of a value's terms, for each layer, over all tuples. No partial sum is
    /// greater, whatever the order of additions.
    pub largest_sums: [i64; 3],
    /// Upper bounds of `largest_sums` by interval arithmetic on the weights, without evaluating any tuple.
    pub bounds: [i64; 3],
    /// The base-2 logarithm of the greatest of `largest_sums`; `f32` is exact up to 24.
    pub bits: f32,
    /// The number of tuples for which the logits in integers, in `f32`, and in `f32` with the embedding folded are not
    /// the same bits.
    pub differences: u64,
}

/// Proves the arithmetic. Returns the result and the logits, indexed by tuple.
pub(super) fn prove<const H: usize, const C: usize>(
    network: &TupleNetwork<H, C>,
    failures: &mut Vec<Failure>,
) -> (Exactness, Vec<[f32; C]>) {
    let largest_weight = network.flat().iter().fold(0.0f32, |largest, weight| largest.max(weight.abs()));
    let mut exactness = Exactness {
        on_grid: false,
        largest_weight,
        largest_sums: [0; 3],
        bounds: [0; 3],
        bits: 0.0,
        differences: TUPLES as u64,
    };
    let integers = match network.to_integers() {
        Ok(integers) => integers,
        Err(error) => {
            if let WeightsError::OffGrid { index, value } = error {
                failures.push(Failure::Grid { index, value });
            }
            return (exactness, Tuple::all().map(|tuple| network.logits(tuple)).collect());
        }
    };
    let folded = network.fold();
    let of_byte = |byte: u8| {
        let mut part =
            Part { logits: Vec::with_capacity(TUPLES / 256), sums: [0; 3], differences: Vec::new() };
        folded.for_each(byte, |tuple, folded| {
            let (exact, sums) = integers.evaluate(tuple);
            // An integer below 2^24 converts without rounding, and the division by a power of two is exact.
            let exact = exact.map(|units| (units as f32 / UNITS).to_bits());
            let logits = network.logits(tuple);
            if logits.map(f32::to_bits) != exact || folded.map(f32::to_bits) != exact {
                part.differences.push(tuple);
            }
            for (largest, sum) in part.sums.iter_mut().zip(sums) {
                *largest = (*largest).max(sum);
            }
            part.logits.push(logits);
        });
        part
    };
    let parts: Vec<Part<C>> = (0..=u8::MAX).into_par_iter().map(of_byte).collect();

    exactness.on_grid = true;
    exactness.bounds = integers.bounds();
    for part in &parts {
        for (largest, sum) in exactness.largest_sums.iter_mut().zip(part.sums) {
            *largest = (*largest).max(sum);
        }
    }
    let largest_sum = exactness.largest_sums.into_iter().fold(1, i64::max);
    exactness.bits = (largest_sum as f32).log2();
    if largest_sum >= EXACT_UNITS {
        failures.push(Failure::Bits { largest_sum });
    }
    exactness.differences = parts.iter().map(|part| part.differences.len() as u64).sum();
    if let Some(tuple) = parts.iter().flat_map(|part| &part.differences).next() {
        failures.push(Failure::Logits { word: tuple.first_word() });
    }
    (exactness, parts.into_iter().flat_map(|part| part.logits).collect())
}

/// The results for the tuples of one top byte.
struct Part<const C: usize> {
    logits: Vec<[f32; C]>,
    sums: [i64; 3],
    differences: Vec<Tuple>,
}
