//! A network at work on a GPU.

use std::sync::Arc;

use kvrm_spiking::{Changed, Executor, Input, Network, Record, Recorder, State};

use super::kernels::{BurstKernels, Kernel};
use super::pace::Pace;
use super::plan::Options;
use super::store::Store;
use crate::adapter::Kind;
use crate::error::Error;

/// The most steps, and the most injections, that the device is given at once.
const LEG_STEPS: u64 = 1 << 20;
const LEG_INJECTIONS: usize = 1 << 22;

/// The burst engine on a GPU.
#[derive(Debug)]
pub struct BurstExecutor {
    kernels: BurstKernels,
    pub(super) options: Options,
    pub(super) network: Arc<Network>,
    pub(super) store: Store,
    pub(super) pace: Pace,
    /// The next step.
    pub(super) step: u64,
    /// The slot of the ring for it.
    pub(super) head: u32,
    drives: Vec<i32>,
    /// Buffers of the last run.
    pub(super) reports: Vec<wgpu::Buffer>,
}

impl BurstExecutor {
    /// A network at its beginning.
    ///
    /// # Errors
    ///
    /// It does not fit on the device, or the device fails.
    pub fn new(kernels: &BurstKernels, network: Arc<Network>, options: Options) -> Result<Self, Error> {
        let state = State::initial(&network);
        Self::at(kernels, network, options, &state)
    }

    /// The kernels that are chosen from.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.store.kernels
    }

    fn at(
        kernels: &BurstKernels,
        network: Arc<Network>,
        options: Options,
        state: &State,
    ) -> Result<Self, Error> {
        let store = Store::new(kernels, &network, &options)?;
        store.upload_state(&network, state)?;
        let is_software = kernels.device().info().kind == Kind::Software;
        Ok(Self {
            kernels: kernels.clone(),
            options,
            network,
            pace: Pace::new(is_software, &store.kernels),
            store,
            step: state.step,
            head: 0,
            drives: state.drives.clone(),
            reports: Vec::new(),
        })
    }
}

/// The error of an engine.
fn failed(error: Error) -> kvrm_spiking::Error {
    kvrm_spiking::Error::Engine(Box::new(error))
}

impl Executor for BurstExecutor {
    fn name(&self) -> String {
        self.store.device.info().to_string()
    }

    fn run(
        &mut self,
        steps: u64,
        input: &Input,
        mut recorder: Option<&mut Recorder>,
    ) -> Result<(), kvrm_spiking::Error> {
        input.check(&self.network, steps)?;
        let mut rest = input.injections();
        let mut done = 0;
        while done < steps {
            let mut end = (done + LEG_STEPS).min(steps);
            if let Some(beyond) = rest.get(LEG_INJECTIONS) {
                end = end.min(beyond.step.max(done + 1));
            }
            let (injections, later) = rest.split_at(rest.partition_point(|injection| injection.step < end));
            self.leg(end - done, done, injections, recorder.as_deref_mut()).map_err(failed)?;
            (rest, done) = (later, end);
        }
        recorder.map_or(Ok(()), |recorder| recorder.finish())
    }

    fn state(&mut self) -> Result<State, kvrm_spiking::Error> {
        let mut state = self.store.download_state(&self.network).map_err(failed)?;
        state.step = self.step;
        state.drives.clone_from(&self.drives);
        state.rotate(self.head as usize, &self.network);
        Ok(state)
    }

    fn set_state(&mut self, state: &State) -> Result<(), kvrm_spiking::Error> {
        state.check(&self.network)?;
        self.store.upload_state(&self.network, state).map_err(failed)?;
        (self.step, self.head) = (state.step, 0);
        self.drives.clone_from(&state.drives);
        Ok(())
    }

    fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), kvrm_spiking::Error> {
        let mut state = State { drives: self.drives.clone(), ..State::default() };
        state.set_drive(&self.network, population, amount)?;
        self.drives = state.drives;
        let records = &self.network.parts().records;
        let is_its = |record: &Record| record.words[Record::POPULATION] == population;
        if let (Some(first), Some(last)) = (records.iter().position(is_its), records.iter().rposition(is_its))
        {
            self.store.upload_records(first, &records[first..=last], &self.drives).map_err(failed)?;
        }
        Ok(())
    }

    fn change(&mut self, network: &Arc<Network>, changed: &Changed) -> Result<(), kvrm_spiking::Error> {
        let state = self.state()?.after(network, changed);
        state.check(network)?;
        if self.store.change(network, changed, &self.options, &self.drives).map_err(failed)? {
            self.network = Arc::clone(network);
            return Ok(());
        }
        *self = Self::at(&self.kernels, Arc::clone(network), self.options.clone(), &state).map_err(failed)?;
        Ok(())
    }
}
