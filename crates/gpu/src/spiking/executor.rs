//! A network that runs on a device.

use std::ops::Range;
use std::sync::Arc;

use kvrm_spiking::{ChangeSummary, Input, Network, Record, Recorder, State};

use super::explain::{BurstPlan, KernelPlan, Unsuitable};
use super::fault::Fault;
use super::feed::{Chunk, Staging};
use super::kernels::{BurstKernels, Kernel};
use super::layout::block_size;
use super::memory;
use super::options::Options;
use super::pace::Pace;
use super::store::Store;
use crate::device::error::Error;

/// The maximum number of steps of a chunk, and of its injections unless a single step has more.
const CHUNK_STEPS: u64 = 1 << 20;
const CHUNK_INJECTIONS: usize = 1 << 21;

/// A network on a device. Its state is undefined after an error.
#[derive(Debug)]
pub(super) struct DeviceExecutor {
    kernels: BurstKernels,
    pub(super) options: Options,
    pub(super) network: Arc<Network>,
    pub(super) store: Store,
    pub(super) pace: Pace,
    /// The next step.
    pub(super) step: u64,
    /// The slot of the ring that holds the input of the next step.
    pub(super) head: u32,
    /// The drive of each population, in weight units.
    drives: Vec<i32>,
    /// Report buffers of the last run, which the next one reuses.
    pub(super) reports: Vec<wgpu::Buffer>,
    /// A digest of the neurons that fired in the last step of the last run.
    pub(super) fired_digest: u64,
    pub(super) staging: Staging,
    /// The fault that a test has injected.
    pub(super) fault: Option<Fault>,
}

impl DeviceExecutor {
    /// Uploads a network and its state to the device.
    pub(super) fn with_state(
        kernels: &BurstKernels,
        network: Arc<Network>,
        options: Options,
        state: &State,
    ) -> Result<Self, Error> {
        let store = Store::new(kernels, &network, &options)
            .map_err(|error| memory::explain(error, kernels.device(), &network))?;
        store.upload_state(&network, state)?;
        let mut pace = Pace::new(kernels.device().info().is_software(), &store.used_kernels());
        if options.kernel.is_none() && !store.is_fused_tried_at_once() {
            pace.delay(Kernel::Fused, store.sorting);
        }
        Ok(Self {
            kernels: kernels.clone(),
            options,
            network,
            pace,
            store,
            step: state.step,
            head: 0,
            drives: state.drives.clone(),
            reports: Vec::new(),
            fired_digest: 0,
            staging: Staging::default(),
            fault: None,
        })
    }

    /// Runs a part of a run, in chunks. `part` and `input` count steps from the beginning of the run.
    pub(super) fn run_part(
        &mut self,
        part: Range<u64>,
        input: &Input,
        mut recorder: Option<&mut Recorder>,
    ) -> Result<(), Error> {
        let all = input.injections();
        let before = |step| all.partition_point(|injection| injection.step < step);
        // Returns the steps of the chunk that begins with a step, and its injections.
        let chunk = |begin: u64| {
            let first = before(begin);
            let mut end = (begin + CHUNK_STEPS).min(part.end);
            if let Some(beyond) = all.get(first + CHUNK_INJECTIONS) {
                end = end.min(beyond.step.max(begin + 1));
            }
            (begin..end, &all[first..before(end)])
        };
        let mut packed = None;
        if !part.is_empty() {
            let (steps, injections) = chunk(part.start);
            let buffer = self.staging.buffer_for(self.kernels.device(), injections.len())?;
            packed = Some(Chunk::pack(steps, injections, buffer));
        }
        while let Some(current) = packed.take() {
            let next = Some(current.steps.end).filter(|&end| end < part.end).map(chunk);
            let Some((steps, injections)) = next else { return self.run_chunk(current, recorder) };
            match self.staging.buffer_for(self.kernels.device(), injections.len())? {
                // A thread is only worth it if there are injections.
                None => {
                    packed = Some(Chunk::pack(steps, injections, None));
                    self.run_chunk(current, recorder.as_deref_mut())?;
                }
                buffer => rayon::in_place_scope(|scope| {
                    scope.spawn(|_| packed = Some(Chunk::pack(steps, injections, buffer)));
                    self.run_chunk(current, recorder.as_deref_mut())
                })?,
            }
        }
        Ok(())
    }

    /// Replaces the network by its changed version, in place if its buffers allow that. `state` is the state of the
    /// changed network.
    pub(super) fn change_network(
        &mut self,
        network: &Arc<Network>,
        changed: &ChangeSummary,
        state: &State,
    ) -> Result<(), Error> {
        if self.store.change(network, changed, &self.options, &self.drives)? {
            self.network = Arc::clone(network);
            // The changed network may have other blocks, which may exceed the limits of the device.
            self.pace.choose_among(&self.store.used_kernels());
            if self.options.kernel.is_none() {
                // The synapses have to be sorted again.
                self.pace.delay(Kernel::Fused, self.store.sorting);
            }
            return Ok(());
        }
        *self = Self::with_state(&self.kernels, Arc::clone(network), self.options.clone(), state)?;
        Ok(())
    }

    /// Returns the plan with the times that have been measured so far.
    pub(super) fn plan(&self) -> BurstPlan {
        let settings = &self.store.settings;
        let kernel_plan = |&(kernel, checked): &(Kernel, Result<(), Unsuitable>)| KernelPlan {
            kernel,
            step: match checked {
                Ok(()) => self.pace.batch_time(kernel).map(|batch| Ok(batch / f64::from(settings.batch))),
                Err(reason) => Some(Err(reason)),
            },
        };
        BurstPlan {
            batch: settings.batch,
            blocks: settings.blocks,
            block_neurons: block_size(settings.neurons, settings.blocks),
            window: settings.window.min(settings.batch),
            kernels: self.store.kernels.iter().map(kernel_plan).collect(),
        }
    }

    /// Downloads the state after the last step.
    pub(super) fn state(&self) -> Result<State, Error> {
        let mut state = self.store.download_state(&self.network)?;
        state.step = self.step;
        state.drives.clone_from(&self.drives);
        state.rotate(self.head as usize, &self.network);
        Ok(state)
    }

    /// Replaces the state.
    pub(super) fn set_state(&mut self, state: &State) -> Result<(), Error> {
        self.store.upload_state(&self.network, state)?;
        (self.step, self.head) = (state.step, 0);
        self.drives.clone_from(&state.drives);
        Ok(())
    }

    /// Sets the drive of a population. The caller has checked that the population exists.
    pub(super) fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), Error> {
        self.drives[population as usize] = amount;
        let records = &self.network.parts().records;
        let is_its = |record: &Record| record.words[Record::POPULATION] == population;
        if let (Some(first), Some(last)) = (records.iter().position(is_its), records.iter().rposition(is_its))
        {
            self.store.upload_records(first, &records[first..=last], &self.drives)?;
        }
        Ok(())
    }
}
