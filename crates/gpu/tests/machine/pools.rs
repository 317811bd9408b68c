//! Frames in several buffers (pools): if bindings are small, the frames of lanes are spread over up to eight.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::asm::{Assembler, X1, X2, X3, at};
use kvrm_gpu::{Bounds, ClassSelection, GpuExecutor};
use kvrm_machine::{Access, Hooks, Image, Permissions, Plan, Stop};

use crate::support::{
    CODE, DATA, EnginePair, Lane, PAGE, assemble, device, image, lanes, read, segment, text_and_data,
};

/// Up to eight pools of 32 frames, 256 frames in all. The pools are few, as software drivers take a while to compile
/// the kernels for each number of pools.
const POOLS: Bounds = Bounds { pool_shift: Some(14), pools: Some(8), workgroup: Some(16), ..Bounds::NONE };

/// Assembles a program that writes x2 pages from x1 on, reads them all again, and halts.
fn writer(a: &mut Assembler) {
    let (again, back, end) = (a.label(), a.label(), a.label());
    a.add(X3, X2, 0);
    a.bind(again);
    a.str(X2, at(X1, 8)).add(X1, X1, 0x1000).subs(X2, X2, 1).b_cond("ne", again);
    a.bind(back);
    a.sub(X1, X1, 0x1000).ldr(X2, at(X1, 8)).str(X3, at(X1, 16)).subs(X3, X3, 1).b_cond("ne", back);
    a.bind(end);
    a.hlt(0);
}

/// Prepares each lane to write the given number of pages.
fn start(pair: &mut EnginePair, pages: impl Fn(usize) -> u64) {
    for lane in 0..pair.reference.lanes() {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA);
            cpu.set_x(2, pages(lane));
        });
    }
}

fn assert_all_halted(lanes: &[Lane]) {
    assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all lanes have halted");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn one_pool_becomes_an_array_of_eight_while_lanes_run() {
    one_pool_becomes_several(POOLS, &[(7, 1), (16, 2), (35, 4), (72, 8)]);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn one_pool_becomes_four_with_a_binding_each_while_lanes_run() {
    let bounds = Bounds { buffer_arrays: false, pools: Some(4), ..POOLS };
    one_pool_becomes_several(bounds, &[(7, 1), (16, 2), (35, 4)]);
}

/// Lanes write numbers of pages, for each of which all lanes together need a number of pools.
fn one_pool_becomes_several(bounds: Bounds, growth: &[(u64, u32)]) {
    // The machine begins with about 30 frames, which fit in one pool.
    let mut pair = EnginePair::bounded(&[text_and_data(80, writer)], 3, 80, bounds);
    pair.call_both("a snapshot", |executor| executor.snapshot());
    for &(pages, pools) in growth {
        start(&mut pair, |lane| pages - lane as u64);
        pair.run(pages * 3);
        pair.assert_same(&format!("while the pools become {pools}"));
        pair.run(u64::MAX);
        assert_all_halted(&pair.assert_same(&format!("in {pools} pools")));
        pair.call_both("a reset", |executor| executor.reset(&[2, 0]));
        pair.assert_same("after the reset");
        pair.call_both("clearing stops", |executor| {
            (0..3).try_for_each(|lane| executor.set_stop(lane, None))
        });
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn hooks_stay_when_one_pool_becomes_two() {
    let mut pair = EnginePair::bounded(&[text_and_data(80, writer)], 3, 80, POOLS);
    let hooks = Hooks::new().watch_writes(DATA + 15 * PAGE..DATA + 16 * PAGE);
    pair.call_both("hooks", |executor| executor.set_hooks(&hooks));
    start(&mut pair, |_| 16);
    pair.run(u64::MAX);
    let watchpoint = Stop::Watchpoint { access: Access::Write, address: DATA + 15 * PAGE + 8 };
    for lane in pair.assert_same("at the last page") {
        assert_eq!(
            (lane.stop, lane.private_pages.len()),
            (Some(watchpoint), 15),
            "the other pages are written"
        );
    }
}

/// Returns an image with pages of data, each of which begins with a number that no other page has.
fn numbered(number: u64, pages: u64) -> Arc<Image> {
    let mut data = vec![0; (pages * PAGE) as usize];
    for (page, bytes) in (0..).zip(data.chunks_exact_mut(PAGE as usize)) {
        bytes[..8].copy_from_slice(&(number * pages + page).to_le_bytes());
    }
    image(&[
        segment(CODE, PAGE, assemble(writer), Permissions::RX),
        segment(DATA, pages * PAGE, data, Permissions::RW),
    ])
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn images_may_be_larger_than_a_pool() {
    // Each image has ten frames, so all have more than 90.
    let images: Vec<_> = (0..9).map(|number| numbered(number, 8)).collect();
    let mut pair = EnginePair::bounded(&images, 9, 8, POOLS);
    for lane in 0..9 {
        for page in 0..8 {
            let bytes = read(&mut *pair.gpu, lane, DATA + page * PAGE, 8);
            assert_eq!(bytes, (lane as u64 * 8 + page).to_le_bytes(), "lane {lane}, page {page}");
        }
    }
    start(&mut pair, |lane| lane as u64 % 4 + 1);
    pair.run(u64::MAX);
    assert_all_halted(&pair.assert_same("at the end"));
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_that_find_the_last_pool_full_stop_and_the_others_go_on() {
    // The lanes need about 500 frames.
    let mut pair = EnginePair::bounded(&[text_and_data(100, writer)], 6, 100, POOLS);
    pair.call_both("a snapshot", |executor| executor.snapshot());
    let reset = |pair: &mut EnginePair| {
        pair.call_both("a reset", |executor| executor.reset(&[0, 1, 2, 3, 4, 5]));
        pair.call_both("clearing stops", |executor| {
            (0..6).try_for_each(|lane| executor.set_stop(lane, None))
        });
    };
    // Each lane takes the frames that it needs at the end. Later, lanes that run before it may take all others.
    start(&mut pair, |_| 2);
    pair.run(u64::MAX);
    reset(&mut pair);
    start(&mut pair, |lane| if lane == 0 { 1 } else { 100 });
    let go_on = &mut |_| ControlFlow::Continue(());
    pair.gpu.run(&[u64::MAX; 6], go_on).expect("the GPU works");
    let stops: Vec<_> = (0..6).map(|lane| pair.gpu.stop(lane).expect("the GPU works")).collect();
    assert_eq!(stops[0], Some(Stop::Halt { imm: 0 }), "lane 0 needs only one frame");
    let full = stops.iter().filter(|stop| **stop == Some(Stop::OutOfFrames)).count();
    assert!(full >= 4, "at most two other lanes get all of their frames: {stops:?}");
    // The reference runs each lane for as many steps as it did on the GPU, and has to be in the same state then.
    let steps: Vec<u64> = (0..6).map(|lane| pair.gpu.steps(lane).expect("the GPU works")).collect();
    pair.reference.run(&steps, go_on).expect("the reference works");
    for (lane, stop) in stops.iter().enumerate() {
        pair.reference.set_stop(lane, *stop).expect("the reference works");
    }
    pair.assert_same("with all frames in use");

    // A write of the host finds no frame either, which is an error. The pending write is kept.
    pair.gpu
        .write_memory(5, DATA + 99 * PAGE, &[7], None)
        .expect("the write is pending")
        .expect("the page is mapped");
    let mut byte = [0];
    let error = pair.gpu.read_memory(5, DATA + 99 * PAGE + 1, &mut byte, None).map(drop);
    let error = error.and_then(|()| pair.gpu.private_pages(5).map(drop)).expect_err("no frame is free");
    let cause = std::error::Error::source(&error).expect("the error has a cause").to_string();
    assert!(cause.contains("all 256 frames"), "{cause}");
    // After a reset, lanes use the frames again that they had.
    reset(&mut pair);
    start(&mut pair, |lane| if lane == 0 { 1 } else { 2 });
    pair.run(u64::MAX);
    assert_all_halted(&pair.assert_same("after the reset"));
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn images_that_do_not_fit_are_too_many_lanes() {
    let images: Vec<_> = (0..40).map(|number| numbered(number, 8)).collect();
    let plan = Plan { images: &images, lanes: 40, frames_max: 1, calls: None, loops: None };
    let error = GpuExecutor::with_bounds(device(), &plan, &ClassSelection::TABLE, POOLS)
        .expect_err("the images need too many frames");
    let kvrm_gpu::Error::TooManyLanes { lanes: 40, max } = error else { panic!("{error}") };
    assert!((23..28).contains(&max), "256 frames hold about 25 images: {max}");
    let images = &images[..max - 1];
    let plan = Plan { images, lanes: images.len(), frames_max: 1, calls: None, loops: None };
    let mut executor =
        GpuExecutor::with_bounds(device(), &plan, &ClassSelection::TABLE, POOLS).expect("the images fit");
    assert_eq!(lanes(&mut executor).len(), max - 1, "all lanes exist");
}
