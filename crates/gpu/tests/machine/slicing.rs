//! Slices of any length, exact budgets, and runs that are broken off.

use std::error::Error as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::asm::{X0, X1, X2, at};
use kvrm_gpu::device::{LoopLimit, loop_limit};
use kvrm_gpu::{Bounds, ClassSelection, Device, GpuExecutor, SelectionMode};
use kvrm_machine::{Builder, Executor, Image, Machine, Permissions, Plan, Progress, Stop};
use kvrm_testkit::guests::guest;
use kvrm_testkit::images::{PAGE, assemble, image, segment};

use crate::support::{
    CODE, DATA, EnginePair, Gpu, LOOP_LIMIT, Lane, ONE_LANE_WORKGROUPS, STAGES, lanes, machine_lanes, raw,
    text_and_data,
};

/// The number of steps of a guest that runs in pieces.
const STEPS: u64 = 2_000;

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_guest_run_in_pieces_ends_as_in_one_run() {
    let (name, size) = ("vm", "4");
    let builder = || -> Builder<'static> {
        let seed = |lane: usize| vec![size.to_owned(), lane.to_string()];
        Machine::builder(guest(name)).lanes(3).arguments(seed)
    };
    let mut reference = builder().build().expect("the guest fits");
    reference.run(STEPS).expect("the reference works");
    let expected = machine_lanes(&mut reference);
    for slice in [1, 7, 1000, u64::MAX] {
        let alone = builder().engine(ONE_LANE_WORKGROUPS);
        for (interpreter, builder) in
            [("plain", builder().engine(Gpu)), ("few", alone), ("many", builder().engine(STAGES))]
        {
            let mut gpu = builder.build().expect("the guest fits");
            let mut left = STEPS;
            while left > 0 {
                let steps = slice.min(left);
                let report = gpu.run(steps).expect("the GPU works");
                assert_eq!(report.steps, 3 * steps, "the whole budget is used");
                left -= steps;
            }
            let lanes = machine_lanes(&mut gpu);
            assert!(lanes == expected, "{name} in runs of {slice} steps by the interpreter {interpreter}");
        }
    }
}

/// Returns an image whose program counts x0 down, writes the sum of the values at each step, and halts.
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

/// Returns three lanes of [`counter`], which count from 10,000, from 3 and from 0.
fn counters() -> EnginePair {
    // Slices are so short that long loops take several of them even on a fast device.
    let bounds = Bounds { slice_steps: Some(1 << 15), ..Bounds::NONE };
    let mut pair = EnginePair::bounded(&[counter()], 3, 16, bounds);
    for (lane, count) in [10_000, 3, 0].into_iter().enumerate() {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, count);
            cpu.set_x(2, DATA);
        });
    }
    pair
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn budgets_are_exact() {
    let mut pair = counters();
    // Some budgets end one step before, at and after the end of the second lane.
    for budget in [0, 1, 2, 0, 9, 1, 1, 1, 1000, 0, 12_345] {
        pair.run(budget);
        let lanes = pair.assert_same(&format!("after {budget} more steps"));
        assert_eq!(lanes[0].stop, Some(Stop::Budget), "lane 0 has not ended");
    }
    pair.run(u64::MAX);
    let lanes = pair.assert_same("at the end");
    assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 9 })), "all have ended");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn each_lane_has_its_own_limit() {
    let mut pair = counters();
    let limits = [777, 5, 0];
    pair.call_both("a run", |executor| executor.run(&limits, &mut |_| ControlFlow::Continue(())).map(drop));
    let lanes = pair.assert_same("at their limits");
    let steps: Vec<u64> = lanes.iter().map(|lane| lane.cpu.steps).collect();
    assert_eq!(steps, limits, "each at its own");
    // If a lane has already reached its limit, it stops at once.
    pair.call_both("clearing stops", |executor| (0..3).try_for_each(|lane| executor.set_stop(lane, None)));
    pair.call_both("a run", |executor| {
        executor.run(&[1, 5, 1], &mut |_| ControlFlow::Continue(())).map(drop)
    });
    let lanes = pair.assert_same("beyond their limits");
    assert_eq!(
        lanes.iter().map(|lane| lane.cpu.steps).collect::<Vec<_>>(),
        [777, 5, 1],
        "no lane runs beyond its limit"
    );
}

/// Runs lanes, breaks the run off at the first call of the observer, and returns the progress that the observer got.
fn run_one_slice(executor: &mut dyn Executor, limits: &[u64]) -> Progress {
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
    // Lane 0 takes about 400,000 steps, more than a slice has.
    let count = 100_000;
    let mut pair = counters();
    pair.change_registers(0, |cpu| cpu.set_x(0, count));
    pair.reference.run(&[u64::MAX; 3], &mut |_| ControlFlow::Continue(())).expect("the reference works");
    let expected: Vec<Lane> = lanes(&mut *pair.reference);
    let mut breaks = 0;
    loop {
        let before = pair.gpu.steps(0).expect("the GPU works");
        let progress = run_one_slice(&mut *pair.gpu, &[u64::MAX; 3]);
        if pair.gpu.stop(0).expect("the GPU works").is_some() {
            break;
        }
        let after = pair.gpu.steps(0).expect("the GPU works");
        assert_eq!(progress.running, 1, "only lane 0 is still running");
        assert!(after > before || breaks == 0, "every run makes progress: {before}, then {after}");
        breaks += 1;
        assert!(breaks < 10_000, "the lane ends");
    }
    assert!(breaks > 0, "the observer is called before the lane ends");
    assert_eq!(lanes(&mut *pair.gpu), expected, "the end is the same");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn observers_see_increasing_steps() {
    let mut pair = counters();
    pair.change_registers(0, |cpu| cpu.set_x(0, 100_000));
    let mut seen: Vec<Progress> = Vec::new();
    pair.gpu
        .run(&[u64::MAX; 3], &mut |progress| {
            seen.push(progress);
            ControlFlow::Continue(())
        })
        .expect("the GPU works");
    assert!(seen.is_sorted_by(|a, b| a.steps <= b.steps), "{seen:?}");
    let steps: u64 = lanes(&mut *pair.gpu).iter().map(|lane| lane.cpu.steps).sum();
    assert!(seen.iter().all(|progress| progress.steps <= steps && progress.running <= 3), "{seen:?}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn slices_stay_below_the_loop_limit_of_a_driver() {
    // A CRC of eight bytes takes 72 iterations, so a thousand of them are far beyond the limit of a selection.
    let image = text_and_data(1, |a| {
        let again = a.label();
        a.bind(again);
        // crc32x w1, w1, x0
        a.word(0x9ac0_4c21).subs(X0, X0, 1).b_cond("ne", again).hlt(9);
    });
    // If the invocations of a workgroup evaluate a network together, each of the 3,000 steps takes 44 more iterations.
    for (mode, iterations) in
        [(SelectionMode::Table, 72 * 1_000), (SelectionMode::Network, (72 + 3 * 44) * 1_000)]
    {
        let bounds = Bounds { loop_limit: LOOP_LIMIT, workgroup: Some(1), ..Bounds::NONE };
        let images = [Arc::clone(&image)];
        let mut pair = EnginePair::with_class_selection(&images, 1, 16, &ClassSelection::new(mode), bounds);
        pair.change_registers(0, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, 1_000);
        });
        let go_on = &mut |_| ControlFlow::Continue(());
        let stats = pair.gpu.run(&[u64::MAX], go_on).expect("the GPU works");
        pair.reference.run(&[u64::MAX], go_on).expect("the reference works");
        pair.assert_same("after many slices");
        assert!(stats.dispatches >= iterations / 2_000, "{} dispatches are too few", stats.dispatches);
    }
}

/// Regression test: a misaligned address in page 0 was once taken for the mark of an empty translation, and the lane
/// executed a micro-op that was never fetched.
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
            let mut pair = EnginePair::bounded(&[image(&segments)], pcs.len(), 16, bounds);
            for (lane, &address) in pcs.iter().enumerate() {
                pair.change_registers(lane, |cpu| cpu.pc = address);
            }
            pair.run(3);
            let ends = pair.assert_same(&format!("{} pages, workgroups of {workgroup}", segments.len()));
            for (lane, &address) in ends.iter().zip(&pcs) {
                assert!(
                    lane.stop == Some(Stop::Budget) || matches!(lane.stop, Some(Stop::Fault(_))),
                    "{address:#x}"
                );
            }
        }
    }
}

/// Regression test: a driver that ends loops counts loops in branches that no lane takes, too, so even a plain step
/// costs many iterations. The guest `life` once ended with a wrong result on such a driver, and without an error.
#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_driver_that_ends_loops_is_detected_if_slices_are_too_long() {
    // The test has its own device, as that counts as lost afterwards.
    let device = Device::open(None).expect("the host has an adapter");
    let ends_loops = loop_limit(&device).expect("the GPU works").is_some();
    let limit = LoopLimit { iterations: 1 << 30, sharers: 8 };
    let bounds = Bounds { loop_limit: Some(limit), slice_steps: Some(1 << 20), ..Bounds::NONE };
    let plan = Plan { images: &[counter()], lanes: 1, frames_max: 16, calls: None, loops: None };
    let mut gpu =
        GpuExecutor::with_bounds(&device, &plan, &ClassSelection::TABLE, bounds).expect("the lane fits");
    let mut cpu = gpu.cpu(0).expect("the GPU works");
    cpu.pc = CODE;
    cpu.set_x(0, 100_000);
    cpu.set_x(2, DATA);
    gpu.set_cpu(0, &cpu).expect("the GPU works");
    let ran = gpu.run(&[u64::MAX], &mut |_| ControlFlow::Continue(()));
    match ran {
        Ok(_) => assert!(!ends_loops, "the driver must have ended loops of 400,000 iterations"),
        Err(error) => {
            let why = error.source().expect("the error has a cause").to_string();
            assert!(ends_loops && why.contains("ended loops early"), "{why}");
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn budgets_are_exact_although_work_shortens_slices() {
    // A loop across two pages, of instructions that are slow to execute.
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
        let bounds = Bounds { loop_limit: LOOP_LIMIT, workgroup: Some(workgroup), ..Bounds::NONE };
        let mut pair = EnginePair::bounded(&[Arc::clone(&image)], lanes, 16, bounds);
        for lane in 0..lanes {
            pair.change_registers(lane, |cpu| {
                cpu.pc = CODE + 4 * 1020;
                cpu.set_x(1, CODE);
            });
        }
        for more in [0, 64, 1] {
            let limits: Vec<u64> = (1..=lanes as u64).map(|lane| lane + more).collect();
            pair.call_both("clearing stops", |executor| {
                (0..lanes).try_for_each(|lane| executor.set_stop(lane, None))
            });
            pair.call_both("a run", |executor| {
                executor.run(&limits, &mut |_| ControlFlow::Continue(())).map(drop)
            });
            pair.assert_same(&format!("workgroups of {workgroup}, {more} more"));
        }
    }
}
