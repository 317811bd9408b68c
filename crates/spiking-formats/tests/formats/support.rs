//! Paths of test files, and descriptions as text.

use std::path::PathBuf;

use kvrm_spiking::Network;
use kvrm_spiking_formats::open;

pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files")).join(name)
}

/// Returns the network of a description, in which `FILES` stands for the folder of the test files, or the error
/// message.
pub(crate) fn described(text: &str) -> Result<Network, String> {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("net.toml");
    let text = text.replace("FILES", &file("").display().to_string());
    std::fs::write(&path, text).expect("the file can be written");
    let place = format!("{}/", folder.path().display());
    open(&path, None).map_err(|error| error.to_string().replace(&place, ""))
}

/// Asserts that a description is rejected with a message that contains `expected`.
pub(crate) fn assert_rejected(text: &str, expected: &str) {
    let error = described(text).expect_err("the description is invalid");
    assert!(error.contains(expected), "expected {expected:?} in {error:?}");
}
