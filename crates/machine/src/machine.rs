//! A machine: a program in one or many lanes, the engine that runs them, and the services that the lanes call.

mod builder;
mod command_line;
mod fork;
mod frames;
mod lane_set;
mod lane_state;
mod memory;
mod results;
mod resume;
mod rounds;
mod run;
mod saved;
mod written_pages;

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use kvrm_arm64::{Cpu, Features, Stop};

pub use self::builder::{Builder, LaneSetup};
use self::command_line::command_line;
pub use self::fork::Fork;
pub use self::lane_set::LaneSet;
use self::lane_state::{CollectedOutput, LaneState};
pub use self::results::{LaneResult, Results};
pub use self::run::RunProgress;
use crate::audit::Violation;
use crate::call_table::CallTable;
use crate::console::Stream;
use crate::error::Error;
use crate::executor::Executor;
use crate::hooks::Hooks;
use crate::image::Image;
use crate::layout::Layout;
use crate::linux::{self, Texts};
use crate::loops::Loops;
use crate::pick::for_each_picked;
use crate::program::Program;
use crate::register::Register;
use crate::semihosting::Host;

/// A function of the caller that gets console output: lane, stream, bytes.
type Console = Box<dyn FnMut(usize, Stream, &[u8]) + Send>;

/// A function of the caller that gets traces of system calls: lane, lines.
type TraceReader = Box<dyn FnMut(usize, &str) + Send>;

/// A program in one or many lanes, with the engine that runs them.
///
/// Lanes are numbered from 0. Methods that take a lane return [`Error::NoSuchLane`] if the machine has no such lane.
/// All methods that ask the engine return [`Error::Engine`] if the engine fails, for example because a GPU is lost.
///
/// ```
/// use kvrm_machine::{Machine, Program, Stop};
///
/// // Sixteen lanes, each of which doubles its own number.
/// let code = [0x8b00_0000_u32, 0xd440_0000].map(u32::to_le_bytes).concat(); // add x0, x0, x0; hlt #0
/// let program = Program::raw("double", code, 0x1000, 0)?;
/// let mut machine = Machine::builder(program).lanes(16).prepare(|lane| lane.set_x(0, lane.number() as u64)).build()?;
/// let report = machine.run(1000)?;
/// assert_eq!(report.stops["halt"], 16);
/// assert_eq!(machine.cpu(7)?.x(0), 14);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
pub struct Machine {
    program: Arc<Program>,
    features: Features,
    /// The environment of each lane of a Linux program; empty for other programs.
    environments: Vec<Arc<[String]>>,
    executor: Box<dyn Executor>,
    /// The image that all lanes share.
    image: Arc<Image>,
    /// The system calls that the executor may serve; `None` unless it is a Linux program.
    calls: Option<CallTable>,
    /// The number of frames that each lane may own, if it was set.
    frames_max: Option<usize>,
    host: Host,
    lanes: Vec<LaneState>,
    console: Option<Console>,
    trace: Option<TraceReader>,
    output_max: usize,
    hooks: Hooks,
    /// The acceleration of loops, if there is any.
    loops: Option<Loops>,
    /// The state of each lane's services at the last snapshot; empty before the first one.
    snapshot: Vec<LaneState>,
}

impl Machine {
    /// Returns the numbers of the lanes of a set, in its order.
    ///
    /// # Errors
    /// [`Error::NoSuchLane`] and [`Error::Mask`]: the machine has no such lanes.
    pub fn lane_numbers<'a>(&self, lanes: impl Into<LaneSet<'a>>) -> Result<Cow<'a, [usize]>, Error> {
        lanes.into().numbers(self.lanes.len())
    }

    fn check(&self, lane: usize) -> Result<usize, Error> {
        let lanes = self.lanes.len();
        if lane < lanes { Ok(lane) } else { Err(Error::NoSuchLane { lane, lanes }) }
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the optional features of its instruction set.
    #[must_use]
    pub const fn features(&self) -> Features {
        self.features
    }

    /// Returns the addresses of heap and stack.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.host.layout
    }

    /// Returns the number of lanes.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the name of the engine, such as `reference`.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.executor.name()
    }

    /// Returns the reason why a lane has stopped; `None` before its first run and after a run that failed.
    ///
    /// # Errors
    /// There is no such lane, or the engine fails.
    pub fn stop(&mut self, lane: usize) -> Result<Option<Stop>, Error> {
        let lane = self.check(lane)?;
        self.executor.stop(lane)
    }

    /// Returns the stop of each lane, as [`Machine::stop`] does, in the order of lanes.
    ///
    /// # Errors
    /// The engine fails.
    pub fn stops(&mut self) -> Result<Vec<Option<Stop>>, Error> {
        self.executor.stops()
    }

    /// Returns the registers of a lane.
    ///
    /// A transfer from a GPU takes about as long for one lane as for all; [`Machine::registers`] reads all lanes at
    /// once.
    ///
    /// # Errors
    /// There is no such lane, or the engine fails.
    pub fn cpu(&mut self, lane: usize) -> Result<Cpu, Error> {
        let lane = self.check(lane)?;
        self.executor.cpu(lane)
    }

    /// Replaces the registers of a lane. Its stop and its memory stay.
    ///
    /// # Errors
    /// There is no such lane, or the engine fails.
    pub fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), Error> {
        let lane = self.check(lane)?;
        self.executor.set_cpu(lane, cpu)
    }

    /// Returns the value of a register in each lane, in the order of lanes.
    ///
    /// # Errors
    /// The engine fails.
    pub fn registers(&mut self, register: Register) -> Result<Vec<u64>, Error> {
        let mut values = Vec::new();
        self.executor.registers(register, &mut values)?;
        Ok(values)
    }

    /// Sets a register in several lanes: `values` has one value for each of them, in the order of the set.
    ///
    /// On a GPU, this costs one transfer, however many lanes there are. Of a register of 32 bits or fewer, the low bits
    /// of each value are set.
    ///
    /// # Errors
    /// - [`Error::NoSuchLane`] and [`Error::Mask`]: the machine has no such lanes.
    /// - [`Error::Values`]: there is not one value for each lane.
    /// - The engine fails.
    pub fn set_registers<'a>(
        &mut self,
        lanes: impl Into<LaneSet<'a>>,
        register: Register,
        values: &[u64],
    ) -> Result<(), Error> {
        let lanes = self.lane_numbers(lanes)?;
        if lanes.len() != values.len() {
            return Err(Error::Values { values: values.len(), lanes: lanes.len() });
        }
        self.executor.set_registers(register, &lanes, values)
    }

    /// Returns the addresses of the private pages of a lane, which are the pages of 4096 bytes that it has written, in
    /// rising order.
    ///
    /// # Errors
    /// There is no such lane, or the engine fails.
    pub fn private_pages(&mut self, lane: usize) -> Result<Vec<u64>, Error> {
        let lane = self.check(lane)?;
        self.executor.private_pages(lane)
    }

    /// Returns the bytes that a lane has written to a console stream. They are at most [`Builder::output_max`] bytes,
    /// and none if the builder was given a console.
    ///
    /// # Errors
    /// There is no such lane.
    pub fn output(&self, lane: usize, stream: Stream) -> Result<&[u8], Error> {
        let CollectedOutput { output, error_output, .. } = &self.lanes[self.check(lane)?].output;
        Ok(if stream == Stream::Output { output } else { error_output })
    }

    /// Returns whether a lane has written more than [`Builder::output_max`] bytes to one of its streams. The bytes
    /// beyond them were dropped.
    ///
    /// # Errors
    /// There is no such lane.
    pub fn output_truncated(&self, lane: usize) -> Result<bool, Error> {
        Ok(self.lanes[self.check(lane)?].output.truncated)
    }

    /// Copies the directory `guest` of a lane of a Linux program to the host, with all files and directories in it.
    /// Symbolic links and devices are left out. `host` is the path of a directory that does not exist yet.
    ///
    /// # Errors
    /// - [`Error::NoSuchLane`]
    /// - [`Error::GuestDirectory`]: the lane has no such directory, or the program is not one for Linux.
    /// - [`Error::Save`]: the directory of the host exists already, or cannot be written.
    pub fn save_files(&self, lane: usize, guest: &str, host: impl AsRef<Path>) -> Result<(), Error> {
        match &self.lanes[self.check(lane)?].kernel {
            Some(kernel) => kernel.save(guest, host.as_ref()),
            None => Err(Error::GuestDirectory { path: guest.to_owned() }),
        }
    }

    /// Replaces the console input of a lane, which next reads the first of these bytes. A reset undoes this.
    ///
    /// # Errors
    /// There is no such lane.
    pub fn set_input(&mut self, lane: usize, bytes: &[u8]) -> Result<(), Error> {
        let lane = self.check(lane)?;
        let state = &mut self.lanes[lane];
        match &mut state.kernel {
            Some(kernel) => Arc::make_mut(kernel).set_input(bytes.into()),
            None => state.services.set_input(bytes.into()),
        }
        Ok(())
    }

    /// Replaces the arguments of a lane. A reset undoes this.
    ///
    /// A Linux program has its arguments on the stack, so it must not have begun. Other programs get the new arguments
    /// when they next ask for them.
    ///
    /// # Errors
    /// - [`Error::NoSuchLane`]
    /// - [`Error::Argument`], [`Error::Text`] and [`Error::TextRoom`]: an argument cannot be passed; see
    ///   [`Builder::arguments`].
    /// - [`Error::Started`]: the lane of a Linux program has retired steps.
    /// - The engine fails.
    pub fn set_arguments(&mut self, lane: usize, arguments: &[String]) -> Result<(), Error> {
        let lane = self.check(lane)?;
        if let Some(kernel) = &mut self.lanes[lane].kernel {
            let mut cpu = self.executor.cpu(lane)?;
            if cpu.steps > 0 {
                return Err(Error::Started { lane, steps: cpu.steps });
            }
            let (name, environment) = (&self.program.name, &self.environments[lane]);
            let texts = Texts { name, arguments, environment };
            let kernel = Arc::make_mut(kernel);
            linux::write_initial_stack(&texts, kernel, &mut *self.executor, lane, &mut cpu)?;
            return self.executor.set_cpu(lane, &cpu);
        }
        let line = command_line(&self.program, lane, arguments)?;
        self.lanes[lane].services.set_command_line(line);
        Ok(())
    }

    /// Checks that the memory of all lanes is consistent, as [`Executor::audit`] describes. Returns a violation for
    /// each rule that does not hold; there is none unless KVRM has a bug or a GPU computes wrongly.
    ///
    /// # Errors
    /// The engine fails.
    pub fn audit(&mut self) -> Result<Vec<Violation>, Error> {
        self.executor.audit()
    }

    /// Returns the executor as a value whose type can be asked for, if the engine has tools of its own.
    #[doc(hidden)]
    pub fn executor(&mut self) -> Option<&mut dyn Any> {
        self.executor.as_any()
    }

    /// Sets the number of frames that each lane may own; see [`Builder::frames_max`]. A lane that has stopped for lack
    /// of frames goes on in the next run.
    ///
    /// # Errors
    /// The engine fails.
    pub fn set_frames_max(&mut self, frames_max: usize) -> Result<(), Error> {
        self.executor.set_frames_max(frames_max)?;
        self.frames_max = Some(frames_max);
        Ok(())
    }

    /// Saves the state of all lanes, in place of any earlier snapshot. [`Machine::reset`] goes back to it.
    ///
    /// ```
    /// use kvrm_machine::{Machine, Program, Register};
    ///
    /// let program = Program::from_code(0x1000, &[0x9100_0400, 0xd440_0000])?; // add x0, x0, #1; hlt #0
    /// let mut machine = Machine::builder(program).lanes(2).build()?;
    /// machine.snapshot()?;
    /// machine.run(10)?;
    /// machine.reset(1)?;
    /// assert_eq!(machine.registers(Register::X(0))?, [1, 0]);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// The engine fails.
    pub fn snapshot(&mut self) -> Result<(), Error> {
        self.rounds().drain()?;
        self.executor.snapshot()?;
        self.snapshot.clone_from(&self.lanes);
        Ok(())
    }

    /// Takes lanes back to the snapshot: registers, memory, stop, arguments, console input and output, and the files of
    /// Linux programs.
    ///
    /// Files of the host that were open at the snapshot are open again, at the same positions. Changes of their
    /// contents are not undone.
    ///
    /// # Errors
    /// - [`Error::NoSnapshot`]: [`Machine::snapshot`] was never called.
    /// - [`Error::NoSuchLane`] and [`Error::Mask`]; then no lane is reset.
    /// - The engine fails.
    pub fn reset<'a>(&mut self, lanes: impl Into<LaneSet<'a>>) -> Result<(), Error> {
        let lanes = self.lane_numbers(lanes)?;
        self.rounds().drain()?;
        self.executor.reset(&lanes)?;
        for_each_picked(&mut self.lanes, &lanes, |place, state| state.assign(&self.snapshot[lanes[place]]));
        Ok(())
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, executor, lanes, .. } = self;
        write!(f, "Machine({} in {} lanes, {})", program.name, lanes.len(), executor.name())
    }
}
