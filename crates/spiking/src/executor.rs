//! What an engine has to do.

use std::sync::Arc;

use crate::{Changed, Error, Input, Network, Recorder, State};

/// An engine at work on a network.
///
/// A step: what arrives is the slot of the ring, the injections and the drive; neurons are updated; rules that learn
/// change weights; the spikes are delivered, so that one of step t with a delay of d arrives in step t + d.
///
/// All engines give the same state after the same steps, in however many runs these are made.
///
/// A call that fails has changed nothing, neither the network nor a recorder, and can be made again; but for
/// [`Error::RecordingOverflow`], which comes after all steps. An engine whose device can be lost brings the network to
/// another one, or to the same one opened again, if it can.
pub trait Executor: std::fmt::Debug + Send {
    /// What it is, for reports.
    fn name(&self) -> String;

    /// Makes some steps. The steps of `input` count from the beginning of the run.
    ///
    /// # Errors
    /// An input that the network does not take, before any step; [`Error::RecordingOverflow`] after all steps; or the
    /// engine fails.
    fn run(&mut self, steps: u64, input: &Input, recorder: Option<&mut Recorder>) -> Result<(), Error>;

    /// The state after the last step.
    ///
    /// # Errors
    /// The engine fails.
    fn state(&mut self) -> Result<State, Error>;

    /// Goes on from another state.
    ///
    /// # Errors
    /// The state is not one of this network, or the engine fails.
    fn set_state(&mut self, state: &State) -> Result<(), Error>;

    /// Sets what a population gets in every step, in weight units; 0 is no input.
    ///
    /// # Errors
    /// There is no such population, or the amount exceeds the injection limit.
    fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), Error>;

    /// Goes on with a network that has been changed. If it learns, it has been changed from what it had learned.
    ///
    /// # Errors
    /// What is on its way leaves no room for what can arrive now, and nothing has changed; or the engine fails.
    fn change(&mut self, network: &Arc<Network>, changed: &Changed) -> Result<(), Error>;
}
