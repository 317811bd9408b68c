//! Machines with fewer places for frames than their lanes need, so that frames move to the host and back, compared with the reference.

use std::ops::ControlFlow;

use kvrm_arm64::asm::{Assembler, X0, X1, X2, X3, X4, at};
use kvrm_gpu::{Bounds, MemoryLimits, Prefetch};
use kvrm_learn::Learning;
use kvrm_machine::{Executor, FrameMoves, Image, Mapping, Stop};
use kvrm_prefetch::{Degree, Policy};
use kvrm_testkit::random::Random;
use std::sync::Arc;

use crate::support::{CODE, DATA, EnginePair, PAGE, busy, raw, text_and_data};

/// Room on the host for all frames of the tests.
const MEMORY: Option<MemoryLimits> = Some(MemoryLimits::new(0, 64 << 20));

/// Few places.
pub(crate) fn places(places: u32) -> Bounds {
    Bounds { memory: MEMORY, places: Some(places), ..Bounds::NONE }
}

/// Few places, short slices, and frames that move whenever they may.
pub(crate) fn eager(places: u32) -> Bounds {
    Bounds {
        memory: MEMORY,
        places: Some(places),
        slice_steps: Some(40),
        moves_eagerly: true,
        ..Bounds::NONE
    }
}

/// Assembles a program that adds x0 to a word of each of x2 pages from x1 on, and to the words there after each pass, x3 times, and
/// halts. Its last pass reads all pages backwards.
pub(crate) fn passes(a: &mut Assembler) {
    let (pass, again) = (a.label(), a.label());
    a.bind(pass);
    a.mov(X4, 0);
    a.bind(again);
    a.ldr(X0, at(X1, 8)).add(X0, X0, X3).str(X0, at(X1, 8));
    a.add(X1, X1, 0x1000).add(X4, X4, 1).subs(X4, X4, X2).add(X4, X4, X2).b_cond("ne", again);
    let back = a.label();
    a.bind(back);
    a.sub(X1, X1, 0x1000).ldr(X0, at(X1, 8)).str(X0, at(X1, 16));
    a.subs(X4, X4, 1).b_cond("ne", back);
    a.subs(X3, X3, 1).b_cond("ne", pass);
    a.hlt(0);
}

/// Returns lanes that write `pages` pages in three passes.
pub(crate) fn pair(lanes: usize, pages: u64, bounds: Bounds) -> EnginePair {
    let mut pair = EnginePair::bounded(&[text_and_data(pages, passes)], lanes, pages as usize, bounds);
    start(&mut pair, pages);
    pair
}

pub(crate) fn start(pair: &mut EnginePair, pages: u64) {
    for lane in 0..pair.reference.lanes() {
        pair.call_both("clearing the stop", |executor| executor.set_stop(lane, None));
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(1, DATA);
            cpu.set_x(2, pages);
            cpu.set_x(3, 3 + lane as u64);
        });
    }
}

/// Runs lanes in parts and to the end, twice, with a reset between.
pub(crate) fn run_twice(pair: &mut EnginePair, pages: u64) {
    pair.call_both("a snapshot", |executor| executor.snapshot());
    for when in ["first", "after a reset"] {
        pair.run(pages * 5);
        pair.assert_same(&format!("in a first part, {when}"));
        pair.run(pages * 10);
        pair.run(u64::MAX);
        let lanes = pair.assert_same(&format!("at the end, {when}"));
        assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all lanes have halted");
        let all: Vec<usize> = (0..lanes.len()).collect();
        pair.call_both("a reset", |executor| executor.reset(&all));
        start(pair, pages);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_with_a_tenth_of_their_frames_do_the_same() {
    // The lanes need 960 frames.
    run_twice(&mut pair(12, 78, places(120)), 78);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn frames_that_move_at_every_chance_change_nothing() {
    run_twice(&mut pair(5, 20, eager(60)), 20);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_lane_alone_may_have_more_pages_than_places() {
    run_twice(&mut pair(1, 100, places(40)), 100);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn snapshots_resets_writes_and_mappings_in_any_order_with_few_places() {
    for (seed, bounds) in [(0, places(70)), (1, eager(70)), (2, places(64)), (3, eager(100))] {
        any_order(seed, bounds);
    }
}

/// Does random things to lanes with a seed.
pub(crate) fn any_order(seed: u64, bounds: Bounds) {
    const LANES: usize = 6;
    let mut random = Random::new(seed);
    let image: Arc<Image> = raw(busy);
    let mut pair = EnginePair::bounded(&[image], LANES, 16, bounds);
    for lane in 0..LANES {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, 1 + lane as u64);
        });
    }
    pair.call_both("a snapshot", |executor| executor.snapshot());
    for round in 0..40 {
        let lane = random.below(LANES as u64) as usize;
        match random.below(8) {
            0 => pair.call_both("a snapshot", |executor| executor.snapshot()),
            1 => {
                let lanes: Vec<usize> = (0..LANES).filter(|_| random.below(2) == 0).collect();
                pair.call_both("a reset", |executor| executor.reset(&lanes));
            }
            2 => {
                let at = CODE + PAGE + random.below(9 * PAGE);
                let bytes: Vec<u8> = (0..1 + random.below(5000)).map(|_| random.bits() as u8).collect();
                pair.call_both("a write", |executor| executor.write_memory(lane, at, &bytes, None))
                    .expect("the memory is mapped");
            }
            3 => {
                let page = CODE / PAGE + 1 + random.below(9);
                let mapping = Mapping::Zero(kvrm_machine::Permissions::RWX);
                pair.call_both("a mapping", |executor| executor.map(lane, page..page + 2, mapping));
            }
            4 => {
                let at = CODE + random.below(15 * PAGE);
                pair.call_both("a read", |executor| {
                    let mut bytes = vec![0; 700];
                    executor.read_memory(lane, at, &mut bytes, None)?.expect("the memory is mapped");
                    Ok(bytes)
                });
            }
            _ => pair.run(random.below(200)),
        }
        if random.below(3) == 0 {
            pair.assert_same(&format!("in round {round} of seed {seed}"));
        }
    }
    pair.assert_same(&format!("at the end of seed {seed}"));
}

/// Returns bounds with a prefetcher that names up to four pages.
pub(crate) fn prefetching(policy: Policy, bounds: Bounds) -> Bounds {
    let degree = Degree::new(4).expect("a small degree");
    Bounds { prefetch: Prefetch::new(policy, degree).expect("the weights are there"), ..bounds }
}

/// Returns the moves since the last call.
pub(crate) fn moves(executor: &mut dyn Executor) -> FrameMoves {
    executor.take_frame_moves().expect("the GPU works").expect("frames move")
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn prefetched_pages_change_nothing_but_the_number_of_waits() {
    let mut waits = Vec::new();
    for policy in Policy::ALL {
        // One lane, whose pages do not fit.
        let mut alone = pair(1, 60, prefetching(policy, places(40)));
        alone.run(u64::MAX);
        alone.assert_same(policy.name());
        let moved = moves(&mut *alone.gpu);
        assert!(moved.used <= moved.prefetched, "{policy}: {moved:?}");
        assert!(moved.prefetched <= moved.fetched, "{policy}: {moved:?}");
        assert_eq!(moved.prefetched > 0, policy != Policy::None, "{policy}: {moved:?}");
        // The network is asked about each access at least once.
        let asks = policy == Policy::Oracle;
        assert_eq!(
            (moved.asked > 0, asks && moved.asked >= moved.heard),
            (asks, asks),
            "{policy}: {moved:?}"
        );
        waits.push((policy, moved.waits));
    }
    for policy in [Policy::Stride, Policy::Oracle] {
        // With short slices, lanes that wait hear that others of their pages were used.
        let short = Bounds { slice_steps: Some(40), ..places(70) };
        run_twice(&mut pair(8, 30, prefetching(policy, short)), 30);
        run_twice(&mut pair(5, 20, prefetching(policy, eager(60))), 20);
    }
    // The pages are used in a row, forwards and then backwards.
    let of =
        |wanted: Policy| waits.iter().find(|(policy, _)| *policy == wanted).map_or(0, |(_, waits)| *waits);
    assert!(2 * of(Policy::Stride) < of(Policy::None), "strides save more than half of the waits: {waits:?}");
    for policy in [Policy::Next, Policy::BestOffset, Policy::Oracle] {
        assert!(of(policy) < of(Policy::None), "{policy} saves some: {waits:?}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn what_the_oracle_learns_changes_no_result() {
    let learning = Learning::new(3);
    let prefetch = Prefetch::new(Policy::Oracle, Degree::ONE).expect("the weights are there");
    let prefetch = prefetch.with_learning(&learning);
    let mut pair = pair(24, 60, Bounds { prefetch, ..places(300) });
    run_twice(&mut pair, 60);
    let learned = learning.oracle().expect("the engine has begun with the oracle");
    assert!(learned.heard > 1000, "the learner hears what the prefetchers hear: {learned}");
    let weights = learning.weights().expect("weights of a network");
    assert_eq!(weights.len(), 1, "of the memory oracle");
    Prefetch::with_weights(&weights[0], Degree::ONE).expect("weights of the oracle");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn snapshots_and_resets_in_any_order_while_pages_are_prefetched() {
    any_order(5, prefetching(Policy::Next, places(64)));
    any_order(6, prefetching(Policy::BestOffset, eager(80)));
    any_order(7, prefetching(Policy::Markov, places(70)));
    any_order(8, prefetching(Policy::Oracle, eager(64)));
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn prefetched_pages_do_not_drive_out_those_of_the_current_instruction() {
    // An exchange of many dispatches made pages old that were used in the slice before it.
    any_order(13, prefetching(Policy::Next, eager(64)));
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn lanes_stop_when_the_host_has_no_room_either() {
    let bounds = Bounds { memory: Some(MemoryLimits::new(0, 60 * PAGE)), ..places(60) };
    let mut pair = EnginePair::bounded(&[text_and_data(50, passes)], 4, 50, bounds);
    pair.call_both("a snapshot", |executor| executor.snapshot());
    start(&mut pair, 50);
    let go_on = &mut |_| ControlFlow::Continue(());
    pair.gpu.run(&[u64::MAX; 4], go_on).expect("the GPU works");
    let stops: Vec<_> = (0..4).map(|lane| pair.gpu.stop(lane).expect("the GPU works")).collect();
    assert!(stops.contains(&Some(Stop::OutOfFrames)), "208 frames do not fit: {stops:?}");
    // The reference runs each lane for as many steps as it did on the GPU, and has to be in the same state then.
    let steps: Vec<u64> = (0..4).map(|lane| pair.gpu.steps(lane).expect("the GPU works")).collect();
    pair.reference.run(&steps, go_on).expect("the reference works");
    for (lane, stop) in stops.iter().enumerate() {
        pair.reference.set_stop(lane, *stop).expect("the reference works");
    }
    pair.assert_same("with all places in use");
    // After a reset, there is room for fewer pages.
    pair.call_both("a reset", |executor| executor.reset(&[0, 1, 2, 3]));
    start(&mut pair, 10);
    pair.run(u64::MAX);
    let lanes = pair.assert_same("after the reset");
    assert!(lanes.iter().all(|lane| lane.stop == Some(Stop::Halt { imm: 0 })), "all lanes have halted");
}
