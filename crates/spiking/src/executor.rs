//! [`Executor`], the interface of engines.

use std::sync::Arc;

use crate::{ChangeSummary, Error, Input, Network, Recorder, State};

/// An engine with the state of one network.
///
/// A step has four phases:
///
/// 1. The input of each neuron is read: the current slot of the ring, the injections and the drive.
/// 2. All neurons are updated, and some fire.
/// 3. Plasticity rules change weights.
/// 4. The spikes are delivered: a spike of step t over a synapse with delay d is input in step t + d.
///
/// All engines have the same state after the same steps, however the steps are divided into runs.
///
/// A call that fails changes neither the network nor a recorder and can be repeated. The exception is
/// [`Error::RecordingOverflow`], which is returned after all steps were executed. An engine whose device can be lost
/// moves the network to another device, or reopens the same one, if it can.
///
/// ```
/// use std::sync::Arc;
///
/// use kvrm_spiking::{Builder, Executor, Feagi, Injection, Input, Model, Recorder, Reference};
///
/// # fn main() -> Result<(), kvrm_spiking::Error> {
/// let mut builder = Builder::new(1.0);
/// builder.population("area", 10, &Model::Feagi(Feagi::default()))?;
/// let mut engine = Reference::new(Arc::new(builder.build()?));
/// let input = Input::new(vec![Injection { step: 2, neuron: 4, amount: 1 }])?;
/// let mut recorder = Recorder::new(100);
/// engine.run(5, &input, Some(&mut recorder))?;
/// let spike = recorder.spikes()[0];
/// assert_eq!((spike.step, spike.neuron), (2, 4));
/// assert_eq!(engine.state()?.step, 5);
/// # Ok(())
/// # }
/// ```
pub trait Executor: std::fmt::Debug + Send {
    /// Returns the name of the engine, for reports.
    fn name(&self) -> String;

    /// Runs `steps` steps. The steps of `input` count from the beginning of the run.
    ///
    /// # Errors
    /// `input` is invalid for the network, and no step was executed; [`Error::RecordingOverflow`] after all steps; or
    /// the engine failed.
    fn run(&mut self, steps: u64, input: &Input, recorder: Option<&mut Recorder>) -> Result<(), Error>;

    /// Returns the state after the last step.
    ///
    /// # Errors
    /// The engine failed.
    fn state(&mut self) -> Result<State, Error>;

    /// Continues from another state.
    ///
    /// # Errors
    /// The state does not match the network, or the engine failed.
    fn set_state(&mut self, state: &State) -> Result<(), Error>;

    /// Sets the drive of a population: the input of each of its neurons in every step, in weight units; 0 is no input.
    ///
    /// # Errors
    /// There is no such population, or the magnitude exceeds the injection limit.
    fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), Error>;

    /// Continues with a changed network. If weights learn, the change must start from the weights that this engine
    /// learned ([`Network::take_weights`]).
    ///
    /// # Errors
    /// Pending input and possible new input of a neuron could overflow, and nothing has changed; or the engine failed.
    fn change(&mut self, network: &Arc<Network>, changed: &ChangeSummary) -> Result<(), Error>;
}
