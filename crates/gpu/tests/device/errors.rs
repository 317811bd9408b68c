//! Tests that a call returns its own errors, and that no error gets lost.

use std::thread;
use std::time::Duration;

use kvrm_gpu::pipeline::{Access, Shader, bind, storage_layout};
use kvrm_gpu::{Buffer, Device, Error};

use crate::support::device;

/// Makes a call that wgpu refuses: a buffer without any usage.
fn refused_buffer(device: &Device) -> wgpu::Buffer {
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
    let error = device()
        .catch("making a useless buffer", || refused_buffer(device()))
        .expect_err("the buffer has no usage");
    assert!(error.to_string().starts_with("wgpu refuses making a useless buffer"), "{error}");
    device().catch("nothing", || ()).expect("the error was returned before");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn an_error_outside_of_any_call_is_returned_by_the_next_call() {
    let device = Device::open(None).expect("the host has an adapter");
    // Error scopes belong to threads, so the scope of this thread does not catch the error of the other one.
    device
        .catch("something else", || {
            thread::scope(|scope| scope.spawn(|| drop(refused_buffer(&device))).join())
        })
        .expect_err("the thread has caused an error")
        .to_string();
    device.check("nothing").expect("the error is returned once");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_lost_device_is_an_error_and_stays_one() {
    let device = Device::open(None).expect("the host has an adapter");
    let buffer = Buffer::with_contents(&device, "buffer", &[1u32]).expect("the buffer is small");
    let submission = device.submit("nothing", |_| {}).expect("the device works");
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

/// A shader that keeps any device busy for a while, with about 10^9 steps of a random number generator.
const LONG: &str = "\
@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@compute @workgroup_size(1)
fn generate(@builtin(workgroup_id) id: vec3<u32>) {
    var state = results[id.x];
    for (var i = 0u; i < 60000u; i += 1u) {
        state = state * 1664525u + 1013904223u;
    }
    results[id.x] = state;
}
";

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_device_that_does_not_finish_in_time_counts_as_lost() {
    const WORKGROUPS: u32 = 16_384;
    let device = Device::open(None).expect("the host has an adapter");
    let layout = storage_layout(&device, "long", &[Access::ReadWrite]).expect("the layout is valid");
    let locate = |line| ("long".to_owned(), line);
    let pipeline = Shader::compile(&device, LONG, &locate)
        .and_then(|shader| shader.pipeline("generate", &[&layout], &[]))
        .expect("the shader is valid");
    let results = Buffer::zeroed(&device, "results", 4 * u64::from(WORKGROUPS)).expect("the buffer is small");
    let group = bind(&device, "long", &layout, &[&results]).expect("the buffers fit");
    let submission = device.submit("something long", |encoder| {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(WORKGROUPS, 1, 1);
    });
    let submission = submission.expect("the device works");
    let error = device.wait_within(&submission, Duration::ZERO).expect_err("the work takes longer");
    let is_late =
        |error: &Error| matches!(error, Error::DeviceLost { reason, .. } if reason.contains("within"));
    assert!(is_late(&error), "{error}");
    // Later calls and dropping the device do not wait for the work.
    let error = device.wait(&submission).expect_err("the device stays lost");
    assert!(is_late(&error), "{error}");
    let error = device.download(&[(&results, 0..4)]).expect_err("the device stays lost");
    assert!(is_late(&error), "{error}");
}
