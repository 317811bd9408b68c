//! A run, or as much of it as the device is told at once.

use std::collections::VecDeque;
use std::mem::offset_of;
use std::time::Instant;

use kvrm_shaders::interface::spiking::{Clock, Settings, Time};
use kvrm_shaders::layout::spiking::ROW;
use kvrm_spiking::{Injection, Recorder};

use super::executor::DeviceExecutor;
use super::kernels::{Burst, Kernel};
use super::layout::SPIKE_BYTES;
use super::progress::{Expected, Progress};
use super::recording::{self, Recorded};
use super::store::Store;
use crate::device::error::Error;

/// Slices under way at a time: one runs, and others wait for it.
const SLICES: usize = 4;
/// The most bytes of all their reports, if there are more than two.
const REPORTS_BYTES: u64 = 256 << 20;
/// Where one piece in so many is listed, targets may as well look for spikes.
const MANY: u64 = 10;
/// Room for recorded spikes beyond those that one batch can have.
const RECORDING: u64 = 1 << 21;

/// Batches that have been submitted.
#[derive(Debug)]
struct Slice {
    kernel: Kernel,
    batches: u32,
    submitted: Instant,
    submission: wgpu::SubmissionIndex,
    /// Where it leaves its report.
    report: wgpu::Buffer,
}

impl DeviceExecutor {
    /// Makes steps with these injections, whose steps count from the first of these steps less `before`.
    pub(super) fn leg(
        &mut self,
        steps: u64,
        before: u64,
        injections: &[Injection],
        recorder: Option<&mut Recorder>,
    ) -> Result<(), Error> {
        let mut settings = self.store.settings;
        settings.steps = steps as u32;
        settings.injections = injections.len() as u32;
        if let Some(recorder) = &recorder {
            self.reserve_recording(steps, recorder, &mut settings)?;
        }
        if !injections.is_empty() {
            self.upload_injections(steps, before, injections)?;
        }
        let clock = Clock {
            step: self.step as u32,
            step_high: (self.step >> 32) as u32,
            head: self.head,
            remaining: steps as u32,
            batch: 1,
            ..Clock::default()
        };
        let time = Time { before: clock, after: clock, ..Time::default() };
        self.store.buffers.time.upload(0, &[time])?;
        if !injections.is_empty() {
            // Injections come with the spikes of the batch before.
            self.store.buffers.settings.upload(0, &[settings])?;
            let kernel = self.store.kernel(Burst::Propagate, Kernel::Events, false)?;
            let workgroups = self.store.workgroups[1];
            self.store.device.submit("injecting", |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                kernel.dispatch(&mut pass, [workgroups, 1]);
            })?;
        }
        let begin = Progress { step: self.step, head: self.head, left: steps };
        let end = self.slices(begin, &settings, recorder)?;
        (self.step, self.head) = (end.step, end.head);
        Ok(())
    }

    /// Makes room for all that a batch can record, and for more.
    fn reserve_recording(
        &mut self,
        steps: u64,
        recorder: &Recorder,
        settings: &mut Settings,
    ) -> Result<(), Error> {
        let neurons = recorder.neurons();
        settings.recorded_first = neurons.start;
        settings.recorded = neurons.end.min(settings.neurons).saturating_sub(neurons.start);
        let most = self.store.device.limits().storage_bytes() / SPIKE_BYTES;
        let fitting = (most / u64::from(settings.recorded.max(1))).max(1);
        settings.batch = fitting.min(settings.batch.into()) as u32;
        let recorded = u64::from(settings.recorded);
        let needed = recorded * u64::from(settings.batch);
        let wanted = (needed + RECORDING).min(recorded.saturating_mul(steps)).min(most).max(needed).max(1);
        settings.recording = wanted as u32;
        self.store.reserve_recording(wanted)
    }

    fn upload_injections(&mut self, steps: u64, before: u64, injections: &[Injection]) -> Result<(), Error> {
        self.store.reserve_injections(steps, injections.len() as u64)?;
        let mut starts = Vec::with_capacity(steps as usize + 1);
        let mut start = 0;
        for step in 0..=steps {
            start += injections[start..].partition_point(|injection| injection.step - before < step);
            starts.push(start as u32);
        }
        let pair = |injection: &Injection| [injection.neuron, injection.amount as u32];
        self.store.buffers.injection_starts.upload(0, &starts)?;
        self.store.buffers.injections.upload(0, &injections.iter().map(pair).collect::<Vec<_>>())
    }

    /// Submits slices until all steps are made, and takes what they report. Each slice has to advance the clock, so this
    /// ends.
    fn slices(
        &mut self,
        begin: Progress,
        settings: &Settings,
        mut recorder: Option<&mut Recorder>,
    ) -> Result<Progress, Error> {
        let device = self.store.device.clone();
        let mut progress = begin;
        let bytes = recording::report_bytes(settings.neurons, settings.recording);
        let mut reports = std::mem::take(&mut self.reports);
        reports.retain(|report| report.size() >= bytes);
        let count = if SLICES as u64 * bytes <= REPORTS_BYTES { SLICES } else { 2 };
        while reports.len() < count {
            reports.push(recording::report(&device, bytes)?);
        }
        let mut left = progress.left.div_ceil(settings.batch.into());
        let mut under_way = VecDeque::new();
        let mut ended: Option<Instant> = None;
        loop {
            if left > 0
                && let Some(report) = reports.pop()
            {
                let slice = self.submit(left, settings, report)?;
                left -= u64::from(slice.batches);
                under_way.push_back(slice);
            } else if let Some(slice) = under_way.pop_front() {
                device.wait_within(&slice.submission, self.pace.limit(slice.kernel, slice.batches))?;
                // It began where the one before had ended.
                let now = Instant::now();
                let begin = ended.map_or(slice.submitted, |ended| ended.max(slice.submitted));
                self.pace.learn(slice.kernel, slice.batches, now - begin);
                ended = Some(now);
                let mut check = |clock: &Clock| {
                    let expected = Expected {
                        steps: u64::from(slice.batches) * u64::from(settings.batch),
                        least: (settings.recording != 0).then_some(settings.batch.into()),
                    };
                    progress.advance(clock, expected, settings.slots)
                };
                let recorded =
                    recorder.as_deref_mut().map(|recorder| Recorded { recorder, first: self.step });
                let reported =
                    recording::take(&device, &slice.report, settings.neurons, &mut check, recorded)?;
                self.fired_digest = reported.fired;
                let many = self.store.pieces / MANY;
                if slice.kernel == Kernel::Events && self.store.can_pull && u64::from(reported.pieces) > many
                {
                    self.pace.add(Kernel::Pull);
                }
                // If it had to wait for room, there is more to do than was thought.
                if under_way.is_empty() && left == 0 {
                    left = progress.left.div_ceil(settings.batch.into());
                }
                reports.push(slice.report);
            } else {
                self.reports = reports;
                return Ok(progress);
            }
        }
    }

    /// The kernel for the next slice, for which there is all it needs, and how many batches that has at most.
    fn prepared(&mut self) -> Result<(Kernel, u32), Error> {
        loop {
            let (kernel, batches) = self.pace.next();
            let prepared = match kernel {
                Kernel::Events | Kernel::Single => Ok(()),
                Kernel::Partitions => self.store.divide(),
                Kernel::Pull => self.store.turn_round(self.network.synapses()),
            };
            match prepared {
                // It goes without.
                Err(Error::OutOfMemory { .. }) if self.options.kernel.is_none() => self.pace.remove(kernel),
                prepared => return prepared.map(|()| (kernel, batches)),
            }
        }
    }

    /// Submits some of the batches that are left.
    fn submit(&mut self, left: u64, settings: &Settings, report: wgpu::Buffer) -> Result<Slice, Error> {
        let (kernel, batches) = self.prepared()?;
        let batches = batches.min(self.options.slice.unwrap_or(u32::MAX)).max(1);
        let batches = u64::from(batches).min(left) as u32;
        let mut settings = *settings;
        if matches!(kernel, Kernel::Partitions | Kernel::Pull) {
            // What fires is listed once.
            settings.piece = u32::MAX;
        }
        settings.rounds = batches;
        let (second, workgroups) = match kernel {
            Kernel::Events => (Burst::Propagate, self.store.workgroups[1]),
            Kernel::Partitions => (Burst::Partitions, settings.partitions),
            Kernel::Single => (Burst::Single, 1),
            Kernel::Pull => {
                (Burst::Pull, self.store.workgroups[0].min(self.store.device.limits().workgroups))
            }
        };
        let records = settings.recording != 0;
        let second = self.store.kernel(second, kernel, records)?;
        let first = self.store.kernel(Burst::Neurons, kernel, records)?;
        let Store { device, workgroups: [neurons, _], buffers, .. } = &self.store;
        if let Some(fault) = self.fault {
            fault.settings(&mut settings);
            fault.clock(&self.store, self.step)?;
        }
        buffers.settings.upload(0, &[settings])?;
        if records {
            buffers.time.upload(offset_of!(Time, recorded) as u64, &[0_u32])?;
            buffers.time.upload(offset_of!(Time, before.is_halted) as u64, &[0_u32])?;
        }
        let submitted = Instant::now();
        let submission = device.submit("running steps", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            if kernel == Kernel::Single {
                second.dispatch(&mut pass, [workgroups, 1]);
            } else {
                for _ in 0..batches {
                    first.dispatch(&mut pass, [(*neurons).min(ROW), neurons.div_ceil(ROW)]);
                    second.dispatch(&mut pass, [workgroups, 1]);
                }
            }
            drop(pass);
            recording::copy(encoder, &self.store, &report, settings.recording);
        })?;
        device.catch("reading spikes", || report.map_async(wgpu::MapMode::Read, .., |_| {}))?;
        Ok(Slice { kernel, batches, submitted, submission, report })
    }
}
