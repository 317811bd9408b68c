//! Lanes that survive the loss of their GPU: what was done to them is done again on a new device.

mod journal;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use kvrm_arm64::{Access, Cpu, Stop};
use kvrm_machine::{
    CallTable, Decisions, Executor, Image, LaneAccess, Mapping, PageMap, Plan, ProcessState, Progress,
    Register, RunStats, Violation,
};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::registry::reopen;
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::ClassSelection;
use crate::machine::engine::GpuExecutor;
use crate::machine::engine::apart::Done;
use journal::{End, Journal};

/// A journal may grow to the size of the state, but to this one in any case.
const JOURNAL_BYTES: u64 = 64 << 20;
/// The largest state that is copied only because the journal cannot tell it.
const UNSURE_BYTES: u64 = 1 << 30;

/// Lanes on a GPU that may be lost.
///
/// The call that finds the device lost fails and has changed nothing, but for the slices of a run that were
/// complete. The next one opens the device again and does there what a journal says was done: lanes are
/// deterministic, so they become what they were. Where that is not possible it fails with
/// [`Error::StateLost`]. What only sets registers or stops goes into the journal, device or not.
#[derive(Debug)]
pub struct Recovering {
    /// The lanes, unless their device was lost.
    executor: Option<Box<GpuExecutor>>,
    /// The device they are on, or were on last.
    device: Device,
    description: String,
    images: Vec<Arc<Image>>,
    lanes: usize,
    frames_max: usize,
    calls: Option<CallTable>,
    selection: ClassSelection,
    bounds: Bounds,
    journal: Journal,
    /// The size of the journal at which the state is copied instead.
    journal_max: u64,
    /// A loss that no call has failed for yet.
    untold: Option<Error>,
    /// What was done to lanes that were served: only its memory is kept.
    done: Vec<Done>,
    recoveries: u64,
    checkpoints: u64,
}

impl Recovering {
    /// Lanes as planned, with classes chosen as `dispatch` says, on a device that could do less than it can. If that is
    /// lost, its adapter is opened again.
    ///
    /// # Errors
    ///
    /// There is no room for the lanes, or the device fails.
    pub fn new(
        device: &Device,
        plan: &Plan<'_>,
        selection: &ClassSelection,
        bounds: Bounds,
    ) -> Result<Self, Error> {
        let make = |device: Device| -> Result<_, Error> {
            let executor = GpuExecutor::with_bounds(&device, plan, selection, bounds)?;
            Ok((device, Some(Box::new(executor))))
        };
        let (device, executor) = match make(device.clone()) {
            Err(Error::DeviceLost { .. }) => make(reopen(device)?)?,
            made => made?,
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
            bounds,
            journal: Journal::default(),
            journal_max: 0,
            untold: None,
            done: Vec::new(),
            recoveries: 0,
            checkpoints: 0,
        })
    }

    /// The device the lanes are on, or were on last.
    #[must_use]
    pub const fn on(&self) -> &Device {
        &self.device
    }

    /// How often lanes were made again.
    #[must_use]
    pub const fn recoveries(&self) -> u64 {
        self.recoveries
    }

    /// How often the state was copied to the host.
    #[must_use]
    pub const fn checkpoints(&self) -> u64 {
        self.checkpoints
    }

    /// How many bytes the journal has.
    #[must_use]
    pub fn journal_bytes(&self) -> u64 {
        self.journal.size()
    }

    /// The lanes, made again if they have to be.
    fn take(&mut self) -> Result<Box<GpuExecutor>, kvrm_machine::Error> {
        if let Some(error) = self.untold.take() {
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
            };
            let mut executor =
                Box::new(GpuExecutor::with_bounds(&device, &plan, &self.selection, self.bounds)?);
            self.journal.replay(&mut executor)?;
            // What is done again counts once; what was counted and not reported is lost with the device.
            executor.take_decisions()?;
            Ok((device, executor))
        };
        // If it is lost meanwhile, nothing has changed either.
        let (device, executor) = again().map_err(|error| kept(error, &self.device))?;
        self.device = device;
        self.recoveries += 1;
        Ok(executor)
    }

    /// Puts the lanes back after a call, unless it failed as their device is lost.
    fn put_back<T>(
        &mut self,
        executor: Box<GpuExecutor>,
        result: Result<T, kvrm_machine::Error>,
    ) -> Result<T, kvrm_machine::Error> {
        let result = result.map_err(|error| kept(error, executor.on()));
        if !result.as_ref().is_err_and(is_lost) {
            self.executor = Some(executor);
            return result;
        }
        // If lanes cannot be made again, the error says that instead.
        self.journal.check_sure().and(result)
    }

    /// A call that changes nothing.
    fn ask<T>(
        &mut self,
        call: impl FnOnce(&mut GpuExecutor) -> Result<T, kvrm_machine::Error>,
    ) -> Result<T, kvrm_machine::Error> {
        let mut executor = self.take()?;
        let result = call(&mut executor);
        self.put_back(executor, result)
    }

    /// A call that changes something, and what it is in the journal.
    fn change<T>(
        &mut self,
        call: impl FnOnce(&mut GpuExecutor) -> Result<T, kvrm_machine::Error>,
        record: impl FnOnce(&mut Journal, &T),
    ) -> Result<T, kvrm_machine::Error> {
        let result = self.ask(call);
        match &result {
            Ok(value) => {
                record(&mut self.journal, value);
                self.bound_journal();
            }
            Err(error) => self.doubt(error),
        }
        result
    }

    /// After a failure that is not the loss of the device, nobody knows what was done before it.
    fn doubt(&mut self, error: &kvrm_machine::Error) {
        if self.executor.is_some() && matches!(error, kvrm_machine::Error::Engine(_)) {
            self.journal.doubt();
        }
    }

    /// Replaces the journal by the state if it has become larger than that.
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

    /// Replaces the journal by the state. If the device is lost, the next call will notice.
    fn checkpoint(&mut self) {
        let Some(executor) = &mut self.executor else { return };
        if let Ok(base) = executor.checkpoint() {
            self.journal.begin(base, executor.has_snapshot());
            self.checkpoints += 1;
        } else {
            // Not at once again.
            self.journal_max = 2 * self.journal.size();
        }
    }
}

/// Says of the loss of a device that nothing else is lost.
fn kept(error: kvrm_machine::Error, device: &Device) -> kvrm_machine::Error {
    let kvrm_machine::Error::Engine(cause) = error else { return error };
    match cause.downcast::<Error>() {
        Ok(cause) => device.kept(*cause).into(),
        Err(cause) => match device.check_loss() {
            Err(lost) => device.kept(lost).into(),
            Ok(()) => kvrm_machine::Error::Engine(cause),
        },
    }
}

fn is_lost(error: &kvrm_machine::Error) -> bool {
    let kvrm_machine::Error::Engine(cause) = error else { return false };
    matches!(cause.downcast_ref(), Some(Error::DeviceLost { .. }))
}

impl Executor for Recovering {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn device(&self) -> Option<&str> {
        Some(&self.description)
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn run(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, kvrm_machine::Error> {
        let is_small = self.executor.as_ref().is_some_and(|executor| executor.state_bytes() <= UNSURE_BYTES);
        if !self.journal.is_sure() && is_small {
            self.checkpoint();
        }
        let mut executor = self.take()?;
        let mut broken_off = false;
        let ran = executor.run(limits, &mut |now| {
            let flow = observe(now);
            broken_off = flow.is_break();
            flow
        });
        let end = ran.and_then(|stats| {
            let end = if broken_off { End::BrokenOff(executor.unfinished()?) } else { End::Complete };
            Ok((stats, end))
        });
        let ran = executor.ran;
        let (stats, end) = match self.put_back(executor, end) {
            Ok((stats, end)) => (Ok(stats), end),
            Err(error) if is_lost(&error) => (Err(error), End::Lost),
            Err(error) => {
                self.doubt(&error);
                return Err(error);
            }
        };
        self.journal.run(limits, end, ran);
        self.bound_journal();
        stats
    }

    fn stop(&mut self, lane: usize) -> Result<Option<Stop>, kvrm_machine::Error> {
        self.ask(|executor| executor.stop(lane))
    }

    fn stops(&mut self) -> Result<Vec<Option<Stop>>, kvrm_machine::Error> {
        self.ask(|executor| executor.stops())
    }

    fn set_stop(&mut self, lane: usize, stop: Option<Stop>) -> Result<(), kvrm_machine::Error> {
        self.set(|executor| executor.set_stop(lane, stop), |journal, _| journal.stop(lane, stop))
    }

    fn steps(&mut self, lane: usize) -> Result<u64, kvrm_machine::Error> {
        self.ask(|executor| executor.steps(lane))
    }

    fn cpu(&mut self, lane: usize) -> Result<Cpu, kvrm_machine::Error> {
        self.ask(|executor| executor.cpu(lane))
    }

    fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), kvrm_machine::Error> {
        // The registers have to be at hand in any case.
        let set = |executor: &mut GpuExecutor| {
            let before = executor.cpu(lane)?;
            executor.set_cpu(lane, cpu).map(|()| before)
        };
        self.set(set, |journal, before| journal.registers(lane, before.as_ref(), cpu))
    }

    fn process_state(&mut self, lane: usize) -> Result<ProcessState, kvrm_machine::Error> {
        self.ask(|executor| executor.process_state(lane))
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
        // Whatever becomes of the device, what services have done to their lanes is not lost.
        let mut done = std::mem::take(&mut self.done);
        let mut serve_all = || -> Result<(), Error> {
            executor.serve_apart(lanes, serve, &mut done)?;
            done.iter().for_each(|done| self.journal.apart(done, executor.changes(done)));
            executor.take_over(&done)?;
            // A service may have been told of a loss, and only that service.
            executor.on().check_loss()
        };
        let served = serve_all();
        self.done = done;
        let result = self.put_back(executor, served.map_err(kvrm_machine::Error::from));
        match &result {
            Ok(()) => self.bound_journal(),
            Err(error) => self.doubt(error),
        }
        result
    }

    fn registers(&mut self, register: Register, out: &mut Vec<u64>) -> Result<(), kvrm_machine::Error> {
        self.ask(|executor| executor.registers(register, out))
    }

    fn read_memory(
        &mut self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, kvrm_machine::Error> {
        self.ask(|executor| executor.read_memory(lane, address, out, access))
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

    fn read_memory_of_all(
        &mut self,
        address: u64,
        bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<Result<(), (usize, Stop)>, kvrm_machine::Error> {
        self.ask(|executor| executor.read_memory_of_all(address, bytes, out))
    }

    fn page_map(&mut self, lane: usize) -> Result<PageMap, kvrm_machine::Error> {
        self.ask(|executor| executor.page_map(lane))
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
        self.ask(|executor| executor.prefetch(ranges))
    }

    fn dirty_pages(&mut self, lane: usize) -> Result<Vec<u64>, kvrm_machine::Error> {
        self.ask(|executor| executor.dirty_pages(lane))
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

    fn take_decisions(&mut self) -> Result<Option<Decisions>, kvrm_machine::Error> {
        self.ask(|executor| executor.take_decisions())
    }

    fn frames_used(&mut self) -> Result<usize, kvrm_machine::Error> {
        self.ask(|executor| executor.frames_used())
    }

    fn audit(&mut self) -> Result<Vec<Violation>, kvrm_machine::Error> {
        self.ask(|executor| executor.audit())
    }

    fn set_frames_max(&mut self, frames_max: usize) -> Result<(), kvrm_machine::Error> {
        self.change(
            |executor| executor.set_frames_max(frames_max),
            |journal, ()| journal.frames_max(frames_max),
        )
    }
}

impl Recovering {
    /// A call that sets what the journal alone can remember, so that it succeeds without a device too: a service
    /// that has acted on the host must not fail to say so to its lane, or it would act twice.
    fn set<T>(
        &mut self,
        call: impl FnOnce(&mut GpuExecutor) -> Result<T, kvrm_machine::Error>,
        record: impl FnOnce(&mut Journal, Option<T>),
    ) -> Result<(), kvrm_machine::Error> {
        let before = if self.executor.is_none() {
            None
        } else {
            match self.ask(call) {
                Ok(before) => Some(before),
                Err(kvrm_machine::Error::Engine(cause)) if self.executor.is_none() => {
                    self.untold = cause.downcast_ref::<Error>().cloned();
                    None
                }
                Err(error) => {
                    self.doubt(&error);
                    return Err(error);
                }
            }
        };
        record(&mut self.journal, before);
        self.bound_journal();
        Ok(())
    }
}
