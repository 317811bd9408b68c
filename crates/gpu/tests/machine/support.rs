//! The device all tests share, executors of both engines, and all there is to see of their lanes.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use kvrm_arm64::asm::{Assembler, W4, X0, X1, X2, X3, X5, at};
use kvrm_gpu::{Bounds, Device, Dispatch, GpuEngine, GpuExecutor};
use kvrm_machine::{
    Cpu, Error, Executor, Factory, Features, Image, Machine, PAGE_BYTES, Permissions, Plan, ReferenceEngine,
    Segment, Stop, Stream,
};

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

/// Each lane is a workgroup, which has an interpreter of its own.
pub(crate) const ALONE: Bounded = Bounded(Bounds { workgroup: Some(1), ..Bounds::NONE });

/// Bytes of a page.
pub(crate) const PAGE: u64 = PAGE_BYTES as u64;
/// Where the programs of these tests lie.
pub(crate) const CODE: u64 = 0x1_0000;
/// Where [`text_and_data`] has its data.
pub(crate) const DATA: u64 = 0x2_0000;

/// The bytes of a program for [`CODE`].
pub(crate) fn assemble(write: impl FnOnce(&mut Assembler)) -> Vec<u8> {
    let mut assembler = Assembler::new(CODE);
    write(&mut assembler);
    let words = assembler.finish().expect("the programs of the tests assemble");
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// An image of segments, on a machine with every feature.
pub(crate) fn image(segments: &[Segment]) -> Arc<Image> {
    Arc::new(Image::new(segments, Features::ALL).expect("the images of the tests fit"))
}

/// A segment that is zero behind its data.
pub(crate) fn segment(address: u64, bytes: u64, data: Vec<u8>, permissions: Permissions) -> Segment {
    Segment { address, bytes, data, permissions }
}

/// 16 pages of memory that may be read, written and executed, a program at their begin.
pub(crate) fn raw(write: impl FnOnce(&mut Assembler)) -> Arc<Image> {
    image(&[segment(CODE, 16 * PAGE, assemble(write), Permissions::RWX)])
}

/// A page of code that cannot be written, and some pages of data that can.
pub(crate) fn text_and_data(pages: u64, write: impl FnOnce(&mut Assembler)) -> Arc<Image> {
    image(&[
        segment(CODE, PAGE, assemble(write), Permissions::RX),
        segment(DATA, pages * PAGE, Vec::new(), Permissions::RW),
    ])
}

/// Goes round for ever: sums x0 into one page after the other, and changes an instruction of its own: `add x3,
/// x3, #1` becomes `#2`, and so on.
pub(crate) fn busy(a: &mut Assembler) {
    let (start, again) = (a.label(), a.label());
    a.bind(start);
    a.mov(X1, (CODE + PAGE) as i64).mov(X2, 7);
    a.bind(again);
    a.ldr(X5, at(X1, 16)).add(X5, X5, X0).str(X5, at(X1, 16)).add(X1, X1, 0x1000);
    a.subs(X2, X2, 1).b_cond("ne", again);
    let changed = a.here();
    a.add(X3, X3, 1);
    a.mov(X5, changed as i64).ldr(W4, at(X5, 0)).add(W4, W4, 1024).str(W4, at(X5, 0));
    a.add(X0, X0, X3).b(start);
}

/// The same lanes on both engines. What is done to one is done to the other.
pub(crate) struct Both {
    pub(crate) gpu: Box<dyn Executor>,
    pub(crate) reference: Box<dyn Executor>,
}

impl Both {
    pub(crate) fn new(images: &[Arc<Image>], lanes: usize, frames_max: usize) -> Self {
        let plan = Plan { images, lanes, frames_max, frequent: None };
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
        let plan = Plan { images, lanes, frames_max, frequent: None };
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

/// All there is to see of a lane.
#[derive(Clone, PartialEq)]
pub(crate) struct Lane {
    pub(crate) stop: Option<Stop>,
    pub(crate) cpu: Cpu,
    /// The pages written, in order of their first write.
    pub(crate) dirty: Vec<u64>,
    /// What those pages hold; nothing of one that is not mapped any more.
    pub(crate) memory: Vec<Vec<u8>>,
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stop, cpu, dirty, memory } = self;
        write!(f, "{stop:?}\n{cpu:?}")?;
        for (page, bytes) in dirty.iter().zip(memory) {
            // Whole pages are too much to read.
            let sum = bytes.iter().fold(0_u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            writeln!(f, "page {page:x} with sum {sum:016x}")?;
        }
        Ok(())
    }
}

/// Every lane of an executor.
pub(crate) fn lanes(executor: &mut dyn Executor) -> Vec<Lane> {
    let count = executor.lanes();
    let dirty: Vec<Vec<u64>> =
        (0..count).map(|lane| executor.dirty_pages(lane).expect("the engine works")).collect();
    let ranges: Vec<_> =
        (0..count).flat_map(|lane| dirty[lane].iter().map(move |&page| (lane, page, PAGE_BYTES))).collect();
    executor.prefetch(&ranges).expect("the engine works");
    let seen = dirty.into_iter().enumerate().map(|(lane, dirty)| {
        let mut page = |page: &u64| {
            let mut bytes = vec![0; PAGE_BYTES];
            let read = executor.read_memory(lane, *page, &mut bytes, None).expect("the engine works");
            read.map_or_else(|_| Vec::new(), |()| bytes)
        };
        let memory = dirty.iter().map(&mut page).collect();
        let stop = executor.stop(lane).expect("the engine works");
        Lane { stop, cpu: executor.cpu(lane).expect("the engine works"), dirty, memory }
    });
    seen.collect()
}

/// Mapped memory of a lane, as the host sees it.
pub(crate) fn read(executor: &mut dyn Executor, lane: usize, address: u64, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    executor.read_memory(lane, address, &mut out, None).expect("the engine works").expect("it is mapped");
    out
}

/// A lane of a machine, with what it has printed.
pub(crate) type Seen = (Lane, String);

/// Every lane of a machine, with what it has printed.
pub(crate) fn machine_lanes(machine: &mut Machine) -> Vec<Seen> {
    let lanes = 0..machine.lanes();
    let lane = |number| {
        let dirty = machine.dirty_pages(number).expect("the engine works");
        let page = |&address: &u64| {
            let mut bytes = vec![0; PAGE_BYTES];
            let read = machine.read_memory(number, address, &mut bytes).expect("the engine works");
            read.map_or_else(|_| Vec::new(), |()| bytes)
        };
        let memory = dirty.iter().map(page).collect();
        let stop = machine.stop(number).expect("the engine works");
        let cpu = machine.cpu(number).expect("the engine works");
        let output = machine.output(number, Stream::Output).expect("there is such a lane");
        (Lane { stop, cpu, dirty, memory }, String::from_utf8_lossy(output).into_owned())
    };
    lanes.map(lane).collect()
}

/// Machines are the same in every lane.
pub(crate) fn same_machines(gpu: &mut Machine, reference: &mut Machine, what: &str) -> Vec<Seen> {
    let (gpu, reference) = (machine_lanes(gpu), machine_lanes(reference));
    for (number, (gpu, reference)) in gpu.iter().zip(&reference).enumerate() {
        assert_eq!(gpu, reference, "{what}, lane {number}: the GPU on the left, the reference on the right");
    }
    reference
}
