//! Snapshot and reset, of all lanes and of some, compared with the reference.

use kvrm_arm64::Op;
use kvrm_arm64::asm::{Arg, X1, X2, X3, at};
use kvrm_machine::Error;
use kvrm_testkit::random::Random;

use crate::support::{CODE, EnginePair, PAGE, busy, raw};

const LANES: usize = 6;

fn new_pair() -> EnginePair {
    let mut pair = EnginePair::new(&[raw(busy)], LANES, 16);
    for lane in 0..LANES {
        pair.change_registers(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, 1 + lane as u64);
            cpu.v[3] = 1 << lane;
            cpu.tpidr_el0 = 77;
        });
    }
    pair
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn runs_after_a_reset_repeat_the_runs_after_the_snapshot() {
    let mut pair = new_pair();
    // The first snapshot has no private page; later ones have some, and changed code.
    for steps in [0, 30, 500, 0, 77] {
        pair.run(steps);
        pair.call_both("a snapshot", |executor| executor.snapshot());
        let there = pair.assert_same("at the snapshot");
        pair.run(300);
        let end = pair.assert_same("after the snapshot");
        assert!(end != there, "the lanes have run");
        for _ in 0..3 {
            pair.call_both("a reset", |executor| executor.reset(&[0, 1, 2, 3, 4, 5]));
            assert!(pair.assert_same("after a reset") == there, "the state is that of the snapshot");
            pair.run(300);
            assert!(pair.assert_same("after a run") == end, "the run has the same end");
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_reset_affects_only_the_named_lanes() {
    let mut pair = new_pair();
    pair.run(100);
    pair.call_both("a snapshot", |executor| executor.snapshot());
    for chosen in [&[0, 2][..], &[], &[5, 5, 1], &[3]] {
        pair.run(170);
        pair.call_both("a reset", |executor| executor.reset(chosen));
        pair.assert_same("after a reset of some");
    }
    pair.run(1000);
    pair.assert_same("at the end");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn snapshots_resets_writes_and_runs_in_any_order() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let mut pair = new_pair();
        pair.call_both("a snapshot", |executor| executor.snapshot());
        for round in 0..40 {
            match random.below(6) {
                0 => pair.call_both("a snapshot", |executor| executor.snapshot()),
                1 => {
                    let lanes: Vec<usize> = (0..LANES).filter(|_| random.below(2) == 0).collect();
                    pair.call_both("a reset", |executor| executor.reset(&lanes));
                }
                2 => {
                    let (lane, at) =
                        (random.below(LANES as u64) as usize, CODE + PAGE + random.below(9 * PAGE));
                    let bytes: Vec<u8> = (0..1 + random.below(5000)).map(|_| random.bits() as u8).collect();
                    pair.call_both("a write", |executor| executor.write_memory(lane, at, &bytes, None))
                        .expect("the memory is mapped");
                }
                3 => {
                    let lane = random.below(LANES as u64) as usize;
                    let x = random.bits();
                    pair.change_registers(lane, |cpu| cpu.set_x(0, x));
                }
                _ => pair.run(random.below(200)),
            }
            if random.below(3) == 0 {
                pair.assert_same(&format!("in round {round} of seed {seed}"));
            }
        }
        pair.assert_same(&format!("at the end of seed {seed}"));
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn frames_are_used_again_after_a_reset() {
    let mut pair = new_pair();
    pair.call_both("a snapshot", |executor| executor.snapshot());
    for _ in 0..50 {
        pair.run(300);
        pair.call_both("a reset", |executor| executor.reset(&[0, 1, 2, 3, 4, 5]));
    }
    pair.run(300);
    pair.assert_same("after many resets");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_reset_without_a_snapshot_is_an_error() {
    let mut pair = new_pair();
    for executor in [&mut pair.gpu, &mut pair.reference] {
        let error = executor.reset(&[0]).expect_err("there is no snapshot");
        assert!(matches!(error, Error::NoSnapshot), "{error}");
    }
    pair.assert_same("after the attempt");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_reset_restores_changed_code() {
    // The changed word is executed before and after the change. The reset restores it.
    let nop = Op::NOP_HI_hints.encoding().pattern.canonical();
    let image = raw(|a| {
        a.mov(X1, nop as i64).mov(X2, (CODE + 0x20) as i64);
        while a.here() < CODE + 0x20 {
            a.nop();
        }
        a.add(X3, X3, 1).str(X1, at(X2, 0)).b_cond("al", Arg::Offset(-8)).hlt(0);
    });
    let mut pair = EnginePair::new(&[image], 2, 16);
    (0..2).for_each(|lane| pair.change_registers(lane, |cpu| cpu.pc = CODE));
    pair.call_both("a snapshot", |executor| executor.snapshot());
    for _ in 0..3 {
        pair.run(40);
        let lanes = pair.assert_same("after the change");
        assert_eq!(lanes[0].cpu.x(3), 1, "the ADD is executed once; then it is a NOP");
        pair.call_both("a reset", |executor| executor.reset(&[0, 1]));
    }
}
