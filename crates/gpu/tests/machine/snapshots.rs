//! Snapshot and reset, of all and of chosen lanes, beside the reference doing the same.

use kvrm_arm64::Op;
use kvrm_arm64::asm::{Arg, X1, X2, X3, at};
use kvrm_machine::Error;
use kvrm_testkit::random::Random;

use crate::support::{Both, CODE, PAGE, busy, raw};

const LANES: usize = 6;

fn both() -> Both {
    let mut both = Both::new(&[raw(busy)], LANES, 16);
    for lane in 0..LANES {
        both.change(lane, |cpu| {
            cpu.pc = CODE;
            cpu.set_x(0, 1 + lane as u64);
            cpu.v[3] = 1 << lane;
            cpu.tpidr_el0 = 77;
        });
    }
    both
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn what_follows_a_reset_is_what_followed_the_snapshot() {
    let mut both = both();
    // The first snapshot has no page of its own, later ones have, and code that was changed.
    for steps in [0, 30, 500, 0, 77] {
        both.run(steps);
        both.each("a snapshot", |executor| executor.snapshot());
        let there = both.same("at the snapshot");
        both.run(300);
        let end = both.same("behind it");
        assert!(end != there, "lanes have gone on");
        for _ in 0..3 {
            both.each("a reset", |executor| executor.reset(&[0, 1, 2, 3, 4, 5]));
            assert!(both.same("after a reset") == there, "back to the snapshot");
            both.run(300);
            assert!(both.same("behind a reset") == end, "and on to the same end");
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_reset_takes_back_only_the_lanes_it_names() {
    let mut both = both();
    both.run(100);
    both.each("a snapshot", |executor| executor.snapshot());
    for chosen in [&[0, 2][..], &[], &[5, 5, 1], &[3]] {
        both.run(170);
        both.each("a reset", |executor| executor.reset(chosen));
        both.same("after a reset of some");
    }
    both.run(1000);
    both.same("at the end");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn snapshots_resets_writes_and_runs_in_any_order() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let mut both = both();
        both.each("a snapshot", |executor| executor.snapshot());
        for round in 0..40 {
            match random.below(6) {
                0 => both.each("a snapshot", |executor| executor.snapshot()),
                1 => {
                    let lanes: Vec<usize> = (0..LANES).filter(|_| random.below(2) == 0).collect();
                    both.each("a reset", |executor| executor.reset(&lanes));
                }
                2 => {
                    let (lane, at) =
                        (random.below(LANES as u64) as usize, CODE + PAGE + random.below(9 * PAGE));
                    let bytes: Vec<u8> = (0..1 + random.below(5000)).map(|_| random.bits() as u8).collect();
                    both.each("a write", |executor| executor.write_memory(lane, at, &bytes, None))
                        .expect("it is mapped");
                }
                3 => {
                    let lane = random.below(LANES as u64) as usize;
                    let x = random.bits();
                    both.change(lane, |cpu| cpu.set_x(0, x));
                }
                _ => both.run(random.below(200)),
            }
            if random.below(3) == 0 {
                both.same(&format!("in round {round} of seed {seed}"));
            }
        }
        both.same(&format!("at the end of seed {seed}"));
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn frames_are_used_again_after_a_reset() {
    let mut both = both();
    both.each("a snapshot", |executor| executor.snapshot());
    for _ in 0..50 {
        both.run(300);
        both.each("a reset", |executor| executor.reset(&[0, 1, 2, 3, 4, 5]));
    }
    both.run(300);
    both.same("after many resets");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn without_a_snapshot_there_is_nothing_to_go_back_to() {
    let mut both = both();
    for executor in [&mut both.gpu, &mut both.reference] {
        let error = executor.reset(&[0]).expect_err("there is none");
        assert!(matches!(error, Error::NoSnapshot), "{error}");
    }
    both.same("after the attempt");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn code_that_was_changed_is_as_it_was_after_a_reset() {
    // The word that is changed runs before and after the change; the reset takes it back.
    let nop = Op::NOP_HI_hints.encoding().pattern.canonical();
    let image = raw(|a| {
        a.mov(X1, nop as i64).mov(X2, (CODE + 0x20) as i64);
        while a.here() < CODE + 0x20 {
            a.nop();
        }
        a.add(X3, X3, 1).str(X1, at(X2, 0)).b_cond("al", Arg::Offset(-8)).hlt(0);
    });
    let mut both = Both::new(&[image], 2, 16);
    (0..2).for_each(|lane| both.change(lane, |cpu| cpu.pc = CODE));
    both.each("a snapshot", |executor| executor.snapshot());
    for _ in 0..3 {
        both.run(40);
        let lanes = both.same("after the change");
        assert_eq!(lanes[0].cpu.x(3), 1, "it counts once; then it is a NOP");
        both.each("a reset", |executor| executor.reset(&[0, 1]));
    }
}
