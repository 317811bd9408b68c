//! The device all tests share, executors of both engines, and all there is to see of their lanes.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use kvrm_arm64::asm::Assembler;
use kvrm_gpu::device::LoopLimit;
use kvrm_gpu::{Bounds, Device, Dispatch, GpuEngine, GpuExecutor};
use kvrm_machine::{Cpu, Error, Executor, Factory, Image, Machine, Permissions, Plan, ReferenceEngine, Stop};
pub(crate) use kvrm_testkit::images::{CODE, PAGE, assemble, busy, image, raw, segment};
use kvrm_testkit::lanes;
pub(crate) use kvrm_testkit::lanes::Lane;

/// Opening a device takes longer than most tests.
static DEVICE: LazyLock<Device> = LazyLock::new(|| {
    Device::open(None).unwrap_or_else(|error| panic!("{error}; KVRM_GPU=skip leaves these tests out"))
});

pub(crate) fn device() -> &'static Device {
    &DEVICE
}

/// Makes executors on the device of the tests.
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

/// The same, able to do less than it can.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded(pub(crate) Bounds);

impl Factory for Bounded {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        Ok(Box::new(GpuExecutor::with_bounds(device(), plan, &Dispatch::TABLE, self.0)?))
    }

    fn images_max(&self) -> usize {
        Gpu.images_max()
    }
}

/// As if the driver cut off loops after 2,000 iterations of eight invocations together.
pub(crate) const LOOPS: Option<LoopLimit> = Some(LoopLimit { iterations: 2_000, sharers: 8 });

/// Each lane is a workgroup, which has an interpreter of its own.
pub(crate) const ALONE: Bounded = Bounded(Bounds { workgroup: Some(1), ..Bounds::NONE });

/// Where [`text_and_data`] has its data.
pub(crate) const DATA: u64 = 0x2_0000;

/// A page of code that cannot be written, and some pages of data that can.
pub(crate) fn text_and_data(pages: u64, write: impl FnOnce(&mut Assembler)) -> Arc<Image> {
    image(&[
        segment(CODE, PAGE, assemble(write), Permissions::RX),
        segment(DATA, pages * PAGE, Vec::new(), Permissions::RW),
    ])
}

/// The same lanes on both engines. What is done to one is done to the other.
pub(crate) struct Both {
    pub(crate) gpu: Box<dyn Executor>,
    pub(crate) reference: Box<dyn Executor>,
}

impl Both {
    pub(crate) fn new(images: &[Arc<Image>], lanes: usize, frames_max: usize) -> Self {
        let plan = Plan { images, lanes, frames_max, calls: None };
        let gpu = Gpu.executor(&plan).expect("the lanes fit");
        Self { gpu, reference: ReferenceEngine.executor(&plan).expect("the lanes fit") }
    }

    /// The same on a GPU that can do less than the one there is.
    pub(crate) fn bounded(images: &[Arc<Image>], lanes: usize, frames_max: usize, bounds: Bounds) -> Self {
        Self::asking(images, lanes, frames_max, &Dispatch::TABLE, bounds)
    }

    /// The same with classes chosen by a network.
    pub(crate) fn asking(
        images: &[Arc<Image>],
        lanes: usize,
        frames_max: usize,
        dispatch: &Dispatch,
        bounds: Bounds,
    ) -> Self {
        let plan = Plan { images, lanes, frames_max, calls: None };
        let gpu = GpuExecutor::with_bounds(device(), &plan, dispatch, bounds).expect("the lanes fit");
        Self { gpu: Box::new(gpu), reference: ReferenceEngine.executor(&plan).expect("the lanes fit") }
    }

    /// The same on both; what comes back is the same, too.
    pub(crate) fn each<T: PartialEq + fmt::Debug>(
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
    pub(crate) fn change(&mut self, lane: usize, mut change: impl FnMut(&mut Cpu)) {
        self.each("registers", |executor| {
            let mut cpu = executor.cpu(lane)?;
            change(&mut cpu);
            executor.set_cpu(lane, &cpu)
        });
    }

    /// Runs every lane for at most so many steps more.
    pub(crate) fn run(&mut self, budget: u64) {
        self.each("a run", |executor| {
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

    /// All there is to see is the same on both; gives it.
    pub(crate) fn same(&mut self, when: &str) -> Vec<Lane> {
        let (gpu, reference) = (lanes(&mut *self.gpu), lanes(&mut *self.reference));
        for (number, (gpu, reference)) in gpu.iter().zip(&reference).enumerate() {
            assert_eq!(
                gpu, reference,
                "lane {number} {when}: the GPU on the left, the reference on the right"
            );
        }
        self.each("frames in use", |executor| executor.frames_used());
        reference
    }
}

/// Every lane of an executor, whose memory is audited.
pub(crate) fn lanes(executor: &mut dyn Executor) -> Vec<Lane> {
    assert_eq!(
        executor.audit().expect("the engine works"),
        [],
        "the audit of the engine {}",
        executor.name()
    );
    lanes::of_executor(executor).expect("the engine works")
}

/// Mapped memory of a lane, as the host sees it.
pub(crate) fn read(executor: &mut dyn Executor, lane: usize, address: u64, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    executor.read_memory(lane, address, &mut out, None).expect("the engine works").expect("it is mapped");
    out
}

/// A lane of a machine, with its output.
pub(crate) type Seen = (Lane, String);

/// Every lane of a machine, whose memory is audited, with its output.
pub(crate) fn machine_lanes(machine: &mut Machine) -> Vec<Seen> {
    assert_eq!(
        machine.audit().expect("the engine works"),
        [],
        "the audit of the engine {}",
        machine.engine()
    );
    let lanes = lanes::of_machine(machine).expect("the engine works").into_iter();
    lanes.map(|(lane, [output, _])| (lane, String::from_utf8_lossy(&output).into_owned())).collect()
}

/// Machines are the same in every lane.
pub(crate) fn same_machines(gpu: &mut Machine, reference: &mut Machine, what: &str) -> Vec<Seen> {
    let (seen, expected) = (machine_lanes(gpu), machine_lanes(reference));
    for (number, (gpu, reference)) in seen.iter().zip(&expected).enumerate() {
        assert_eq!(gpu, reference, "{what}, lane {number}: the GPU on the left, the reference on the right");
    }
    expected
}
