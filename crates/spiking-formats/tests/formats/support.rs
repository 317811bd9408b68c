//! Files of the tests.

use std::path::PathBuf;

use kvrm_spiking::Network;
use kvrm_spiking_formats::open;

pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files")).join(name)
}

/// The network of a description that lies beside the files.
pub(crate) fn described(text: &str) -> Result<Network, String> {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("net.toml");
    let text = text.replace("FILES", &file("").display().to_string());
    std::fs::write(&path, text).expect("it can be written");
    let place = format!("{}/", folder.path().display());
    open(&path, None).map_err(|error| error.to_string().replace(&place, ""))
}

/// The same, refused with a message that has this in it.
pub(crate) fn refused(text: &str, expected: &str) {
    let error = described(text).expect_err("it is wrong");
    assert!(error.contains(expected), "expected {expected:?} in {error:?}");
}
