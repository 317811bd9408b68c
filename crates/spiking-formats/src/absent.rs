//! Kinds of files that a build cannot read.

use kvrm_spiking::FileError;

/// The error of a file that needs a Cargo feature.
pub(crate) fn feature(file: &str, feature: &str) -> FileError {
    let expected = format!("a program built with the Cargo feature `{feature}`");
    FileError::content(file, "its kind", expected, "one built without")
}
