//! An engine that records requests and fails on demand.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, MutexGuard};

use kvrm_arm64::asm::Assembler;
use kvrm_machine::{
    Access, Builder, Cpu, Error, Executor, Factory, Hooks, Image, Machine, Mapping, PageMap, Plan,
    ProcessState, Program, Progress, Reference, Register, RunStats, Stop, Violation,
};

pub(crate) const CODE: u64 = 0x1_0000;

/// The requests that a [`RecordingEngine`] has recorded, and its instructions.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The ranges of each call of `prefetch`.
    pub(crate) prefetched: Vec<Vec<(usize, u64, usize)>>,
    /// The ranges that were read with the guest's permissions: lane, address and size.
    pub(crate) read: Vec<(usize, u64, usize)>,
    /// The arguments of each call of `set_console`: lane and handles.
    pub(crate) console: Vec<(usize, u32)>,
    /// The console output to report as served by the engine: lane and bytes of each call.
    pub(crate) written: Vec<(usize, Vec<u8>)>,
    /// The number of requests that succeed before one fails; `None` if all succeed.
    pub(crate) fails_after: Option<usize>,
    /// Whether only one request fails, and later ones succeed again.
    pub(crate) recovers: bool,
}

/// The reference, with all requests recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordingEngine(Arc<Mutex<Log>>);

struct RecordingExecutor(Reference, RecordingEngine);

impl RecordingEngine {
    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap()
    }

    fn count(&self) -> Result<(), Error> {
        let mut log = self.log();
        match log.fails_after.as_mut() {
            Some(0) => {
                if log.recovers {
                    log.fails_after = None;
                }
                Err(Error::Engine("the device is gone".into()))
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Factory for RecordingEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        self.count()?;
        Ok(Box::new(RecordingExecutor(Reference::new(plan)?, self.clone())))
    }
}

impl Executor for RecordingExecutor {
    fn name(&self) -> &'static str {
        "recording"
    }

    fn device_name(&self) -> Option<&str> {
        Some("a notebook")
    }

    fn lanes(&self) -> usize {
        self.0.lanes()
    }

    fn executor_for(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        self.1.executor(plan)
    }

    fn run(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, Error> {
        self.1.count()?;
        let stats = self.0.run(limits, observe)?;
        Ok(RunStats { dispatches: 10, ..stats })
    }

    fn stop(&mut self, lane: usize) -> Result<Option<Stop>, Error> {
        self.1.count()?;
        self.0.stop(lane)
    }

    fn set_stop(&mut self, lane: usize, stop: Option<Stop>) -> Result<(), Error> {
        self.1.count()?;
        self.0.set_stop(lane, stop)
    }

    fn steps(&mut self, lane: usize) -> Result<u64, Error> {
        self.1.count()?;
        self.0.steps(lane)
    }

    fn cpu(&mut self, lane: usize) -> Result<Cpu, Error> {
        self.1.count()?;
        self.0.cpu(lane)
    }

    fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), Error> {
        self.1.count()?;
        self.0.set_cpu(lane, cpu)
    }

    fn process_state(&mut self, lane: usize) -> Result<ProcessState, Error> {
        self.1.count()?;
        self.0.process_state(lane)
    }

    fn set_process_state(&mut self, lane: usize, state: &ProcessState) -> Result<(), Error> {
        self.1.count()?;
        self.0.set_process_state(lane, state)
    }

    fn registers(&mut self, register: Register, out: &mut Vec<u64>) -> Result<(), Error> {
        self.1.count()?;
        self.0.registers(register, out)
    }

    fn read_memory(
        &mut self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        self.1.count()?;
        if access.is_some() {
            self.1.log().read.push((lane, address, out.len()));
        }
        self.0.read_memory(lane, address, out, access)
    }

    fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        self.1.count()?;
        self.0.write_memory(lane, address, bytes, access)
    }

    fn check_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        self.1.count()?;
        self.0.check_memory_of_each(address, rows)
    }

    fn write_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        self.1.count()?;
        self.0.write_memory_of_each(address, rows)
    }

    fn prefetch(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), Error> {
        self.1.count()?;
        self.1.log().prefetched.push(ranges.to_vec());
        Ok(())
    }

    fn set_console(&mut self, lane: usize, handles: u32) -> Result<(), Error> {
        self.1.count()?;
        self.1.log().console.push((lane, handles));
        self.0.set_console(lane, handles)
    }

    fn drain_console(&mut self, out: &mut dyn FnMut(usize, &[u8])) -> Result<u64, Error> {
        self.1.count()?;
        assert_eq!(self.0.drain_console(out)?, 0, "the reference leaves all calls to the host");
        let written = std::mem::take(&mut self.1.log().written);
        written.iter().for_each(|(lane, bytes)| out(*lane, bytes));
        Ok(written.len() as u64)
    }

    fn page_map(&mut self, lane: usize) -> Result<PageMap, Error> {
        self.0.page_map(lane)
    }

    fn map(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> Result<bool, Error> {
        self.1.count()?;
        self.0.map(lane, pages, mapping)
    }

    fn clear_memory(&mut self, lane: usize) -> Result<(), Error> {
        self.1.count()?;
        self.0.clear_memory(lane)
    }

    fn private_pages(&mut self, lane: usize) -> Result<Vec<u64>, Error> {
        self.1.count()?;
        self.0.private_pages(lane)
    }

    fn snapshot(&mut self) -> Result<(), Error> {
        self.1.count()?;
        self.0.snapshot()
    }

    fn reset(&mut self, lanes: &[usize]) -> Result<(), Error> {
        self.1.count()?;
        self.0.reset(lanes)
    }

    fn frames_used(&mut self) -> Result<usize, Error> {
        self.1.count()?;
        self.0.frames_used()
    }

    fn audit(&mut self) -> Result<Vec<Violation>, Error> {
        self.1.count()?;
        self.0.audit()
    }

    fn set_hooks(&mut self, hooks: &Hooks) -> Result<(), Error> {
        self.1.count()?;
        self.0.set_hooks(hooks)
    }

    fn set_frames_max(&mut self, frames_max: usize) -> Result<(), Error> {
        self.1.count()?;
        self.0.set_frames_max(frames_max)
    }
}

/// Assembles a program with 64 KiB of readable, writable and executable memory.
pub(crate) fn raw(write: impl FnOnce(&mut Assembler)) -> Program {
    let mut assembler = Assembler::new(CODE);
    write(&mut assembler);
    let code = assembler.finish().expect("the programs of the tests assemble");
    let code = code.into_iter().flat_map(u32::to_le_bytes).collect();
    Program::raw("raw", code, CODE, 0x1_0000).expect("the program fits")
}

/// Assembles the image of a program, without stack and heap.
pub(crate) fn image(write: impl FnOnce(&mut Assembler)) -> Arc<Image> {
    Arc::new(Image::new(&raw(write).segments, kvrm_machine::Features::ALL).expect("the program fits"))
}

/// Builds a machine in which each lane makes one call: X0, X1, and the parameter block at X1.
pub(crate) fn calling_machine(engine: &RecordingEngine, calls: &[(u64, u64, Vec<u64>)]) -> Machine {
    builder(engine, calls).build().expect("the machine can be built")
}

/// Returns the builder of [`calling_machine`].
pub(crate) fn builder(engine: &RecordingEngine, calls: &[(u64, u64, Vec<u64>)]) -> Builder<'static> {
    let program = raw(|a| {
        a.hlt(0xf000).hlt(0);
    });
    let calls = calls.to_vec();
    Machine::builder(program).engine(engine.clone()).lanes(calls.len()).prepare(move |lane| {
        let (operation, parameter, fields) = &calls[lane.number()];
        lane.set_x(0, *operation);
        lane.set_x(1, *parameter);
        if !fields.is_empty() {
            lane.write(*parameter, &fields.iter().flat_map(|field| field.to_le_bytes()).collect::<Vec<u8>>());
        }
    })
}
