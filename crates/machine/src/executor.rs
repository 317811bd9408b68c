//! The interface of engines: executors, which run lanes, and the plans from which they are made.

use std::any::Any;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, PoisonError};

use kvrm_arm64::{Access, Cpu, Fault, Stop};

use crate::audit::Violation;
use crate::call_table::{CallTable, ProcessState};
use crate::error::Error;
use crate::frame_moves::FrameMoves;
use crate::hooks::Hooks;
use crate::hot_code::TranslationReport;
use crate::image::Image;
use crate::lane_memory::{Contents, LaneMemory};
use crate::loops::Loops;
use crate::page_map::{Mapping, PageMap};
use crate::pages::{PAGE_BYTES, PAGE_SHIFT, page_of};
use crate::picture::{PALETTE_BYTES, View};
use crate::register::Register;
use crate::report::Decisions;

/// An engine, which makes executors.
pub trait Factory {
    /// Makes an executor. Its lanes have zeros in all registers, the memory of their images, and no stop.
    ///
    /// # Errors
    /// The host or the device has no room for the lanes, or it fails.
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error>;

    /// Returns the number of lanes with an image of their own, of a few pages each, that every executor has room for.
    fn images_max(&self) -> usize {
        usize::MAX
    }
}

impl<F: Factory + ?Sized> Factory for Box<F> {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        (**self).executor(plan)
    }

    fn images_max(&self) -> usize {
        (**self).images_max()
    }
}

/// The plan of an executor.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// One image that all lanes share, or one image for each lane.
    pub images: &'a [Arc<Image>],
    /// The number of lanes.
    pub lanes: usize,
    /// The number of frames that each lane may own.
    pub frames_max: usize,
    /// The system calls that the executor may serve itself. Without a table every call stops the lane.
    pub calls: Option<&'a CallTable>,
    /// The acceleration of loops, if there is any.
    pub loops: Option<&'a Loops>,
}

impl<'a> Plan<'a> {
    /// Returns the image of a lane.
    ///
    /// # Panics
    /// The plan has no image for the lane.
    #[must_use]
    pub const fn image(&self, lane: usize) -> &'a Arc<Image> {
        match self.images {
            [shared] => shared,
            own => &own[lane],
        }
    }
}

/// An engine's lanes of one machine.
///
/// Lanes are numbered from 0. Results never depend on the engine: for the same inputs every executor gives the
/// same registers, flags, memory, stops and steps as the [`Reference`](crate::Reference). A method that has two results
/// reports what the guest does wrong in the inner one. A lane number that is not below [`Executor::lanes`] may panic.
///
/// # Errors
/// Every method fails with [`Error::Engine`] if the host or the device fails.
#[expect(clippy::missing_errors_doc, reason = "described above, once for all methods")]
pub trait Executor: Send {
    /// Returns a short name for reports.
    fn name(&self) -> &'static str;

    /// Returns the name of the device that runs the lanes, for reports, if there is one.
    fn device_name(&self) -> Option<&str> {
        None
    }

    /// Returns the executor as a value whose type can be asked for. Engines with tools of their own do so.
    #[doc(hidden)]
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }

    /// Returns the number of lanes.
    fn lanes(&self) -> usize;

    /// Makes an executor of the same engine for another plan, on the same device if there is one.
    fn executor_for(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error>;

    /// Puts all lanes into the same state. Their memory stays.
    fn set_all(&mut self, start: &LaneStart) -> Result<(), Error> {
        for lane in 0..self.lanes() {
            self.set_cpu(lane, &start.cpu)?;
            self.set_process_state(lane, &start.process_state)?;
            self.set_stop(lane, start.stop)?;
            self.set_console(lane, start.console)?;
        }
        Ok(())
    }

    /// Runs every lane that has no stop until something stops it, or until its number of steps reaches its limit.
    ///
    /// `limits` has one entry for each lane. A lane that reaches its limit stops with [`Stop::Budget`], whatever its next
    /// instruction is.
    ///
    /// `observe` is called from time to time with the progress of this call. If it breaks, the executor returns soon. Lanes
    /// that could go on are then between two instructions and have no stop.
    fn run(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, Error>;

    /// Returns the stop of a lane, or `None` if it can run.
    fn stop(&mut self, lane: usize) -> Result<Option<Stop>, Error>;

    /// Returns the stop of each lane.
    fn stops(&mut self) -> Result<Vec<Option<Stop>>, Error> {
        (0..self.lanes()).map(|lane| self.stop(lane)).collect()
    }

    /// Sets or clears the stop of a lane.
    fn set_stop(&mut self, lane: usize, stop: Option<Stop>) -> Result<(), Error>;

    /// Sets or clears the stops of some lanes.
    fn set_stops(&mut self, lanes: &[usize], stop: Option<Stop>) -> Result<(), Error> {
        lanes.iter().try_for_each(|lane| self.set_stop(*lane, stop))
    }

    /// Returns the number of steps that a lane has retired.
    fn steps(&mut self, lane: usize) -> Result<u64, Error>;

    /// Returns the registers of a lane.
    fn cpu(&mut self, lane: usize) -> Result<Cpu, Error>;

    /// Replaces the registers of a lane.
    fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), Error>;

    /// Returns the process state of a lane, which the calls of a [`CallTable`] read and change.
    fn process_state(&mut self, lane: usize) -> Result<ProcessState, Error>;

    /// Replaces the process state of a lane. Another end of the heap maps no pages.
    fn set_process_state(&mut self, lane: usize, state: &ProcessState) -> Result<(), Error>;

    /// Replaces the contents of `out` by one register of all lanes.
    fn registers(&mut self, register: Register, out: &mut Vec<u64>) -> Result<(), Error>;

    /// Sets one register of some lanes, as [`Register::set`] does. `values` has a value for each of `lanes`.
    fn set_registers(&mut self, register: Register, lanes: &[usize], values: &[u64]) -> Result<(), Error> {
        for (&lane, &value) in lanes.iter().zip(values) {
            let mut cpu = self.cpu(lane)?;
            register.set(&mut cpu, value);
            self.set_cpu(lane, &cpu)?;
        }
        Ok(())
    }

    /// Reads the memory of a lane. The pages have to permit `access`; with `None`, they only have to be mapped.
    ///
    /// The inner result is the stop that the guest would get.
    fn read_memory(
        &mut self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error>;

    /// Writes the memory of a lane. The pages have to permit `access`; with `None`, they only have to be mapped.
    ///
    /// The inner result is the stop that the guest would get. Nothing is written then.
    fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error>;

    /// Replaces the contents of `out` by the same range of memory of several lanes, lane after lane. Permissions do not
    /// matter.
    ///
    /// The inner result is the first lane in which a byte is not mapped, and its stop. The contents of `out` are then undefined.
    fn read_memory_of_each(
        &mut self,
        address: u64,
        bytes: usize,
        lanes: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        out.clear();
        for &lane in lanes {
            let start = out.len();
            out.resize(start + bytes, 0);
            if let Err(stop) = self.read_memory(lane, address, &mut out[start..], None)? {
                return Ok(Err((lane, stop)));
            }
        }
        Ok(Ok(()))
    }

    /// Writes memory at the same address of several lanes: the lane and its bytes. Permissions do not matter.
    ///
    /// The inner result is the first lane that cannot be written, and the stop that the guest would get. Nothing is written
    /// then.
    fn write_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, Error>;

    /// Returns the inner result that [`Executor::write_memory_of_each`] would have, and writes nothing.
    fn check_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, Error>;

    /// Writes the view of a picture in each of some lanes to `out`, in their order. `out` has exactly as many bytes as they have.
    /// Permissions do not matter.
    ///
    /// The inner result is the first lane without the bytes of [`View::check`], and its stop. The contents of
    /// `out` are then undefined.
    fn read_views(
        &mut self,
        view: &View,
        lanes: &[usize],
        out: &mut [u8],
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        compute_views(self, view, lanes, out)
    }

    /// Announces ranges of memory (lane, address, bytes) that will be read soon, so that a device can send all of them at
    /// once. It changes no result. Ranges that are not mapped, or too many, are ignored. From [`PIPE_ADDRESS`](crate::PIPE_ADDRESS)
    /// on they are ranges of pipe windows.
    fn prefetch(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), Error> {
        let _ = ranges;
        Ok(())
    }

    /// Returns the page map of a lane.
    fn page_map(&mut self, lane: usize) -> Result<PageMap, Error>;

    /// Maps, protects or unmaps pages of a lane, given by number, and returns whether that was possible.
    ///
    /// It is not possible if the image neither maps nor reserves a page, if a page to protect is not mapped, or if the lane
    /// would have too many regions. Nothing has changed then.
    ///
    /// It takes no frames. A page that has been written keeps its frame and stays private, however it is mapped afterwards. The page map is part of the state that snapshot and reset save and restore.
    fn map(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> Result<bool, Error>;

    /// Returns to the memory of the image, as if the lane had written nothing and changed no mapping. A later reset restores the
    /// snapshot nevertheless.
    fn clear_memory(&mut self, lane: usize) -> Result<(), Error>;

    /// Returns the addresses of the pages that a lane has written, in rising order.
    fn private_pages(&mut self, lane: usize) -> Result<Vec<u64>, Error>;

    /// Saves the state of all lanes. There is one snapshot; a new one replaces it.
    fn snapshot(&mut self) -> Result<(), Error>;

    /// Restores the snapshot in some lanes. The cost grows with what they have written since.
    ///
    /// # Errors
    /// [`Error::NoSnapshot`] if none was taken, or if the host or the device fails.
    fn reset(&mut self, lanes: &[usize]) -> Result<(), Error>;

    /// Lets the executor serve console output of a lane itself, instead of stopping the lane for the host.
    ///
    /// Bit 0 of `handles` is for calls that name no handle, bit `n` for handle `n`. A lane begins without any bit, so that
    /// every call stops it. The executor may leave any call to the host nevertheless. The bits are part of the state that
    /// snapshot and reset save and restore.
    fn set_console(&mut self, lane: usize, handles: u32) -> Result<(), Error> {
        let _ = (lane, handles);
        Ok(())
    }

    /// Calls `out` with the console output of calls that the executor has served itself since this method was last called,
    /// lane by lane in the order of their numbers. Returns the number of these calls. A reset drops the output of its lanes
    /// that has not been fetched.
    fn drain_console(&mut self, out: &mut dyn FnMut(usize, &[u8])) -> Result<u64, Error> {
        let _ = out;
        Ok(0)
    }

    /// Returns the decisions of the network that selects classes since this method was last called, or `None` if there is no
    /// network.
    fn take_decisions(&mut self) -> Result<Option<Decisions>, Error> {
        Ok(None)
    }

    /// Returns the report of the translation of hot code, or `None` if the executor does not translate or does not measure.
    fn translation(&mut self) -> Result<Option<TranslationReport>, Error> {
        Ok(None)
    }

    /// Returns the frames that moved between device and host since this method was last called, or `None` if frames do not move.
    fn take_frame_moves(&mut self) -> Result<Option<FrameMoves>, Error> {
        Ok(None)
    }

    /// Returns the failures of the host since this method was last called that lanes have survived, for people.
    fn take_warnings(&mut self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    /// Returns the executors that share the lanes, in the order of their lanes, if there are several. Each can run and serve its
    /// lanes, whose numbers begin at 0 there, in a thread of its own.
    fn parts(&mut self) -> Vec<&mut dyn Executor> {
        Vec::new()
    }

    /// Calls `serve` for each of `lanes`, whose numbers ascend, with the index of the lane in `lanes`; several at the same time
    /// if the executor can do that. Changes of lanes before a failure stay.
    fn serve_parallel(
        &mut self,
        lanes: &[usize],
        serve: &(dyn Fn(usize, &mut dyn LaneAccess) + Sync),
    ) -> Result<(), Error> {
        for (index, &lane) in lanes.iter().enumerate() {
            serve(index, &mut OneLane { executor: self, lane });
        }
        Ok(())
    }

    /// Replaces the hooks, at which lanes stop before an instruction. New executors have none.
    ///
    /// Hooks are not part of the state of lanes: snapshot and reset do not change them. A lane that a hook has stopped stops
    /// there again if its stop is cleared.
    fn set_hooks(&mut self, hooks: &Hooks) -> Result<(), Error>;

    /// Returns the number of frames that all lanes own together.
    fn frames_used(&mut self) -> Result<usize, Error>;

    /// Checks whether page tables, lists of frames, counters and decoded code of all lanes agree with each other and with the
    /// host's records. Returns at most a thousand violations.
    ///
    /// It changes nothing. It takes as long as a transfer of all page tables.
    fn audit(&mut self) -> Result<Vec<Violation>, Error>;

    /// Changes the number of frames that each lane may own.
    fn set_frames_max(&mut self, frames_max: usize) -> Result<(), Error>;
}

/// Computes the result of [`Executor::read_views`] on the host, in several lanes at the same time if the
/// executor can do that.
///
/// # Errors
/// The executor fails.
pub fn compute_views<E: Executor + ?Sized>(
    executor: &mut E,
    view: &View,
    lanes: &[usize],
    out: &mut [u8],
) -> Result<Result<(), (usize, Stop)>, Error> {
    for &lane in lanes {
        if let Err(fault) = view.check(&executor.page_map(lane)?) {
            return Ok(Err((lane, fault.into())));
        }
    }
    let source = view.source();
    let ranges: Vec<_> = lanes
        .iter()
        .flat_map(|&lane| {
            let palette = view.palette().map(|address| (lane, address, PALETTE_BYTES));
            palette.into_iter().chain([(lane, source.start, (source.end - source.start) as usize)])
        })
        .collect();
    executor.prefetch(&ranges)?;
    // Executors serve each lane once, in ascending order.
    let mut rows: Vec<_> = lanes.iter().copied().zip(out.chunks_exact_mut(view.bytes())).collect();
    rows.sort_unstable_by_key(|(lane, _)| *lane);
    let rows_of_lanes: Vec<_> = rows.chunk_by_mut(|(a, _), (b, _)| a == b).collect();
    let lanes: Vec<usize> = rows_of_lanes.iter().map(|rows| rows[0].0).collect();
    let results: Vec<_> = rows_of_lanes.into_iter().map(|rows| Mutex::new((rows, Ok(())))).collect();
    executor.serve_parallel(&lanes, &|index, lane| {
        // No other thread locks this mutex.
        let mut guard = results[index].lock().unwrap_or_else(PoisonError::into_inner);
        let (rows, result) = &mut *guard;
        *result = rows.iter_mut().try_for_each(|(_, row)| {
            // All bytes are mapped.
            view.compute(row, |address, bytes| lane.read_memory(address, bytes, None).map(drop))
        });
    })?;
    results
        .into_iter()
        .try_for_each(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner).1)?;
    Ok(Ok(()))
}

/// Access to one lane of an executor, for a service.
///
/// # Errors
/// Every method fails with [`Error::Engine`] if the host or the device fails.
#[expect(clippy::missing_errors_doc, reason = "described above, once for all methods")]
pub trait LaneAccess: Send {
    /// As [`Executor::set_stop`].
    fn set_stop(&mut self, stop: Option<Stop>) -> Result<(), Error>;

    /// Returns the registers except V0 to V31, whose values are undefined.
    fn general(&mut self) -> Result<Cpu, Error>;

    /// Replaces the registers except V0 to V31.
    fn set_general(&mut self, cpu: &Cpu) -> Result<(), Error>;

    /// Returns V0 to V31.
    fn vectors(&mut self) -> Result<[u128; 32], Error>;

    /// Replaces V0 to V31.
    fn set_vectors(&mut self, vectors: &[u128; 32]) -> Result<(), Error>;

    /// As [`Executor::process_state`].
    fn process_state(&mut self) -> Result<ProcessState, Error>;

    /// As [`Executor::set_process_state`].
    fn set_process_state(&mut self, state: &ProcessState) -> Result<(), Error>;

    /// Checks whether the guest could access `bytes` bytes; the inner result is the fault.
    fn check(&mut self, address: u64, bytes: u64, access: Access) -> Result<Result<(), Fault>, Error> {
        Ok(self.page_map()?.check(address, bytes, access, Some(access)))
    }

    /// As [`Executor::set_console`].
    fn set_console(&mut self, handles: u32) -> Result<(), Error> {
        let _ = handles;
        Ok(())
    }

    /// Returns whether the executor reads and writes the [pipe windows](crate::PipeWindow) of lanes itself.
    fn has_pipe_windows(&self) -> bool {
        false
    }

    /// Reads bytes of the pipe windows of the lane, which lie one behind the other.
    fn read_pipes(&mut self, at: usize, out: &mut [u8]) -> Result<(), Error> {
        let _ = (at, out);
        Ok(())
    }

    /// Writes bytes of the pipe windows of the lane. They last until the memory of the lane is cleared.
    fn write_pipes(&mut self, at: usize, bytes: &[u8]) -> Result<(), Error> {
        let _ = (at, bytes);
        Ok(())
    }

    /// As [`Executor::read_memory`].
    fn read_memory(
        &mut self,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error>;

    /// As [`Executor::write_memory`].
    fn write_memory(
        &mut self,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error>;

    /// As [`Executor::page_map`].
    fn page_map(&mut self) -> Result<PageMap, Error>;

    /// As [`Executor::map`].
    fn map(&mut self, pages: Range<u64>, mapping: Mapping) -> Result<bool, Error>;

    /// As [`Executor::clear_memory`].
    fn clear_memory(&mut self) -> Result<(), Error>;

    /// As [`Executor::private_pages`].
    fn private_pages(&mut self) -> Result<Vec<u64>, Error>;

    /// Returns the memory of the lane as a value.
    fn memory(&mut self) -> Result<LaneMemory, Error> {
        let mut pages = Vec::new();
        let map = self.page_map()?;
        for address in self.private_pages()? {
            // Pages that were written and are no longer mapped have no contents, but count as written.
            let mut bytes = [0; PAGE_BYTES];
            if map.region(page_of(address)).is_some() && self.read_memory(address, &mut bytes, None)?.is_ok()
            {
                pages.push((page_of(address), Contents::new(&bytes)));
            }
        }
        Ok(LaneMemory { map, pages })
    }

    /// Replaces the memory of the lane. The inner result is the stop that the guest would get if it wrote the pages; the memory is
    /// then in a state in between.
    fn set_memory(&mut self, memory: &LaneMemory) -> Result<Result<(), Stop>, Error> {
        self.clear_memory()?;
        let changes = self.page_map()?.changes_to(&memory.map);
        for (pages, mapping) in changes.unwrap_or_default() {
            self.map(pages, mapping)?;
        }
        for (page, contents) in &memory.pages {
            if let Err(stop) = self.write_memory(page << PAGE_SHIFT, contents.bytes(), None)? {
                return Ok(Err(stop));
            }
        }
        Ok(Ok(()))
    }
}

/// A lane of an executor that serves lanes one after the other.
struct OneLane<'a, E: ?Sized> {
    executor: &'a mut E,
    lane: usize,
}

impl<E: Executor + ?Sized> LaneAccess for OneLane<'_, E> {
    fn set_stop(&mut self, stop: Option<Stop>) -> Result<(), Error> {
        self.executor.set_stop(self.lane, stop)
    }

    fn general(&mut self) -> Result<Cpu, Error> {
        self.executor.cpu(self.lane)
    }

    fn set_general(&mut self, cpu: &Cpu) -> Result<(), Error> {
        let mut cpu = cpu.clone();
        cpu.v = self.vectors()?;
        self.executor.set_cpu(self.lane, &cpu)
    }

    fn vectors(&mut self) -> Result<[u128; 32], Error> {
        Ok(self.executor.cpu(self.lane)?.v)
    }

    fn set_vectors(&mut self, vectors: &[u128; 32]) -> Result<(), Error> {
        let mut cpu = self.executor.cpu(self.lane)?;
        cpu.v = *vectors;
        self.executor.set_cpu(self.lane, &cpu)
    }

    fn process_state(&mut self) -> Result<ProcessState, Error> {
        self.executor.process_state(self.lane)
    }

    fn set_process_state(&mut self, state: &ProcessState) -> Result<(), Error> {
        self.executor.set_process_state(self.lane, state)
    }

    fn set_console(&mut self, handles: u32) -> Result<(), Error> {
        self.executor.set_console(self.lane, handles)
    }

    fn read_memory(
        &mut self,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        self.executor.read_memory(self.lane, address, out, access)
    }

    fn write_memory(
        &mut self,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        self.executor.write_memory(self.lane, address, bytes, access)
    }

    fn page_map(&mut self) -> Result<PageMap, Error> {
        self.executor.page_map(self.lane)
    }

    fn map(&mut self, pages: Range<u64>, mapping: Mapping) -> Result<bool, Error> {
        self.executor.map(self.lane, pages, mapping)
    }

    fn clear_memory(&mut self) -> Result<(), Error> {
        self.executor.clear_memory(self.lane)
    }

    fn private_pages(&mut self) -> Result<Vec<u64>, Error> {
        self.executor.private_pages(self.lane)
    }
}

/// The state of a lane without its memory, for [`Executor::set_all`].
#[derive(Clone, Debug)]
pub struct LaneStart {
    /// The registers.
    pub cpu: Cpu,
    /// The process state.
    pub process_state: ProcessState,
    /// The stop, or `None` if the lane can run.
    pub stop: Option<Stop>,
    /// The handles of console output that the executor may serve, as for [`Executor::set_console`].
    pub console: u32,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The steps that all lanes together have retired in this run.
    pub steps: u64,
    /// The number of lanes that have not stopped.
    pub running: usize,
    /// Whether there is console output for [`Executor::drain_console`].
    pub has_output: bool,
}

/// Statistics of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// The number of dispatches to a device.
    pub dispatches: u64,
    /// The progress at the end of the run.
    pub progress: Progress,
}
