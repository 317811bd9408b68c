//! Recovery of a network after the loss of its GPU. The host copies the state from time to time (a checkpoint) and
//! keeps a journal of the calls since then; after a loss it uploads the checkpoint to a new device and replays the
//! journal.

mod interval;
mod journal;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use kvrm_spiking::{ChangeSummary, Executor, Input, Network, Recorder, State};

use super::executor::DeviceExecutor;
use super::explain::BurstPlan;
use super::fault::Fault;
use super::kernels::{BurstKernels, Kernel};
use super::memory;
use super::options::Options;
use crate::device::Device;
use crate::device::error::Error;
pub use interval::Bounds;
use interval::Interval;
use journal::{Journal, PartOutcome};

/// The maximum number of attempts at an operation whose device is lost each time.
const ATTEMPTS: u32 = 2;

/// A network on a GPU, run by the burst engine. It recovers from the loss of the GPU.
///
/// A call that finds the device lost opens the adapter again, rebuilds the network there, and goes on. A run does this
/// at most once in each of its parts, which take about half a second. If the device is lost a second time in a part,
/// the call fails with [`Error::DeviceLost`], and the next call tries again. A call that fails, for this or another
/// reason, has changed nothing.
///
/// The network is rebuilt from a checkpoint, which is a copy of its state on the host, and a journal of the calls since
/// then. Checkpoints take at most 1 % of the time of runs. So a replay takes about a second at most, or, if the
/// state is large, a hundred times as long as a checkpoint. If the replay has other results than the original run, the
/// error is [`Error::StateLost`], and only [`Executor::set_state`] makes the network usable again.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use kvrm_gpu::Device;
/// use kvrm_gpu::spiking::{BurstExecutor, BurstKernels, Options};
/// use kvrm_spiking::{Executor, Input, networks};
///
/// let kernels = BurstKernels::new(&Device::open(None)?);
/// let network = Arc::new(networks::feagi(10_000, 64, 1)?);
/// let mut executor = BurstExecutor::new(&kernels, network, Options::default())?;
/// executor.run(1000, &Input::default(), None)?;
/// assert_eq!(executor.state()?.step, 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BurstExecutor {
    /// The network on a device. `None` after the device was lost or failed.
    executor: Option<Box<DeviceExecutor>>,
    kernels: BurstKernels,
    options: Options,
    network: Arc<Network>,
    /// The journal of completed calls.
    journal: Journal,
    /// The journal of the call in progress.
    under_way: Journal,
    interval: Interval,
    name: String,
    /// The kernels that the engine chooses from.
    candidates: Vec<Kernel>,
    recoveries: u64,
    checkpoints: u64,
}

impl BurstExecutor {
    /// Uploads a network in its initial state.
    ///
    /// # Errors
    ///
    /// The network does not fit on the device, or the device fails.
    pub fn new(kernels: &BurstKernels, network: Arc<Network>, options: Options) -> Result<Self, Error> {
        memory::check(kernels.device(), &network)?;
        let mut executor = Self {
            executor: None,
            kernels: kernels.clone(),
            options,
            interval: Interval::new(0),
            network,
            journal: Journal::default(),
            under_way: Journal::default(),
            name: kernels.device().info().to_string(),
            candidates: Vec::new(),
            recoveries: 0,
            checkpoints: 0,
        };
        executor.call(|_| Ok(()))?;
        Ok(executor)
    }

    /// Returns the kernels that the engine chooses from.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.candidates
    }

    /// Returns the plan of the network: its kernels, with the times that have been measured so far.
    ///
    /// # Errors
    ///
    /// The GPU fails.
    pub fn plan(&mut self) -> Result<BurstPlan, Error> {
        self.call(|executor| Ok(executor.plan()))
    }

    /// Returns the device of the network: the current one, or the last one if that was lost.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.kernels.device()
    }

    /// Returns how many times the network has been rebuilt on a device.
    #[must_use]
    pub const fn recoveries(&self) -> u64 {
        self.recoveries
    }

    /// Returns how many times the state has been copied to the host as a checkpoint.
    #[must_use]
    pub const fn checkpoints(&self) -> u64 {
        self.checkpoints
    }

    /// Overrides the size of the journal and the number of steps in a part, and injects a loss; for tests.
    #[doc(hidden)]
    pub const fn set_bounds(&mut self, bounds: Bounds) {
        self.interval.bounds = bounds;
    }

    /// Injects a fault on the device, which lasts until the network is rebuilt; for tests.
    #[doc(hidden)]
    pub fn break_device(&mut self, fault: Fault) -> Result<(), Error> {
        self.call(|executor| {
            executor.fault = Some(fault);
            Ok(())
        })
    }

    /// Does an operation on the device. If the device is lost, opens it again and repeats the operation.
    fn call<T>(&mut self, mut call: impl FnMut(&mut DeviceExecutor) -> Result<T, Error>) -> Result<T, Error> {
        let mut attempts = 1;
        loop {
            let called = self.attempt(&mut call).map_err(|error| self.kernels.device().as_recoverable(error));
            match called {
                Err(Error::DeviceLost { .. }) if attempts < ATTEMPTS => attempts += 1,
                called => return called,
            }
        }
    }

    /// Does an operation once. If it fails, drops the executor, so that the next attempt rebuilds the network.
    fn attempt<T>(&mut self, call: impl FnOnce(&mut DeviceExecutor) -> Result<T, Error>) -> Result<T, Error> {
        let mut executor = match self.executor.take() {
            Some(executor) => executor,
            None => self.rebuilt_executor()?,
        };
        let value = call(&mut executor)?;
        self.executor = Some(executor);
        Ok(value)
    }

    /// Rebuilds the network on a working device, from the checkpoint and the journals.
    fn rebuilt_executor(&mut self) -> Result<Box<DeviceExecutor>, Error> {
        let is_first = self.candidates.is_empty();
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
        let mut executor = DeviceExecutor::with_state(
            &self.kernels,
            Arc::clone(&self.network),
            self.options.clone(),
            &base,
        )?;
        journals.iter().try_for_each(|journal| journal.replay(&mut executor))?;
        if is_first {
            self.interval = Interval::new(self.network.state_bytes());
        } else {
            self.recoveries += 1;
        }
        self.candidates = executor.store.used_kernels();
        Ok(Box::new(executor))
    }

    /// Runs a part of a run and records it in the journal.
    fn run_part(
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
                // An earlier attempt may have recorded spikes.
                recorder.rewind(before);
            }
            executor.run_part(part.clone(), input, recorder.as_deref_mut())?;
            Ok(executor.fired_digest)
        })?;
        self.interval.record_run(part.end - part.start, begin.elapsed());
        let recorded = recorder.as_deref().zip(before).filter(|(recorder, _)| recorder.lost() == 0);
        let recorded = recorded
            .map(|(recorder, before)| (recorder.neurons().clone(), &recorder.spikes()[before.spikes()..]));
        let journal = if is_last {
            // The run can no longer fail.
            self.journal.append(std::mem::take(&mut self.under_way));
            &mut self.journal
        } else {
            &mut self.under_way
        };
        journal.record_run(part, input, PartOutcome { fired, recorded });
        let bytes = journal.bytes();
        if self.interval.is_due(bytes) {
            self.checkpoint(is_last);
        }
        Ok(())
    }

    /// Replaces a journal by a checkpoint. Keeps the journal if the state cannot be downloaded.
    fn checkpoint(&mut self, has_ended: bool) {
        let Some(executor) = self.executor.take() else { return };
        let begin = Instant::now();
        let state = executor.state().map_err(|error| self.kernels.device().as_recoverable(error));
        self.interval.record_copy(begin.elapsed());
        self.interval.restart();
        // The next call rebuilds the network.
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

/// Wraps an error of the GPU.
fn engine_error(error: Error) -> kvrm_spiking::Error {
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
            let end = done.saturating_add(self.interval.part_steps()).min(steps);
            let made = self.run_part(done..end, input, end == steps, recorder.as_deref_mut());
            if let Err(error) = made {
                // Undoes the parts of the run that were done.
                self.executor = None;
                self.under_way = Journal::default();
                if let (Some(recorder), Some(before)) = (recorder, before) {
                    recorder.rewind(before);
                }
                return Err(engine_error(error));
            }
            done = end;
        }
        recorder.map_or(Ok(()), |recorder| recorder.finish())
    }

    fn state(&mut self) -> Result<State, kvrm_spiking::Error> {
        let state = self.call(|executor| executor.state()).map_err(engine_error)?;
        if self.interval.is_worthwhile() && !self.journal.is_empty() {
            self.journal = Journal::begin(state.clone());
            self.interval.restart();
            self.checkpoints += 1;
        }
        Ok(state)
    }

    fn set_state(&mut self, state: &State) -> Result<(), kvrm_spiking::Error> {
        state.check(&self.network)?;
        let before = std::mem::replace(&mut self.journal, Journal::begin(state.clone()));
        // If the network has to be rebuilt, the new journal already rebuilds it in this state.
        let result = self.call(|executor| executor.set_state(state));
        if result.is_err() {
            self.journal = before;
        }
        self.interval.restart();
        result.map_err(engine_error)
    }

    fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), kvrm_spiking::Error> {
        let drives = vec![0; self.network.populations().len()];
        State { drives, ..State::default() }.set_drive(&self.network, population, amount)?;
        self.call(|executor| executor.set_drive(population, amount)).map_err(engine_error)?;
        self.journal.record_drive(population, amount);
        Ok(())
    }

    fn change(&mut self, network: &Arc<Network>, changed: &ChangeSummary) -> Result<(), kvrm_spiking::Error> {
        let state = self.call(|executor| executor.state()).map_err(engine_error)?.after(network, changed);
        state.check(network)?;
        self.call(|executor| executor.change_network(network, changed, &state)).map_err(engine_error)?;
        self.network = Arc::clone(network);
        self.journal = Journal::begin(state);
        self.interval.restart();
        if let Some(executor) = &self.executor {
            self.candidates = executor.store.used_kernels();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kvrm_spiking::{Builder, ConnectionRule, Feagi, Model, Projection};

    use super::*;
    use crate::device::lock::lock;
    use crate::device::registry::SHARED_DEVICE;

    /// Returns a network whose neurons fire in every step.
    fn always_firing_network() -> Arc<Network> {
        let mut builder = Builder::new(1.0);
        let model = Model::Feagi(Feagi { drive: 2.0, ..Feagi::default() });
        let all = builder.population("all", 40, &model).expect("parameters are in range");
        builder
            .connect(all, all, &Projection::new(ConnectionRule::OutDegree(3), 1.0, 1))
            .expect("the population has neurons");
        Arc::new(builder.build().expect("sums are small"))
    }

    #[test]
    #[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
    fn a_replay_with_other_results_is_an_error_until_a_state_is_set() {
        let _guard = lock(&SHARED_DEVICE);
        let kernels = BurstKernels::new(&Device::open(None).expect("the host has an adapter"));
        for what in ["fired", "spikes", "count"] {
            let mut executor = BurstExecutor::new(&kernels, always_firing_network(), Options::default())
                .expect("the network fits on any device");
            // A run that takes long, for example because the driver compiles the kernels, ends with a checkpoint. So
            // does reading the state after it.
            let state = loop {
                executor.run(5, &Input::default(), Some(&mut Recorder::new(1000))).expect("the device works");
                let state = executor.state().expect("the device works");
                if executor.journal.corrupt(what) {
                    break state;
                }
            };
            executor.executor = None;
            for _ in 0..2 {
                let error = executor.run(1, &Input::default(), None).expect_err("the replay differs");
                let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<Error>());
                assert!(matches!(cause, Some(Error::StateLost { .. })), "{what}: {error:?}");
            }
            executor.set_state(&state).expect("a new state needs no replay");
            executor.run(1, &Input::default(), None).expect("the network has a state again");
            assert_eq!(executor.state().expect("the device works").step, state.step + 1, "{what}");
        }
    }
}
