//! The builder of a machine.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use kvrm_arm64::{Cpu, Features};

use super::command_line::command_line;
use super::frames::default_frames_max;
use super::lane_state::{CollectedOutput, LaneState, serves_in_parallel};
use super::{Console, Machine, TraceReader};
use crate::call_table::CallTable;
use crate::console::Stream;
use crate::error::Error;
use crate::executor::{Executor, Factory, Plan};
use crate::hooks::Hooks;
use crate::image::Image;
use crate::layout::place;
use crate::linux::{self, FileOptions, Kernel, LinuxParts, LoadFailure, Mount, Settings, Sizes, Texts};
use crate::loops::Loops;
use crate::pages::PAGE_BYTES;
use crate::permissions::Permissions;
use crate::program::Program;
use crate::reference::ReferenceEngine;
use crate::segment::Segment;
use crate::semihosting::{Host, Services};

/// The description of a machine to build, from [`Machine::builder`].
///
/// Each method sets one property and states its default. [`Builder::build`] calls the functions given to `arguments`,
/// `input`, `environment` and `prepare` once for each lane, in the order of lanes, which are numbered from 0.
///
/// ```
/// use kvrm_machine::{Machine, Program, Stream};
///
/// # let guest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../guests/bin/sieve.elf");
/// let mut machine = Machine::builder(Program::open(guest)?)
///     .lanes(2)
///     .arguments(|lane| vec![format!("{}", 1000 * (lane + 1))])
///     .heap_bytes(1 << 20)
///     .build()?;
/// machine.run(u64::MAX)?;
/// assert!(machine.output(1, Stream::Output)?.starts_with(b"sieve size=2000"));
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
pub struct Builder<'a> {
    program: Program,
    engine: Box<dyn Factory + 'a>,
    lanes: usize,
    features: Option<Features>,
    stack_bytes: Option<u64>,
    heap_bytes: Option<u64>,
    arena_bytes: u64,
    reserved: Vec<Range<u64>>,
    disk_bytes: u64,
    seed: u64,
    first_lane: u64,
    real_time: bool,
    quantum: u64,
    schedule: Box<dyn FnMut(usize) -> Option<u64> + 'a>,
    terminal: bool,
    mounts: Vec<Mount>,
    current_directory: String,
    executable: Option<String>,
    environment: Box<dyn FnMut(usize) -> Vec<String> + 'a>,
    frames_max: Option<usize>,
    directory: Option<PathBuf>,
    arguments: Box<dyn FnMut(usize) -> Vec<String> + 'a>,
    input: Box<dyn FnMut(usize) -> Vec<u8> + 'a>,
    prepare: Box<dyn FnMut(&mut LaneSetup<'_>) + 'a>,
    console: Option<Console>,
    trace: Option<TraceReader>,
    is_traced: Box<dyn FnMut(usize) -> bool + 'a>,
    output_max: usize,
    hooks: Hooks,
    loops: Option<Loops>,
}

/// A lane before its first step, for the function given to [`Builder::prepare`].
pub struct LaneSetup<'a> {
    executor: &'a mut dyn Executor,
    number: usize,
    /// The registers of the lane.
    pub cpu: Cpu,
    /// The first error, which [`Builder::build`] returns.
    failure: Option<Error>,
}

impl LaneSetup<'_> {
    /// Returns the number of the lane, from 0.
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Sets a general register, from 0 to 30. A write to register 31, which is zero, has no effect.
    pub fn set_x(&mut self, n: u32, value: u64) {
        self.cpu.set_x(n, value);
    }

    /// Writes memory, whatever its permissions. If it is not mapped, [`Builder::build`] fails with [`Error::Prepare`].
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let written = match self.executor.write_memory(self.number, address, bytes, None) {
            Ok(written) => written.map_err(|stop| Error::Prepare { lane: self.number, stop }),
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            self.failure.get_or_insert(error);
        }
    }
}

impl Machine {
    /// Returns the description of a machine that runs `program` in one lane on the reference.
    #[must_use]
    pub fn builder<'a>(program: Program) -> Builder<'a> {
        Builder::new(program)
    }
}

impl<'a> Builder<'a> {
    /// Returns the default description of a machine that runs `program`.
    fn new(program: Program) -> Self {
        Self {
            program,
            engine: Box::new(ReferenceEngine),
            lanes: 1,
            features: None,
            stack_bytes: None,
            heap_bytes: None,
            arena_bytes: 1 << 30,
            reserved: Vec::new(),
            disk_bytes: 256 << 20,
            seed: 0,
            first_lane: 0,
            real_time: false,
            quantum: QUANTUM,
            schedule: Box::new(|_| None),
            terminal: false,
            mounts: Vec::new(),
            current_directory: "/".to_owned(),
            executable: None,
            environment: Box::new(|_| Vec::new()),
            frames_max: None,
            directory: None,
            arguments: Box::new(|_| Vec::new()),
            input: Box::new(|_| Vec::new()),
            prepare: Box::new(|_| ()),
            console: None,
            trace: None,
            is_traced: Box::new(|_| false),
            output_max: 1 << 20,
            hooks: Hooks::new(),
            loops: None,
        }
    }

    /// Sets the engine that runs the lanes. The default is the [`ReferenceEngine`], on the CPU.
    #[must_use]
    pub fn engine(mut self, engine: impl Factory + 'a) -> Self {
        self.engine = Box::new(engine);
        self
    }

    /// Sets the number of lanes. The default is 1.
    #[must_use]
    pub const fn lanes(mut self, lanes: usize) -> Self {
        self.lanes = lanes;
        self
    }

    /// Sets the optional features of the instruction set. The default is [`Program::features`].
    #[must_use]
    pub const fn features(mut self, features: Features) -> Self {
        self.features = Some(features);
        self
    }

    /// Sets the size of each lane's stack, rounded up to pages. The default is 1 MiB, or 8 MiB for Linux programs.
    #[must_use]
    pub const fn stack_bytes(mut self, bytes: u64) -> Self {
        self.stack_bytes = Some(bytes);
        self
    }

    /// Sets the size of each lane's heap, rounded up to pages. The default is 16 MiB, or 256 MiB for Linux programs,
    /// which map it by `brk`. Memory that a lane does not write costs nothing.
    #[must_use]
    pub const fn heap_bytes(mut self, bytes: u64) -> Self {
        self.heap_bytes = Some(bytes);
        self
    }

    /// Sets the size of the addresses in which each lane of a Linux program can `mmap`, rounded up to pages. The
    /// default is 1 GiB.
    #[must_use]
    pub const fn arena_bytes(mut self, bytes: u64) -> Self {
        self.arena_bytes = bytes;
        self
    }

    /// Reserves addresses in which [`Machine::map`] can map pages later. They must be whole pages of 4096 bytes. Stack
    /// and heap are placed after them. The default is no reserved addresses.
    ///
    /// Reserved addresses cost no memory. But if all mapped and reserved addresses span 1024 times as much, page tables
    /// on a GPU have one more level, which makes accesses slower.
    #[must_use]
    pub fn reserve(mut self, addresses: Range<u64>) -> Self {
        self.reserved.push(addresses);
        self
    }

    /// Sets the number of bytes that all files together may have that a lane of a Linux program has written. The
    /// default is 256 MiB.
    #[must_use]
    pub const fn disk_bytes(mut self, bytes: u64) -> Self {
        self.disk_bytes = bytes;
        self
    }

    /// Sets the seed of the random bytes that Linux programs get. They also depend on the number of the lane. The
    /// default is 0.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of the first lane in the random bytes that Linux programs get. The default is 0.
    ///
    /// So several machines, one after the other or on several hosts, can run the lanes of one large machine, with its results.
    #[must_use]
    pub const fn first_lane(mut self, number: u64) -> Self {
        self.first_lane = number;
        self
    }

    /// Sets the number of steps after which another thread of a Linux program gets its turn, if one can go on. The default is
    /// 1,000,000.
    #[must_use]
    pub const fn quantum(mut self, steps: u64) -> Self {
        self.quantum = if steps == 0 { 1 } else { steps };
        self
    }

    /// Sets a function that returns the seed of a lane's schedule. The default is `None`: threads of a Linux program take turns in
    /// order.
    ///
    /// With a seed, the next thread is drawn among those that can go on, and the length of its turn from 1 step to the
    /// [quantum](Builder::quantum), all magnitudes alike. So each seed is another interleaving of the threads, which can be repeated
    /// exactly.
    #[must_use]
    pub fn schedule(mut self, seed: impl FnMut(usize) -> Option<u64> + 'a) -> Self {
        self.schedule = Box::new(seed);
        self
    }

    /// Sets whether Linux programs see the time of the host, and really sleep. The default is `false`: a step takes a
    /// nanosecond, sleeping advances the clock at once, and repeated runs have the same results.
    #[must_use]
    pub const fn real_time(mut self, real: bool) -> Self {
        self.real_time = real;
        self
    }

    /// Sets whether the three standard streams of Linux programs are a terminal of 80 by 24 characters. The default is
    /// `false`: they are pipes.
    #[must_use]
    pub const fn terminal(mut self, terminal: bool) -> Self {
        self.terminal = terminal;
        self
    }

    /// Shows Linux programs the directory `host` of the host at the path `guest`. They can read it, but not change it.
    /// Its files, up to 1 GiB, are read once, when the machine is built.
    #[must_use]
    pub fn mount(mut self, host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        self.mounts.push(Mount { host: host.into(), guest: guest.into(), writable: false });
        self
    }

    /// Gives each lane of a Linux program its own copy of the directory `host` at the path `guest`, which the lane may
    /// change. Otherwise it is like [`Builder::mount`].
    #[must_use]
    pub fn copy(mut self, host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        self.mounts.push(Mount { host: host.into(), guest: guest.into(), writable: true });
        self
    }

    /// Sets the path at which a Linux program sees its own file, as in `/proc/self/exe`. The default is `/bin/` with the name of the
    /// file.
    #[must_use]
    pub fn executable(mut self, path: impl Into<String>) -> Self {
        self.executable = Some(path.into());
        self
    }

    /// Sets the directory in which Linux programs begin. The default is the root.
    #[must_use]
    pub fn current_directory(mut self, path: impl Into<String>) -> Self {
        self.current_directory = path.into();
        self
    }

    /// Sets the environment of each lane of a Linux program: strings of the form `NAME=VALUE`. The default is empty.
    #[must_use]
    pub fn environment(mut self, environment: impl FnMut(usize) -> Vec<String> + 'a) -> Self {
        self.environment = Box::new(environment);
        self
    }

    /// Sets the number of frames of 4096 bytes that each lane may own, one for each page that it writes. A lane that
    /// needs more stops with [`OutOfFrames`](kvrm_arm64::Stop::OutOfFrames). By default, all lanes share 8 GiB equally,
    /// and a lane has at least 16 frames.
    #[must_use]
    pub const fn frames_max(mut self, frames: usize) -> Self {
        self.frames_max = Some(frames);
        self
    }

    /// Sets the directory of the host whose files semihosting guests can open. By default they have no files.
    ///
    /// They can read and write its regular files. A file that they write can have at most 1 GiB.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the arguments of each lane, which follow the name of the program's file. By default there are none.
    ///
    /// A semihosting guest gets one command line, which it splits at white space. So its arguments must not be empty or
    /// contain white space. No argument may contain a NUL.
    #[must_use]
    pub fn arguments(mut self, arguments: impl FnMut(usize) -> Vec<String> + 'a) -> Self {
        self.arguments = Box::new(arguments);
        self
    }

    /// Sets the bytes that each lane reads as console input. By default there are none.
    #[must_use]
    pub fn input(mut self, input: impl FnMut(usize) -> Vec<u8> + 'a) -> Self {
        self.input = Box::new(input);
        self
    }

    /// Sets a function that sets registers and memory of each lane before its first step.
    #[must_use]
    pub fn prepare(mut self, prepare: impl FnMut(&mut LaneSetup<'_>) + 'a) -> Self {
        self.prepare = Box::new(prepare);
        self
    }

    /// Sets a function that gets console output while lanes run: lane, stream, bytes. By default, [`Machine::output`]
    /// collects it.
    ///
    /// The bytes of several calls of a lane may come together. With more than one lane, the host then serves the calls
    /// of all lanes one after the other, so that the order of output is the same in every run; this is slower.
    #[must_use]
    pub fn console(mut self, console: impl FnMut(usize, Stream, &[u8]) + Send + 'static) -> Self {
        self.console = Some(Box::new(console));
        self
    }

    /// Traces the system calls of lanes of a Linux program: `trace` gets complete lines in the form of strace, with the lane, while
    /// `lanes` says for each lane whether it is traced. By default no lane is.
    ///
    /// A line has the name of the call, its arguments and its result. Further lines tell of signals and of the ends of threads. If
    /// the lane has had several threads, lines begin with the ID of the thread. The host then serves all calls, and those of several
    /// lanes one after the other, which is slower; nothing else changes. A fork of the machine, and a machine that was saved, are not
    /// traced.
    #[must_use]
    pub fn trace(
        mut self,
        lanes: impl FnMut(usize) -> bool + 'a,
        trace: impl FnMut(usize, &str) + Send + 'static,
    ) -> Self {
        self.is_traced = Box::new(lanes);
        self.trace = Some(Box::new(trace));
        self
    }

    /// Sets the number of bytes that [`Machine::output`] collects of each stream of a lane. The default is 1 MiB.
    ///
    /// Further bytes are dropped, and [`Machine::output_truncated`] returns `true`. A console gets all bytes.
    #[must_use]
    pub const fn output_max(mut self, bytes: usize) -> Self {
        self.output_max = bytes;
        self
    }

    /// Sets breakpoints, watchpoints and system-call filters for all lanes. The default is no hooks.
    #[must_use]
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets the acceleration of loops: many iterations are executed at once where that is proved to give the same results.
    /// The default is none.
    #[must_use]
    pub fn loops(mut self, loops: impl Into<Option<Loops>>) -> Self {
        self.loops = loops.into();
        self
    }

    /// Builds the machine.
    ///
    /// # Errors
    /// - [`Error::NoLanes`] and [`Error::TooManyLanes`]
    /// - [`Error::NoRoom`], [`Error::Reserve`] and [`Error::Segment`]: memory does not fit the address space.
    /// - [`Error::Directory`], [`Error::Mount`] and [`Error::GuestDirectory`]: a directory cannot be used.
    /// - [`Error::Argument`], [`Error::Text`] and [`Error::TextRoom`]: an argument or variable cannot be passed.
    /// - [`Error::Prepare`]: the function given to [`Builder::prepare`] wrote where it cannot.
    /// - The engine fails, or cannot be opened.
    pub fn build(mut self) -> Result<Machine, Error> {
        if self.lanes == 0 {
            return Err(Error::NoLanes);
        }
        let directory = self.directory.take().map(|path| {
            let open = Dir::open_ambient_dir(&path, ambient_authority());
            open.map(Arc::new).map_err(|source| Error::Directory { path, source })
        });
        let directory = directory.transpose()?;
        // The image checks this too, but only after stack and heap have their places behind the segments.
        self.program.segments.iter().try_for_each(Segment::check)?;
        let is_linux = self.program.linux.is_some();
        let features = self.features.unwrap_or_else(|| self.program.features());
        let stack_bytes = self.stack_bytes.unwrap_or(if is_linux { 8 << 20 } else { 1 << 20 });
        let heap_bytes = self.heap_bytes.unwrap_or(if is_linux { 256 << 20 } else { 16 << 20 });
        for addresses in &self.reserved {
            check_reserved(addresses)?;
        }
        let end = self.reserved.iter().map(|addresses| addresses.end).fold(self.program.end(), u64::max);
        let executable = self.executable.take();
        let executable = executable.unwrap_or_else(|| linux::executable_path(&self.program.file_name()));
        let files = if is_linux {
            let options = FileOptions { room: self.disk_bytes, terminal: self.terminal };
            Some(linux::initial_files(&self.program, &executable, &self.mounts, options)?)
        } else {
            None
        };
        let (mut segments, mut start) = (self.program.segments.clone(), self.program.entry);
        let mut linux_place = None;
        let mut stack_permissions = Permissions::RW;
        let layout = match (&self.program.linux, &files) {
            (Some(linux), Some(files)) => {
                let interpreter = self.interpreter(files)?;
                let sizes = Sizes { stack: stack_bytes, heap: heap_bytes, arena: self.arena_bytes };
                let parts = LinuxParts { segments, entry: start, linux };
                let loaded =
                    linux::load(parts, interpreter, end, sizes).map_err(|failure| match failure {
                        LoadFailure::Room(error) => error,
                        LoadFailure::Interpreter(source) => {
                            let name = self.program.interpreter.clone().unwrap_or_default();
                            Error::Elf { name, source }
                        }
                    })?;
                (segments, start) = (loaded.segments, loaded.start);
                linux_place = Some((loaded.place, loaded.areas));
                stack_permissions = loaded.stack_permissions;
                loaded.layout
            }
            _ => place(end, stack_bytes, heap_bytes, None)?.0,
        };
        let room = |range: &Range<u64>, permissions| Segment {
            address: range.start,
            bytes: range.end - range.start,
            data: Vec::new(),
            permissions,
        };
        // A Linux program maps its heap itself, by `brk`.
        segments.push(room(&layout.stack, stack_permissions));
        let mut later = std::mem::take(&mut self.reserved);
        if let Some((_, areas)) = &linux_place {
            later.extend([layout.heap.clone(), areas.arena.clone()]);
            segments.push(Segment {
                address: areas.trampoline,
                bytes: PAGE_BYTES as u64,
                data: linux::TRAMPOLINE.map(u32::to_le_bytes).concat(),
                permissions: Permissions::RX,
            });
        } else {
            segments.push(room(&layout.heap, Permissions::RW));
        }
        let image = Image::with_room(&segments, features, &later)?;
        let images = [Arc::new(if is_linux { image.with_all_room() } else { image })];
        let frames_max = self.frames_max.unwrap_or_else(|| default_frames_max(self.lanes));
        let stack_bytes = layout.stack.end - layout.stack.start;
        let mut calls = is_linux.then(|| CallTable {
            first_lane: self.first_lane,
            ..linux::call_table(stack_bytes, self.seed, self.real_time)
        });
        // The host traces calls, so it has to see all of them.
        calls.iter_mut().filter(|_| self.trace.is_some()).for_each(|calls| calls.answers.clear());
        let plan = Plan {
            images: &images,
            lanes: self.lanes,
            frames_max,
            calls: calls.as_ref(),
            loops: self.loops.as_ref(),
        };
        let mut executor = self.engine.executor(&plan)?;
        let host = Host { layout: layout.clone(), directory };
        let serves_in_parallel =
            serves_in_parallel(self.lanes, &host, self.console.is_some() || self.trace.is_some());
        let linux = match (files, linux_place) {
            (Some(files), Some((place, areas))) => {
                let path = std::mem::take(&mut self.current_directory);
                let directory = files.directory(&path).ok_or(Error::GuestDirectory { path })?;
                let settings = Settings {
                    areas,
                    end,
                    place,
                    executable,
                    program: Arc::clone(&self.program.file),
                    features,
                    seed: self.seed,
                    real_time: self.real_time.then(Instant::now),
                    terminal: self.terminal,
                    quantum: self.quantum,
                };
                Some((files, directory, Arc::new(settings)))
            }
            _ => None,
        };
        let mut environments = Vec::new();

        let mut lanes = Vec::with_capacity(self.lanes);
        for lane in 0..self.lanes {
            let mut cpu = Cpu::new(start, layout.stack.end);
            let (arguments, input): (_, Arc<[u8]>) = ((self.arguments)(lane), (self.input)(lane).into());
            let mut kernel = linux.as_ref().map(|(files, directory, settings)| {
                let settings = Arc::clone(settings);
                let number = self.first_lane.wrapping_add(lane as u64);
                Arc::new(Kernel::new(number, files.clone(), *directory, settings, Arc::clone(&input)))
            });
            if let Some(kernel) = &mut kernel {
                let environment: Arc<[String]> = (self.environment)(lane).into();
                let texts =
                    Texts { name: &self.program.name, arguments: &arguments, environment: &environment };
                let kernel = Arc::make_mut(kernel);
                kernel.set_schedule((self.schedule)(lane));
                kernel.set_trace(self.trace.is_some() && (self.is_traced)(lane));
                linux::write_initial_stack(&texts, kernel, &mut *executor, lane, &mut cpu)?;
                environments.push(environment);
            }
            let mut setup = LaneSetup { executor: &mut *executor, number: lane, cpu, failure: None };
            (self.prepare)(&mut setup);
            let LaneSetup { cpu, failure, .. } = setup;
            if let Some(error) = failure {
                return Err(error);
            }
            executor.set_cpu(lane, &cpu)?;
            let arguments = if is_linux { &[][..] } else { &arguments[..] };
            let services = Services::new(command_line(&self.program, lane, arguments)?, input);
            let output = CollectedOutput::default();
            let mut state =
                LaneState { services, kernel, output, console: None, resumed: None, turn_end: u64::MAX };
            state.console = serves_in_parallel.then(|| state.console_handles());
            if let Some(handles) = state.console {
                executor.set_console(lane, handles)?;
            }
            lanes.push(state);
        }
        let Self { program, console, trace, output_max, hooks, loops, .. } = self;
        if !hooks.is_empty() {
            executor.set_hooks(&hooks)?;
        }
        let [image] = images;
        let snapshot = Vec::new();
        Ok(Machine {
            program: Arc::new(program),
            features,
            environments,
            executor,
            image,
            calls,
            frames_max: self.frames_max,
            host,
            lanes,
            console,
            trace,
            output_max,
            hooks,
            loops,
            snapshot,
        })
    }
}

impl Builder<'_> {
    /// Returns the file of the program interpreter, if the program needs one.
    fn interpreter<'f>(&self, files: &'f linux::Files) -> Result<Option<&'f [u8]>, Error> {
        let Some(path) = &self.program.interpreter else { return Ok(None) };
        let found = linux::contents(files, path.as_bytes());
        let missing = || Error::NoInterpreter { program: self.program.name.clone(), path: path.clone() };
        Ok(Some(found.ok_or_else(missing)?))
    }
}

/// The default number of steps of a turn: a millisecond of the lane's time.
const QUANTUM: u64 = 1_000_000;

/// Checks that reserved addresses are whole pages of the address space.
fn check_reserved(addresses: &Range<u64>) -> Result<(), Error> {
    let page = PAGE_BYTES as u64;
    let is_aligned = addresses.start.is_multiple_of(page) && addresses.end.is_multiple_of(page);
    if is_aligned && !addresses.is_empty() && addresses.end <= 1 << crate::pages::ADDRESS_BITS {
        return Ok(());
    }
    Err(Error::Reserve { addresses: addresses.clone() })
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
