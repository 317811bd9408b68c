//! Scripts of lanes: what executors are asked for, by the host alone.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_gpu::{Bounds, Dispatch, Error, Recovering};
use kvrm_machine::{Cpu, Executor, Features, Image, Mapping, Permissions, Plan, Reference, Segment, Stop};
use kvrm_testkit::images::{CODE, PAGE, assemble, busy, segment};
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::compare::{Told, difference, shown, told, told_by_machine};
use crate::faults::{Fault, open};
use crate::report::{Kind, Tally};
use crate::scripts::End;

/// Where lanes may map pages.
const ROOM: std::ops::Range<u64> = 0x60_0000..0xa0_0000;
/// How many calls a script has.
const CALLS: u64 = 40;
/// How often a call is made that faults make fail.
const ATTEMPTS: u32 = 4;

/// Plays a script.
pub(crate) fn play(random: &mut Random, tally: &mut Tally) -> Result<End, String> {
    let bounds = bounds(random);
    let (images, cpus) = guests(random, 2 + random.clone().below(4) as usize);
    let mut pair = Pair::new(images, &cpus, bounds, random, tally)?;
    let mut history = Vec::new();
    for _ in 0..CALLS {
        let (call, fault) = (Call::random(pair.random, &pair.images, pair.lanes), Fault::random(pair.random));
        history.push((call.name(), fault));
        let ended = pair.call(&call, fault).map_err(|why| {
            let last = &history[history.len().saturating_sub(8)..];
            format!("lanes with {bounds:?}, call {}, after {last:?}: {why}", history.len())
        });
        if ended?.is_break() {
            return Ok(End::StateLost);
        }
    }
    match pair.same().map_err(|why| format!("lanes with {bounds:?}, at the end of {history:?}: {why}"))? {
        ControlFlow::Continue(()) => Ok(End::Played),
        ControlFlow::Break(()) => Ok(End::StateLost),
    }
}

/// What the device is bound to.
fn bounds(random: &mut Random) -> Bounds {
    let is_scarce = random.below(3) == 0;
    Bounds {
        slice_steps: Some(*random.pick(&[1, 1, 7, 64])),
        pool_shift: is_scarce.then(|| 14 + random.below(3) as u32),
        pools: is_scarce.then_some(1),
        code_pages: (random.below(4) == 0).then(|| 1 + random.below(3) as usize),
        workgroup: Some(*random.pick(&[1, 64])),
        journal_bytes: *random.pick(&[None, None, Some(1), Some(2000)]),
        ..Bounds::NONE
    }
}

/// One image for all lanes, or one a lane, and the registers that they begin with.
fn guests(random: &mut Random, lanes: usize) -> (Vec<Arc<Image>>, Vec<Cpu>) {
    let image = |segments: &[Segment], features| {
        Arc::new(Image::with_room(segments, features, &[ROOM]).expect("small programs fit"))
    };
    if random.below(2) == 0 {
        let segments = [segment(CODE, 16 * PAGE, assemble(busy), Permissions::RWX)];
        let cpu = |lane| {
            let mut cpu = Cpu::new(CODE, CODE + 12 * PAGE);
            cpu.set_x(0, lane);
            cpu
        };
        return (vec![image(&segments, Features::ALL)], (0..lanes as u64).map(cpu).collect());
    }
    let mut vectors = Vec::new();
    while vectors.len() < lanes {
        let vector = programs::random("program", 96, 0, random);
        // All lanes of an executor have the same features.
        if vectors
            .first()
            .is_none_or(|first: &kvrm_machine::vectors::Vector| first.features == vector.features)
        {
            vectors.push(vector);
        }
    }
    vectors.iter().map(|vector| (image(&vector.segments(), vector.machine_features()), vector.cpu())).unzip()
}

/// What an executor is asked for.
#[derive(Clone, Debug)]
enum Call {
    /// A run of so many steps more, broken off after so many slices if that is said.
    Run {
        steps: u64,
        slices: Option<u32>,
    },
    Write {
        lane: usize,
        address: u64,
        bytes: Vec<u8>,
    },
    Map {
        lane: usize,
        pages: std::ops::Range<u64>,
        mapping: Mapping,
    },
    Registers {
        lane: usize,
        values: [u64; 3],
    },
    Snapshot,
    Reset {
        lanes: Vec<usize>,
    },
    FramesMax(usize),
    /// All there is to see is compared.
    Look,
}

impl Call {
    fn random(random: &mut Random, images: &[Arc<Image>], lanes: usize) -> Self {
        let lane = random.below(lanes as u64) as usize;
        match random.below(20) {
            0..7 => Self::Run { steps: random.below(*random.clone().pick(&[20, 60, 300])), slices: None },
            7 => Self::Run { steps: 300, slices: Some(1 + random.below(4) as u32) },
            8..11 => {
                let image = &images[lane % images.len()];
                let address = if random.below(3) == 0 {
                    ROOM.start + random.below(8 * PAGE)
                } else {
                    let region = random.pick(image.regions());
                    let first = region.first_page * PAGE;
                    first + random.below((region.end_page - region.first_page) * PAGE)
                };
                let bytes = 1 + random.below(*random.clone().pick(&[16, 16, 5000]));
                Self::Write { lane, address, bytes: (0..bytes).map(|_| random.bits() as u8).collect() }
            }
            11..13 => {
                let first = ROOM.start / PAGE + random.below(8);
                let permissions = *random.pick(&[Permissions::RW, Permissions::R, Permissions::RWX]);
                let mapping = match random.below(4) {
                    0 => Mapping::Unmap,
                    1 => Mapping::Protect(permissions),
                    _ => Mapping::Zero(permissions),
                };
                Self::Map { lane, pages: first..first + 1 + random.below(6), mapping }
            }
            13 => Self::Registers { lane, values: [0; 3].map(|_| random.bits()) },
            14 => Self::Snapshot,
            15..17 => {
                let all = random.below(2) == 0;
                Self::Reset { lanes: (0..lanes).filter(|_| all || random.below(2) == 0).collect() }
            }
            17 => Self::FramesMax(*random.pick(&[1, 4, 16, 16])),
            _ => Self::Look,
        }
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Run { slices: None, .. } => "run",
            Self::Run { .. } => "run, broken off",
            Self::Write { .. } => "write",
            Self::Map { .. } => "map",
            Self::Registers { .. } => "set registers",
            Self::Snapshot => "snapshot",
            Self::Reset { .. } => "reset",
            Self::FramesMax(_) => "set frames",
            Self::Look => "look",
        }
    }
}

/// Whether a script goes on: not if the state was lost, as it may be.
type Flow = ControlFlow<()>;

/// Lanes on a device with faults, and the same lanes on the reference.
struct Pair<'a> {
    gpu: Recovering,
    reference: Reference,
    images: Vec<Arc<Image>>,
    lanes: usize,
    /// Whether there may be too few frames for all lanes.
    is_scarce: bool,
    /// Whether the last failure left something that only a copy of the state can tell.
    is_unsure: bool,
    /// Whether each slice has one step.
    is_one_step: bool,
    checkpoints: u64,
    random: &'a mut Random,
    tally: &'a mut Tally,
}

impl<'a> Pair<'a> {
    fn new(
        images: Vec<Arc<Image>>,
        cpus: &[Cpu],
        bounds: Bounds,
        random: &'a mut Random,
        tally: &'a mut Tally,
    ) -> Result<Self, String> {
        let lanes = cpus.len();
        let plan = Plan { images: &images, lanes, frames_max: 16, calls: None };
        let (mut fault, mut bounds) = (Fault::random(random), bounds);
        let gpu = loop {
            let device = open()?;
            let armed = fault.arm(&device);
            let made = Recovering::new(&device, &plan, &Dispatch::TABLE, bounds);
            armed.disarm(tally);
            match made {
                Ok(gpu) => break gpu,
                Err(Error::TooManyLanes { .. }) => (bounds.pool_shift, bounds.pools) = (None, None),
                Err(error) if fault != Fault::None && told(&error)? == Told::NoMemory => {
                    tally.outcome("machines that were not built, and could be then");
                }
                Err(error) => return Err(format!("a machine is not built: {error}")),
            }
            fault = Fault::None;
        };
        let reference = Reference::new(&plan).map_err(|error| error.to_string())?;
        let (is_scarce, is_one_step) = (bounds.pools.is_some(), bounds.slice_steps == Some(1));
        let mut pair = Self {
            gpu,
            reference,
            lanes,
            is_scarce,
            is_unsure: false,
            is_one_step,
            checkpoints: 0,
            random,
            tally,
            images,
        };
        for (lane, cpu) in cpus.iter().enumerate() {
            // Without faults no state is lost.
            let _: Flow = pair.both(Fault::None, &|executor| executor.set_cpu(lane, cpu))?;
        }
        let _: Flow = pair.both(Fault::None, &|executor| executor.snapshot())?;
        Ok(pair)
    }

    fn call(&mut self, call: &Call, fault: Fault) -> Result<Flow, String> {
        match call {
            Call::Run { steps, slices } => self.run(*steps, *slices, fault),
            Call::Write { lane, address, bytes } => {
                self.both(fault, &|executor| executor.write_memory(*lane, *address, bytes, None))
            }
            Call::Map { lane, pages, mapping } => {
                self.both(fault, &|executor| executor.map(*lane, pages.clone(), *mapping))
            }
            Call::Registers { lane, values } => {
                // Two calls, as a failure of the second one does not undo the first.
                let set = self.both(fault, &|executor| {
                    let mut cpu = executor.cpu(*lane)?;
                    (0..).zip(values).for_each(|(n, value)| cpu.set_x(n, *value));
                    cpu.v[5] = u128::from(values[0]) << 64;
                    executor.set_cpu(*lane, &cpu)
                })?;
                if set.is_break() {
                    return Ok(set);
                }
                self.both(Fault::None, &|executor| executor.set_stop(*lane, None))
            }
            Call::Snapshot => self.both(fault, &|executor| executor.snapshot()),
            Call::Reset { lanes } => self.both(fault, &|executor| executor.reset(lanes)),
            Call::FramesMax(frames) => self.both(fault, &|executor| executor.set_frames_max(*frames)),
            Call::Look => {
                let armed = fault.arm(self.gpu.on());
                let looked = shown(&mut self.gpu).map(drop);
                let was_refused = armed.disarm(self.tally);
                match looked {
                    Ok(()) => self.same(),
                    Err(error) => Ok(match self.failed(&error, was_refused)? {
                        Flow::Continue(()) => self.same()?,
                        flow => flow,
                    }),
                }
            }
        }
    }

    /// Makes a call on both, which have the same to say. If it fails on the GPU it has changed nothing, and is made again.
    fn both<T: PartialEq + fmt::Debug>(
        &mut self,
        fault: Fault,
        act: &dyn Fn(&mut dyn Executor) -> Result<T, kvrm_machine::Error>,
    ) -> Result<Flow, String> {
        let mut fault = fault;
        for _ in 0..ATTEMPTS {
            let armed = fault.arm(self.gpu.on());
            let acted = act(&mut self.gpu);
            let was_refused = armed.disarm(self.tally);
            match acted {
                Ok(found) => {
                    let expected = act(&mut self.reference).map_err(|error| error.to_string())?;
                    if found != expected {
                        return Err(format!("{found:?} on the GPU, {expected:?} on the reference"));
                    }
                    self.tally.outcome("calls that succeeded");
                    return Ok(Flow::Continue(()));
                }
                Err(error) => {
                    if self.failed(&error, was_refused)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                    if self.random.below(2) == 0 && self.same()?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
            }
            fault = Fault::None;
        }
        Err(format!("it fails {ATTEMPTS} times"))
    }

    /// A call has failed; if that may be, the lanes are made such that they can go on.
    fn failed(&mut self, error: &kvrm_machine::Error, was_refused: bool) -> Result<Flow, String> {
        let told = told_by_machine(error)?;
        self.tally.outcome(told.name());
        self.note_checkpoints();
        match told {
            Told::Lost => {}
            Told::StateLost if self.is_unsure || self.is_scarce => return Ok(Flow::Break(())),
            Told::StateLost => return Err(format!("nothing explains that the state was lost: {error:?}")),
            Told::NoMemory => self.is_unsure = true,
            Told::NoFrames => {
                self.tally.fault(Kind::OutOfFrames);
                self.is_unsure = true;
                if self.is_scarce {
                    // What the host has written has no room. Only a reset takes it back.
                    let all: Vec<usize> = (0..self.lanes).collect();
                    self.reset(&all)?;
                } else if !was_refused {
                    return Err(format!("there are frames for all: {error:?}"));
                }
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Takes lanes back on both, without faults.
    fn reset(&mut self, lanes: &[usize]) -> Result<(), String> {
        let mut done = self.gpu.reset(lanes);
        if let Err(error) = &done
            && told_by_machine(error)? == Told::Lost
        {
            done = self.gpu.reset(lanes);
        }
        done.map_err(|error| format!("lanes cannot be taken back: {error:?}"))?;
        self.reference.reset(lanes).map_err(|error| error.to_string())
    }

    /// A copy of the state tells what nothing else can.
    fn note_checkpoints(&mut self) {
        if self.gpu.checkpoints() != self.checkpoints {
            self.checkpoints = self.gpu.checkpoints();
            self.is_unsure = false;
        }
    }

    /// Lets lanes go so many steps more, and brings the reference to where they are then.
    fn run(&mut self, steps: u64, slices: Option<u32>, fault: Fault) -> Result<Flow, String> {
        let clear = |executor: &mut dyn Executor| {
            (0..executor.lanes()).try_for_each(|lane| match executor.stop(lane)? {
                Some(Stop::Budget | Stop::OutOfFrames) => executor.set_stop(lane, None),
                _ => Ok(()),
            })
        };
        if self.both(Fault::None, &clear)?.is_break() {
            return Ok(Flow::Break(()));
        }
        let reference = &mut self.reference;
        let limits: Result<Vec<u64>, _> =
            (0..self.lanes).map(|lane| Ok(reference.steps(lane)? + steps + lane as u64)).collect();
        let limits = limits.map_err(|error: kvrm_machine::Error| error.to_string())?;

        let armed = fault.arm(self.gpu.on());
        let mut seen = 0;
        let ran = self.gpu.run(&limits, &mut |_| {
            seen += 1;
            if fault == Fault::LostAfterSlices(seen) {
                armed.device().raw().destroy();
            }
            if slices == Some(seen) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let was_refused = armed.disarm(self.tally);
        if self.is_one_step && seen > 1 {
            self.tally.fault(Kind::OneStep);
        }
        self.note_checkpoints();
        let is_whole = ran.is_ok() && slices.is_none();
        match ran {
            Ok(_) => self.tally.outcome("runs that succeeded"),
            Err(error) => {
                let has_no_room = told_by_machine(&error)? == Told::NoFrames && self.is_scarce;
                if self.failed(&error, was_refused)?.is_break() {
                    return Ok(Flow::Break(()));
                }
                if has_no_room {
                    // They were taken back.
                    return self.same();
                }
            }
        }
        if self.follow(&limits, is_whole, was_refused)?.is_break() {
            return Ok(Flow::Break(()));
        }
        if self.random.below(3) == 0 { self.same() } else { Ok(Flow::Continue(())) }
    }

    /// Takes the reference as far as the lanes on the GPU have come.
    fn follow(&mut self, limits: &[u64], is_whole: bool, was_refused: bool) -> Result<Flow, String> {
        let Some(found) = self.ask(&mut |gpu| {
            let steps: Result<Vec<u64>, _> = (0..gpu.lanes()).map(|lane| gpu.steps(lane)).collect();
            Ok((steps?, gpu.stops()?))
        })?
        else {
            return Ok(Flow::Break(()));
        };
        let (steps, stops) = found;
        // Which lanes get the last frames is a matter of chance, and no frame at all may be a fault.
        let is_scarce = self.is_scarce || was_refused;
        let is_short =
            |lane: usize| stops[lane].is_none() || is_scarce && stops[lane] == Some(Stop::OutOfFrames);
        if stops.contains(&Some(Stop::OutOfFrames)) {
            self.tally.fault(Kind::OutOfFrames);
            self.is_unsure |= is_scarce;
        }
        if is_whole && stops.contains(&None) {
            return Err(format!("the run has ended, and not all lanes have stopped: {stops:?}"));
        }
        let ends: Vec<u64> =
            (0..self.lanes).map(|lane| if is_short(lane) { steps[lane] } else { limits[lane] }).collect();
        let reference = &mut self.reference;
        let go = |reference: &mut Reference| -> Result<(), kvrm_machine::Error> {
            reference.run(&ends, &mut |_| ControlFlow::Continue(()))?;
            for lane in (0..stops.len()).filter(|lane| is_short(*lane)) {
                if reference.stop(lane)? == Some(Stop::Budget) {
                    reference.set_stop(lane, stops[lane])?;
                }
            }
            Ok(())
        };
        go(reference).map_err(|error| error.to_string())?;
        for lane in 0..self.lanes {
            let there = reference.steps(lane).and_then(|steps| Ok((steps, reference.stop(lane)?)));
            let there = there.map_err(|error| error.to_string())?;
            if there != (steps[lane], stops[lane]) {
                return Err(format!(
                    "lane {lane} has taken {} steps to {:?} on the GPU, {} to {:?} on the reference",
                    steps[lane], stops[lane], there.0, there.1
                ));
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Asks the GPU for something, without faults; nothing if the state was lost.
    fn ask<T>(
        &mut self,
        ask: &mut dyn FnMut(&mut Recovering) -> Result<T, kvrm_machine::Error>,
    ) -> Result<Option<T>, String> {
        for _ in 0..ATTEMPTS {
            match ask(&mut self.gpu) {
                Ok(answer) => return Ok(Some(answer)),
                // A loss may be noticed only now.
                Err(error) => {
                    if self.failed(&error, false)?.is_break() {
                        return Ok(None);
                    }
                }
            }
        }
        Err(format!("a question fails {ATTEMPTS} times"))
    }

    /// All there is to see is the same on both.
    fn same(&mut self) -> Result<Flow, String> {
        let Some(gpu) = self.ask(&mut |gpu| shown(gpu))? else { return Ok(Flow::Break(())) };
        let reference = shown(&mut self.reference).map_err(|error| error.to_string())?;
        difference(&gpu, &reference)?;
        self.tally.outcome("comparisons of all state, without a difference");
        Ok(Flow::Continue(()))
    }
}
