//! Errors come back from the call that made them, and none is lost.

use std::thread;

use kvrm_gpu::{Buffer, Device, Error};

use crate::support::device;

/// A call that wgpu refuses: a buffer with no use at all.
fn wrong(device: &Device) -> wgpu::Buffer {
    device.raw().create_buffer(&wgpu::BufferDescriptor {
        label: Some("wrong"),
        size: 4,
        usage: wgpu::BufferUsages::empty(),
        mapped_at_creation: false,
    })
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_refused_call_is_an_error_that_says_what_was_done() {
    let error = device().catch("making a useless buffer", || wrong(device())).expect_err("it has no use");
    assert!(error.to_string().starts_with("wgpu refuses making a useless buffer"), "{error}");
    device().catch("nothing", || ()).expect("the error is gone");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn an_error_that_no_call_was_waiting_for_is_kept_for_the_next_one() {
    let device = Device::open(None).expect("there is one");
    // Scopes belong to threads, so that of the other one does not see it.
    device
        .catch("something else", || thread::scope(|scope| scope.spawn(|| drop(wrong(&device))).join()))
        .expect_err("the thread made a mistake")
        .to_string();
    device.check("nothing").expect("it is reported once");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_lost_device_is_an_error_and_stays_one() {
    let device = Device::open(None).expect("there is one");
    let buffer = Buffer::with_contents(&device, "buffer", &[1u32]).expect("it is small");
    let submission = device.submit("nothing", |_| {}).expect("it works");
    device.raw().destroy();
    let lost = |result: Result<(), Error>, what| {
        let error = result.expect_err(what);
        assert!(matches!(error, Error::DeviceLost { .. }), "{what}: {error}");
    };
    lost(device.wait(&submission), "waiting");
    lost(device.download(&[(&buffer, 0..4)]).map(drop), "reading");
    lost(buffer.upload(0, &[2u32]), "writing");
    lost(Buffer::zeroed(&device, "another", 4).map(drop), "making a buffer");
    lost(device.check("nothing"), "asking");
}
