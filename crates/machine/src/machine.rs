//! The machine: a program in many lanes, an engine that runs them, and the services they call.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use kvrm_arm64::{Cpu, Features, Stop};

use crate::engine::Engine;
use crate::error::Error;
use crate::image::{Image, PAGE_BYTES, PAGE_SHIFT};
use crate::program::{Permissions, Program, Segment};
use crate::reference::Reference;
use crate::report::Report;
use crate::semihosting::{Host, Layout, Outcome, SEMIHOSTING, Services, Stream};

/// How many frames all lanes together may own unless the builder says otherwise: 8 GiB, shared out equally so
/// that what a lane may do depends on no other.
const FRAMES_MAX: usize = 8 << (30 - PAGE_SHIFT);
/// What each lane may own at least, however many there are.
const FRAMES_MIN: usize = 16;
/// Steps all lanes together take between two calls of an observer, roughly.
const OBSERVED_STEPS: u64 = 100_000_000;

type Console = Box<dyn FnMut(usize, Stream, &[u8]) + Send>;

/// A program in one or many lanes.
///
/// ```
/// use kvrm_machine::{Machine, Program, Stop};
///
/// // Sixteen lanes, each adding its own number to itself.
/// let code = [0x8b00_0000_u32, 0xd440_0000].map(u32::to_le_bytes).concat(); // add x0, x0, x0; hlt #0
/// let program = Program::raw("double", code, 0x1000, 0)?;
/// let mut machine = Machine::builder(program).lanes(16).prepare(|lane| lane.set_x(0, lane.number() as u64)).build()?;
/// let report = machine.run(1000)?;
/// assert_eq!(report.stops["halt"], 16);
/// assert_eq!(machine.cpu(7)?.x(0), 14);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
pub struct Machine {
    program: Program,
    engine: Box<dyn Engine>,
    host: Host,
    lanes: Vec<LaneState>,
    console: Option<Console>,
    output_max: usize,
    /// The services' side of the engine's snapshot, one entry a lane.
    snapshot: Vec<LaneState>,
}

/// The host's side of a lane.
#[derive(Clone, Debug)]
struct LaneState {
    services: Services,
    output: Vec<u8>,
    error_output: Vec<u8>,
    /// Whether output was dropped for lack of room.
    truncated: bool,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps retired in this run by all lanes together.
    pub steps: u64,
    /// Lanes that have not stopped yet.
    pub running: usize,
}

/// How a machine is to be built; see [`Machine::builder`].
pub struct Builder<'a> {
    program: Program,
    lanes: usize,
    features: Features,
    stack_bytes: u64,
    heap_bytes: u64,
    frames_max: Option<usize>,
    directory: Option<PathBuf>,
    arguments: Box<dyn FnMut(usize) -> Vec<String> + 'a>,
    input: Box<dyn FnMut(usize) -> Vec<u8> + 'a>,
    prepare: Box<dyn FnMut(&mut LaneSetup<'_>) + 'a>,
    console: Option<Console>,
    output_max: usize,
}

/// A lane before its first step.
pub struct LaneSetup<'a> {
    engine: &'a mut dyn Engine,
    number: usize,
    /// Its registers.
    pub cpu: Cpu,
    failure: Option<Stop>,
}

impl LaneSetup<'_> {
    /// The number of the lane, from 0.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Sets a general register.
    pub fn set_x(&mut self, n: u32, value: u64) {
        self.cpu.set_x(n, value);
    }

    /// Writes memory, whatever its permissions. If it is not mapped, building the machine fails.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        if let Err(stop) = self.engine.write_memory(self.number, address, bytes, None) {
            self.failure.get_or_insert(stop);
        }
    }
}

impl<'a> Builder<'a> {
    /// How many lanes to run; one unless said.
    #[must_use]
    pub const fn lanes(mut self, lanes: usize) -> Self {
        self.lanes = lanes;
        self
    }

    /// Which optional features the machine has; [`Features::ARMV8_0`] unless said.
    #[must_use]
    pub const fn features(mut self, features: Features) -> Self {
        self.features = features;
        self
    }

    /// The size of each lane's stack, rounded up to pages; 1 MiB unless said.
    #[must_use]
    pub const fn stack_bytes(mut self, bytes: u64) -> Self {
        self.stack_bytes = bytes;
        self
    }

    /// The size of each lane's heap, rounded up to pages; 16 MiB unless said. Untouched memory costs nothing.
    #[must_use]
    pub const fn heap_bytes(mut self, bytes: u64) -> Self {
        self.heap_bytes = bytes;
        self
    }

    /// How many different pages each lane may write before it stops with [`Stop::OutOfFrames`]. Unless said,
    /// all lanes share 8 GiB equally.
    #[must_use]
    pub const fn frames_max(mut self, frames: usize) -> Self {
        self.frames_max = Some(frames);
        self
    }

    /// The directory guests may use files in. Without one they have no files.
    ///
    /// They can use its regular files, and write each up to a size of 1 GiB.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// The arguments of each lane, after the name of the program's file.
    ///
    /// None may be empty or have white space in it, as guests find arguments by splitting a command line.
    #[must_use]
    pub fn arguments(mut self, arguments: impl FnMut(usize) -> Vec<String> + 'a) -> Self {
        self.arguments = Box::new(arguments);
        self
    }

    /// What each lane reads as console input.
    #[must_use]
    pub fn input(mut self, input: impl FnMut(usize) -> Vec<u8> + 'a) -> Self {
        self.input = Box::new(input);
        self
    }

    /// Sets registers and memory of each lane before its first step.
    #[must_use]
    pub fn prepare(mut self, prepare: impl FnMut(&mut LaneSetup<'_>) + 'a) -> Self {
        self.prepare = Box::new(prepare);
        self
    }

    /// Takes console output as it comes: lane, stream, bytes. Without it, [`Machine::output`] collects it.
    #[must_use]
    pub fn console(mut self, console: impl FnMut(usize, Stream, &[u8]) + Send + 'static) -> Self {
        self.console = Some(Box::new(console));
        self
    }

    /// How many bytes of each of its streams [`Machine::output`] collects of a lane; 1 MiB unless said.
    ///
    /// More are dropped, and [`Machine::output_truncated`] says so. A console is given everything.
    #[must_use]
    pub const fn output_max(mut self, bytes: usize) -> Self {
        self.output_max = bytes;
        self
    }

    /// Builds the machine on the CPU engine.
    ///
    /// # Errors
    /// If there are no lanes, memory does not fit, the directory cannot be opened, an argument cannot be
    /// passed, or preparing a lane fails.
    pub fn build(self) -> Result<Machine, Error> {
        self.build_with(|image, lanes, frames_max| Ok(Box::new(Reference::new(image, lanes, frames_max)?)))
    }

    /// Builds the machine on an engine made from image, number of lanes and frames a lane may own.
    ///
    /// # Errors
    /// As [`Builder::build`], and if the engine cannot be made.
    pub fn build_with(
        mut self,
        engine: impl FnOnce(&Arc<Image>, usize, usize) -> Result<Box<dyn Engine>, Error>,
    ) -> Result<Machine, Error> {
        if self.lanes == 0 {
            return Err(Error::NoLanes);
        }
        let directory = self.directory.map(|path| {
            let open = Dir::open_ambient_dir(&path, ambient_authority());
            open.map(Arc::new).map_err(|source| Error::Directory { path, source })
        });
        let directory = directory.transpose()?;
        // The image checks this too, but only after stack and heap have their places behind the segments.
        self.program.segments.iter().try_for_each(Segment::check)?;
        let layout = place(&self.program, self.stack_bytes, self.heap_bytes)?;
        let room = |range: &std::ops::Range<u64>| Segment {
            address: range.start,
            bytes: range.end - range.start,
            data: Vec::new(),
            permissions: Permissions::RW,
        };
        let mut segments = self.program.segments.clone();
        segments.extend([room(&layout.stack), room(&layout.heap)]);
        let image = Arc::new(Image::new(&segments, self.features)?);
        let frames_max = self.frames_max.unwrap_or((FRAMES_MAX / self.lanes).max(FRAMES_MIN));
        let mut engine = engine(&image, self.lanes, frames_max)?;

        let mut lanes = Vec::with_capacity(self.lanes);
        for lane in 0..self.lanes {
            let cpu = Cpu::new(self.program.entry, layout.stack.end);
            let mut setup = LaneSetup { engine: &mut *engine, number: lane, cpu, failure: None };
            (self.prepare)(&mut setup);
            let LaneSetup { cpu, failure, .. } = setup;
            if let Some(stop) = failure {
                return Err(Error::Prepare { lane, stop });
            }
            engine.set_cpu(lane, &cpu);
            let line = command_line(&self.program, lane, &(self.arguments)(lane))?;
            let services = Services::new(line, (self.input)(lane).into());
            lanes.push(LaneState {
                services,
                output: Vec::new(),
                error_output: Vec::new(),
                truncated: false,
            });
        }
        let host = Host { layout, directory };
        let Self { program, console, output_max, .. } = self;
        Ok(Machine { program, engine, host, lanes, console, output_max, snapshot: Vec::new() })
    }
}

/// The command line of a lane: the name of the program's file, and the arguments.
///
/// The name is without its folders, so that results do not depend on where the file lies on the host.
fn command_line(program: &Program, lane: usize, arguments: &[String]) -> Result<Arc<str>, Error> {
    // What C's `isspace` holds for space, and the end of a string.
    let splits = |c: char| c == '\0' || c.is_ascii() && c.is_whitespace();
    let lost = |argument: &&String| argument.is_empty() || argument.contains(splits);
    if let Some(argument) = arguments.iter().find(lost) {
        return Err(Error::Argument { lane, argument: argument.clone() });
    }
    let name = Path::new(&program.name).file_name().and_then(|name| name.to_str()).unwrap_or("program");
    let mut line = name.replace(splits, "_");
    for argument in arguments {
        line.push(' ');
        line.push_str(argument);
    }
    Ok(line.into())
}

/// Puts stack and heap behind the program, each after an unmapped page that catches overruns.
///
/// Everything a lane writes is then close together, and page tables stay small.
fn place(program: &Program, stack_bytes: u64, heap_bytes: u64) -> Result<Layout, Error> {
    const PAGE: u64 = PAGE_BYTES as u64;
    const LIMIT: u64 = 1 << crate::image::ADDRESS_BITS;
    let after = |end: u64, what: &'static str, bytes: u64| {
        let start = end.next_multiple_of(PAGE) + PAGE;
        let size = bytes.checked_next_multiple_of(PAGE);
        let end = size.and_then(|size| start.checked_add(size)).filter(|&end| end <= LIMIT);
        end.map(|end| start..end).ok_or(Error::NoRoom { what, bytes, limit: LIMIT })
    };
    let stack = after(program.end(), "stack", stack_bytes)?;
    let heap = after(stack.end, "heap", heap_bytes)?;
    Ok(Layout { heap, stack })
}

impl Machine {
    /// Describes a machine that runs `program`.
    #[must_use]
    pub fn builder<'a>(program: Program) -> Builder<'a> {
        Builder {
            program,
            lanes: 1,
            features: Features::ARMV8_0,
            stack_bytes: 1 << 20,
            heap_bytes: 16 << 20,
            frames_max: None,
            directory: None,
            arguments: Box::new(|_| Vec::new()),
            input: Box::new(|_| Vec::new()),
            prepare: Box::new(|_| ()),
            console: None,
            output_max: 1 << 20,
        }
    }

    /// Runs all lanes, each for at most `budget` more steps, and serves their calls.
    ///
    /// Lanes that stopped for [`Stop::Budget`] or [`Stop::OutOfFrames`] go on; other stops are final unless
    /// [`Machine::resume`] clears them.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn run(&mut self, budget: u64) -> Result<Report, Error> {
        self.run_in_slices(budget, u64::MAX, &mut |_| ControlFlow::Continue(()))
    }

    /// Runs as [`Machine::run`] does, and tells `observer` now and then how far it has come.
    ///
    /// If the observer breaks, lanes that could run on stop with [`Stop::Budget`]; another run continues them.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn run_observed(
        &mut self,
        budget: u64,
        observer: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Report, Error> {
        let slice = (OBSERVED_STEPS / self.lanes.len() as u64).max(10_000);
        self.run_in_slices(budget, slice, observer)
    }

    fn run_in_slices(
        &mut self,
        budget: u64,
        slice: u64,
        observer: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Report, Error> {
        let begin = Instant::now();
        let started: Vec<u64> = self.lane_numbers().map(|lane| self.engine.steps(lane)).collect();
        let ends: Vec<u64> = started.iter().map(|steps| steps.saturating_add(budget)).collect();
        // Rounds look only at lanes that still run, as there may be many rounds and few of those.
        let mut running = Vec::new();
        for lane in self.lane_numbers() {
            if let Some(Stop::Budget | Stop::OutOfFrames) = self.engine.stop(lane) {
                self.engine.set_stop(lane, None);
            }
            if self.engine.stop(lane).is_none() {
                running.push(lane);
            }
        }
        let mut services = 0;
        // Steps of the lanes that have stopped.
        let mut steps = 0;
        let mut limits = started.clone();
        loop {
            for &lane in &running {
                let (now, limit) = (self.engine.steps(lane), &mut limits[lane]);
                // A lane that only waited for a service still has the rest of its slice.
                if now >= *limit {
                    *limit = now.saturating_add(slice).min(ends[lane]);
                }
            }
            self.engine.run(&limits)?;
            running.retain(|&lane| {
                match self.engine.stop(lane) {
                    Some(Stop::Halt { imm: SEMIHOSTING }) => {
                        services += 1;
                        self.serve(lane);
                    }
                    Some(Stop::Budget) if limits[lane] < ends[lane] => self.engine.set_stop(lane, None),
                    _ => {}
                }
                let runs = self.engine.stop(lane).is_none();
                if !runs {
                    steps += self.engine.steps(lane) - started[lane];
                }
                runs
            });
            if running.is_empty() {
                break;
            }
            if slice != u64::MAX {
                let now = running.iter().map(|&lane| self.engine.steps(lane) - started[lane]).sum::<u64>();
                if observer(Progress { steps: steps + now, running: running.len() }).is_break() {
                    steps += now;
                    for lane in running {
                        self.engine.set_stop(lane, Some(Stop::Budget));
                    }
                    break;
                }
            }
        }
        let mut stops = BTreeMap::new();
        for stop in self.lane_numbers().filter_map(|lane| self.engine.stop(lane)) {
            *stops.entry(stop.name()).or_default() += 1;
        }
        Ok(Report {
            engine: self.engine.name(),
            lanes: self.lanes.len(),
            steps,
            stops,
            services,
            frames: self.engine.frames_used(),
            wall: begin.elapsed(),
        })
    }

    /// Serves the semihosting call `lane` has stopped for. The call is a step of its own.
    fn serve(&mut self, lane: usize) {
        let mut cpu = self.engine.cpu(lane);
        let LaneState { services, output, error_output, truncated } = &mut self.lanes[lane];
        let (console, output_max) = (&mut self.console, self.output_max);
        let mut write = |stream, bytes: &[u8]| {
            if let Some(console) = console {
                return console(lane, stream, bytes);
            }
            let collected = if stream == Stream::Output { &mut *output } else { &mut *error_output };
            let kept = bytes.len().min(output_max - collected.len());
            collected.extend_from_slice(&bytes[..kept]);
            *truncated |= kept < bytes.len();
        };
        let outcome = services.serve(&self.host, &mut *self.engine, lane, &cpu, &mut write);
        let stop = match outcome {
            Outcome::Stop(stop) => Some(stop),
            Outcome::Return(value) => {
                cpu.set_x(0, value);
                None
            }
            Outcome::Exit(code) => Some(Stop::Exit { code }),
        };
        if !matches!(outcome, Outcome::Stop(_)) {
            cpu.pc = cpu.pc.wrapping_add(4);
            cpu.steps += 1;
            // As an exception would, the service has lost the exclusive reservation.
            cpu.monitor = None;
            self.engine.set_cpu(lane, &cpu);
        }
        self.engine.set_stop(lane, stop);
    }

    fn lane_numbers(&self) -> std::ops::Range<usize> {
        0..self.lanes.len()
    }

    fn check(&self, lane: usize) -> Result<usize, Error> {
        let lanes = self.lanes.len();
        if lane < lanes { Ok(lane) } else { Err(Error::NoSuchLane { lane, lanes }) }
    }

    /// The program.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Where heap and stack lie.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.host.layout
    }

    /// How many lanes there are.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// The name of the engine.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.engine.name()
    }

    /// Why a lane stopped, or `None` before its first run.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn stop(&self, lane: usize) -> Result<Option<Stop>, Error> {
        Ok(self.engine.stop(self.check(lane)?))
    }

    /// Lets a lane run on after a stop, such as a breakpoint the caller has dealt with.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn resume(&mut self, lane: usize) -> Result<(), Error> {
        let lane = self.check(lane)?;
        self.engine.set_stop(lane, None);
        Ok(())
    }

    /// The registers of a lane.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn cpu(&self, lane: usize) -> Result<Cpu, Error> {
        Ok(self.engine.cpu(self.check(lane)?))
    }

    /// Replaces the registers of a lane.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), Error> {
        let lane = self.check(lane)?;
        self.engine.set_cpu(lane, cpu);
        Ok(())
    }

    /// Reads a lane's memory, whatever its permissions. The inner result says where it is not mapped.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn read_memory(&self, lane: usize, address: u64, out: &mut [u8]) -> Result<Result<(), Stop>, Error> {
        Ok(self.engine.read_memory(self.check(lane)?, address, out, None))
    }

    /// Writes a lane's memory, whatever its permissions. The inner result says where it is not mapped.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
    ) -> Result<Result<(), Stop>, Error> {
        let lane = self.check(lane)?;
        Ok(self.engine.write_memory(lane, address, bytes, None))
    }

    /// The addresses of the pages a lane has written, in order of their first write.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn dirty_pages(&self, lane: usize) -> Result<Vec<u64>, Error> {
        Ok(self.engine.dirty_pages(self.check(lane)?))
    }

    /// What a lane has written to one of its console streams, if no console was given to the builder.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn output(&self, lane: usize, stream: Stream) -> Result<&[u8], Error> {
        let LaneState { output, error_output, .. } = &self.lanes[self.check(lane)?];
        Ok(if stream == Stream::Output { output } else { error_output })
    }

    /// Whether a lane has written more to one of its streams than [`Builder::output_max`] lets it collect.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn output_truncated(&self, lane: usize) -> Result<bool, Error> {
        Ok(self.lanes[self.check(lane)?].truncated)
    }

    /// Replaces what a lane reads as console input from now on. A reset takes it back.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn set_input(&mut self, lane: usize, bytes: &[u8]) -> Result<(), Error> {
        let lane = self.check(lane)?;
        self.lanes[lane].services.set_input(bytes.into());
        Ok(())
    }

    /// Replaces what a lane is told when it asks for its arguments. A reset takes it back.
    ///
    /// # Errors
    /// If there is no such lane, or if an argument cannot be passed, as [`Builder::arguments`] says.
    pub fn set_arguments(&mut self, lane: usize, arguments: &[String]) -> Result<(), Error> {
        let lane = self.check(lane)?;
        let line = command_line(&self.program, lane, arguments)?;
        self.lanes[lane].services.set_command_line(line);
        Ok(())
    }

    /// Lets each lane own up to `frames_max` frames from now on.
    pub fn set_frames_max(&mut self, frames_max: usize) {
        self.engine.set_frames_max(frames_max);
    }

    /// Remembers the state of all lanes, replacing any earlier snapshot.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn snapshot(&mut self) -> Result<(), Error> {
        self.engine.snapshot()?;
        self.snapshot.clone_from(&self.lanes);
        Ok(())
    }

    /// Takes lanes back to the snapshot: registers, memory, stop, arguments, console input and output. The
    /// files that were open then are open again, at the same positions; what was done to files is not undone.
    ///
    /// # Errors
    /// If there is no snapshot or no such lane.
    pub fn reset(&mut self, lanes: &[usize]) -> Result<(), Error> {
        for &lane in lanes {
            self.check(lane)?;
        }
        self.engine.reset(lanes)?;
        for &lane in lanes {
            self.lanes[lane].clone_from(&self.snapshot[lane]);
        }
        Ok(())
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, engine, lanes, .. } = self;
        write!(f, "Machine({} in {} lanes, {})", program.name, lanes.len(), engine.name())
    }
}

impl fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Builder({} in {} lanes)", self.program.name, self.lanes)
    }
}

impl fmt::Debug for LaneSetup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaneSetup(lane {})", self.number)
    }
}
