//! Entries of dictionaries of options.

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::refused;

/// Returns an entry of a dictionary. Its name is in the text of an error.
pub(super) fn field<'py, T: FromPyObjectOwned<'py>>(options: &Bound<'py, PyDict>, name: &str) -> PyResult<T> {
    let value = options.get_item(name)?.ok_or_else(|| PyTypeError::new_err(format!("{name} is missing")))?;
    value.extract().map_err(|error: T::Error| {
        let (py, error) = (options.py(), error.into());
        if error.is_instance_of::<PyOverflowError>(py) {
            // Only whole numbers of 8 to 64 bits are too large for their type.
            let most = u64::MAX >> (64_usize.saturating_sub(8 * size_of::<T>()));
            refused(format!("{name} is {value}, expected a whole number from 0 to {most}"))
        } else if error.is_instance_of::<PyTypeError>(py) {
            PyTypeError::new_err(format!("{name}: {}", error.value(py)))
        } else {
            error
        }
    })
}

/// Returns the name of a kind and its options, which Python gives as a pair.
pub(super) fn kind<'py>(object: Borrowed<'_, 'py, PyAny>) -> PyResult<(String, Bound<'py, PyDict>)> {
    object.extract()
}
