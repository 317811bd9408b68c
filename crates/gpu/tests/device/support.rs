//! The device that all tests share.

use std::sync::LazyLock;

use kvrm_gpu::Device;

/// The shared device, as opening one takes longer than most tests.
static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    Device::open(None).unwrap_or_else(|error| panic!("{error}; KVRM_GPU=skip leaves these tests out"))
});

pub(crate) fn device() -> &'static Device {
    &DEVICE
}
