//! Benchmark records: what all benchmarks of this command have in common.

use kvrm::gpu::AdapterInfo;
use kvrm::{Translation, device_names};
use kvrm_records::Adapter;

/// The name by which a user calls this program.
pub(crate) const PROGRAM: &str = "kvrm";

/// Returns an adapter in the form of records.
pub(crate) fn adapter(info: &AdapterInfo) -> Adapter {
    Adapter::new(&info.name, info.kind, info.backend, &info.driver)
}

/// Returns several adapters in the form of records: equal names are counted, and different values are listed.
pub(crate) fn adapters(infos: &[&AdapterInfo]) -> Adapter {
    let names = device_names(infos.iter().map(|info| &*info.name)).unwrap_or_default();
    let list = |value: fn(&AdapterInfo) -> String| {
        let mut values: Vec<String> = Vec::new();
        for info in infos {
            let value = value(info);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values.join("; ")
    };
    let (kind, backend) = (list(|info| info.kind.to_string()), list(|info| info.backend.to_owned()));
    Adapter::new(&names, kind, &backend, &list(|info| info.driver.clone()))
}

/// Returns the name of an engine in records. Tables compare a GPU with translation and without.
pub(crate) fn engine(name: &str, translation: Translation) -> String {
    match (name, translation) {
        ("gpu", Translation::Auto | Translation::Always) => format!("gpu-translate-{translation}"),
        _ => name.to_owned(),
    }
}
