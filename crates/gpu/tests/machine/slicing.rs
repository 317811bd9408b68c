//! Slices of any length, budgets, and runs that are broken off.

use std::error::Error as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::asm::{X0, X1, X2, at};
use kvrm_gpu::device::{LoopLimit, loop_limit};
use kvrm_gpu::{Bounds, Device, Dispatch, GpuExecutor, Mode};
use kvrm_machine::{Builder, Executor, Image, Machine, Permissions, Plan, Progress, Stop};
use kvrm_testkit::guests::{GUESTS, guest};
use kvrm_testkit::images::{PAGE, assemble, image, segment};

use crate::support::{ALONE, Both, CODE, DATA, Gpu, LOOPS, Lane, lanes, machine_lanes, raw, text_and_data};

/// Steps of a guest that are run in slices.
const STEPS: u64 = 2_000;

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_guest_in_slices_is_the_guest_in_one_piece() {
    let (name, size) = GUESTS[10];
    let builder = || -> Builder<'static> {
        let seed = |lane: usize| vec![size.to_owned(), lane.to_string()];
        Machine::builder(guest(name)).lanes(3).arguments(seed)
    };
    let mut reference = builder().build().expect("the guest fits");
    reference.run(STEPS).expect("the reference works");
    let expected = machine_lanes(&mut reference);
    for (slice, alone) in [1, 7, 1000, u64::MAX].into_iter().flat_map(|slice| [(slice, false), (slice, true)])
    {
        let builder = if alone { builder().engine(ALONE) } else { builder().engine(Gpu) };
        let mut gpu = builder.build().expect("the guest fits");
        let mut left = STEPS;
        while left > 0 {
            let steps = slice.min(left);
            let report = gpu.run(steps).expect("the GPU works");
            assert_eq!(report.steps, 3 * steps, "all of the budget is used");
            left -= steps;
        }
        assert!(machine_lanes(&mut gpu) == expected, "{name} in slices of {slice}, alone: {alone}");
    }
}

/// A program that counts x0 down, writing each value, and halts.
fn counter() -> Arc<Image> {
    text_and_data(1, |a| {
        let (again, end) = (a.label(), a.label());
        a.cbz(X0, end);
        a.bind(again);
        a.add(X1, X1, X0).str(X1, at(X2, 0)).subs(X0, X0, 1).b_cond("ne", again);
        a.bind(end);
        a.hlt(9);
    })
}

/// Lanes that run it: one starts from 10,000, one from 3, one from 0.
fn counters() -> Both {
    // However fast the device is, long loops take several slices.
    let bounds = Bounds { slice_steps: Some(1 << 15), ..Bounds::NONE };
    let mut both = Both::bounded(&[counter()], 3, 16, bounds);
    for (lane, count) in [10_000, 3, 0].into_iter().enumerate() {
        both.change(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, count);
            cpu.set_x(2, DATA);
        });
    }
    both
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn budgets_are_exact() {
    let mut both = counters();
    // One before, at and behind the end of the second lane, too.
    for budget in [0, 1, 2, 0, 9, 1, 1, 1, 1000, 0, 12_345] {
        both.run(budget);
        let lanes = both.same(&format!("after {budget} steps more"));
        assert_eq!(lanes[0].stop, Some(Stop::Budget), "it has not ended");
    }
    both.run(u64::MAX);
    let lanes = both.same("at the end");
    assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 9 })), "all have ended");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn limits_are_of_lanes() {
    let mut both = counters();
    let limits = [777, 5, 0];
    both.each("a run", |executor| executor.run(&limits, &mut |_| ControlFlow::Continue(())).map(drop));
    let lanes = both.same("at their limits");
    let steps: Vec<u64> = lanes.iter().map(|lane| lane.cpu.steps).collect();
    assert_eq!(steps, limits, "each at its own");
    // A limit that is already behind a lane stops it at once.
    both.each("clearing stops", |executor| (0..3).try_for_each(|lane| executor.set_stop(lane, None)));
    both.each("a run", |executor| executor.run(&[1, 5, 1], &mut |_| ControlFlow::Continue(())).map(drop));
    let lanes = both.same("behind their limits");
    assert_eq!(lanes.iter().map(|lane| lane.cpu.steps).collect::<Vec<_>>(), [777, 5, 1], "no more");
}

/// An endless loop, and how far it has come each time a run is broken off.
fn broken_off(executor: &mut dyn Executor, limits: &[u64]) -> Progress {
    let mut last = Progress::default();
    executor
        .run(limits, &mut |progress| {
            last = progress;
            ControlFlow::Break(())
        })
        .expect("the engine works");
    last
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_run_that_is_broken_off_goes_on_to_the_same_end() {
    // 400,003 steps: more than a slice has.
    let count = 100_000;
    let mut both = counters();
    both.change(0, |cpu| cpu.set_x(0, count));
    both.reference.run(&[u64::MAX; 3], &mut |_| ControlFlow::Continue(())).expect("the reference works");
    let expected: Vec<Lane> = lanes(&mut *both.reference);
    let mut breaks = 0;
    loop {
        let before = both.gpu.steps(0).expect("the GPU works");
        let progress = broken_off(&mut *both.gpu, &[u64::MAX; 3]);
        if both.gpu.stop(0).expect("the GPU works").is_some() {
            break;
        }
        let after = both.gpu.steps(0).expect("the GPU works");
        assert_eq!(progress.running, 1, "the long one runs on");
        assert!(after > before || breaks == 0, "every run gets on: {before}, then {after}");
        breaks += 1;
        assert!(breaks < 10_000, "it comes to an end");
    }
    assert!(breaks > 0, "an observer is called while it runs");
    assert_eq!(lanes(&mut *both.gpu), expected, "the end is the same");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn an_observer_hears_of_ever_more_steps() {
    let mut both = counters();
    both.change(0, |cpu| cpu.set_x(0, 100_000));
    let mut seen: Vec<Progress> = Vec::new();
    both.gpu
        .run(&[u64::MAX; 3], &mut |progress| {
            seen.push(progress);
            ControlFlow::Continue(())
        })
        .expect("the GPU works");
    assert!(seen.is_sorted_by(|a, b| a.steps <= b.steps), "{seen:?}");
    let steps: u64 = lanes(&mut *both.gpu).iter().map(|lane| lane.cpu.steps).sum();
    assert!(seen.iter().all(|progress| progress.steps <= steps && progress.running <= 3), "{seen:?}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn slices_stay_below_the_loop_limit_of_a_driver() {
    // A CRC of eight bytes takes 72 iterations, so a thousand of them are far beyond the limit of a dispatch.
    let image = text_and_data(1, |a| {
        let again = a.label();
        a.bind(again);
        // crc32x w1, w1, x0
        a.word(0x9ac0_4c21).subs(X0, X0, 1).b_cond("ne", again).hlt(9);
    });
    // Where a workgroup asks together, each of the 3,000 steps takes 44 iterations more.
    for (mode, iterations) in [(Mode::Table, 72 * 1_000), (Mode::Network, (72 + 3 * 44) * 1_000)] {
        let bounds = Bounds { loop_limit: LOOPS, workgroup: Some(1), ..Bounds::NONE };
        let images = [Arc::clone(&image)];
        let mut both = Both::asking(&images, 1, 16, &Dispatch::new(mode), bounds);
        both.change(0, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, 1_000);
        });
        let go_on = &mut |_| ControlFlow::Continue(());
        let stats = both.gpu.run(&[u64::MAX], go_on).expect("the GPU works");
        both.reference.run(&[u64::MAX], go_on).expect("the reference works");
        both.same("after many slices");
        assert!(stats.dispatches >= iterations / 2_000, "{} dispatches are too few", stats.dispatches);
    }
}

/// A misaligned address in page 0 was once taken for the mark "no page at hand", and the lane executed a micro-op that was
/// never fetched.
#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn slices_that_begin_at_any_address_fault_as_on_the_reference() {
    let nops = || {
        assemble(|a| {
            for _ in 0..1024 {
                a.nop();
            }
        })
    };
    let page = |address| segment(address, PAGE, nops(), Permissions::RX);
    let pcs: Vec<u64> = [0, 0x70, 0xff0, CODE, CODE + 0xff0, 1 << 47, 1 << 48, u64::MAX - 15]
        .into_iter()
        .flat_map(|base| (0..16).map(move |offset| base + offset))
        .collect();
    for segments in [vec![page(CODE)], vec![page(0), page(CODE)]] {
        for workgroup in [1, 64] {
            let bounds = Bounds { slice_steps: Some(1), workgroup: Some(workgroup), ..Bounds::NONE };
            let mut both = Both::bounded(&[image(&segments)], pcs.len(), 16, bounds);
            for (lane, &address) in pcs.iter().enumerate() {
                both.change(lane, |cpu| cpu.pc = address);
            }
            both.run(3);
            let ends = both.same(&format!("{} pages, workgroups of {workgroup}", segments.len()));
            for (lane, &address) in ends.iter().zip(&pcs) {
                assert!(
                    lane.stop == Some(Stop::Budget) || matches!(lane.stop, Some(Stop::Fault(_))),
                    "{address:#x}"
                );
            }
        }
    }
}

/// A driver that ends loops counts those in branches that no lane takes, too, so even a plain step costs many iterations. The
/// guest `life` once ended with a wrong result there, and without an error.
#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_driver_that_ends_loops_is_noticed_if_slices_are_too_long_for_it() {
    // Its own device, as that counts as lost then.
    let device = Device::open(None).expect("there is one");
    let ends_loops = loop_limit(&device).expect("it works").is_some();
    let limit = LoopLimit { iterations: 1 << 30, sharers: 8 };
    let bounds = Bounds { loop_limit: Some(limit), slice_steps: Some(1 << 20), ..Bounds::NONE };
    let plan = Plan { images: &[counter()], lanes: 1, frames_max: 16, calls: None };
    let mut gpu = GpuExecutor::with_bounds(&device, &plan, &Dispatch::TABLE, bounds).expect("it fits");
    let mut cpu = gpu.cpu(0).expect("the GPU works");
    cpu.pc = CODE;
    cpu.set_x(0, 100_000);
    cpu.set_x(2, DATA);
    gpu.set_cpu(0, &cpu).expect("the GPU works");
    let ran = gpu.run(&[u64::MAX], &mut |_| ControlFlow::Continue(()));
    match ran {
        Ok(_) => assert!(!ends_loops, "it has ended 400,000 iterations or more"),
        Err(error) => {
            let why = error.source().expect("it is the engine's").to_string();
            assert!(ends_loops && why.contains("ended loops early"), "{why}");
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn budgets_are_exact_although_work_shortens_slices() {
    // A loop across two pages, all of it slow.
    let image = raw(|a| {
        for _ in 0..1020 {
            a.nop();
        }
        let again = a.label();
        a.bind(again);
        // aese v0.16b, v1.16b; crc32x w3, w3, x0; ldr q0, [x1]; fadd d0, d1, d2
        a.word(0x4e28_4820).word(0x9ac0_4c63).word(0x3dc0_0020).word(0x1e62_2820);
        a.word(0x9ac0_4c63).word(0x9ac0_4c63).b(again);
    });
    let lanes = 64;
    for workgroup in [1, 64] {
        let bounds = Bounds { loop_limit: LOOPS, workgroup: Some(workgroup), ..Bounds::NONE };
        let mut both = Both::bounded(&[Arc::clone(&image)], lanes, 16, bounds);
        for lane in 0..lanes {
            both.change(lane, |cpu| {
                cpu.pc = CODE + 4 * 1020;
                cpu.set_x(1, CODE);
            });
        }
        for more in [0, 64, 1] {
            let limits: Vec<u64> = (1..=lanes as u64).map(|lane| lane + more).collect();
            both.each("clearing stops", |executor| {
                (0..lanes).try_for_each(|lane| executor.set_stop(lane, None))
            });
            both.each("a run", |executor| {
                executor.run(&limits, &mut |_| ControlFlow::Continue(())).map(drop)
            });
            both.same(&format!("workgroups of {workgroup}, {more} more"));
        }
    }
}
