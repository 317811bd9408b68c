//! Scripts for lanes: random calls of executors. The guests make no system calls.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use kvrm_gpu::{Bounds, ClassSelection, Error, MemoryLimits, Prefetch, RecoveringExecutor};
use kvrm_machine::{Cpu, Executor, Features, Image, Mapping, Permissions, Plan, Reference, Segment, Stop};
use kvrm_prefetch::{Degree, Policy};
use kvrm_testkit::images::{CODE, PAGE, assemble, busy, segment};
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::compare::{ErrorKind, classify, classify_machine_error, compare_states, visible_state};
use crate::faults::{Fault, open};
use crate::report::{FaultKind, ScriptEnd, Tally};

/// The guest addresses where lanes may map pages.
const ROOM: std::ops::Range<u64> = 0x60_0000..0xa0_0000;
/// The number of calls in a script.
const CALLS: u64 = 40;
/// The maximum number of attempts at a call that faults make fail.
const ATTEMPTS: u32 = 4;

/// Plays a script.
pub(crate) fn play(random: &mut Random, tally: &mut Tally) -> Result<ScriptEnd, String> {
    let bounds = random_bounds(random);
    let (images, cpus) = random_guests(random, 2 + random.clone().below(4) as usize);
    let mut pair = Pair::new(images, &cpus, bounds.clone(), random, tally)?;
    let mut history = Vec::new();
    for _ in 0..CALLS {
        let (call, fault) = (Call::random(pair.random, &pair.images, pair.lanes), Fault::random(pair.random));
        history.push((call.name(), fault));
        let ended = pair.call(&call, fault).map_err(|why| {
            let last = &history[history.len().saturating_sub(8)..];
            format!("lanes with {bounds:?}, call {}, after {last:?}: {why}", history.len())
        });
        if ended?.is_break() {
            return Ok(ScriptEnd::StateLost);
        }
    }
    match pair.compare().map_err(|why| format!("lanes with {bounds:?}, at the end of {history:?}: {why}"))? {
        ControlFlow::Continue(()) => Ok(ScriptEnd::Played),
        ControlFlow::Break(()) => Ok(ScriptEnd::StateLost),
    }
}

/// Returns random bounds of the engine.
fn random_bounds(random: &mut Random) -> Bounds {
    let is_scarce = random.below(3) == 0;
    let moves = !is_scarce && random.below(3) == 0;
    Bounds {
        slice_steps: Some(*random.pick(&[1, 1, 7, 64])),
        pool_shift: is_scarce.then(|| 14 + random.below(3) as u32),
        pools: is_scarce.then_some(1),
        memory: moves.then(|| MemoryLimits::new(0, 16 << 20)),
        places: moves.then(|| 64 + random.below(64) as u32),
        moves_eagerly: moves && random.below(2) == 0,
        prefetch: Prefetch::new(*random.pick(&Policy::ALL), Degree::ONE).unwrap_or_default(),
        tlb_sets: *random.pick(&[None, Some(1), Some(4)]),
        code_pages: (random.below(4) == 0).then(|| 1 + random.below(3) as usize),
        workgroup: Some(*random.pick(&[1, 64])),
        journal_bytes: *random.pick(&[None, None, Some(1), Some(2000)]),
        ..Bounds::NONE
    }
}

/// Returns random guests: one image for all lanes or one for each lane, and the initial registers of the lanes.
fn random_guests(random: &mut Random, lanes: usize) -> (Vec<Arc<Image>>, Vec<Cpu>) {
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

/// A call of an executor.
#[derive(Clone, Debug)]
enum Call {
    /// Runs all lanes for `steps` more steps, and breaks off after `slices` slices if that is given.
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
    /// Compares the visible state of both executors.
    Compare,
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
            _ => Self::Compare,
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
            Self::Compare => "compare",
        }
    }
}

/// Whether a script continues. It breaks off if the state was lost for a legitimate reason.
type Flow = ControlFlow<()>;

/// Lanes on a device with faults, and the same lanes on the reference.
struct Pair<'a> {
    gpu: RecoveringExecutor,
    reference: Reference,
    images: Vec<Arc<Image>>,
    lanes: usize,
    /// Whether the device may have too few frames for all lanes.
    is_scarce: bool,
    /// Whether a failure has left a state that a replay of the journal cannot reproduce. A checkpoint ends that.
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
        let plan = Plan { images: &images, lanes, frames_max: 16, calls: None, loops: None };
        let (mut fault, mut bounds) = (Fault::random(random), bounds);
        let gpu = loop {
            let device = open()?;
            let armed = fault.arm(&device);
            let made = RecoveringExecutor::new(&device, &plan, &ClassSelection::TABLE, bounds.clone());
            armed.disarm(tally);
            match made {
                Ok(gpu) => break gpu,
                Err(Error::TooManyLanes { .. }) => (bounds.pool_shift, bounds.pools) = (None, None),
                Err(error) if fault != Fault::None && classify(&error)? == ErrorKind::NoMemory => {
                    tally.outcome("machines that were built at the second attempt");
                }
                Err(error) => return Err(format!("a machine cannot be built: {error}")),
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
            // Without a fault, the state cannot be lost.
            let _: Flow = pair.call_both(Fault::None, &|executor| executor.set_cpu(lane, cpu))?;
        }
        let _: Flow = pair.call_both(Fault::None, &|executor| executor.snapshot())?;
        Ok(pair)
    }

    fn call(&mut self, call: &Call, fault: Fault) -> Result<Flow, String> {
        match call {
            Call::Run { steps, slices } => self.run(*steps, *slices, fault),
            Call::Write { lane, address, bytes } => {
                self.call_both(fault, &|executor| executor.write_memory(*lane, *address, bytes, None))
            }
            Call::Map { lane, pages, mapping } => {
                self.call_both(fault, &|executor| executor.map(*lane, pages.clone(), *mapping))
            }
            Call::Registers { lane, values } => {
                // These are two steps, as a failure of `set_stop` does not undo `set_cpu`.
                let set = self.call_both(fault, &|executor| {
                    let mut cpu = executor.cpu(*lane)?;
                    (0..).zip(values).for_each(|(n, value)| cpu.set_x(n, *value));
                    cpu.v[5] = u128::from(values[0]) << 64;
                    executor.set_cpu(*lane, &cpu)
                })?;
                if set.is_break() {
                    return Ok(set);
                }
                self.call_both(Fault::None, &|executor| executor.set_stop(*lane, None))
            }
            Call::Snapshot => self.call_both(fault, &|executor| executor.snapshot()),
            Call::Reset { lanes } => self.call_both(fault, &|executor| executor.reset(lanes)),
            Call::FramesMax(frames) => self.call_both(fault, &|executor| executor.set_frames_max(*frames)),
            Call::Compare => {
                let armed = fault.arm(self.gpu.device());
                let looked = visible_state(&mut self.gpu).map(drop);
                let was_refused = armed.disarm(self.tally);
                match looked {
                    Ok(()) => self.compare(),
                    Err(error) => Ok(match self.handle_failure(&error, was_refused)? {
                        Flow::Continue(()) => self.compare()?,
                        flow => flow,
                    }),
                }
            }
        }
    }

    /// Makes a call on both executors and compares the results. If it fails on the GPU, it must not have changed
    /// anything, and is repeated.
    fn call_both<T: PartialEq + fmt::Debug>(
        &mut self,
        fault: Fault,
        act: &dyn Fn(&mut dyn Executor) -> Result<T, kvrm_machine::Error>,
    ) -> Result<Flow, String> {
        let mut fault = fault;
        for _ in 0..ATTEMPTS {
            let armed = fault.arm(self.gpu.device());
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
                    if self.handle_failure(&error, was_refused)?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                    if self.random.below(2) == 0 && self.compare()?.is_break() {
                        return Ok(Flow::Break(()));
                    }
                }
            }
            fault = Fault::None;
        }
        Err(format!("a call fails {ATTEMPTS} times"))
    }

    /// Handles a call that failed. If a fault explains the failure, brings the lanes into a state to go on from.
    fn handle_failure(&mut self, error: &kvrm_machine::Error, was_refused: bool) -> Result<Flow, String> {
        let kind = classify_machine_error(error)?;
        self.tally.outcome(kind.name());
        self.note_checkpoints();
        match kind {
            ErrorKind::Lost => {}
            ErrorKind::StateLost if self.is_unsure || self.is_scarce => return Ok(Flow::Break(())),
            ErrorKind::StateLost => {
                return Err(format!("no fault explains that the state was lost: {error:?}"));
            }
            ErrorKind::NoMemory => self.is_unsure = true,
            ErrorKind::NoFrames => {
                self.tally.fault(FaultKind::OutOfFrames);
                self.is_unsure = true;
                if self.is_scarce {
                    // Pending writes of the host have no frames, and only a reset drops them.
                    let all: Vec<usize> = (0..self.lanes).collect();
                    self.reset(&all)?;
                } else if !was_refused {
                    return Err(format!("the device has enough frames, but: {error:?}"));
                }
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Resets lanes on both executors, without faults.
    fn reset(&mut self, lanes: &[usize]) -> Result<(), String> {
        let mut done = self.gpu.reset(lanes);
        if let Err(error) = &done
            && classify_machine_error(error)? == ErrorKind::Lost
        {
            done = self.gpu.reset(lanes);
        }
        done.map_err(|error| format!("lanes cannot be reset: {error:?}"))?;
        self.reference.reset(lanes).map_err(|error| error.to_string())
    }

    /// Notes whether a checkpoint was made, which records a state that a replay could not reproduce.
    fn note_checkpoints(&mut self) {
        if self.gpu.checkpoints() != self.checkpoints {
            self.checkpoints = self.gpu.checkpoints();
            self.is_unsure = false;
        }
    }

    /// Runs the lanes for `steps` more steps, and the reference for as many steps as they have done.
    fn run(&mut self, steps: u64, slices: Option<u32>, fault: Fault) -> Result<Flow, String> {
        let clear = |executor: &mut dyn Executor| {
            (0..executor.lanes()).try_for_each(|lane| match executor.stop(lane)? {
                Some(Stop::Budget | Stop::OutOfFrames) => executor.set_stop(lane, None),
                _ => Ok(()),
            })
        };
        if self.call_both(Fault::None, &clear)?.is_break() {
            return Ok(Flow::Break(()));
        }
        let reference = &mut self.reference;
        let limits: Result<Vec<u64>, _> =
            (0..self.lanes).map(|lane| Ok(reference.steps(lane)? + steps + lane as u64)).collect();
        let limits = limits.map_err(|error: kvrm_machine::Error| error.to_string())?;

        let armed = fault.arm(self.gpu.device());
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
            self.tally.fault(FaultKind::OneStep);
        }
        self.note_checkpoints();
        let is_whole = ran.is_ok() && slices.is_none();
        match ran {
            Ok(_) => self.tally.outcome("runs that succeeded"),
            Err(error) => {
                let has_no_room = classify_machine_error(&error)? == ErrorKind::NoFrames && self.is_scarce;
                if self.handle_failure(&error, was_refused)?.is_break() {
                    return Ok(Flow::Break(()));
                }
                if has_no_room {
                    // `handle_failure` has reset all lanes.
                    return self.compare();
                }
            }
        }
        if self.run_reference(&limits, is_whole, was_refused)?.is_break() {
            return Ok(Flow::Break(()));
        }
        if self.random.below(3) == 0 { self.compare() } else { Ok(Flow::Continue(())) }
    }

    /// Runs the lanes of the reference to the steps of the lanes on the GPU.
    fn run_reference(&mut self, limits: &[u64], is_whole: bool, was_refused: bool) -> Result<Flow, String> {
        let Some(found) = self.query_gpu(&mut |gpu| {
            let steps: Result<Vec<u64>, _> = (0..gpu.lanes()).map(|lane| gpu.steps(lane)).collect();
            Ok((steps?, gpu.stops()?))
        })?
        else {
            return Ok(Flow::Break(()));
        };
        let (steps, stops) = found;
        // If frames are scarce, chance decides which lanes get the last ones; and an injected fault may refuse frames.
        let is_scarce = self.is_scarce || was_refused;
        let is_short =
            |lane: usize| stops[lane].is_none() || is_scarce && stops[lane] == Some(Stop::OutOfFrames);
        if stops.contains(&Some(Stop::OutOfFrames)) {
            self.tally.fault(FaultKind::OutOfFrames);
            self.is_unsure |= is_scarce;
        }
        if is_whole && stops.contains(&None) {
            return Err(format!("the run has ended, but not all lanes have stopped: {stops:?}"));
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
                    "lane {lane} has retired {} steps until {:?} on the GPU, {} until {:?} on the reference",
                    steps[lane], stops[lane], there.0, there.1
                ));
            }
        }
        Ok(Flow::Continue(()))
    }

    /// Queries the GPU executor, without faults. Returns `None` if the state was lost.
    fn query_gpu<T>(
        &mut self,
        query: &mut dyn FnMut(&mut RecoveringExecutor) -> Result<T, kvrm_machine::Error>,
    ) -> Result<Option<T>, String> {
        for _ in 0..ATTEMPTS {
            match query(&mut self.gpu) {
                Ok(answer) => return Ok(Some(answer)),
                // This call may be the first that notices a loss.
                Err(error) => {
                    if self.handle_failure(&error, false)?.is_break() {
                        return Ok(None);
                    }
                }
            }
        }
        Err(format!("a query fails {ATTEMPTS} times"))
    }

    /// Compares the visible state of both executors.
    fn compare(&mut self) -> Result<Flow, String> {
        let Some(gpu) = self.query_gpu(&mut |gpu| visible_state(gpu))? else { return Ok(Flow::Break(())) };
        let reference = visible_state(&mut self.reference).map_err(|error| error.to_string())?;
        compare_states(&gpu, &reference)?;
        self.tally.outcome("comparisons of all state without a difference");
        Ok(Flow::Continue(()))
    }
}
