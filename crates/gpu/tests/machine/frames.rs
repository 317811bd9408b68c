//! Frames: lanes that run out of theirs and go on with more, and a pool that grows on demand.

use kvrm_arm64::asm::{Assembler, X0, X1, X2, X3, at};
use kvrm_machine::{Builder, Machine, Stop};
use kvrm_testkit::guests::{GUESTS, guest};

use crate::support::{Both, CODE, DATA, Gpu, PAGE, machine_lanes, raw, same_machines, text_and_data};

/// Writes x2 pages from x1 on, and halts.
fn writer(a: &mut Assembler) {
    let (again, end) = (a.label(), a.label());
    a.bind(again);
    a.cbz(X2, end).str(X2, at(X1, 0)).add(X1, X1, 0x1000).sub(X2, X2, 1).b(again);
    a.bind(end);
    a.hlt(0);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_guest_ends_the_same_if_frames_come_one_by_one() {
    let (name, size) = GUESTS[8];
    let builder = || -> Builder<'static> {
        Machine::builder(guest(name)).lanes(2).arguments(|_| vec![size.to_owned()]).frames_max(0)
    };
    let mut gpu = builder().engine(Gpu).build().expect("the guest fits");
    let mut reference = builder().build().expect("the guest fits");
    for frames in 1.. {
        gpu.run(u64::MAX).expect("the GPU works");
        reference.run(u64::MAX).expect("the reference works");
        let lanes = same_machines(&mut gpu, &mut reference, name);
        if lanes[0].0.stop != Some(Stop::OutOfFrames) {
            assert!(frames > 2, "{name} writes some pages");
            break;
        }
        gpu.set_frames_max(frames).expect("the GPU works");
        reference.set_frames_max(frames).expect("the reference works");
    }
    let mut whole = builder().frames_max(100).build().expect("the guest fits");
    whole.run(u64::MAX).expect("the reference works");
    assert!(machine_lanes(&mut gpu) == machine_lanes(&mut whole), "as if there had been enough at once");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_stop_at_the_store_that_has_no_frame_and_go_on() {
    let mut both = Both::new(&[text_and_data(16, writer)], 80, 0);
    for lane in 0..80 {
        both.change(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA);
            cpu.set_x(2, lane as u64 % 12);
        });
    }
    for frames in [0, 1, 2, 5, 4, 0, 11, 12] {
        both.each("frames", |executor| executor.set_frames_max(frames));
        both.run(u64::MAX);
        let lanes = both.same(&format!("with {frames} frames"));
        let most = lanes.iter().map(|lane| lane.dirty.len()).max();
        assert!(most >= Some(frames.min(11)), "{frames} frames are used");
    }
    both.run(u64::MAX);
    let lanes = both.same("at the end");
    assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all have ended");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_store_across_two_pages_takes_both_frames_or_none() {
    for (offset, frames) in [(8, 0), (8, 1), (1, 1), (15, 1), (8, 2), (16, 1)] {
        let image = text_and_data(2, |a| {
            a.stp(X1, X1, at(X1, 0)).str(X1, at(X3, 0)).hlt(0);
        });
        let mut both = Both::new(&[image], 1, frames);
        both.change(0, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA + PAGE - offset);
            cpu.set_x(3, DATA + PAGE - 3);
        });
        both.run(10);
        both.same(&format!("{offset} bytes before the border with {frames} frames"));
        both.each("frames", |executor| executor.set_frames_max(2));
        both.run(10);
        let lanes = both.same("with two frames");
        assert_eq!(lanes[0].stop, Some(Stop::Halt { imm: 0 }), "two are enough");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn the_pool_grows_with_what_lanes_write() {
    // 200 lanes that write 40 pages each: ten times what there is at first.
    let lanes = 200;
    let mut both = Both::new(&[text_and_data(64, writer)], lanes, 64);
    for lane in 0..lanes {
        both.change(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA + PAGE * (lane as u64 % 20));
            cpu.set_x(2, 40);
        });
    }
    both.run(100);
    both.same("in between");
    both.run(u64::MAX);
    let seen = both.same("at the end");
    assert!(seen.iter().all(|lane| lane.dirty.len() == 40), "each has written 40 pages");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn pages_that_are_owned_can_be_written_when_there_are_fewer_frames_now() {
    let image = raw(|a| {
        a.str(X0, at(X1, 0)).str(X0, at(X2, 0)).str(X0, at(X1, 8)).str(X0, at(X3, 0)).hlt(0);
    });
    let mut both = Both::new(&[image], 1, 16);
    both.change(0, |cpu| {
        cpu.pc = CODE;
        (1..4).for_each(|n| cpu.set_x(n, CODE + PAGE * u64::from(n)));
    });
    both.run(2);
    both.each("frames", |executor| executor.set_frames_max(0));
    both.run(10);
    let lanes = both.same("without more frames");
    assert_eq!((lanes[0].stop, lanes[0].cpu.pc), (Some(Stop::OutOfFrames), CODE + 12), "the fourth store");
}
