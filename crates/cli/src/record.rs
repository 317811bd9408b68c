//! Records of benchmarks.

use kvrm::gpu::AdapterInfo;
use kvrm_records::Adapter;

/// How a user calls this program.
pub(crate) const PROGRAM: &str = "kvrm";

/// An adapter as records have it.
pub(crate) fn adapter(info: &AdapterInfo) -> Adapter {
    Adapter::new(&info.name, info.kind, info.backend, &info.driver)
}
