//! Values with names.

use pyo3::PyResult;

use crate::error::refused;

/// Returns the value whose name was given.
pub(crate) fn named<T: Copy>(
    what: &str,
    name: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> PyResult<T> {
    all.iter().copied().find(|value| name_of(*value) == name).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|value| name_of(*value)).collect();
        refused(format!("{what} {name:?}: expected one of {}", names.join(", ")))
    })
}
