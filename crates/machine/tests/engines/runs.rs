//! Tests of runs of an executor: limits, slices, and observers that break.

use std::ops::ControlFlow;

use kvrm_arm64::asm::{X0, X1};
use kvrm_machine::{Cpu, Executor, Plan, Progress, Reference, Register, RunStats, Stop};

use crate::support::{CODE, image};

/// Returns lanes that count X0 down to 0, three steps per count, and halt.
fn counting_lanes(counts: &[u64]) -> Reference {
    let images = [image(|a| {
        let again = a.label();
        a.bind(again);
        a.add(X1, X1, X0).subs(X0, X0, 1).b_cond("ne", again).hlt(0);
    })];
    let mut executor = Reference::new(&Plan {
        images: &images,
        lanes: counts.len(),
        frames_max: 0,
        calls: None,
        loops: None,
    })
    .unwrap();
    for (lane, &count) in counts.iter().enumerate() {
        let mut cpu = Cpu::new(CODE, 0);
        cpu.set_x(0, count);
        executor.set_cpu(lane, &cpu).unwrap();
    }
    executor
}

fn registers(executor: &mut Reference, register: Register) -> Vec<u64> {
    let mut values = Vec::new();
    executor.registers(register, &mut values).unwrap();
    values
}

#[test]
fn every_lane_has_its_own_limit_and_stays_where_it_stops() {
    let mut executor = counting_lanes(&[5, 5, 5, 5, 5]);
    executor.set_stop(4, Some(Stop::Breakpoint { imm: 9 })).unwrap();
    let stats = executor.run(&[0, 1, 15, 16, 100], &mut |_| panic!("too short to be observed")).unwrap();
    assert_eq!(stats, RunStats { dispatches: 0, progress: stats.progress }, "no device");
    assert_eq!(registers(&mut executor, Register::Steps), [0, 1, 15, 15, 0], "steps");
    let stops = [0, 1, 2, 3, 4].map(|lane| executor.stop(lane).unwrap().unwrap());
    let halt = Stop::Halt { imm: 0 };
    assert_eq!(stops, [Stop::Budget, Stop::Budget, Stop::Budget, halt, Stop::Breakpoint { imm: 9 }], "stops");
    // A limit below the steps of a lane stops it at once.
    executor.set_stop(2, None).unwrap();
    executor.run(&[0, 0, 3, 0, 0], &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(executor.stop(2).unwrap(), Some(Stop::Budget), "the limit is below its steps");
    assert_eq!(executor.steps(2).unwrap(), 15, "the lane retires no step");
}

#[test]
fn lanes_continue_to_the_same_end_after_an_observer_breaks() {
    let mut counts = vec![1; 10_000];
    (counts[3], counts[7]) = (20_000, 30_000);
    let limits = vec![u64::MAX; counts.len()];
    let mut whole = counting_lanes(&counts);
    whole.run(&limits, &mut |_| ControlFlow::Continue(())).unwrap();
    let mut executor = counting_lanes(&counts);
    let mut breaks = 0;
    loop {
        let before: u64 = registers(&mut executor, Register::Steps).iter().sum();
        let mut seen = None;
        let observe = &mut |now: Progress| {
            assert_eq!(seen.replace(now), None, "a run does not call its observer after a break");
            ControlFlow::Break(())
        };
        executor.run(&limits, observe).unwrap();
        let Some(Progress { steps, running, .. }) = seen else { break };
        breaks += 1;
        let after: u64 = registers(&mut executor, Register::Steps).iter().sum();
        assert_eq!(steps, after - before, "the steps of this call");
        let going = (0..counts.len()).filter(|&lane| executor.stop(lane).unwrap().is_none());
        assert_eq!(going.count(), running, "lanes that can go on have no stop");
    }
    assert!(breaks > 3, "the observer broke {breaks} times");
    for register in [Register::X(1), Register::Pc, Register::Steps, Register::Nzcv] {
        assert_eq!(registers(&mut executor, register), registers(&mut whole, register), "{register:?}");
    }
}
