//! The error of files that need a Cargo feature which is off in this build.

use kvrm_spiking::FileError;

/// Returns the error of a file that needs a Cargo feature.
pub(crate) fn missing_feature(file: &str, feature: &str) -> FileError {
    let expected = format!("a program built with the Cargo feature `{feature}`");
    FileError::content(file, "file format", expected, "a program built without it")
}
