//! The engines of the tests, and comparisons of their lanes with those of the reference.

use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_jit::JitEngine;
use kvrm_machine::vectors::Vector;
use kvrm_machine::{
    Builder, Cpu, Executor, Factory, Hooks, Image, Machine, PAGE_BYTES, Plan, ReferenceEngine, Stop,
};
use kvrm_testkit::lanes::{self, Lane, LaneWithOutputs};

/// Translates everything at once, in regions of different sizes.
pub(crate) const SIZES: [usize; 3] = [1, 7, 256];

/// The number of frames of a lane.
const FRAMES: usize = 16;

/// The state of a lane, including mapped pages that it has not written.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) lane: Lane,
    mapped: Vec<(u64, Vec<u8>)>,
}

/// Returns the image of a program.
pub(crate) fn image(program: &Vector) -> Arc<Image> {
    Arc::new(Image::new(&program.segments(), program.machine_features()).expect("programs fit"))
}

/// The same lanes on the JIT and on the reference.
pub(crate) struct Pair {
    pub(crate) jit: Box<dyn Executor>,
    pub(crate) reference: Box<dyn Executor>,
}

impl Pair {
    /// Makes the lanes: a program in each.
    pub(crate) fn of_programs(programs: &[Vector], engine: &dyn Factory) -> Self {
        let images: Vec<Arc<Image>> = programs.iter().map(image).collect();
        let mut pair = Self::new(&images, images.len(), FRAMES, engine);
        pair.both(|executor| {
            for (lane, vector) in programs.iter().enumerate() {
                executor.set_cpu(lane, &vector.cpu()).expect("the engine works");
            }
        });
        pair
    }

    pub(crate) fn new(images: &[Arc<Image>], lanes: usize, frames_max: usize, engine: &dyn Factory) -> Self {
        let plan = Plan { images, lanes, frames_max, calls: None };
        let jit = engine.executor(&plan).expect("the lanes fit");
        assert_eq!(jit.name(), "jit", "the engine under test");
        Self { jit, reference: ReferenceEngine.executor(&plan).expect("the lanes fit") }
    }

    /// Does the same with both executors.
    pub(crate) fn both(&mut self, mut act: impl FnMut(&mut dyn Executor)) {
        act(&mut *self.jit);
        act(&mut *self.reference);
    }

    /// Sets hooks, and lets lanes go on that were stopped by others.
    pub(crate) fn set_hooks(&mut self, hooks: &Hooks) {
        self.both(|executor| {
            executor.set_hooks(hooks).expect("the engine works");
            for lane in 0..executor.lanes() {
                let stop = executor.stop(lane).expect("the engine works");
                if matches!(stop, Some(Stop::HardwareBreakpoint | Stop::Watchpoint { .. })) {
                    executor.set_stop(lane, None).expect("the engine works");
                }
            }
        });
    }

    /// Runs every lane up to its limit.
    pub(crate) fn run(&mut self, limits: &[u64]) {
        self.both(|executor| {
            for lane in 0..executor.lanes() {
                if executor.stop(lane).expect("the engine works") == Some(Stop::Budget) {
                    executor.set_stop(lane, None).expect("the engine works");
                }
            }
            executor.run(limits, &mut |_| ControlFlow::Continue(())).expect("the engine works");
        });
    }

    /// Describes the first difference of a lane, if there is one.
    pub(crate) fn difference(&mut self, lane: usize) -> Option<String> {
        let (seen, expected) = (outcomes(&mut *self.jit), outcomes(&mut *self.reference));
        let (a, b) = (&seen[lane].lane, &expected[lane].lane);
        if a.stop != b.stop {
            return Some(format!("stop {:?}, expected {:?}", a.stop, b.stop));
        }
        let register = (0..32).find(|n| a.cpu.v[*n] != b.cpu.v[*n]);
        if let Some(n) = register {
            return Some(format!("v{n} {:x}, expected {:x}", a.cpu.v[n], b.cpu.v[n]));
        }
        if a.cpu != b.cpu {
            let rest =
                |cpu: &Cpu| format!("fpcr {:x} fpsr {:x} {:?}\n{cpu:?}", cpu.fpcr, cpu.fpsr, cpu.monitor);
            return Some(format!("{}expected {}", rest(&a.cpu), rest(&b.cpu)));
        }
        (seen[lane] != expected[lane]).then(|| "memory".to_owned())
    }

    /// Asserts that all lanes are equal, and returns them.
    pub(crate) fn assert_same(&mut self, what: &dyn Fn(usize) -> String) -> Vec<Lane> {
        let (seen, expected) = (outcomes(&mut *self.jit), outcomes(&mut *self.reference));
        for (number, (seen, expected)) in seen.iter().zip(&expected).enumerate() {
            assert!(seen == expected, "lane {number}: {}", what(number));
        }
        expected.into_iter().map(|outcome| outcome.lane).collect()
    }
}

/// Audits an executor and returns the state of all lanes.
fn outcomes(executor: &mut dyn Executor) -> Vec<Outcome> {
    assert_eq!(executor.audit().expect("the engine works"), [], "violations in {}", executor.name());
    let lanes = lanes::of_executor(executor).expect("the engine works");
    let outcome = |(number, lane): (usize, Lane)| {
        let map = executor.page_map(number).expect("the engine works");
        let regions = map.regions().iter().filter(|region| region.end_page - region.first_page < 64);
        let pages = regions.flat_map(|region| region.first_page..region.end_page);
        let mapped = pages.map(|page| {
            let (address, mut bytes) = (page * PAGE_BYTES as u64, vec![0; PAGE_BYTES]);
            let read = executor.read_memory(number, address, &mut bytes, None).expect("the engine works");
            read.expect("the page is mapped");
            (address, bytes)
        });
        Outcome { mapped: mapped.collect(), lane }
    };
    lanes.into_iter().enumerate().map(outcome).collect()
}

/// Compares the end of a machine on the JIT with that on the reference, and returns the lanes.
pub(crate) fn compare_machines(
    builder: &dyn Fn() -> Builder<'static>,
    engine: JitEngine,
    what: &str,
) -> Vec<LaneWithOutputs> {
    let mut jit = builder().engine(engine).build().expect("the guest fits");
    let mut reference = builder().build().expect("the guest fits");
    let expected = reference.run(u64::MAX).expect("the reference works");
    let report = jit.run(u64::MAX).expect("the JIT works");
    assert_eq!((report.steps, &report.stops), (expected.steps, &expected.stops), "reports of {what}");
    assert_eq!((report.services, report.frames), (expected.services, expected.frames), "reports of {what}");
    assert_same_machines(&mut jit, &mut reference, what)
}

/// Asserts that all lanes of two machines and their output are equal, and returns them.
pub(crate) fn assert_same_machines(
    jit: &mut Machine,
    reference: &mut Machine,
    what: &str,
) -> Vec<LaneWithOutputs> {
    assert_eq!(jit.audit().expect("the JIT works"), [], "violations after {what}");
    let seen = lanes::of_machine(jit).expect("the JIT works");
    let expected = lanes::of_machine(reference).expect("the reference works");
    for (number, (seen, expected)) in seen.iter().zip(&expected).enumerate() {
        assert_eq!(seen, expected, "{what}, lane {number}: the JIT on the left, the reference on the right");
    }
    expected
}
