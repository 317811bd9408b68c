//! The options of environments.

use std::fmt;
use std::ops::Range;

use kvrm_machine::{Factory, Fork, Machine, Stop, View, ViewFormat};

use crate::environments::{Environments, Exchange};
use crate::error::Error;
use crate::interface::{Interface, YIELD};
use crate::options::Options;
use crate::variable::{Places, Variable};

/// The largest number of steps up to the first yield.
const START_STEPS_MAX: u64 = 100_000_000_000;

/// What the host reads of frames.
#[derive(Clone, Debug, Default)]
struct Observation {
    format: Option<ViewFormat>,
    columns: Option<Range<u32>>,
    rows: Option<Range<u32>>,
    shift: u32,
}

/// The options of [`Environments`].
#[must_use]
pub struct Builder<'a> {
    start: Machine,
    lanes: usize,
    engine: Option<Box<dyn Factory + 'a>>,
    frames_max: Option<usize>,
    components: Option<Vec<String>>,
    observation: Observation,
    variables: Vec<Variable>,
    options: Options,
}

impl Environments {
    /// Returns options for environments of the program of `start`, a machine with one lane that has not run yet.
    pub fn builder<'a>(start: Machine) -> Builder<'a> {
        Builder::new(start)
    }
}

impl fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Builder({} lanes of {:?})", self.lanes, self.start)
    }
}

impl<'a> Builder<'a> {
    fn new(start: Machine) -> Self {
        Self {
            start,
            lanes: 1,
            engine: None,
            frames_max: None,
            components: None,
            observation: Observation { format: Some(ViewFormat::Rgb), ..Observation::default() },
            variables: Vec::new(),
            options: Options::default(),
        }
    }

    /// Sets the number of lanes. The default is 1.
    pub const fn lanes(mut self, lanes: usize) -> Self {
        self.lanes = lanes;
        self
    }

    /// Sets the engine that runs the lanes. By default it is that of the machine in which the program starts, which should
    /// be one on the CPU.
    pub fn engine(mut self, engine: impl Factory + 'a) -> Self {
        self.engine = Some(Box::new(engine));
        self
    }

    /// Sets the number of pages of 4 KiB that each lane may write, as [`Fork::frames_max`] does.
    pub const fn frames_max(mut self, frames: usize) -> Self {
        self.frames_max = Some(frames);
        self
    }

    /// Sets which components actions have, and their order. The others are always 0. By default actions have all
    /// components of the program.
    pub fn components<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.components = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets how many units of its time the program advances in a step: the frame skip. The default is 1.
    pub const fn ticks(mut self, ticks: u32) -> Self {
        self.options.ticks = ticks;
        self
    }

    /// Sets the format of observations. The default is [`ViewFormat::Rgb`]. Programs without frames have no observations.
    pub const fn format(mut self, format: ViewFormat) -> Self {
        self.observation.format = Some(format);
        self
    }

    /// Lets steps have no observations, and tells the program not to draw.
    pub const fn without_observations(mut self) -> Self {
        self.observation.format = None;
        self
    }

    /// Sets the columns and rows of the frame that are observed. By default all are.
    pub fn crop(mut self, columns: Range<u32>, rows: Range<u32>) -> Self {
        (self.observation.columns, self.observation.rows) = (Some(columns), Some(rows));
        self
    }

    /// Makes observations smaller: a square of 2^`shift` pixels becomes one, their average. The default is 0.
    pub const fn downscale(mut self, shift: u32) -> Self {
        self.observation.shift = shift;
        self
    }

    /// Sets the variables of the program that are read after each step. By default there are none.
    pub fn variables(mut self, variables: impl IntoIterator<Item = Variable>) -> Self {
        self.variables = variables.into_iter().collect();
        self
    }

    /// Sets the seed from which the seeds of episodes follow. The default is 0.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Sets the number of the task of episodes, which the program defines. The default is 0: the task with which the program
    /// started.
    pub const fn scenario(mut self, scenario: u32) -> Self {
        self.options.scenario = scenario;
        self
    }

    /// Sets the number of steps after which an episode is truncated. By default, episodes have no limit.
    pub const fn episode_steps(mut self, steps: u32) -> Self {
        self.options.steps_max = steps;
        self
    }

    /// Sets the number of instructions that a lane may take for one step. A lane that takes more is stopped, and its
    /// episode truncated. The default is 10^9.
    pub const fn budget(mut self, instructions: u64) -> Self {
        self.options.budget = instructions;
        self
    }

    /// Lets lanes go on after an episode has ended, as the program decides. By default they begin another one.
    pub const fn endless(mut self) -> Self {
        self.options.is_endless = true;
        self
    }

    /// Runs the program up to its first yield, and forks it.
    ///
    /// # Errors
    /// - [`Error::NoYield`] and [`Error::Interface`]: the program is no environment.
    /// - [`Error::NoComponent`] and [`Error::NoVariable`]: the program has no such thing.
    /// - The observations are not possible, or the engine fails.
    pub fn build(mut self) -> Result<Environments, Error> {
        self.start.run(START_STEPS_MAX)?;
        match self.start.stop(0)? {
            Some(Stop::Syscall { imm: YIELD }) => {}
            stop => return Err(Error::NoYield { budget: START_STEPS_MAX, stop }),
        }
        let interface = Interface::read(&mut self.start, 0)?;
        let selected = self.selected(&interface)?;
        let view = self.view(&interface)?;
        if let Some(view) = &view {
            // A program that describes a frame without memory is refused before there is room for observations.
            self.start.read_views(0, view, &mut Vec::new())?;
        }
        let places = Places::new(&self.variables, self.start.program())?;
        let mut fork = Fork::new(self.lanes);
        if let Some(engine) = self.engine.take() {
            fork = fork.engine(engine);
        }
        if let Some(frames) = self.frames_max {
            fork = fork.frames_max(frames);
        }
        let mut machine = self.start.fork_with(0, fork)?;
        machine.snapshot()?;
        let exchange = Exchange { interface, selected, view, places };
        Ok(Environments::new(self.options, machine, exchange))
    }

    /// Returns the components that actions have, by their numbers.
    fn selected(&self, interface: &Interface) -> Result<Vec<usize>, Error> {
        let all = &interface.components;
        let Some(names) = &self.components else { return Ok((0..all.len()).collect()) };
        let number = |name: &String| {
            all.iter().position(|component| component.name == *name).ok_or_else(|| {
                let names: Vec<_> = all.iter().map(|component| &component.name[..]).collect();
                Error::NoComponent { name: name.clone(), names: names.join(", ") }
            })
        };
        names.iter().map(number).collect()
    }

    fn view(&self, interface: &Interface) -> Result<Option<View>, Error> {
        let Observation { format, columns, rows, shift } = self.observation.clone();
        let (Some(format), Some(picture)) = (format, interface.picture) else { return Ok(None) };
        let columns = columns.unwrap_or(0..picture.width);
        let rows = rows.unwrap_or(0..picture.height);
        Ok(Some(View::new(picture, columns, rows, shift, format)?))
    }
}
