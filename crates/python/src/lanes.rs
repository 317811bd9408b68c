//! Sets of lanes, as arrays of their numbers.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// Returns the numbers of lanes; all of a machine if there is no array.
pub(crate) fn numbers(lanes: Option<PyReadonlyArray1<'_, i64>>, of: usize) -> PyResult<Vec<usize>> {
    let Some(lanes) = lanes else { return Ok((0..of).collect()) };
    // The machine refuses a number that is too large.
    Ok(lanes.as_slice()?.iter().map(|lane| usize::try_from(*lane).unwrap_or(usize::MAX)).collect())
}
