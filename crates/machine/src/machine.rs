//! The machine: a program in many lanes, an engine that runs them, and the services they call.

mod builder;
mod command_line;
mod host_step;
mod lane_state;
mod memory;
mod results;
mod resume;
mod run;

use std::fmt;
use std::path::Path;

use kvrm_arm64::{Cpu, Features, Stop};

use rayon::prelude::*;

pub use self::builder::{Builder, LaneSetup};
use self::command_line::command_line;
use self::lane_state::{LaneState, Written};
pub use self::results::{LaneResult, Results};
pub use self::run::RunProgress;
use crate::audit::Violation;
use crate::console::Stream;
use crate::error::Error;
use crate::executor::{Executor, Register};
use crate::hooks::Hooks;
use crate::layout::Layout;
use crate::linux::{self, Start};
use crate::pick::pick;
use crate::program::Program;
use crate::semihosting::Host;

/// Takes what lanes write: lane, stream, bytes.
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
    features: Features,
    /// What Linux programs have been told, one entry a lane.
    environments: Vec<Vec<String>>,
    executor: Box<dyn Executor>,
    host: Host,
    lanes: Vec<LaneState>,
    console: Option<Console>,
    output_max: usize,
    hooks: Hooks,
    /// The services' side of the executor's snapshot, one entry a lane.
    snapshot: Vec<LaneState>,
}

impl Machine {
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

    /// The optional features it has.
    #[must_use]
    pub const fn features(&self) -> Features {
        self.features
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
        self.executor.name()
    }

    /// Why a lane stopped, or `None` before its first run and after one that failed.
    ///
    /// # Errors
    /// If there is no such lane, or the engine fails.
    pub fn stop(&mut self, lane: usize) -> Result<Option<Stop>, Error> {
        let lane = self.check(lane)?;
        self.executor.stop(lane)
    }

    /// Why each lane stopped.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn stops(&mut self) -> Result<Vec<Option<Stop>>, Error> {
        self.executor.stops()
    }

    /// The registers of a lane.
    ///
    /// # Errors
    /// If there is no such lane, or the engine fails.
    pub fn cpu(&mut self, lane: usize) -> Result<Cpu, Error> {
        let lane = self.check(lane)?;
        self.executor.cpu(lane)
    }

    /// Replaces the registers of a lane.
    ///
    /// # Errors
    /// If there is no such lane, or the engine fails.
    pub fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), Error> {
        let lane = self.check(lane)?;
        self.executor.set_cpu(lane, cpu)
    }

    /// One register of all lanes.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn registers(&mut self, register: Register) -> Result<Vec<u64>, Error> {
        let mut values = Vec::new();
        self.executor.registers(register, &mut values)?;
        Ok(values)
    }

    /// The addresses of the pages a lane has written, in order of their first write.
    ///
    /// # Errors
    /// If there is no such lane, or the engine fails.
    pub fn dirty_pages(&mut self, lane: usize) -> Result<Vec<u64>, Error> {
        let lane = self.check(lane)?;
        self.executor.dirty_pages(lane)
    }

    /// What a lane has written to one of its console streams, if no console was given to the builder.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn output(&self, lane: usize, stream: Stream) -> Result<&[u8], Error> {
        let Written { output, error_output, .. } = &self.lanes[self.check(lane)?].written;
        Ok(if stream == Stream::Output { output } else { error_output })
    }

    /// Whether a lane has written more to one of its streams than [`Builder::output_max`] lets it collect.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn output_truncated(&self, lane: usize) -> Result<bool, Error> {
        Ok(self.lanes[self.check(lane)?].written.truncated)
    }

    /// Writes the files and directories below a directory that a lane of a Linux program sees into a new directory of the
    /// host. Links are left out.
    ///
    /// # Errors
    /// If there is no such lane, the lane has no such directory, as other programs have none, or the host's cannot be
    /// made or written.
    pub fn save_files(&self, lane: usize, guest: &str, host: impl AsRef<Path>) -> Result<(), Error> {
        match &self.lanes[self.check(lane)?].process {
            Some(process) => process.save(guest, host.as_ref()),
            None => Err(Error::GuestDirectory { path: guest.to_owned() }),
        }
    }

    /// Replaces what a lane reads as console input from now on. A reset takes it back.
    ///
    /// # Errors
    /// If there is no such lane.
    pub fn set_input(&mut self, lane: usize, bytes: &[u8]) -> Result<(), Error> {
        let lane = self.check(lane)?;
        let state = &mut self.lanes[lane];
        match &mut state.process {
            Some(process) => process.set_input(bytes.into()),
            None => state.services.set_input(bytes.into()),
        }
        Ok(())
    }

    /// Replaces what a lane is told when it asks for its arguments; of a Linux program, what it begins with. A reset
    /// takes it back.
    ///
    /// # Errors
    /// If there is no such lane, if an argument cannot be passed, as [`Builder::arguments`] says, or if a Linux program
    /// has begun.
    pub fn set_arguments(&mut self, lane: usize, arguments: &[String]) -> Result<(), Error> {
        let lane = self.check(lane)?;
        if let Some(process) = &mut self.lanes[lane].process {
            let mut cpu = self.executor.cpu(lane)?;
            if cpu.steps > 0 {
                return Err(Error::Started { lane, steps: cpu.steps });
            }
            let environment = &self.environments[lane];
            let Self { program, features, host: Host { layout, .. }, .. } = self;
            let from = Start { program, layout, features: *features, arguments, environment };
            cpu.sp = linux::start(&from, process, &mut *self.executor, lane)?;
            return self.executor.set_cpu(lane, &cpu);
        }
        let line = command_line(&self.program, lane, arguments)?;
        self.lanes[lane].services.set_command_line(line);
        Ok(())
    }

    /// Checks the memory of all lanes, as [`Executor::audit`] says, and gives what contradicts itself. There is nothing
    /// unless KVRM has a mistake or a GPU computes wrongly.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn audit(&mut self) -> Result<Vec<Violation>, Error> {
        self.executor.audit()
    }

    /// Lets each lane own up to `frames_max` frames from now on.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn set_frames_max(&mut self, frames_max: usize) -> Result<(), Error> {
        self.executor.set_frames_max(frames_max)
    }

    /// Remembers the state of all lanes, replacing any earlier snapshot.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn snapshot(&mut self) -> Result<(), Error> {
        self.drain()?;
        self.executor.snapshot()?;
        self.snapshot.clone_from(&self.lanes);
        Ok(())
    }

    /// Takes lanes back to the snapshot: registers, memory, stop, arguments, console input and output. The
    /// files that were open then are open again, at the same positions; what was done to files is not undone, but for
    /// those of Linux programs, which are the lane's own.
    ///
    /// # Errors
    /// If there is no snapshot or no such lane, or the engine fails.
    pub fn reset(&mut self, lanes: &[usize]) -> Result<(), Error> {
        for &lane in lanes {
            self.check(lane)?;
        }
        self.drain()?;
        self.executor.reset(lanes)?;
        if lanes.is_sorted_by(|a, b| a < b) {
            let states = pick(&mut self.lanes, lanes).into_par_iter().zip(lanes);
            states.for_each(|(state, &lane)| state.clone_from(&self.snapshot[lane]));
        } else {
            lanes.iter().for_each(|&lane| self.lanes[lane].clone_from(&self.snapshot[lane]));
        }
        Ok(())
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, executor, lanes, .. } = self;
        write!(f, "Machine({} in {} lanes, {})", program.name, lanes.len(), executor.name())
    }
}
