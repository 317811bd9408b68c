//! Frames: lanes that run out of frames and continue with more, and a pool that grows on demand.

use std::ops::ControlFlow;

use kvrm_arm64::asm::{Assembler, X0, X1, X2, X3, at};
use kvrm_gpu::{Device, GpuExecutor};
use kvrm_machine::{Builder, Executor, Machine, Plan, Reference, Stop};
use kvrm_testkit::guests::guest;

use crate::support::{
    CODE, DATA, EnginePair, Gpu, PAGE, assert_same_machines, lanes, machine_lanes, raw, text_and_data,
};

/// Assembles a program that writes x2 pages from x1 on, and halts.
fn writer(a: &mut Assembler) {
    let (again, end) = (a.label(), a.label());
    a.bind(again);
    a.cbz(X2, end).str(X2, at(X1, 0)).add(X1, X1, 0x1000).sub(X2, X2, 1).b(again);
    a.bind(end);
    a.hlt(0);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_guest_ends_the_same_if_frames_are_allowed_one_by_one() {
    let (name, size) = ("sieve", "1000");
    let builder = || -> Builder<'static> {
        Machine::builder(guest(name)).lanes(2).arguments(|_| vec![size.to_owned()]).frames_max(0)
    };
    let mut gpu = builder().engine(Gpu).build().expect("the guest fits");
    let mut reference = builder().build().expect("the guest fits");
    for frames in 1.. {
        gpu.run(u64::MAX).expect("the GPU works");
        reference.run(u64::MAX).expect("the reference works");
        let lanes = assert_same_machines(&mut gpu, &mut reference, name);
        if lanes[0].0.stop != Some(Stop::OutOfFrames) {
            assert!(frames > 2, "{name} writes some pages");
            break;
        }
        gpu.set_frames_max(frames).expect("the GPU works");
        reference.set_frames_max(frames).expect("the reference works");
    }
    let mut whole = builder().frames_max(100).build().expect("the guest fits");
    whole.run(u64::MAX).expect("the reference works");
    assert!(
        machine_lanes(&mut gpu) == machine_lanes(&mut whole),
        "the end is that of a run with enough frames"
    );
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_stop_at_the_store_that_has_no_frame_and_go_on() {
    let mut pair = EnginePair::new(&[text_and_data(16, writer)], 80, 0);
    for lane in 0..80 {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA);
            cpu.set_x(2, lane as u64 % 12);
        });
    }
    for frames in [0, 1, 2, 5, 4, 0, 11, 12] {
        pair.call_both("frames", |executor| executor.set_frames_max(frames));
        pair.run(u64::MAX);
        let lanes = pair.assert_same(&format!("with {frames} frames"));
        let most = lanes.iter().map(|lane| lane.private_pages.len()).max();
        assert!(most >= Some(frames.min(11)), "a lane uses all {frames} frames");
    }
    pair.run(u64::MAX);
    let lanes = pair.assert_same("at the end");
    assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all have ended");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_store_across_two_pages_takes_both_frames_or_none() {
    for (offset, frames) in [(8, 0), (8, 1), (1, 1), (15, 1), (8, 2), (16, 1)] {
        let image = text_and_data(2, |a| {
            a.stp(X1, X1, at(X1, 0)).str(X1, at(X3, 0)).hlt(0);
        });
        let mut pair = EnginePair::new(&[image], 1, frames);
        pair.change_registers(0, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA + PAGE - offset);
            cpu.set_x(3, DATA + PAGE - 3);
        });
        pair.run(10);
        pair.assert_same(&format!("{offset} bytes before the end of a page with {frames} frames"));
        pair.call_both("frames", |executor| executor.set_frames_max(2));
        pair.run(10);
        let lanes = pair.assert_same("with two frames");
        assert_eq!(lanes[0].stop, Some(Stop::Halt { imm: 0 }), "two are enough");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn the_pool_grows_on_demand() {
    // 200 lanes write 40 pages each, ten times as many as the pool has at first.
    let lanes = 200;
    let mut pair = EnginePair::new(&[text_and_data(64, writer)], lanes, 64);
    for lane in 0..lanes {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA + PAGE * (lane as u64 % 20));
            cpu.set_x(2, 40);
        });
    }
    pair.run(100);
    pair.assert_same("in between");
    pair.run(u64::MAX);
    let seen = pair.assert_same("at the end");
    assert!(seen.iter().all(|lane| lane.private_pages.len() == 40), "each has written 40 pages");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn owned_pages_stay_writable_when_fewer_frames_are_allowed() {
    let image = raw(|a| {
        a.str(X0, at(X1, 0)).str(X0, at(X2, 0)).str(X0, at(X1, 8)).str(X0, at(X3, 0)).hlt(0);
    });
    let mut pair = EnginePair::new(&[image], 1, 16);
    pair.change_registers(0, |cpu| {
        cpu.pc = CODE;
        (1..4).for_each(|n| cpu.set_x(n, CODE + PAGE * u64::from(n)));
    });
    pair.run(2);
    pair.call_both("frames", |executor| executor.set_frames_max(0));
    pair.run(10);
    let lanes = pair.assert_same("without more frames");
    assert_eq!((lanes[0].stop, lanes[0].cpu.pc), (Some(Stop::OutOfFrames), CODE + 12), "the fourth store");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn each_frame_is_allocated_once_although_memory_is_refused_after_a_dispatch() {
    let device = Device::open(None).expect("the host has an adapter");
    let images = [raw(writer)];
    let plan = Plan { images: &images, lanes: 2, frames_max: 16, calls: None, loops: None };
    let mut failures = 0;
    for made in 0..8 {
        let mut gpu = GpuExecutor::new(&device, &plan).expect("the lanes fit");
        let mut reference = Reference::new(&plan).expect("the lanes fit");
        let mut write = |gpu: &mut GpuExecutor, lane: usize| {
            for executor in [gpu as &mut dyn Executor, &mut reference] {
                let written = executor.write_memory(lane, CODE + 2 * PAGE, &[1 + lane as u8; 8], None);
                written.expect("the engine works").expect("the memory is mapped");
            }
        };
        write(&mut gpu, 0);
        // If a late buffer is refused, the device does the write, but the host cannot read the result.
        device.refuse_buffers(made, 1);
        failures += usize::from(gpu.private_pages(0).is_err());
        device.refuse_buffers(0, 0);
        write(&mut gpu, 1);
        assert_eq!(lanes(&mut gpu), lanes(&mut reference), "after buffer {made} was refused");
    }
    assert!(failures > 2, "{failures} buffers are refused");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_failed_reset_keeps_pending_writes() {
    let device = Device::open(None).expect("the host has an adapter");
    let images = [raw(writer)];
    let plan = Plan { images: &images, lanes: 2, frames_max: 16, calls: None, loops: None };
    let mut gpu = GpuExecutor::new(&device, &plan).expect("the lanes fit");
    let mut reference = Reference::new(&plan).expect("the lanes fit");
    for executor in [&mut gpu as &mut dyn Executor, &mut reference] {
        executor.snapshot().expect("the engine works");
        let written = executor.write_memory(1, CODE + 2 * PAGE, &[7; 8], None);
        written.expect("the engine works").expect("the memory is mapped");
    }
    device.refuse_buffers(0, 1);
    gpu.reset(&[0, 1]).expect_err("memory is full");
    device.refuse_buffers(0, 0);
    assert_eq!(lanes(&mut gpu), lanes(&mut reference), "after a reset that failed");
    gpu.reset(&[0, 1]).expect("no buffer is refused");
    reference.reset(&[0, 1]).expect("the reference works");
    assert_eq!(lanes(&mut gpu), lanes(&mut reference), "after a reset");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_failed_set_cpu_changes_no_register() {
    // The SIMD registers of this many lanes need a larger staging buffer than other registers. If device and host share
    // memory, there is no staging buffer, and nothing is refused.
    const LANES: usize = 8192;
    let device = Device::open(None).expect("the host has an adapter");
    let images = [raw(writer)];
    let plan = Plan { images: &images, lanes: LANES, frames_max: 16, calls: None, loops: None };
    for made in 0..3 {
        let mut gpu = GpuExecutor::new(&device, &plan).expect("the lanes fit");
        let before = gpu.cpu(0).expect("the engine works");
        let mut cpu = before.clone();
        cpu.set_x(0, 1 + made);
        cpu.v[3] = 7;
        // After a run, the host has to read all registers again.
        gpu.run(&[0; LANES], &mut |_| ControlFlow::Continue(())).expect("the engine works");
        device.refuse_buffers(made as u32, 1);
        let set = gpu.set_cpu(0, &cpu);
        device.refuse_buffers(0, 0);
        let now = gpu.cpu(0).expect("the engine works");
        let expected = if set.is_ok() { &cpu } else { &before };
        assert_eq!(
            (now.x(0), now.v[3]),
            (expected.x(0), expected.v[3]),
            "the buffer after {made} is refused"
        );
    }
}
