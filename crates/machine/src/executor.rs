//! What runs lanes, and what it is made from.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use kvrm_arm64::{Access, Cpu, Fault, Stop};

use crate::audit::Violation;
use crate::call_table::{CallTable, ProcessState};
use crate::error::Error;
use crate::hooks::Hooks;
use crate::image::Image;
use crate::page_map::{Mapping, PageMap};
use crate::report::Decisions;

/// An engine: what makes executors.
pub trait Factory {
    /// Makes an executor. Its lanes have registers of zeros, the memory of their images, and no stop.
    ///
    /// # Errors
    /// If the host or the device has no room for it, or fails.
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error>;

    /// How many lanes with an image of their own, of a few pages each, an executor takes at least.
    fn images_max(&self) -> usize {
        usize::MAX
    }
}

/// What an executor is to be.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// One image that all lanes share, or exactly one a lane.
    pub images: &'a [Arc<Image>],
    /// How many lanes there are.
    pub lanes: usize,
    /// How many frames each lane may own.
    pub frames_max: usize,
    /// The calls that the executor may serve by itself; without a table all of them stop the lane.
    pub calls: Option<&'a CallTable>,
}

impl<'a> Plan<'a> {
    /// The image of a lane.
    ///
    /// # Panics
    /// If the plan has no image for it.
    #[must_use]
    pub const fn image(&self, lane: usize) -> &'a Arc<Image> {
        match self.images {
            [shared] => shared,
            own => &own[lane],
        }
    }
}

/// Lanes, and what runs them.
///
/// Lanes are numbered from 0. Results never depend on the engine: for the same inputs every executor gives the
/// same registers, flags, memory, stops and steps as the [`Reference`](crate::Reference). Its methods fail only
/// if the host or the device does, with [`Error::Engine`]; what a guest does wrong is the inner result of those
/// that have two. A lane number that is not below [`Executor::lanes`] may panic.
pub trait Executor: Send {
    /// A short name for reports.
    fn name(&self) -> &'static str;

    /// The device it runs on, for reports, if there is more to say than the name.
    fn device_name(&self) -> Option<&str> {
        None
    }

    /// How many lanes there are.
    fn lanes(&self) -> usize;

    /// Runs every lane whose stop is `None` until something stops it, or until its steps reach the limit.
    ///
    /// A lane that reaches its limit stops with [`Stop::Budget`], whatever its next instruction is. `limits`
    /// has one entry a lane.
    ///
    /// `observe` is called now and then while lanes run, and hears of this call only. If it breaks, the
    /// executor returns soon; lanes that could run on are then between two instructions, and have no stop.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn run(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, Error>;

    /// Why a lane stopped, or `None` if it can run.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn stop(&mut self, lane: usize) -> Result<Option<Stop>, Error>;

    /// Why each lane has stopped.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn stops(&mut self) -> Result<Vec<Option<Stop>>, Error> {
        (0..self.lanes()).map(|lane| self.stop(lane)).collect()
    }

    /// Sets or clears the stop of a lane.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_stop(&mut self, lane: usize, stop: Option<Stop>) -> Result<(), Error>;

    /// How many steps a lane has retired.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn steps(&mut self, lane: usize) -> Result<u64, Error>;

    /// The registers of a lane.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn cpu(&mut self, lane: usize) -> Result<Cpu, Error>;

    /// Replaces the registers of a lane.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), Error>;

    /// What calls of the [`CallTable`] read and change of a lane.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn process_state(&mut self, lane: usize) -> Result<ProcessState, Error>;

    /// Replaces it. That the heap ends elsewhere maps nothing.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_process_state(&mut self, lane: usize, state: &ProcessState) -> Result<(), Error>;

    /// Replaces `out` by one register of all lanes.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn registers(&mut self, register: Register, out: &mut Vec<u64>) -> Result<(), Error>;

    /// Reads a lane's memory, as its guest could (`Some` access) or as the host (`None`: mapped is enough).
    ///
    /// The inner result is the stop the guest would see.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn read_memory(
        &mut self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error>;

    /// Writes a lane's memory, as its guest could (`Some` access) or as the host (`None`: mapped is enough).
    ///
    /// The inner result is the stop the guest would see; nothing is written then.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error>;

    /// Replaces `out` by the same range of every lane's memory, one after the other, read as the host.
    ///
    /// The inner result names the first lane that has not all of it mapped, and why; `out` is then of no use.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn read_memory_of_all(
        &mut self,
        address: u64,
        bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        out.clear();
        for lane in 0..self.lanes() {
            let start = out.len();
            out.resize(start + bytes, 0);
            if let Err(stop) = self.read_memory(lane, address, &mut out[start..], None)? {
                return Ok(Err((lane, stop)));
            }
        }
        Ok(Ok(()))
    }

    /// Says that these ranges of memory (lane, address, bytes) will be read soon, so that a device can send
    /// them all at once. It changes no result; what of them is not mapped, or too much, is passed over.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn prefetch(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), Error> {
        let _ = ranges;
        Ok(())
    }

    /// Which pages of a lane are mapped, and how.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn page_map(&mut self, lane: usize) -> Result<PageMap, Error>;

    /// Maps, protects or unmaps pages of a lane, given by number; says whether it could. If not, nothing has
    /// changed: some pages are neither mapped nor reserved by the image, or those to protect are not all mapped,
    /// or the lane has too many regions.
    ///
    /// It takes no frames: a page that has been written keeps its frame and stays private, however it
    /// is mapped afterwards. Snapshot and reset keep what is mapped.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn map(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> Result<bool, Error>;

    /// The addresses of the pages a lane has written, in order of their first write.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn private_pages(&mut self, lane: usize) -> Result<Vec<u64>, Error>;

    /// Remembers the state of all lanes. There is one snapshot; a new one replaces it.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn snapshot(&mut self) -> Result<(), Error>;

    /// Takes the given lanes back to the snapshot, at a cost that grows with what they wrote since.
    ///
    /// # Errors
    /// [`Error::NoSnapshot`] if none was taken, or if the host or the device fails.
    fn reset(&mut self, lanes: &[usize]) -> Result<(), Error>;

    /// Lets the executor serve console output of a lane itself, instead of stopping the lane for the host.
    ///
    /// Bit 0 of `handles` is for calls that name no handle, bit `n` for handle `n`; without any bit, which is how
    /// a lane begins, every call stops it. The executor may leave any call to the host all the same. What is said
    /// here is part of the lane's state, which snapshot and reset keep.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_console(&mut self, lane: usize, handles: u32) -> Result<(), Error> {
        let _ = (lane, handles);
        Ok(())
    }

    /// Gives `out` what lanes have written to the console by calls that the executor served itself, since it was
    /// last asked: lane by lane in the order of their numbers, of each all there is, in order. Returns how many
    /// such calls there were. A reset drops what its lanes have written and nobody has asked for.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn drain_console(&mut self, out: &mut dyn FnMut(usize, &[u8])) -> Result<u64, Error> {
        let _ = out;
        Ok(0)
    }

    /// What a network that chooses the classes of instructions has decided since this was last asked; nothing if
    /// there is none.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn take_decisions(&mut self) -> Result<Option<Decisions>, Error> {
        Ok(None)
    }

    /// Gives `serve` each of the lanes, whose numbers ascend, by itself, with its place among them; several at the same
    /// time, where the executor can do that.
    ///
    /// # Errors
    /// If the host or the device fails. What was done to lanes is done all the same.
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
    /// Hooks are no part of the state of lanes: snapshot and reset do not change them. A lane that is stopped at a hook and
    /// whose stop is cleared stops there again.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_hooks(&mut self, hooks: &Hooks) -> Result<(), Error>;

    /// How many frames all lanes own together.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn frames_used(&mut self) -> Result<usize, Error>;

    /// Checks the memory of all lanes: whether page tables, lists of frames, counters and decoded code agree with each
    /// other, and with what the host knows. Gives what does not, a thousand violations at most.
    ///
    /// It changes nothing. It takes as long as a transfer of all page tables.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn audit(&mut self) -> Result<Vec<Violation>, Error>;

    /// Changes how many frames each lane may own.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_frames_max(&mut self, frames_max: usize) -> Result<(), Error>;
}

/// One lane of an executor by itself.
pub trait LaneAccess: Send {
    /// As [`Executor::set_stop`].
    ///
    /// # Errors
    /// If the host or the device fails, as all of these.
    fn set_stop(&mut self, stop: Option<Stop>) -> Result<(), Error>;

    /// The registers, but for V0 to V31, which need not be right.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn general(&mut self) -> Result<Cpu, Error>;

    /// Sets the registers, but for V0 to V31.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_general(&mut self, cpu: &Cpu) -> Result<(), Error>;

    /// V0 to V31.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn vectors(&mut self) -> Result<[u128; 32], Error>;

    /// Sets V0 to V31.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_vectors(&mut self, vectors: &[u128; 32]) -> Result<(), Error>;

    /// As [`Executor::process_state`].
    ///
    /// # Errors
    /// If the host or the device fails.
    fn process_state(&mut self) -> Result<ProcessState, Error>;

    /// As [`Executor::set_process_state`].
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_process_state(&mut self, state: &ProcessState) -> Result<(), Error>;

    /// What an access of the guest to so many bytes would fail with.
    ///
    /// # Errors
    /// If the host or the device fails.
    fn check(&mut self, address: u64, bytes: u64, access: Access) -> Result<Result<(), Fault>, Error> {
        Ok(self.page_map()?.check(address, bytes, access, Some(access)))
    }

    /// As [`Executor::set_console`].
    ///
    /// # Errors
    /// If the host or the device fails.
    fn set_console(&mut self, handles: u32) -> Result<(), Error> {
        let _ = handles;
        Ok(())
    }

    /// As [`Executor::read_memory`].
    ///
    /// # Errors
    /// If the host or the device fails.
    fn read_memory(
        &mut self,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error>;

    /// As [`Executor::write_memory`].
    ///
    /// # Errors
    /// If the host or the device fails.
    fn write_memory(
        &mut self,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error>;

    /// As [`Executor::page_map`].
    ///
    /// # Errors
    /// If the host or the device fails.
    fn page_map(&mut self) -> Result<PageMap, Error>;

    /// As [`Executor::map`].
    ///
    /// # Errors
    /// If the host or the device fails.
    fn map(&mut self, pages: Range<u64>, mapping: Mapping) -> Result<bool, Error>;
}

/// A lane of an executor whose lanes are served one after the other.
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
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Steps retired in this run by all lanes together.
    pub steps: u64,
    /// Lanes that have not stopped yet.
    pub running: usize,
    /// Whether there is console output for [`Executor::drain_console`].
    pub has_output: bool,
}

/// What a run took beside steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// How often work was handed to a device.
    pub dispatches: u64,
}

/// A register of at most 64 bits, or the number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// A general register, from 0 to 30; 31 is zero.
    X(u32),
    /// The stack pointer.
    Sp,
    /// The address of the next instruction.
    Pc,
    /// The condition flags as four bits: N is 8, Z is 4, C is 2, V is 1.
    Nzcv,
    /// Floating-point control.
    Fpcr,
    /// Floating-point status.
    Fpsr,
    /// The thread pointer.
    TpidrEl0,
    /// Steps retired since the lane began.
    Steps,
}

impl Register {
    /// Its value in the registers of a lane.
    #[must_use]
    pub fn of(self, cpu: &Cpu) -> u64 {
        match self {
            Self::X(n) => cpu.x(n),
            Self::Sp => cpu.sp,
            Self::Pc => cpu.pc,
            Self::Nzcv => cpu.nzcv.into(),
            Self::Fpcr => cpu.fpcr.into(),
            Self::Fpsr => cpu.fpsr.into(),
            Self::TpidrEl0 => cpu.tpidr_el0,
            Self::Steps => cpu.steps,
        }
    }
}
