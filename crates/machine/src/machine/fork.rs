//! Forks: machines whose lanes all begin in the state of one lane of another machine.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::frames::default_frames_max;
use super::lane_state::{CollectedOutput, LaneState, serves_in_parallel};
use super::{Console, Machine};
use crate::call_table::{Answer, CallTable};
use crate::console::Stream;
use crate::error::Error;
use crate::executor::{Factory, LaneStart, Plan};
use crate::image::Image;

/// The options of [`Machine::fork_with`].
///
/// ```
/// use kvrm_machine::{Fork, Machine, Program, ReferenceEngine};
///
/// let program = Program::from_code(0x1000, &[0x9100_0400, 0xd440_0000])?; // add x0, x0, #1; hlt #0
/// let mut machine = Machine::builder(program).build()?;
/// let fork = Fork::new(1000).engine(ReferenceEngine).frames_max(16);
/// assert_eq!(machine.fork_with(0, fork)?.lanes(), 1000);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
pub struct Fork<'a> {
    lanes: usize,
    engine: Option<Box<dyn Factory + 'a>>,
    frames_max: Option<usize>,
    console: Option<Console>,
}

impl<'a> Fork<'a> {
    /// Creates the options of a fork with this number of lanes.
    #[must_use]
    pub fn new(lanes: usize) -> Self {
        Self { lanes, engine: None, frames_max: None, console: None }
    }

    /// Sets the engine that runs the lanes. By default it is that of the forked machine, on the same device.
    ///
    /// A single lane is fastest on the CPU. So it pays to run the start of a program there, and to fork it to a
    /// GPU.
    #[must_use]
    pub fn engine(mut self, engine: impl Factory + 'a) -> Self {
        self.engine = Some(Box::new(engine));
        self
    }

    /// Sets the number of frames that each lane may own. By default it is the number that was set for the forked
    /// machine; if none was set, all lanes of the fork share 8 GiB equally, as [`Builder::frames_max`] describes.
    ///
    /// [`Builder::frames_max`]: super::Builder::frames_max
    #[must_use]
    pub const fn frames_max(mut self, frames: usize) -> Self {
        self.frames_max = Some(frames);
        self
    }

    /// Sets a function that gets console output while lanes run, as [`Builder::console`] does. By default,
    /// [`Machine::output`] collects it, even if the forked machine has such a function.
    ///
    /// [`Builder::console`]: super::Builder::console
    #[must_use]
    pub fn console(mut self, console: impl FnMut(usize, Stream, &[u8]) + Send + 'static) -> Self {
        self.console = Some(Box::new(console));
        self
    }
}

impl Machine {
    /// Makes a machine with `lanes` lanes that all begin in the state of `lane`. This machine stays as it is.
    ///
    /// Run one lane through the start of a program, fork it, and give each lane of the fork its own input. The pages
    /// that `lane` has written become a part of the image of the fork, so its lanes share them until they write them.
    ///
    /// Every lane of the fork has what `lane` has: registers, number of steps, memory, stop, the hook that it is about
    /// to pass if it was resumed, arguments, console input, open files and their positions. A lane of a Linux program
    /// also has its files, directories, signals, clocks and random numbers. If nothing differs, all lanes do what `lane`
    /// would do. The fork has the hooks of this machine, and these differences:
    ///
    /// - [`Machine::output`] is empty. What `lane` has written stays in this machine.
    /// - [`Machine::private_pages`] and the limit of frames count from the fork on.
    /// - There is no snapshot.
    /// - Files of the host that a semihosting guest has opened are open in all lanes, each with its own position.
    ///
    /// ```
    /// use kvrm_machine::{Hooks, Machine, Program, Register};
    ///
    /// // add x0, x0, #1; add x0, x0, x1; hlt #0
    /// let program = Program::from_code(0x1000, &[0x9100_0400, 0x8b01_0000, 0xd440_0000])?;
    /// let mut machine = Machine::builder(program).hooks(Hooks::new().breakpoint(0x1004)).build()?;
    /// machine.run(100)?;
    /// let mut fork = machine.fork(0, 4)?;
    /// fork.set_registers(.., Register::X(1), &[10, 20, 30, 40])?;
    /// fork.resume(..)?;
    /// fork.run(100)?;
    /// assert_eq!(fork.registers(Register::X(0))?, [11, 21, 31, 41]);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::NoSuchLane`], [`Error::NoLanes`] and [`Error::TooManyLanes`]
    /// - The engine fails.
    pub fn fork(&mut self, lane: usize, lanes: usize) -> Result<Self, Error> {
        self.fork_with(lane, Fork::new(lanes))
    }

    /// Forks a lane as [`Machine::fork`] does, with options.
    ///
    /// # Errors
    /// - [`Error::NoSuchLane`], [`Error::NoLanes`] and [`Error::TooManyLanes`]
    /// - The engine fails, or cannot be opened.
    pub fn fork_with(&mut self, lane: usize, fork: Fork<'_>) -> Result<Self, Error> {
        let lane = self.check(lane)?;
        let Fork { lanes, engine, frames_max, console } = fork;
        if lanes == 0 {
            return Err(Error::NoLanes);
        }
        // Output that the engine still has is part of what the lane wrote before.
        self.rounds().drain()?;
        self.rounds().end_pipe_windows(lane..lane + 1)?;
        let images = [Arc::new(self.image_of(lane)?)];
        let calls = self.calls.as_ref().map(without_random);
        let set_frames_max = frames_max.or(self.frames_max);
        let frames_max = set_frames_max.unwrap_or_else(|| default_frames_max(lanes));
        let plan =
            Plan { images: &images, lanes, frames_max, calls: calls.as_ref(), loops: self.loops.as_ref() };
        let mut executor = match engine {
            Some(engine) => engine.executor(&plan)?,
            None => self.executor.executor_for(&plan)?,
        };
        let mut state = self.state_of(lane, serves_in_parallel(lanes, &self.host, console.is_some()));
        if let Some(kernel) = &mut state.kernel {
            Arc::make_mut(kernel).change_image(&self.image, &images[0]);
        }
        executor.set_all(&LaneStart {
            cpu: self.executor.cpu(lane)?,
            process_state: self.executor.process_state(lane)?,
            stop: self.executor.stop(lane)?,
            console: state.console.unwrap_or(0),
        })?;
        if !self.hooks.is_empty() {
            executor.set_hooks(&self.hooks)?;
        }
        let [image] = images;
        Ok(Self {
            program: Arc::clone(&self.program),
            features: self.features,
            environments: self
                .environments
                .get(lane)
                .map_or_else(Vec::new, |own| vec![Arc::clone(own); lanes]),
            executor,
            image,
            calls,
            frames_max: set_frames_max,
            host: self.host.clone(),
            lanes: vec![state; lanes],
            console,
            trace: None,
            output_max: self.output_max,
            hooks: self.hooks.clone(),
            loops: self.loops.clone(),
            snapshot: Vec::new(),
        })
    }

    /// Returns the image of a fork of a lane.
    fn image_of(&mut self, lane: usize) -> Result<Image, Error> {
        let map = self.executor.page_map(lane)?;
        let mut written = BTreeMap::new();
        self.for_each_written_page(std::iter::once(lane), |_, page, frame| {
            written.insert(page, Box::new(*frame));
        })?;
        Ok(self.image.fork(&map, &written))
    }

    /// Returns the state that the host keeps for each lane of a fork.
    fn state_of(&self, lane: usize, serves_in_parallel: bool) -> LaneState {
        let LaneState { services, kernel, resumed, turn_end, .. } = &self.lanes[lane];
        let mut state = LaneState {
            services: services.clone(),
            kernel: kernel.clone(),
            output: CollectedOutput::default(),
            console: None,
            resumed: *resumed,
            turn_end: *turn_end,
        };
        state.console = serves_in_parallel.then(|| state.console_handles());
        state
    }
}

/// Returns the table for the lanes of a fork. All of them have the random numbers of the forked lane, which an executor
/// would derive from their own numbers.
fn without_random(table: &CallTable) -> CallTable {
    let answers = table.answers.iter().copied().filter(|(_, answer)| *answer != Answer::Random);
    CallTable { answers: answers.collect(), ..table.clone() }
}

impl fmt::Debug for Fork<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fork({} lanes)", self.lanes)
    }
}
