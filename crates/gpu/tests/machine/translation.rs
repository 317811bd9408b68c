//! Machines whose hot code is translated give the results of the reference.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_gpu::{Bounds, ClassSelection, GpuExecutor, RegionBounds, Translation};
use kvrm_machine::{Executor, Factory, Features, Image, Plan, ReferenceEngine};
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::support::{device, lanes};

/// Regions of some size that begin where lanes are when they start.
const fn translated(instructions: usize, quantum: u32) -> Bounds {
    let regions = RegionBounds { instructions, distance: 20, samples: 0, quantum };
    Bounds { translation: Translation::Always, regions: Some(regions), ..Bounds::NONE }
}

/// Runs random programs, four lanes each, in slices and with budgets that are not theirs.
fn run_random(bounds: Bounds, seed: u64, count: usize) -> u64 {
    let random = &mut Random::new(seed);
    let vectors: Vec<_> = (0..count)
        .map(|_| programs::with_features("translation", Features::GENERAL, 40, 1000, random))
        .collect();
    let image = |vector: &kvrm_machine::vectors::Vector| {
        Arc::new(Image::new(&vector.segments(), vector.machine_features()).expect("programs fit"))
    };
    let images: Vec<Arc<Image>> = vectors.iter().map(image).flat_map(|image| vec![image; 4]).collect();
    let plan = Plan { images: &images, lanes: images.len(), frames_max: 16, calls: None };
    let mut gpu =
        GpuExecutor::with_bounds(device(), &plan, &ClassSelection::TABLE, bounds).expect("lanes fit");
    let mut reference = ReferenceEngine.executor(&plan).expect("lanes fit");
    for lane in 0..images.len() {
        let mut cpu = vectors[lane / 4].cpu();
        for register in 0..8 {
            cpu.set_x(register, random.bits() >> random.below(64));
        }
        gpu.set_cpu(lane, &cpu).expect("the engine works");
        reference.set_cpu(lane, &cpu).expect("the engine works");
    }
    let mut limits = vec![0; images.len()];
    for _ in 0..4 {
        for limit in &mut limits {
            *limit += random.below(400);
        }
        for executor in [&mut gpu as &mut dyn Executor, &mut *reference] {
            for lane in 0..images.len() {
                if executor.stop(lane).expect("the engine works") == Some(kvrm_arm64::Stop::Budget) {
                    executor.set_stop(lane, None).expect("the engine works");
                }
            }
            executor.run(&limits, &mut |_| ControlFlow::Continue(())).expect("the engine works");
        }
        let (seen, expected) = (lanes(&mut gpu), lanes(&mut *reference));
        for (lane, (seen, expected)) in seen.iter().zip(&expected).enumerate() {
            assert_eq!(seen, expected, "lane {lane}: the GPU on the left, the reference on the right");
        }
    }
    gpu.translation().expect("the engine works").map_or(0, |report| report.steps)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_programs_in_regions_equal_the_reference() {
    for (seed, quantum) in [(0, 7), (1, 1 << 13)] {
        let steps = run_random(translated(400, quantum), seed, 16);
        assert!(steps > 2_000, "only {steps} steps were translated");
    }
}
