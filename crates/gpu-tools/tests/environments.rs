//! Environments on a GPU and on the CPU give the same results.

use kvrm_environments::{Batch, Environments, Variable, VariableType};
use kvrm_gpu::GpuEngine;
use kvrm_machine::{Factory, Machine, Program, ReferenceEngine, ViewFormat};

const LANES: usize = 24;

fn environments(engine: impl Factory, format: ViewFormat, shift: u32) -> Environments {
    let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/environments/bin/catch.elf");
    let program = Program::open(guest).expect("the guest is a program");
    let start = Machine::builder(program).arguments(|_| vec!["0".into()]).build().expect("it is built");
    Environments::builder(start)
        .lanes(LANES)
        .engine(engine)
        .seed(5)
        .scenario(2)
        .format(format)
        .downscale(shift)
        .crop(4..60, 0..48)
        .episode_steps(20)
        .variables([Variable::named("catch_ball_x", VariableType::I32)])
        .build()
        .expect("catch is an environment")
}

/// Returns the action of a lane in a step: anything that repeats rarely.
fn action(lane: usize, step: usize) -> [i32; 2] {
    let mixed = (lane * 31 + step * 17).wrapping_mul(0x9e37_79b9) >> 7;
    [(mixed % 3) as i32 - 1, i32::from(mixed.is_multiple_of(5))]
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn all_results_of_a_gpu_are_those_of_the_cpu() {
    let gpu =
        GpuEngine::open(None).unwrap_or_else(|error| panic!("{error}; KVRM_GPU=skip leaves this test out"));
    for (format, shift) in [(ViewFormat::Index, 0), (ViewFormat::Rgb, 1), (ViewFormat::Grey, 3)] {
        let mut ours = environments(gpu.clone(), format, shift);
        let mut theirs = environments(ReferenceEngine, format, shift);
        let mut ends = 0;
        for step in 0..48 {
            let actions: Vec<i32> = (0..LANES).flat_map(|lane| action(lane, step)).collect();
            let ours = ours.step(&actions).expect("lanes take a step");
            let theirs = theirs.step(&actions).expect("lanes take a step");
            assert_eq!(ours.observations, theirs.observations, "step {step}, {format:?}");
            let rest = |of: &Batch<'_>| {
                let lists = (of.rewards.to_vec(), of.masks.to_vec(), of.variables.to_vec());
                (
                    lists,
                    of.terminations.to_vec(),
                    of.truncations.to_vec(),
                    of.instructions.to_vec(),
                    of.stops.to_vec(),
                )
            };
            assert_eq!(rest(&ours), rest(&theirs), "step {step}, {format:?}");
            ends += ours.terminations.iter().chain(ours.truncations).filter(|end| **end).count();
        }
        assert!(ends >= 2 * LANES, "episodes end, and others begin: {ends}");
    }
}
