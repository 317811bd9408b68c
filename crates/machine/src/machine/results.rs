//! Iteration over the results of all lanes.

use std::iter::FusedIterator;

use kvrm_arm64::Stop;

use super::Machine;
use super::lane_state::{CollectedOutput, LaneState};
use crate::error::Error;
use crate::register::Register;

/// The result of a lane, from [`Machine::results`].
///
/// ```
/// use kvrm_machine::{Machine, Program};
///
/// let program = Program::from_code(0x1000, &[0xd440_0000])?; // hlt #0
/// let mut machine = Machine::builder(program).build()?;
/// machine.run(100)?;
/// let result = machine.results()?.next().expect("the machine has a lane");
/// assert_eq!((result.lane, result.pc, result.exit_status()), (0, 0x1000, None));
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneResult<'a> {
    /// The number of the lane, from 0.
    pub lane: usize,
    /// The reason why the lane has stopped; `None` before its first run and after a run that failed.
    pub stop: Option<Stop>,
    /// The number of steps that the lane has retired since it began.
    pub steps: u64,
    /// The address of its next instruction; after a fault or an undefined instruction, of that instruction.
    pub pc: u64,
    /// The collected console output, in bytes; empty if the builder was given a console.
    pub output: &'a [u8],
    /// The collected error output.
    pub error_output: &'a [u8],
    /// Whether output was dropped because a stream had more than [`Builder::output_max`](super::Builder::output_max)
    /// bytes.
    pub is_truncated: bool,
}

impl LaneResult<'_> {
    /// Returns the exit status if the guest has exited; `None` if it stopped for another reason or still runs.
    #[must_use]
    pub const fn exit_status(&self) -> Option<i32> {
        match self.stop {
            Some(Stop::Exit { code }) => Some(code),
            _ => None,
        }
    }
}

/// An iterator over the results of all lanes in the order of their numbers, from [`Machine::results`].
#[derive(Debug)]
pub struct Results<'a> {
    stops: std::vec::IntoIter<Option<Stop>>,
    steps: Vec<u64>,
    pcs: Vec<u64>,
    lanes: &'a [LaneState],
}

impl<'a> Iterator for Results<'a> {
    type Item = LaneResult<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let lane = self.lanes.len() - self.stops.len();
        let stop = self.stops.next()?;
        let CollectedOutput { output, error_output, truncated } = &self.lanes[lane].output;
        let (steps, pc) = (self.steps[lane], self.pcs[lane]);
        Some(LaneResult { lane, stop, steps, pc, output, error_output, is_truncated: *truncated })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stops.size_hint()
    }
}

impl ExactSizeIterator for Results<'_> {}
impl FusedIterator for Results<'_> {}

impl Machine {
    /// Returns an iterator over the results of all lanes. They are fetched from the engine at once.
    ///
    /// ```
    /// use kvrm_machine::{Machine, Program, Stop};
    ///
    /// let program = Program::from_code(0x1000, &[0x9100_0400, 0xd440_0000])?; // add x0, x0, #1; hlt #0
    /// let mut machine = Machine::builder(program).lanes(3).build()?;
    /// machine.run(100)?;
    /// for result in machine.results()? {
    ///     assert_eq!((result.stop, result.steps), (Some(Stop::Halt { imm: 0 }), 1), "lane {}", result.lane);
    /// }
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// The engine fails.
    pub fn results(&mut self) -> Result<Results<'_>, Error> {
        let stops = self.executor.stops()?.into_iter();
        let (steps, pcs) = (self.registers(Register::Steps)?, self.registers(Register::Pc)?);
        Ok(Results { stops, steps, pcs, lanes: &self.lanes })
    }
}
