//! The device that all tests share, executors of both engines, and comparisons of their lanes.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use kvrm_arm64::asm::Assembler;
use kvrm_gpu::device::{LoopLimit, loop_limit};
use kvrm_gpu::{Bounds, ClassSelection, Device, GpuEngine, GpuExecutor};
use kvrm_machine::{Cpu, Error, Executor, Factory, Image, Machine, Permissions, Plan, ReferenceEngine, Stop};
pub(crate) use kvrm_testkit::images::{CODE, PAGE, assemble, busy, image, raw, segment};
use kvrm_testkit::lanes;
pub(crate) use kvrm_testkit::lanes::Lane;

/// The shared device, as opening one takes longer than most tests.
static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    Device::open(None).unwrap_or_else(|error| panic!("{error}; KVRM_GPU=skip leaves these tests out"))
});

pub(crate) fn device() -> &'static Device {
    &DEVICE
}

/// Keeps tests from running at the same time that lose the device which the process shares.
pub(crate) fn lock_device() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asserts that an error says that the device was lost and the lanes are kept.
pub(crate) fn assert_kept(error: &Error) {
    let cause = std::error::Error::source(error).expect("the error has a cause");
    let cause: &kvrm_gpu::Error = cause.downcast_ref().expect("the cause is an error of the GPU");
    assert!(matches!(cause, kvrm_gpu::Error::DeviceLost { is_recoverable: true, .. }), "{cause}");
    assert!(cause.to_string().contains("are kept as they were before"), "{cause}");
}

/// The GPU engine on the device of the tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gpu;

impl Factory for Gpu {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        GpuEngine::new(device().clone()).executor(plan)
    }

    fn images_max(&self) -> usize {
        GpuEngine::new(device().clone()).images_max()
    }
}

/// The GPU engine with bounds below the limits of its device.
#[derive(Clone, Debug)]
pub(crate) struct BoundedGpu(pub(crate) Bounds);

impl Factory for BoundedGpu {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        Ok(Box::new(GpuExecutor::with_bounds(device(), plan, &ClassSelection::TABLE, self.0.clone())?))
    }

    fn images_max(&self) -> usize {
        Gpu.images_max()
    }
}

/// Returns whether the driver of the device cuts off loops.
pub(crate) fn cuts_off_loops() -> bool {
    loop_limit(device()).expect("the GPU works").is_some()
}

/// The loop limit of a driver that ends loops after 2,000 iterations of eight invocations together.
pub(crate) const LOOP_LIMIT: Option<LoopLimit> = Some(LoopLimit { iterations: 2_000, sharers: 8 });

/// A GPU engine with one lane in each workgroup, which has its own interpreter.
pub(crate) const ONE_LANE_WORKGROUPS: BoundedGpu = BoundedGpu(Bounds { workgroup: Some(1), ..Bounds::NONE });

/// A GPU engine with the interpreter for many lanes, which software adapters do not use by themselves.
pub(crate) const STAGES: BoundedGpu = BoundedGpu(Bounds { stages_min: Some(2), ..Bounds::NONE });

/// A GPU engine with the same interpreter, in which lanes vote.
pub(crate) const VOTES: BoundedGpu = BoundedGpu(Bounds { stages_min: Some(2), votes: true, ..Bounds::NONE });

/// The address of the data of [`text_and_data`].
pub(crate) const DATA: u64 = 0x2_0000;

/// Returns an image with a page of code, which is not writable, and some pages of writable data.
pub(crate) fn text_and_data(pages: u64, write: impl FnOnce(&mut Assembler)) -> Arc<Image> {
    image(&[
        segment(CODE, PAGE, assemble(write), Permissions::RX),
        segment(DATA, pages * PAGE, Vec::new(), Permissions::RW),
    ])
}

/// The same lanes on both engines, for tests that do the same to both and compare the results.
pub(crate) struct EnginePair {
    pub(crate) gpu: Box<dyn Executor>,
    pub(crate) reference: Box<dyn Executor>,
}

impl EnginePair {
    pub(crate) fn new(images: &[Arc<Image>], lanes: usize, frames_max: usize) -> Self {
        let plan = Plan { images, lanes, frames_max, calls: None, loops: None };
        let gpu = Gpu.executor(&plan).expect("the lanes fit");
        Self { gpu, reference: ReferenceEngine.executor(&plan).expect("the lanes fit") }
    }

    /// Makes the lanes with bounds on the GPU.
    pub(crate) fn bounded(images: &[Arc<Image>], lanes: usize, frames_max: usize, bounds: Bounds) -> Self {
        Self::with_class_selection(images, lanes, frames_max, &ClassSelection::TABLE, bounds)
    }

    /// Makes the lanes with a class selection and bounds on the GPU.
    pub(crate) fn with_class_selection(
        images: &[Arc<Image>],
        lanes: usize,
        frames_max: usize,
        selection: &ClassSelection,
        bounds: Bounds,
    ) -> Self {
        let plan = Plan { images, lanes, frames_max, calls: None, loops: None };
        let gpu = GpuExecutor::with_bounds(device(), &plan, selection, bounds).expect("the lanes fit");
        Self { gpu: Box::new(gpu), reference: ReferenceEngine.executor(&plan).expect("the lanes fit") }
    }

    /// Makes a call on both executors, asserts that the results are equal, and returns the result.
    pub(crate) fn call_both<T: PartialEq + fmt::Debug>(
        &mut self,
        what: &str,
        mut act: impl FnMut(&mut dyn Executor) -> Result<T, Error>,
    ) -> T {
        let gpu = act(&mut *self.gpu).expect("the GPU works");
        let reference = act(&mut *self.reference).expect("the reference works");
        assert_eq!(gpu, reference, "{what}: the GPU on the left, the reference on the right");
        reference
    }

    /// Changes the registers of a lane.
    pub(crate) fn change_registers(&mut self, lane: usize, mut change: impl FnMut(&mut Cpu)) {
        self.call_both("registers", |executor| {
            let mut cpu = executor.cpu(lane)?;
            change(&mut cpu);
            executor.set_cpu(lane, &cpu)
        });
    }

    /// Runs every lane for at most `budget` more steps.
    pub(crate) fn run(&mut self, budget: u64) {
        self.call_both("a run", |executor| {
            for lane in 0..executor.lanes() {
                if executor.stop(lane)? == Some(Stop::Budget)
                    || executor.stop(lane)? == Some(Stop::OutOfFrames)
                {
                    executor.set_stop(lane, None)?;
                }
            }
            let steps =
                (0..executor.lanes()).map(|lane| executor.steps(lane)).collect::<Result<Vec<_>, _>>()?;
            let limits: Vec<u64> = steps.iter().map(|steps| steps.saturating_add(budget)).collect();
            executor.run(&limits, &mut |_| ControlFlow::Continue(())).map(drop)
        });
    }

    /// Asserts that the visible state of all lanes is the same on both engines, and returns it.
    pub(crate) fn assert_same(&mut self, when: &str) -> Vec<Lane> {
        let (gpu, reference) = (lanes(&mut *self.gpu), lanes(&mut *self.reference));
        for (number, (gpu, reference)) in gpu.iter().zip(&reference).enumerate() {
            assert_eq!(
                gpu, reference,
                "lane {number} {when}: the GPU on the left, the reference on the right"
            );
        }
        self.call_both("frames in use", |executor| executor.frames_used());
        reference
    }
}

/// Audits an executor and returns all of its lanes.
pub(crate) fn lanes(executor: &mut dyn Executor) -> Vec<Lane> {
    assert_eq!(
        executor.audit().expect("the engine works"),
        [],
        "violations in the engine {}",
        executor.name()
    );
    lanes::of_executor(executor).expect("the engine works")
}

/// Reads mapped memory of a lane.
pub(crate) fn read(executor: &mut dyn Executor, lane: usize, address: u64, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    executor
        .read_memory(lane, address, &mut out, None)
        .expect("the engine works")
        .expect("the memory is mapped");
    out
}

/// A lane of a machine, with its output.
pub(crate) type LaneAndOutput = (Lane, String);

/// Audits a machine and returns all of its lanes with their output.
pub(crate) fn machine_lanes(machine: &mut Machine) -> Vec<LaneAndOutput> {
    assert_eq!(
        machine.audit().expect("the engine works"),
        [],
        "violations in the engine {}",
        machine.engine()
    );
    let lanes = lanes::of_machine(machine).expect("the engine works").into_iter();
    lanes.map(|(lane, [output, _])| (lane, String::from_utf8_lossy(&output).into_owned())).collect()
}

/// Asserts that all lanes of two machines and their output are equal, and returns them.
pub(crate) fn assert_same_machines(
    gpu: &mut Machine,
    reference: &mut Machine,
    what: &str,
) -> Vec<LaneAndOutput> {
    let (seen, expected) = (machine_lanes(gpu), machine_lanes(reference));
    for (number, (gpu, reference)) in seen.iter().zip(&expected).enumerate() {
        assert_eq!(gpu, reference, "{what}, lane {number}: the GPU on the left, the reference on the right");
    }
    expected
}
