//! Programs that change their own code, beside lanes with the same image that do not.

use kvrm_arm64::asm::{Assembler, W3, X0, X1, X2, X3, X4, at};
use kvrm_jit::JitEngine;
use kvrm_testkit::images::{CODE, PAGE, raw};
use kvrm_testkit::pair::Pair;

use crate::support::SIZES;

/// A loop that adds a number to X4. If X1 is not 0, each round makes the number greater by storing the instruction.
fn program(a: &mut Assembler) {
    let (again, plain) = (a.label(), a.label());
    a.mov(X2, CODE as i64);
    a.bind(again);
    // The instruction at CODE + 4 * CHANGED.
    a.add(X4, X4, 1);
    a.cbz(X1, plain);
    a.ldr(W3, at(X2, 4 * CHANGED)).add(W3, W3, 0x400).str(W3, at(X2, 4 * CHANGED));
    a.bind(plain);
    a.sub(X0, X0, 1).cbnz(X0, again);
    a.mov(X3, (CODE + PAGE) as i64).str(X4, at(X3, 0)).hlt(1);
}

/// The number of the instruction that the program changes; `mov` of an address takes one instruction.
const CHANGED: i64 = 1;

#[test]
fn changed_code_is_executed_at_once_and_only_by_the_lane_that_changed_it() {
    for size in SIZES {
        let mut pair = Pair::new(&[raw(program)], 6, 4, &JitEngine::eager(size));
        pair.both(|executor| {
            for lane in 0..6 {
                let mut cpu = executor.cpu(lane).expect("the engine works");
                cpu.pc = CODE;
                cpu.set_x(0, 50 + lane as u64);
                cpu.set_x(1, lane as u64 % 2);
                executor.set_cpu(lane, &cpu).expect("the engine works");
            }
        });
        for limit in [37, 101, 1_000] {
            pair.run(&[limit; 6]);
            let lanes = pair.assert_same(&|lane| format!("{lane}, size {size}, limit {limit}"));
            if limit == 1_000 {
                let sums: Vec<u64> = lanes.iter().map(|lane| lane.cpu.x(4)).collect();
                let changing = |rounds: u64| rounds * (rounds + 1) / 2;
                assert_eq!(sums, [50, changing(51), 52, changing(53), 54, changing(55)], "size {size}");
            }
            if limit == 37 {
                pair.both(|executor| executor.snapshot().expect("the engine works"));
            }
        }
        pair.both(|executor| executor.reset(&[0, 1, 2, 3]).expect("there is a snapshot"));
        pair.run(&[1_000; 6]);
        pair.assert_same(&|lane| format!("{lane}, size {size}, after the reset"));
    }
}
