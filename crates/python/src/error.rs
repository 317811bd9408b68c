//! Errors as exceptions.

use std::error::Error;

use kvrm::spiking::BurstEngineError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Returns the exception `kvrm.errors.Error` for an error, `kvrm.errors.EngineError` if an engine has failed, or
/// `kvrm.errors.RecordingOverflow` if spikes were lost. Its text is that of the error, followed by those of its causes.
pub(crate) fn exception(error: &(dyn Error + 'static)) -> PyErr {
    let of_network = match error.downcast_ref() {
        Some(BurstEngineError::Network(error)) => Some(error),
        _ => error.downcast_ref(),
    };
    let is_of_engine = matches!(error.downcast_ref(), Some(kvrm::Error::Engine(_)))
        || error.is::<kvrm::gpu::Error>()
        || matches!(error.downcast_ref(), Some(BurstEngineError::Gpu(_)))
        || matches!(of_network, Some(kvrm::spiking::Error::Engine(_)));
    let name = match of_network {
        Some(kvrm::spiking::Error::RecordingOverflow { .. }) => "RecordingOverflow",
        _ if is_of_engine => "EngineError",
        _ => "Error",
    };
    raise(name, text(error))
}

/// Returns the exception `kvrm.errors.Error` with a text.
pub(crate) fn refused(text: String) -> PyErr {
    raise("Error", text)
}

fn raise(name: &str, text: String) -> PyErr {
    Python::attach(|py| {
        let class = py.import("kvrm.errors").and_then(|module| module.getattr(name));
        match class.and_then(|class| class.call1((&text,))) {
            Ok(exception) => PyErr::from_value(exception),
            Err(_) => PyRuntimeError::new_err(text),
        }
    })
}

/// Returns the text of an error and of its causes, as the command line prints it.
fn text(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Some errors repeat their cause.
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}

/// Turns the error of a result into an exception.
pub(crate) trait OrRaise<T> {
    /// Returns the value, or the exception for the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Error + 'static> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| exception(&error))
    }
}
