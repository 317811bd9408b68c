//! Frames in several bindings: where a binding is small, what lanes write spreads over up to eight.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::asm::{Assembler, X1, X2, X3, at};
use kvrm_gpu::{Bounds, Dispatch, GpuExecutor};
use kvrm_machine::{Image, Permissions, Plan, Stop};

use crate::support::{
    Both, CODE, DATA, Lane, PAGE, assemble, device, image, lanes, read, segment, text_and_data,
};

/// Pools of 32 frames, so 256 in all. Software drivers take a while to compile the kernels for each size.
const POOLS: Bounds = Bounds { pool_shift: Some(14), pools: Some(8), ..Bounds::NONE };

/// Writes x2 pages from x1 on, reads them all again, and halts.
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

/// Has each lane write so many pages.
fn start(both: &mut Both, pages: impl Fn(usize) -> u64) {
    for lane in 0..both.reference.lanes() {
        both.change(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA);
            cpu.set_x(2, pages(lane));
        });
    }
}

fn all_have_ended(lanes: &[Lane]) {
    assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all have ended");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn one_pool_becomes_two_four_and_eight_while_lanes_run() {
    // About 30 frames at first, which is one pool.
    let mut both = Both::bounded(&[text_and_data(80, writer)], 3, 80, POOLS);
    both.each("a snapshot", |executor| executor.snapshot());
    // So many pages a lane need so many pools.
    for (pages, pools) in [(7, 1), (16, 2), (35, 4), (72, 8)] {
        start(&mut both, |lane| pages - lane as u64);
        both.run(pages * 3);
        both.same(&format!("on the way to {pools} pools"));
        both.run(u64::MAX);
        all_have_ended(&both.same(&format!("in {pools} pools")));
        both.each("a reset", |executor| executor.reset(&[2, 0]));
        both.same("after the reset");
        both.each("clearing stops", |executor| (0..3).try_for_each(|lane| executor.set_stop(lane, None)));
    }
}

/// An image with pages of data of its own, each of which begins with a number.
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
    // Ten frames an image, more than 90 in all.
    let images: Vec<_> = (0..9).map(|number| numbered(number, 8)).collect();
    let mut both = Both::bounded(&images, 9, 8, POOLS);
    for lane in 0..9 {
        for page in 0..8 {
            let bytes = read(&mut *both.gpu, lane, DATA + page * PAGE, 8);
            assert_eq!(bytes, (lane as u64 * 8 + page).to_le_bytes(), "lane {lane}, page {page}");
        }
    }
    start(&mut both, |lane| lane as u64 % 4 + 1);
    both.run(u64::MAX);
    all_have_ended(&both.same("at the end"));
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_that_find_the_last_pool_full_stop_and_the_others_go_on() {
    // The lanes want some 500 frames.
    let mut both = Both::bounded(&[text_and_data(100, writer)], 6, 100, POOLS);
    both.each("a snapshot", |executor| executor.snapshot());
    start(&mut both, |lane| if lane == 0 { 1 } else { 100 });
    let go_on = &mut |_| ControlFlow::Continue(());
    both.gpu.run(&[u64::MAX; 6], go_on).expect("the GPU works");
    let stops: Vec<_> = (0..6).map(|lane| both.gpu.stop(lane).expect("the GPU works")).collect();
    assert_eq!(stops[0], Some(Stop::Halt { imm: 0 }), "it wants just one");
    let full = stops.iter().filter(|stop| **stop == Some(Stop::OutOfFrames)).count();
    assert!(full >= 4, "there are frames for two others at most: {stops:?}");
    // Whatever each has done by then is what the reference does in as many steps.
    let steps: Vec<u64> = (0..6).map(|lane| both.gpu.steps(lane).expect("the GPU works")).collect();
    both.reference.run(&steps, go_on).expect("the reference works");
    for (lane, stop) in stops.iter().enumerate() {
        both.reference.set_stop(lane, *stop).expect("the reference works");
    }
    both.same("with all frames in use");

    // The host has no frames left either, and says so; what it has written is not lost for that.
    both.gpu.write_memory(5, DATA + 99 * PAGE, &[7], None).expect("that waits").expect("it is mapped");
    let mut byte = [0];
    let error = both.gpu.read_memory(5, DATA + 99 * PAGE + 1, &mut byte, None).map(drop);
    let error = error.and_then(|()| both.gpu.dirty_pages(5).map(drop)).expect_err("there is no frame");
    let cause = std::error::Error::source(&error).expect("it has one").to_string();
    assert!(cause.contains("all 256 frames"), "{cause}");
    // Lanes that start again use the frames they had.
    both.each("a reset", |executor| executor.reset(&[0, 1, 2, 3, 4, 5]));
    start(&mut both, |lane| if lane == 0 { 1 } else { 2 });
    both.each("clearing stops", |executor| (0..6).try_for_each(|lane| executor.set_stop(lane, None)));
    both.run(u64::MAX);
    all_have_ended(&both.same("after the reset"));
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn images_that_do_not_fit_are_too_many_lanes() {
    let images: Vec<_> = (0..40).map(|number| numbered(number, 8)).collect();
    let plan = Plan { images: &images, lanes: 40, frames_max: 1, calls: None };
    let error =
        GpuExecutor::with_bounds(device(), &plan, &Dispatch::TABLE, POOLS).expect_err("it is too much");
    let kvrm_gpu::Error::TooManyLanes { lanes: 40, max } = error else { panic!("{error}") };
    assert!((23..28).contains(&max), "256 frames hold about 25 images: {max}");
    let images = &images[..max - 1];
    let plan = Plan { images, lanes: images.len(), frames_max: 1, calls: None };
    let mut executor = GpuExecutor::with_bounds(device(), &plan, &Dispatch::TABLE, POOLS).expect("they fit");
    assert_eq!(lanes(&mut executor).len(), max - 1, "they are there");
}
