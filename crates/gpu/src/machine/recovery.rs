//! Recovery of lanes from the loss of their GPU: a journal of their changes is replayed on a new device.

mod journal;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use kvrm_arm64::{Access, Cpu, Stop};
use kvrm_machine::{
    CallTable, Decisions, Executor, FrameMoves, Hooks, Image, LaneAccess, LaneStart, Loops, Mapping, PageMap,
    Plan, ProcessState, Progress, Register, RunStats, TranslationReport, View, Violation,
};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::registry::reopen;
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::ClassSelection;
use crate::machine::engine::GpuExecutor;
use crate::machine::engine::lane_views::LaneChanges;
use journal::{Journal, RunEnd};

/// The size in bytes up to which a journal may grow even if the state is smaller.
const JOURNAL_BYTES: u64 = 64 << 20;
/// The size in bytes of the largest state that is copied only because the journal cannot reproduce it.
const UNCERTAIN_BYTES: u64 = 1 << 30;

/// A GPU executor whose lanes survive the loss of the device.
///
/// The call that finds the device lost fails. It has changed nothing, except that complete slices of a run count. The
/// next call opens the adapter again and replays a journal of all changes there. Lanes are deterministic, so this
/// restores their state. If that is not possible, the call fails with [`Error::StateLost`]. Calls that only set
/// registers, process state, stops, console handles or hooks succeed without a device, because the journal records them.
#[derive(Debug)]
pub struct RecoveringExecutor {
    /// The executor of the lanes, or `None` after their device was lost.
    executor: Option<Box<GpuExecutor>>,
    /// The device that the lanes are on, or were on last.
    device: Device,
    description: String,
    images: Vec<Arc<Image>>,
    lanes: usize,
    frames_max: usize,
    calls: Option<CallTable>,
    loops: Option<Loops>,
    selection: ClassSelection,
    bounds: Bounds,
    journal: Journal,
    /// The size of the journal in bytes at which a checkpoint replaces it.
    journal_max: u64,
    /// A loss that no call has reported yet. The next call fails with it.
    unreported_loss: Option<Error>,
    /// The changes of the lanes that were served last. The vector is kept only to use its memory again.
    lane_changes: Vec<LaneChanges>,
    recoveries: u64,
    checkpoints: u64,
}

impl RecoveringExecutor {
    /// Creates the lanes of `plan` on a device, with a class selection, and with the limits of the device lowered to
    /// `bounds`. If the device is lost, its adapter is opened again.
    ///
    /// # Errors
    ///
    /// The device has no room for the lanes, or it fails.
    pub fn new(
        device: &Device,
        plan: &Plan<'_>,
        selection: &ClassSelection,
        bounds: Bounds,
    ) -> Result<Self, Error> {
        let build = |device: Device| -> Result<_, Error> {
            let executor = GpuExecutor::with_bounds(&device, plan, selection, bounds.clone())?;
            Ok((device, Some(Box::new(executor))))
        };
        let (device, executor) = match build(device.clone()) {
            Err(Error::DeviceLost { .. }) => build(reopen(device)?)?,
            built => built?,
        };
        Ok(Self {
            executor,
            selection: selection.clone(),
            description: device.info().to_string(),
            device,
            images: plan.images.to_vec(),
            lanes: plan.lanes,
            frames_max: plan.frames_max,
            calls: plan.calls.cloned(),
            loops: plan.loops.cloned(),
            bounds,
            journal: Journal::default(),
            journal_max: 0,
            unreported_loss: None,
            lane_changes: Vec::new(),
            recoveries: 0,
            checkpoints: 0,
        })
    }

    /// Returns the device that the lanes are on, or were on last.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the number of recoveries so far.
    #[must_use]
    pub const fn recoveries(&self) -> u64 {
        self.recoveries
    }

    /// Returns the number of checkpoints so far.
    #[must_use]
    pub const fn checkpoints(&self) -> u64 {
        self.checkpoints
    }

    /// Returns the size of the journal in bytes, without its checkpoint.
    #[must_use]
    pub fn journal_bytes(&self) -> u64 {
        self.journal.size()
    }

    /// Takes the executor out. Restores the lanes on a new device if their device was lost.
    fn take(&mut self) -> Result<Box<GpuExecutor>, kvrm_machine::Error> {
        if let Some(error) = self.unreported_loss.take() {
            return Err(error.into());
        }
        if let Some(executor) = self.executor.take() {
            return Ok(executor);
        }
        let again = || -> Result<_, kvrm_machine::Error> {
            let device = reopen(&self.device)?;
            let plan = Plan {
                images: &self.images,
                lanes: self.lanes,
                frames_max: self.frames_max,
                calls: self.calls.as_ref(),
                loops: self.loops.as_ref(),
            };
            let mut executor =
                Box::new(GpuExecutor::with_bounds(&device, &plan, &self.selection, self.bounds.clone())?);
            self.journal.replay(&mut executor)?;
            // The decisions of replayed steps were counted before the loss. Those that were not reported are lost.
            executor.take_decisions()?;
            Ok((device, executor))
        };
        // If the new device is lost, too, nothing has changed and the next call tries again.
        let (device, executor) = again().map_err(|error| as_recoverable(error, &self.device))?;
        self.device = device;
        self.recoveries += 1;
        Ok(executor)
    }

    /// Puts the executor back after a call, unless the call has failed because the device is lost.
    fn put_back<T>(
        &mut self,
        executor: Box<GpuExecutor>,
        result: Result<T, kvrm_machine::Error>,
    ) -> Result<T, kvrm_machine::Error> {
        let result = result.map_err(|error| as_recoverable(error, executor.device()));
        if !result.as_ref().is_err_and(is_lost) {
            self.executor = Some(executor);
            return result;
        }
        // If the lanes cannot be restored, the error says so instead.
        self.journal.check_certain().and(result)
    }

    /// Makes a call that changes nothing.
    fn query<T>(
        &mut self,
        call: impl FnOnce(&mut GpuExecutor) -> Result<T, kvrm_machine::Error>,
    ) -> Result<T, kvrm_machine::Error> {
        let mut executor = self.take()?;
        let result = call(&mut executor);
        self.put_back(executor, result)
    }

    /// Makes a call that changes the lanes, and records the change in the journal if the call succeeds.
    fn change<T>(
        &mut self,
        call: impl FnOnce(&mut GpuExecutor) -> Result<T, kvrm_machine::Error>,
        record: impl FnOnce(&mut Journal, &T),
    ) -> Result<T, kvrm_machine::Error> {
        let result = self.query(call);
        match &result {
            Ok(value) => {
                record(&mut self.journal, value);
                self.bound_journal();
            }
            Err(error) => self.mark_uncertain(error),
        }
        result
    }

    /// Marks the journal as uncertain after a failure that is not the loss of the device, because it is unknown which
    /// part of the call was done.
    fn mark_uncertain(&mut self, error: &kvrm_machine::Error) {
        if self.executor.is_some() && matches!(error, kvrm_machine::Error::Engine(_)) {
            self.journal.mark_uncertain();
        }
    }

    /// Replaces the journal by a checkpoint if the journal has become too large.
    fn bound_journal(&mut self) {
        let Some(executor) = &self.executor else { return };
        let size = self.journal.size();
        if size > self.journal_max {
            let max = JOURNAL_BYTES.max(executor.state_bytes());
            self.journal_max = self.bounds.journal_bytes.unwrap_or(max);
            if size > self.journal_max {
                self.checkpoint();
            }
        }
    }

    /// Replaces the journal by a checkpoint. A failure is not reported; if the device is lost, the next call finds
    /// that.
    fn checkpoint(&mut self) {
        let Some(executor) = &mut self.executor else { return };
        if let Ok(base) = executor.checkpoint() {
            self.journal.restart(base, executor.has_snapshot());
            self.checkpoints += 1;
        } else {
            // The next attempt has to wait until the journal has doubled.
            self.journal_max = 2 * self.journal.size();
        }
    }
}

/// Returns `error`, or, if the device is lost, an error that says so and that the lanes are kept.
fn as_recoverable(error: kvrm_machine::Error, device: &Device) -> kvrm_machine::Error {
    let kvrm_machine::Error::Engine(cause) = error else { return error };
    match cause.downcast::<Error>() {
        Ok(cause) => device.as_recoverable(*cause).into(),
        Err(cause) => match device.check_loss() {
            Err(lost) => device.as_recoverable(lost).into(),
            Ok(()) => kvrm_machine::Error::Engine(cause),
        },
    }
}

fn is_lost(error: &kvrm_machine::Error) -> bool {
    let kvrm_machine::Error::Engine(cause) = error else { return false };
    matches!(cause.downcast_ref(), Some(Error::DeviceLost { .. }))
}

impl Executor for RecoveringExecutor {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn device_name(&self) -> Option<&str> {
        Some(&self.description)
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn executor_for(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        Ok(Box::new(Self::new(&self.device, plan, &self.selection, self.bounds.clone())?))
    }

    fn set_all(&mut self, start: &LaneStart) -> Result<(), kvrm_machine::Error> {
        self.change(|executor| executor.set_all(start), |journal, ()| journal.start_all(start))
    }

    fn run(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, kvrm_machine::Error> {
        let is_small =
            self.executor.as_ref().is_some_and(|executor| executor.state_bytes() <= UNCERTAIN_BYTES);
        if !self.journal.is_certain() && is_small {
            self.checkpoint();
        }
        let mut executor = self.take()?;
        let mut was_interrupted = false;
        let ran = executor.run(limits, &mut |now| {
            let flow = observe(now);
            was_interrupted = flow.is_break();
            flow
        });
        let end = ran.and_then(|stats| {
            let end =
                if was_interrupted { RunEnd::Interrupted(executor.unfinished()?) } else { RunEnd::Complete };
            Ok((stats, end))
        });
        let progress = executor.last_run;
        let (stats, end) = match self.put_back(executor, end) {
            Ok((stats, end)) => (Ok(stats), end),
            Err(error) if is_lost(&error) => (Err(error), RunEnd::Lost),
            Err(error) => {
                self.mark_uncertain(&error);
                return Err(error);
            }
        };
        self.journal.run(limits, end, progress);
        self.bound_journal();
        stats
    }

    fn stop(&mut self, lane: usize) -> Result<Option<Stop>, kvrm_machine::Error> {
        self.query(|executor| executor.stop(lane))
    }

    fn stops(&mut self) -> Result<Vec<Option<Stop>>, kvrm_machine::Error> {
        self.query(|executor| executor.stops())
    }

    fn set_stop(&mut self, lane: usize, stop: Option<Stop>) -> Result<(), kvrm_machine::Error> {
        self.set(|executor| executor.set_stop(lane, stop), |journal, _| journal.stop(lane, stop))
    }

    fn set_stops(&mut self, lanes: &[usize], stop: Option<Stop>) -> Result<(), kvrm_machine::Error> {
        self.set(|executor| executor.set_stops(lanes, stop), |journal, _| journal.stops(lanes, stop))
    }

    fn steps(&mut self, lane: usize) -> Result<u64, kvrm_machine::Error> {
        self.query(|executor| executor.steps(lane))
    }

    fn cpu(&mut self, lane: usize) -> Result<Cpu, kvrm_machine::Error> {
        self.query(|executor| executor.cpu(lane))
    }

    fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), kvrm_machine::Error> {
        // Setting registers fetches them anyway, so reading them costs nothing.
        let set = |executor: &mut GpuExecutor| {
            let before = executor.cpu(lane)?;
            executor.set_cpu(lane, cpu).map(|()| before)
        };
        self.set(set, |journal, before| journal.registers(lane, before.as_ref(), cpu))
    }

    fn process_state(&mut self, lane: usize) -> Result<ProcessState, kvrm_machine::Error> {
        self.query(|executor| executor.process_state(lane))
    }

    fn set_process_state(&mut self, lane: usize, state: &ProcessState) -> Result<(), kvrm_machine::Error> {
        self.set(
            |executor| executor.set_process_state(lane, state),
            |journal, _| journal.process_state(lane, state),
        )
    }

    fn serve_parallel(
        &mut self,
        lanes: &[usize],
        serve: &(dyn Fn(usize, &mut dyn LaneAccess) + Sync),
    ) -> Result<(), kvrm_machine::Error> {
        let mut executor = self.take()?;
        // The journal records the changes before they are applied, so that a loss of the device does not lose them.
        let mut lane_changes = std::mem::take(&mut self.lane_changes);
        let mut serve_all = || -> Result<(), Error> {
            executor.serve_lane_views(lanes, serve, &mut lane_changes)?;
            self.journal.services(&lane_changes, executor.memory_changes());
            executor.apply_lane_changes(&lane_changes)?;
            // A service may have found a loss and not reported it.
            executor.device().check_loss()
        };
        let served = serve_all();
        self.lane_changes = lane_changes;
        let result = self.put_back(executor, served.map_err(kvrm_machine::Error::from));
        match &result {
            Ok(()) => self.bound_journal(),
            Err(error) => self.mark_uncertain(error),
        }
        result
    }

    fn registers(&mut self, register: Register, out: &mut Vec<u64>) -> Result<(), kvrm_machine::Error> {
        self.query(|executor| executor.registers(register, out))
    }

    fn set_registers(
        &mut self,
        register: Register,
        lanes: &[usize],
        values: &[u64],
    ) -> Result<(), kvrm_machine::Error> {
        let set = |executor: &mut GpuExecutor| Ok(executor.set_register(register, lanes, values)?);
        let changed = self.change(set, |journal, changed| {
            if let Some((column, words)) = changed {
                journal.column(*column, lanes, words);
            }
        });
        changed.map(drop)
    }

    fn read_memory(
        &mut self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, kvrm_machine::Error> {
        self.query(|executor| executor.read_memory(lane, address, out, access))
    }

    fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, kvrm_machine::Error> {
        let write = |executor: &mut GpuExecutor| executor.write_memory(lane, address, bytes, access);
        self.change(write, |journal, written| {
            if written.is_ok() {
                journal.write(lane, address, bytes, access);
            }
        })
    }

    fn check_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, kvrm_machine::Error> {
        self.query(|executor| executor.check_memory_of_each(address, rows))
    }

    fn write_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, kvrm_machine::Error> {
        let write = |executor: &mut GpuExecutor| executor.write_memory_of_each(address, rows);
        self.change(write, |journal, written| {
            if written.is_ok() {
                journal.write_rows(address, rows);
            }
        })
    }

    fn read_memory_of_each(
        &mut self,
        address: u64,
        bytes: usize,
        lanes: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<Result<(), (usize, Stop)>, kvrm_machine::Error> {
        self.query(|executor| executor.read_memory_of_each(address, bytes, lanes, out))
    }

    fn read_views(
        &mut self,
        view: &View,
        lanes: &[usize],
        out: &mut [u8],
    ) -> Result<Result<(), (usize, Stop)>, kvrm_machine::Error> {
        self.query(|executor| executor.read_views(view, lanes, out))
    }

    fn page_map(&mut self, lane: usize) -> Result<PageMap, kvrm_machine::Error> {
        self.query(|executor| executor.page_map(lane))
    }

    fn clear_memory(&mut self, lane: usize) -> Result<(), kvrm_machine::Error> {
        self.change(|executor| executor.clear_memory(lane), |journal, ()| journal.clear_memory(lane))
    }

    fn map(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> Result<bool, kvrm_machine::Error> {
        let map = |executor: &mut GpuExecutor| executor.map(lane, pages.clone(), mapping);
        self.change(map, |journal, mapped| {
            if *mapped {
                journal.map(lane, pages.clone(), mapping);
            }
        })
    }

    fn prefetch(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), kvrm_machine::Error> {
        self.query(|executor| executor.prefetch(ranges))
    }

    fn private_pages(&mut self, lane: usize) -> Result<Vec<u64>, kvrm_machine::Error> {
        self.query(|executor| executor.private_pages(lane))
    }

    fn snapshot(&mut self) -> Result<(), kvrm_machine::Error> {
        self.change(|executor| executor.snapshot(), |journal, ()| journal.snapshot())
    }

    fn reset(&mut self, lanes: &[usize]) -> Result<(), kvrm_machine::Error> {
        let all = self.lanes;
        self.change(|executor| executor.reset(lanes), |journal, ()| journal.reset(lanes, all))
    }

    fn set_console(&mut self, lane: usize, handles: u32) -> Result<(), kvrm_machine::Error> {
        let set = |executor: &mut GpuExecutor| executor.set_console(lane, handles);
        self.set(set, |journal, _| journal.console(lane, handles))
    }

    fn drain_console(&mut self, out: &mut dyn FnMut(usize, &[u8])) -> Result<u64, kvrm_machine::Error> {
        self.change(
            |executor| executor.drain_console(out),
            |journal, calls| {
                if *calls > 0 {
                    journal.drain();
                }
            },
        )
    }

    fn translation(&mut self) -> Result<Option<TranslationReport>, kvrm_machine::Error> {
        // The report changes nothing for the lanes, so it is not worth a recovery.
        self.executor.as_mut().map_or(Ok(None), |executor| executor.translation())
    }

    fn take_frame_moves(&mut self) -> Result<Option<FrameMoves>, kvrm_machine::Error> {
        // As above.
        self.executor.as_mut().map_or(Ok(None), |executor| executor.take_frame_moves())
    }

    fn take_warnings(&mut self) -> Result<Vec<String>, kvrm_machine::Error> {
        // As above.
        self.executor.as_mut().map_or(Ok(Vec::new()), |executor| executor.take_warnings())
    }

    fn take_decisions(&mut self) -> Result<Option<Decisions>, kvrm_machine::Error> {
        self.query(|executor| executor.take_decisions())
    }

    fn set_hooks(&mut self, hooks: &Hooks) -> Result<(), kvrm_machine::Error> {
        self.set(|executor| executor.set_hooks(hooks), |journal, _| journal.hooks(hooks))
    }

    fn frames_used(&mut self) -> Result<usize, kvrm_machine::Error> {
        self.query(|executor| executor.frames_used())
    }

    fn audit(&mut self) -> Result<Vec<Violation>, kvrm_machine::Error> {
        self.query(|executor| executor.audit())
    }

    fn set_frames_max(&mut self, frames_max: usize) -> Result<(), kvrm_machine::Error> {
        self.change(
            |executor| executor.set_frames_max(frames_max),
            |journal, ()| journal.frames_max(frames_max),
        )
    }
}

impl RecoveringExecutor {
    /// Makes a call that sets a value which the journal alone can keep, so that the call succeeds without a device,
    /// too. A service that has acted on the host must be able to give its lane the result. Otherwise it would act
    /// twice.
    fn set<T>(
        &mut self,
        call: impl FnOnce(&mut GpuExecutor) -> Result<T, kvrm_machine::Error>,
        record: impl FnOnce(&mut Journal, Option<T>),
    ) -> Result<(), kvrm_machine::Error> {
        let before = if self.executor.is_none() {
            None
        } else {
            match self.query(call) {
                Ok(before) => Some(before),
                Err(kvrm_machine::Error::Engine(cause)) if self.executor.is_none() => {
                    self.unreported_loss = cause.downcast_ref::<Error>().cloned();
                    None
                }
                Err(error) => {
                    self.mark_uncertain(&error);
                    return Err(error);
                }
            }
        };
        record(&mut self.journal, before);
        self.bound_journal();
        Ok(())
    }
}
