//! Benchmark records: what all benchmarks of this command have in common.

use kvrm::Translation;
use kvrm::gpu::AdapterInfo;
use kvrm_records::Adapter;

/// The name by which a user calls this program.
pub(crate) const PROGRAM: &str = "kvrm";

/// Returns an adapter in the form of records.
pub(crate) fn adapter(info: &AdapterInfo) -> Adapter {
    Adapter::new(&info.name, info.kind, info.backend, &info.driver)
}

/// Returns the name of an engine in records. Tables compare a GPU with translation and without.
pub(crate) fn engine(name: &str, translation: Translation) -> String {
    match (name, translation) {
        ("gpu", Translation::Auto | Translation::Always) => format!("gpu-translate-{translation}"),
        _ => name.to_owned(),
    }
}
