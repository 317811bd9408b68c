//! A network that survives the loss of its GPU: its state is on the host from time to time, and what was done since is
//! done again on a new device.

mod interval;
mod journal;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use kvrm_spiking::{Changed, Executor, Input, Network, Recorder, State};

use super::executor::DeviceExecutor;
use super::fault::Fault;
use super::kernels::{BurstKernels, Kernel};
use super::plan::Options;
use crate::device::Device;
use crate::device::error::Error;
pub use interval::Bounds;
use interval::Interval;
use journal::{Journal, Outcome};

/// How often a call is made that finds its device lost each time.
const ATTEMPTS: u32 = 2;

/// The burst engine on a GPU that may be lost.
///
/// A call that finds the device lost opens the adapter again, makes the network there what it was, and goes on. A call
/// does this once for each half second of a run; if the device is lost again before that, the call fails with
/// [`Error::DeviceLost`] and has changed nothing, and the next one tries again. A call that fails for another reason has
/// changed nothing either.
///
/// The network is made what it was from its state, which is copied to the host now and then, and from a journal of what
/// was done since. Copies take 1 % of the time of runs at most; so after a loss, what a second of runs did is done again,
/// or, where the state is large, what was done in a hundred times as long as a copy takes. If it has other results than
/// before, that is [`Error::StateLost`], and [`Executor::set_state`] is the only way to go on.
#[derive(Debug)]
pub struct BurstExecutor {
    /// The network on a device, unless that was lost or failed.
    executor: Option<Box<DeviceExecutor>>,
    kernels: BurstKernels,
    options: Options,
    network: Arc<Network>,
    /// What was done by calls that have ended.
    journal: Journal,
    /// What was done by the call under way.
    under_way: Journal,
    interval: Interval,
    name: String,
    /// The kernels that are chosen from.
    choice: Vec<Kernel>,
    recoveries: u64,
    checkpoints: u64,
}

impl BurstExecutor {
    /// A network at its beginning.
    ///
    /// # Errors
    ///
    /// It does not fit on the device, or the device fails.
    pub fn new(kernels: &BurstKernels, network: Arc<Network>, options: Options) -> Result<Self, Error> {
        let mut executor = Self {
            executor: None,
            kernels: kernels.clone(),
            options,
            interval: Interval::new(0),
            network,
            journal: Journal::default(),
            under_way: Journal::default(),
            name: kernels.device().info().to_string(),
            choice: Vec::new(),
            recoveries: 0,
            checkpoints: 0,
        };
        executor.call(|_| Ok(()))?;
        Ok(executor)
    }

    /// The kernels that are chosen from.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.choice
    }

    /// The device that the network is on, or was on last.
    #[must_use]
    pub fn on(&self) -> &Device {
        self.kernels.device()
    }

    /// How often the network was made again.
    #[must_use]
    pub const fn recoveries(&self) -> u64 {
        self.recoveries
    }

    /// How often the state was copied to the host so that the network could be made again.
    #[must_use]
    pub const fn checkpoints(&self) -> u64 {
        self.checkpoints
    }

    /// Sets when the state is copied to the host, and how many steps are made at once; for tests.
    #[doc(hidden)]
    pub const fn set_bounds(&mut self, bounds: Bounds) {
        self.interval.bounds = bounds;
    }

    /// Breaks something on the device, until the network is made again; for tests.
    #[doc(hidden)]
    pub fn break_device(&mut self, fault: Fault) -> Result<(), Error> {
        self.call(|executor| {
            executor.fault = Some(fault);
            Ok(())
        })
    }

    /// Makes a call, and makes it again on a device that is opened again if the device is lost meanwhile.
    fn call<T>(&mut self, mut call: impl FnMut(&mut DeviceExecutor) -> Result<T, Error>) -> Result<T, Error> {
        let mut attempts = 1;
        loop {
            let called = self.attempt(&mut call).map_err(|error| self.kernels.device().kept(error));
            match called {
                Err(Error::DeviceLost { .. }) if attempts < ATTEMPTS => attempts += 1,
                called => return called,
            }
        }
    }

    /// Makes a call once. If it fails, the network has to be made again.
    fn attempt<T>(&mut self, call: impl FnOnce(&mut DeviceExecutor) -> Result<T, Error>) -> Result<T, Error> {
        let mut executor = match self.executor.take() {
            Some(executor) => executor,
            None => self.made_again()?,
        };
        let value = call(&mut executor)?;
        self.executor = Some(executor);
        Ok(value)
    }

    /// The network on a device that works, as it was after all that was done.
    fn made_again(&mut self) -> Result<Box<DeviceExecutor>, Error> {
        let is_first = self.choice.is_empty();
        self.kernels = self.kernels.working()?;
        if let Some(calls) = self.interval.bounds.lost_again.take() {
            self.kernels.device().lose_at(calls);
        }
        let (base, journals) = match &self.under_way.base {
            None => (&self.journal.base, &[&self.journal, &self.under_way][..]),
            base => (base, &[&self.under_way][..]),
        };
        let initial = || State::initial(&self.network);
        let base = base.as_ref().map_or_else(|| Cow::Owned(initial()), Cow::Borrowed);
        let mut executor =
            DeviceExecutor::at(&self.kernels, Arc::clone(&self.network), self.options.clone(), &base)?;
        journals.iter().try_for_each(|journal| journal.replay(&mut executor))?;
        if is_first {
            self.interval = Interval::new(state_bytes(&base));
        } else {
            self.recoveries += 1;
        }
        self.choice.clone_from(&executor.store.kernels);
        Ok(Box::new(executor))
    }

    /// Makes a part of a run.
    fn part(
        &mut self,
        part: Range<u64>,
        input: &Input,
        is_last: bool,
        mut recorder: Option<&mut Recorder>,
    ) -> Result<(), Error> {
        let before = recorder.as_ref().map(|recorder| recorder.position());
        let begin = Instant::now();
        let fired = self.call(|executor| {
            if let (Some(recorder), Some(before)) = (recorder.as_deref_mut(), before) {
                // What an attempt before this one has recorded.
                recorder.rewind(before);
            }
            executor.run_part(part.clone(), input, recorder.as_deref_mut())?;
            Ok(executor.fired_digest)
        })?;
        self.interval.ran(part.end - part.start, begin.elapsed());
        let recorded = recorder.as_deref().zip(before).filter(|(recorder, _)| recorder.lost() == 0);
        let recorded = recorded
            .map(|(recorder, before)| (recorder.neurons().clone(), &recorder.spikes()[before.spikes()..]));
        let journal = if is_last {
            // Nothing of this run can fail now.
            self.journal.append(std::mem::take(&mut self.under_way));
            &mut self.journal
        } else {
            &mut self.under_way
        };
        journal.run(part, input, Outcome { fired, recorded });
        let bytes = journal.bytes();
        if self.interval.is_due(bytes) {
            self.checkpoint(is_last);
        }
        Ok(())
    }

    /// Replaces a journal by the state. Without the state, the journal remains.
    fn checkpoint(&mut self, has_ended: bool) {
        let Some(executor) = self.executor.take() else { return };
        let begin = Instant::now();
        let state = executor.state().map_err(|error| self.kernels.device().kept(error));
        self.interval.took(begin.elapsed());
        self.interval.copied();
        // The next call makes the network again.
        if matches!(state, Err(Error::DeviceLost { .. })) {
            return;
        }
        self.executor = Some(executor);
        if let Ok(state) = state {
            self.checkpoints += 1;
            *(if has_ended { &mut self.journal } else { &mut self.under_way }) = Journal::begin(state);
        }
    }
}

/// How many bytes a state has.
fn state_bytes(state: &State) -> u64 {
    let State { columns, ring, marks, fired, history, weights, .. } = state;
    let words = columns.len() + ring.len() + marks.len() + fired.len() + 2 * history.len() + weights.len();
    4 * words as u64
}

/// The error of an engine.
fn failed(error: Error) -> kvrm_spiking::Error {
    kvrm_spiking::Error::Engine(Box::new(error))
}

impl Executor for BurstExecutor {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(
        &mut self,
        steps: u64,
        input: &Input,
        mut recorder: Option<&mut Recorder>,
    ) -> Result<(), kvrm_spiking::Error> {
        input.check(&self.network, steps)?;
        let before = recorder.as_ref().map(|recorder| recorder.position());
        let mut done = 0;
        while done < steps {
            let end = done.saturating_add(self.interval.chunk()).min(steps);
            let made = self.part(done..end, input, end == steps, recorder.as_deref_mut());
            if let Err(error) = made {
                // None of the run has happened.
                self.executor = None;
                self.under_way = Journal::default();
                if let (Some(recorder), Some(before)) = (recorder, before) {
                    recorder.rewind(before);
                }
                return Err(failed(error));
            }
            done = end;
        }
        recorder.map_or(Ok(()), |recorder| recorder.finish())
    }

    fn state(&mut self) -> Result<State, kvrm_spiking::Error> {
        let state = self.call(|executor| executor.state()).map_err(failed)?;
        if self.interval.is_welcome() && !self.journal.is_empty() {
            self.journal = Journal::begin(state.clone());
            self.interval.copied();
            self.checkpoints += 1;
        }
        Ok(state)
    }

    fn set_state(&mut self, state: &State) -> Result<(), kvrm_spiking::Error> {
        state.check(&self.network)?;
        let before = std::mem::replace(&mut self.journal, Journal::begin(state.clone()));
        // A network that has to be made again is made so.
        let result = self.call(|executor| executor.set_state(state));
        if result.is_err() {
            self.journal = before;
        }
        self.interval.copied();
        result.map_err(failed)
    }

    fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), kvrm_spiking::Error> {
        let drives = vec![0; self.network.populations().len()];
        State { drives, ..State::default() }.set_drive(&self.network, population, amount)?;
        self.call(|executor| executor.set_drive(population, amount)).map_err(failed)?;
        self.journal.drive(population, amount);
        Ok(())
    }

    fn change(&mut self, network: &Arc<Network>, changed: &Changed) -> Result<(), kvrm_spiking::Error> {
        let state = self.call(|executor| executor.state()).map_err(failed)?.after(network, changed);
        state.check(network)?;
        self.call(|executor| executor.take_over(network, changed, &state)).map_err(failed)?;
        self.network = Arc::clone(network);
        self.journal = Journal::begin(state);
        self.interval.copied();
        if let Some(executor) = &self.executor {
            self.choice.clone_from(&executor.store.kernels);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kvrm_spiking::{Builder, Connect, Feagi, Model, Projection};

    use super::*;

    /// Neurons that fire in every step.
    fn restless() -> Arc<Network> {
        let mut builder = Builder::new(1.0);
        let model = Model::Feagi(Feagi { drive: 2.0, ..Feagi::default() });
        let all = builder.population("restless", 40, &model).expect("parameters are in range");
        builder
            .connect(all, all, &Projection::new(Connect::OutDegree(3), 1.0, 1))
            .expect("there are neurons");
        Arc::new(builder.build().expect("sums are small"))
    }

    #[test]
    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    fn a_replay_with_other_results_is_an_error_until_there_is_another_state() {
        let kernels = BurstKernels::new(&Device::open(None).expect("there is one"));
        for what in ["fired", "spikes", "count"] {
            let mut executor =
                BurstExecutor::new(&kernels, restless(), Options::default()).expect("it fits on any device");
            executor.run(5, &Input::default(), Some(&mut Recorder::new(1000))).expect("it runs");
            let state = executor.state().expect("it can be read");
            executor.journal.spoil(what);
            executor.executor = None;
            for _ in 0..2 {
                let error = executor.run(1, &Input::default(), None).expect_err("it is not what it was");
                let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<Error>());
                assert!(matches!(cause, Some(Error::StateLost { .. })), "{what}: {error:?}");
            }
            executor.set_state(&state).expect("it needs no other state");
            executor.run(1, &Input::default(), None).expect("it goes on");
            assert_eq!(executor.state().expect("it can be read").step, 6, "{what}");
        }
    }
}
