//! Chunks: the parts of a run that are submitted with one upload of input.

use std::collections::VecDeque;
use std::mem::offset_of;
use std::time::Instant;

use bytemuck::Zeroable as _;
use kvrm_shaders::interface::spiking::{Clock, Settings, Time};
use kvrm_shaders::layout::spiking::ROW;
use kvrm_spiking::Recorder;

use super::executor::DeviceExecutor;
use super::feed::{Chunk, Staging};
use super::kernels::{EntryPoint, Kernel};
use super::layout::SPIKE_BYTES;
use super::progress::{ExpectedSteps, Progress};
use super::report::{self, SpikeSink};
use super::store::Store;
use crate::device::error::Error;

/// The number of slices in flight: one runs, and the others wait in the queue.
const SLICES: usize = 4;
/// The maximum size of all report buffers. If four are larger than that, only two slices are in flight.
const REPORTS_BYTES: u64 = 256 << 20;
/// The room for recorded spikes beyond those that a single batch can have.
const RECORDING: u64 = 1 << 21;

/// Batches that have been submitted together.
#[derive(Debug)]
struct Slice {
    kernel: Kernel,
    batches: u32,
    submitted: Instant,
    /// Whether its time can be measured. It cannot if the host prepares another kernel meanwhile.
    is_timed: bool,
    submission: wgpu::SubmissionIndex,
    /// The buffer for the report of the slice.
    report: wgpu::Buffer,
}

impl DeviceExecutor {
    /// Runs a chunk.
    pub(super) fn run_chunk(&mut self, chunk: Chunk, recorder: Option<&mut Recorder>) -> Result<(), Error> {
        let steps = chunk.steps.end - chunk.steps.start;
        let mut settings = self.store.settings;
        settings.steps = steps as u32;
        settings.injections = chunk.injections as u32;
        if let Some(recorder) = &recorder {
            self.reserve_recording(steps, recorder, &mut settings)?;
        }
        let clock = Clock {
            step: self.step as u32,
            step_high: (self.step >> 32) as u32,
            head: self.head,
            remaining: steps as u32,
            batch: 1,
            ..Clock::default()
        };
        let time = Time { before: clock, after: clock, ..Time::zeroed() };
        self.store.buffers.time.upload(0, &[time])?;
        if let Some(staged) = chunk.staged {
            self.store.reserve_injections(steps, settings.injections.into())?;
            self.store.buffers.injection_starts.upload(0, &chunk.starts)?;
            // A batch delivers the injections of the next one together with its spikes. The first batch has none before
            // it, so its injections are delivered here.
            self.store.buffers.settings.upload(0, &[settings])?;
            let kernel = self.store.kernel(EntryPoint::Propagate, false)?;
            let workgroups = self.store.workgroups[1];
            let Store { device, buffers, .. } = &self.store;
            Staging::unmap(device, &staged)?;
            let bytes = SPIKE_BYTES * u64::from(settings.injections);
            device.submit("injecting", |encoder| {
                encoder.copy_buffer_to_buffer(&staged, 0, buffers.injections.raw(), 0, bytes);
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                kernel.dispatch(&mut pass, [workgroups, 1]);
            })?;
            self.staging.keep(device, staged)?;
        }
        let begin = Progress { step: self.step, head: self.head, left: steps };
        let end = self.run_slices(begin, &settings, recorder)?;
        (self.step, self.head) = (end.step, end.head);
        Ok(())
    }

    /// Reserves the recording: room for all spikes of a batch, and for more if possible. Shortens batches if the spikes
    /// of a whole one do not fit.
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

    /// Submits slices until all steps are done, and reads their reports. A slice that does not advance the clock is an
    /// error, so this ends.
    fn run_slices(
        &mut self,
        begin: Progress,
        settings: &Settings,
        mut recorder: Option<&mut Recorder>,
    ) -> Result<Progress, Error> {
        let device = self.store.device.clone();
        let mut progress = begin;
        let bytes = report::report_bytes(settings.neurons, settings.recording);
        let mut reports = std::mem::take(&mut self.reports);
        reports.retain(|report| report.size() >= bytes);
        let count = if SLICES as u64 * bytes <= REPORTS_BYTES { SLICES } else { 2 };
        while reports.len() < count {
            reports.push(report::report_buffer(&device, bytes)?);
        }
        let mut left = progress.left.div_ceil(settings.batch.into());
        let mut under_way = VecDeque::new();
        let mut ended: Option<Instant> = None;
        loop {
            if left > 0
                && let Some(report) = reports.pop()
            {
                let slice = self.submit(left, settings, report)?;
                if std::mem::take(&mut self.store.has_prepared) {
                    under_way.iter_mut().for_each(|earlier: &mut Slice| earlier.is_timed = false);
                }
                left -= u64::from(slice.batches);
                under_way.push_back(slice);
            } else if let Some(slice) = under_way.pop_front() {
                device.wait_within(&slice.submission, self.pace.wait_limit(slice.kernel, slice.batches))?;
                // The slice began when it was submitted or, if the one before was still running then, at the end of
                // that.
                let now = Instant::now();
                let begin = ended.map_or(slice.submitted, |ended| ended.max(slice.submitted));
                if slice.is_timed {
                    self.pace.record_slice(slice.kernel, slice.batches, now - begin);
                }
                ended = Some(now);
                let mut check = |clock: &Clock| {
                    let expected = ExpectedSteps {
                        steps: u64::from(slice.batches) * u64::from(settings.batch),
                        least: (settings.recording != 0).then_some(settings.batch.into()),
                    };
                    progress.advance(clock, expected, settings.slots)
                };
                let sink = recorder.as_deref_mut().map(|recorder| SpikeSink { recorder, first: self.step });
                self.fired_digest =
                    report::read_report(&device, &slice.report, settings.neurons, &mut check, sink)?;
                // Slices whose recording was full have skipped batches, so steps may be left.
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

    /// Chooses the kernel of the next slice and makes the buffers that it needs. Returns it with the maximum number of
    /// batches.
    fn prepare_slice(&mut self) -> Result<(Kernel, u32), Error> {
        loop {
            let (kernel, batches) = self.pace.next_slice();
            if kernel != Kernel::Fused {
                return Ok((kernel, batches));
            }
            match self.store.prepare_blocks(&self.network, &self.options) {
                Ok(true) => return Ok((kernel, batches)),
                Ok(false) => {}
                // The other kernels need less memory.
                Err(Error::OutOfMemory { .. }) if self.options.kernel.is_none() => {}
                Err(error) => return Err(error),
            }
            self.pace.remove(kernel);
            // If the kernel was asked for, it was the only one.
            self.pace.add(Kernel::Events);
            self.store.replace_by_events(kernel);
        }
    }

    /// Submits a slice of at most `left` batches.
    fn submit(&mut self, left: u64, settings: &Settings, report: wgpu::Buffer) -> Result<Slice, Error> {
        let (kernel, batches) = self.prepare_slice()?;
        let batches = batches.min(self.options.slice.unwrap_or(u32::MAX)).max(1);
        let batches = u64::from(batches).min(left) as u32;
        let mut settings = *settings;
        if let (Kernel::Fused, Some(sorted)) = (kernel, self.store.sorted) {
            sorted.packing.set(&mut settings);
        }
        settings.rounds = batches;
        let (second, workgroups) = match kernel {
            Kernel::Events => (EntryPoint::Propagate, self.store.workgroups[1]),
            Kernel::Single => (EntryPoint::Single, 1),
            Kernel::Fused => (EntryPoint::Fused, settings.blocks),
        };
        let records = settings.recording != 0;
        let second = self.store.kernel(second, records)?;
        let first = match kernel {
            Kernel::Fused => EntryPoint::BeginTurns,
            _ => EntryPoint::Neurons,
        };
        let first = self.store.kernel(first, records)?;
        let settle = match kernel {
            Kernel::Fused => Some(self.store.kernel(EntryPoint::Settle, records)?),
            _ => None,
        };
        let Store { device, workgroups: [neurons, deliver], buffers, .. } = &self.store;
        if let Some(fault) = self.fault {
            fault.break_settings(&mut settings);
            fault.break_clock(&self.store, self.step)?;
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
            } else if let Some(settle) = settle {
                first.dispatch(&mut pass, [1, 1]);
                for _ in 0..batches {
                    second.dispatch(&mut pass, [workgroups, 1]);
                }
                settle.dispatch(&mut pass, [*deliver, 1]);
            } else {
                for _ in 0..batches {
                    first.dispatch(&mut pass, [(*neurons).min(ROW), neurons.div_ceil(ROW)]);
                    second.dispatch(&mut pass, [workgroups, 1]);
                }
            }
            drop(pass);
            report::copy_report(encoder, &self.store, &report, settings.recording);
        })?;
        device.catch("reading spikes", || report.map_async(wgpu::MapMode::Read, .., |_| {}))?;
        Ok(Slice { kernel, batches, submitted, is_timed: true, submission, report })
    }
}
