//! Random programs stop at breakpoints and watchpoints as on the reference.

use kvrm_arm64::Features;
use kvrm_jit::JitEngine;
use kvrm_machine::vectors::Vector;
use kvrm_machine::{Access, Hooks, Stop};
use kvrm_testkit::pair::Pair;
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::support::SIZES;

#[test]
fn random_programs_stop_at_random_hooks() {
    let random = &mut Random::new(3);
    let mut counts = [0; 3];
    for size in SIZES {
        let programs: Vec<Vector> = (0..48)
            .map(|lane| programs::with_features(&format!("{lane}"), Features::GENERAL, 96, 300, random))
            .collect();
        let limits: Vec<u64> = programs.iter().map(|program| program.steps).collect();
        let mut pair = Pair::of_programs(&programs, &JitEngine::eager(size));
        // Without hooks first, so that there is code that must not be used any more.
        let after = |eighths: u64| limits.iter().map(|limit| limit * eighths / 8).collect::<Vec<_>>();
        pair.run(&after(1));
        for round in 0..6 {
            let mut hooks = Hooks::new();
            for _ in 0..16 {
                let cpu = pair.reference.cpu(random.below(48) as usize).expect("the engine works");
                let (code, data) = (cpu.pc + 4 * random.below(16), cpu.x(random.below(31) as u32));
                let data = data.wrapping_add(random.below(64)).min(1 << 47);
                let length = 1 + random.below(if round % 2 == 0 { 8 } else { 600 });
                hooks = match random.below(4) {
                    0 => hooks.breakpoints(code..code + length),
                    1 => hooks.watch_reads(data..data + length),
                    _ => hooks.watch_writes(data..data + length),
                };
            }
            // The last run is without hooks again.
            pair.set_hooks(&if round == 5 { Hooks::new() } else { hooks });
            pair.run(&after(round + 3));
            for lane in pair.assert_same(&|lane| format!("{lane}, round {round}, size {size}")) {
                match lane.stop {
                    Some(Stop::HardwareBreakpoint) => counts[0] += 1,
                    Some(Stop::Watchpoint { access: Access::Read, .. }) => counts[1] += 1,
                    Some(Stop::Watchpoint { .. }) => counts[2] += 1,
                    _ => {}
                }
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "breakpoints, loads and stores: {counts:?}");
}
