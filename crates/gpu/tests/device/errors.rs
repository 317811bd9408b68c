//! Errors come back from the call that made them, and none is lost.

use std::thread;
use std::time::Duration;

use kvrm_gpu::pipeline::{Access, Shader, bind, storage_layout};
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

/// Work that keeps any device busy for a while: some 10^9 steps of a generator.
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
    let device = Device::open(None).expect("there is one");
    let layout = storage_layout(&device, "long", &[Access::ReadWrite]).expect("one is few");
    let locate = |line| ("long".to_owned(), line);
    let pipeline = Shader::compile(&device, LONG, &locate)
        .and_then(|shader| shader.pipeline("generate", &[&layout], &[]))
        .expect("it is right");
    let results = Buffer::zeroed(&device, "results", 4 * u64::from(WORKGROUPS)).expect("it is small");
    let group = bind(&device, "long", &layout, &[&results]).expect("it fits");
    let submission = device.submit("something long", |encoder| {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(WORKGROUPS, 1, 1);
    });
    let submission = submission.expect("it is submitted");
    let error = device.wait_within(&submission, Duration::ZERO).expect_err("it takes longer");
    let is_late =
        |error: &Error| matches!(error, Error::DeviceLost { reason, .. } if reason.contains("within"));
    assert!(is_late(&error), "{error}");
    // No call waits for it again, and dropping it does not either.
    let error = device.wait(&submission).expect_err("it stays lost");
    assert!(is_late(&error), "{error}");
    let error = device.download(&[(&results, 0..4)]).expect_err("it stays lost");
    assert!(is_late(&error), "{error}");
}
