//! The same lanes on an engine and on the reference, and comparisons of them.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_arm64::disassemble;
use kvrm_machine::vectors::Vector;
use kvrm_machine::{
    AddressSpace, Cpu, Executor, Factory, Hooks, Image, Interpreter, PAGE_BYTES, Plan, ReferenceEngine, Stop,
};

use crate::lanes::{self, Lane};

/// The number of frames of a lane.
const FRAMES: usize = 16;

/// The state of a lane, including mapped pages that it has not written.
#[derive(Debug, PartialEq)]
struct Outcome {
    lane: Lane,
    mapped: Vec<(u64, Vec<u8>)>,
}

/// Returns the image of a program.
fn image(program: &Vector) -> Arc<Image> {
    Arc::new(Image::new(&program.segments(), program.machine_features()).expect("programs fit"))
}

/// The same lanes on an engine and on the reference. All calls panic if an engine fails.
pub struct Pair {
    /// The lanes on the engine under test.
    pub engine: Box<dyn Executor>,
    /// The lanes on the reference.
    pub reference: Box<dyn Executor>,
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair").field("engine", &self.engine.name()).finish_non_exhaustive()
    }
}

impl Pair {
    /// Makes the lanes: a program in each.
    ///
    /// # Panics
    ///
    /// The engine fails.
    pub fn of_programs(programs: &[Vector], engine: &dyn Factory) -> Self {
        let images: Vec<Arc<Image>> = programs.iter().map(image).collect();
        let mut pair = Self::new(&images, images.len(), FRAMES, engine);
        pair.both(|executor| {
            for (lane, vector) in programs.iter().enumerate() {
                executor.set_cpu(lane, &vector.cpu()).expect("the engine works");
            }
        });
        pair
    }

    /// Makes the lanes: all of one image, or each of its own.
    ///
    /// # Panics
    ///
    /// The lanes do not fit, or the engine is the reference.
    pub fn new(images: &[Arc<Image>], lanes: usize, frames_max: usize, engine: &dyn Factory) -> Self {
        let plan = Plan { images, lanes, frames_max, calls: None, loops: None };
        let engine = engine.executor(&plan).expect("the lanes fit");
        let reference = ReferenceEngine.executor(&plan).expect("the lanes fit");
        assert_ne!(engine.name(), reference.name(), "the engine under test");
        Self { engine, reference }
    }

    /// Does the same with both executors.
    pub fn both(&mut self, mut act: impl FnMut(&mut dyn Executor)) {
        act(&mut *self.engine);
        act(&mut *self.reference);
    }

    /// Sets hooks, and lets lanes go on that were stopped by others.
    ///
    /// # Panics
    ///
    /// An engine fails.
    pub fn set_hooks(&mut self, hooks: &Hooks) {
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
    ///
    /// # Panics
    ///
    /// An engine fails.
    pub fn run(&mut self, limits: &[u64]) {
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
    fn difference(&mut self, lane: usize) -> Option<String> {
        let (seen, expected) = (outcomes(&mut *self.engine), outcomes(&mut *self.reference));
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

    /// Asserts that all lanes are equal, and returns them. `what` describes the lane of a difference.
    ///
    /// # Panics
    ///
    /// A lane differs, or an engine fails.
    pub fn assert_same(&mut self, what: &dyn Fn(usize) -> String) -> Vec<Lane> {
        let (seen, expected) = (outcomes(&mut *self.engine), outcomes(&mut *self.reference));
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

/// Finds the first step after which a program differs from the reference, and describes its last instructions.
///
/// # Panics
///
/// The engine fails.
pub fn blame(program: &Vector, engine: &dyn Factory) -> String {
    let differs = |budget: &u64| {
        let mut pair = Pair::of_programs(std::slice::from_ref(program), engine);
        pair.run(&[*budget]);
        pair.difference(0)
    };
    let Some(first) = (0..=program.steps).find(|budget| differs(budget).is_some()) else {
        return format!("{}, not alone", program.name);
    };
    let mut memory = AddressSpace::new(Arc::clone(&image(program)), FRAMES);
    let (mut cpu, mut text) = (program.cpu(), Vec::new());
    while cpu.steps < first {
        let mut word = [0; 4];
        let read = memory.read_bytes(cpu.pc, &mut word, None).is_ok();
        let word = u32::from_le_bytes(word);
        text.push(format!("{:x} {read} {}", cpu.pc, disassemble(word, cpu.pc)));
        if Interpreter::step(&mut cpu, &mut memory).is_err() {
            break;
        }
    }
    let last = text[text.len().saturating_sub(12)..].join("\n");
    format!("{} differs after {first} steps, {}:\n{last}", program.name, differs(&first).unwrap_or_default())
}
