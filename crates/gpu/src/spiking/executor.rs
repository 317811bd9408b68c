//! A network at work on a GPU.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use kvrm_spiking::{Changed, Executor, Injection, Input, Network, Record, Recorder, State};

use super::kernels::BurstKernels;
use super::layout::{Clock, ROW, SPIKE_BYTES};
use super::pace::Pace;
use super::recording::{self, Slice};
use super::store::{Options, Store};
use crate::adapter::Kind;
use crate::error::Error;

/// The most steps, and the most injections, that the device is given at once.
const LEG_STEPS: u64 = 1 << 20;
const LEG_INJECTIONS: usize = 1 << 22;
/// Slices under way at a time: one runs, and the next waits for it.
const SLICES: usize = 2;
/// Room for recorded spikes, if one batch cannot have more.
const RECORDING: u64 = 1 << 18;

/// The burst engine on a GPU.
#[derive(Debug)]
pub struct BurstExecutor {
    kernels: BurstKernels,
    options: Options,
    network: Arc<Network>,
    store: Store,
    pace: Pace,
    /// The next step.
    step: u64,
    /// The slot of the ring for it.
    head: u32,
    drives: Vec<i32>,
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
            store,
            pace: Pace::new(is_software),
            step: state.step,
            head: 0,
            drives: state.drives.clone(),
        })
    }

    /// Makes steps with injections, whose steps count from that of the first one less `before`.
    fn leg(
        &mut self,
        steps: u64,
        before: u64,
        injections: &[Injection],
        recorder: Option<&mut Recorder>,
    ) -> Result<(), Error> {
        self.prepare(steps, before, injections, recorder.as_deref())?;
        match recorder {
            None => self.unrecorded(steps)?,
            Some(recorder) => self.recorded(steps, recorder)?,
        }
        self.step += steps;
        self.head = ((u64::from(self.head) + steps) % self.network.slots() as u64) as u32;
        Ok(())
    }

    /// Tells the device what is to be done.
    fn prepare(
        &mut self,
        steps: u64,
        before: u64,
        injections: &[Injection],
        recorder: Option<&Recorder>,
    ) -> Result<(), Error> {
        let mut settings = self.store.settings;
        settings.steps = steps as u32;
        settings.injections = injections.len() as u32;
        if !injections.is_empty() {
            self.store.reserve_injections(steps, injections.len() as u64)?;
            let mut starts = Vec::with_capacity(steps as usize + 1);
            for step in 0..=steps {
                let from = starts.last().map_or(0, |&start| start as usize);
                let more = injections[from..].partition_point(|injection| injection.step - before < step);
                starts.push((from + more) as u32);
            }
            let pairs: Vec<[u32; 2]> =
                injections.iter().map(|injection| [injection.neuron, injection.amount as u32]).collect();
            self.store.buffers.injection_starts.upload(0, &starts)?;
            self.store.buffers.injections.upload(0, &pairs)?;
        }
        if let Some(recorder) = recorder {
            let neurons = recorder.neurons();
            settings.recorded_first = neurons.start;
            settings.recorded = neurons.end.min(settings.neurons).saturating_sub(neurons.start);
            // There must be room for all that a batch can record.
            let most = self.kernels.device().limits().storage_bytes() / SPIKE_BYTES;
            let fitting = most / u64::from(settings.recorded.max(1));
            settings.batch = u64::from(settings.batch).min(fitting.max(1)) as u32;
            let wanted = (u64::from(settings.recorded) * u64::from(settings.batch)).max(RECORDING.min(most));
            self.store.reserve_recording(wanted)?;
            settings.recording = wanted as u32;
        }
        self.store.settings.batch = self.store.settings.batch.min(settings.batch);
        let clock = Clock {
            step: self.step as u32,
            step_high: (self.step >> 32) as u32,
            head: self.head,
            remaining: steps as u32,
            batch: 1,
            ..Clock::default()
        };
        let buffers = &self.store.buffers;
        buffers.settings.upload(0, &[settings])?;
        buffers.clocks.upload(0, &[clock, clock])?;
        buffers.counts.upload(0, &[0_u32; 4])?;
        if !injections.is_empty() {
            // Injections come with the spikes of the batch before.
            self.store.device.submit("injecting", |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_bind_group(0, &self.store.group, &[]);
                pass.set_pipeline(&self.store.pipelines.propagate);
                pass.dispatch_workgroups(self.store.workgroups[1], 1, 1);
            })?;
        }
        Ok(())
    }

    fn unrecorded(&mut self, steps: u64) -> Result<(), Error> {
        let mut left = steps.div_ceil(self.store.settings.batch.into());
        let mut slices = VecDeque::new();
        let mut ended = None;
        while left > 0 || !slices.is_empty() {
            if left > 0 && slices.len() < SLICES {
                let batches = self.next_slice(left);
                left -= u64::from(batches);
                slices.push_back(self.submit(batches, None)?);
            } else if let Some(slice) = slices.pop_front() {
                self.end(&slice, &mut ended)?;
            }
        }
        Ok(())
    }

    fn recorded(&mut self, steps: u64, recorder: &mut Recorder) -> Result<(), Error> {
        let spikes = self.store.buffers.recording.bytes() / SPIKE_BYTES;
        let device = self.store.device.clone();
        let mut reports = Vec::new();
        for _ in 0..SLICES {
            reports.push(recording::report(&device, spikes)?);
        }
        let batch = u64::from(self.store.settings.batch);
        let mut left = steps.div_ceil(batch);
        let mut slices = VecDeque::new();
        let mut ended = None;
        while left > 0 || !slices.is_empty() {
            if left > 0
                && let Some(report) = reports.pop()
            {
                let batches = self.next_slice(left);
                left -= u64::from(batches);
                slices.push_back(self.submit(batches, Some(report))?);
            } else if let Some(mut slice) = slices.pop_front() {
                self.end(&slice, &mut ended)?;
                let Some(report) = slice.report.take() else { continue };
                let (steps_left, report) = recording::take(&device, report, self.step, recorder)?;
                reports.push(report);
                // If it had to wait for room, there is more to do than was thought.
                if slices.is_empty() && left == 0 {
                    left = u64::from(steps_left).div_ceil(batch);
                }
            }
        }
        Ok(())
    }

    fn next_slice(&self, left: u64) -> u32 {
        let batches = self.pace.batches.min(self.options.slice.unwrap_or(u32::MAX)).max(1);
        u64::from(batches).min(left) as u32
    }

    fn submit(&self, batches: u32, report: Option<wgpu::Buffer>) -> Result<Slice, Error> {
        let Store { device, pipelines, group, workgroups: [neurons, deliver], buffers, .. } = &self.store;
        if report.is_some() {
            buffers.counts.upload(8, &[0_u32])?;
            buffers.clocks.upload(Clock::HALTED_OFFSET, &[0_u32])?;
        }
        let submitted = Instant::now();
        let submission = device.submit("running steps", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_bind_group(0, group, &[]);
            for _ in 0..batches {
                pass.set_pipeline(&pipelines.neurons);
                pass.dispatch_workgroups((*neurons).min(ROW), neurons.div_ceil(ROW), 1);
                pass.set_pipeline(&pipelines.propagate);
                pass.dispatch_workgroups(*deliver, 1, 1);
            }
            drop(pass);
            if let Some(report) = &report {
                recording::copy(encoder, &self.store, report);
            }
        })?;
        if let Some(report) = &report {
            device.catch("reading spikes", || report.map_async(wgpu::MapMode::Read, .., |_| {}))?;
        }
        Ok(Slice { batches, submitted, submission, report })
    }

    /// Waits for a slice. What it took begins where the one before had ended.
    fn end(&mut self, slice: &Slice, ended: &mut Option<Instant>) -> Result<(), Error> {
        self.store.device.wait(&slice.submission)?;
        let now = Instant::now();
        let begin = ended.map_or(slice.submitted, |ended| ended.max(slice.submitted));
        self.pace.adapt(slice.batches, now - begin);
        *ended = Some(now);
        Ok(())
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
        *self = Self::at(&self.kernels, Arc::clone(network), self.options.clone(), &state).map_err(failed)?;
        Ok(())
    }
}
