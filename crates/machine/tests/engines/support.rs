//! An engine that writes down what it is asked, and fails when it is told to.

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, MutexGuard};

use kvrm_arm64::asm::Assembler;
use kvrm_machine::{
    Access, Builder, Cpu, Error, Executor, Factory, Image, Machine, Mapping, PageMap, Plan, ProcessState,
    Program, Progress, Reference, Register, RunStats, Stop, Violation,
};

pub(crate) const CODE: u64 = 0x1_0000;

/// What a [`Watched`] engine has been asked, and what it is to do.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Ranges of one call of `prefetch` after the other.
    pub(crate) prefetched: Vec<Vec<(usize, u64, usize)>>,
    /// What was read as a guest.
    pub(crate) read: Vec<(usize, u64, usize)>,
    /// What the host has said of console output: lanes and handles.
    pub(crate) console: Vec<(usize, u32)>,
    /// What lanes have written without the host, a call each.
    pub(crate) written: Vec<(usize, Vec<u8>)>,
    /// Which request fails, counted down from each to the next.
    pub(crate) fail_in: Option<usize>,
}

/// The CPU engine, watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched(Arc<Mutex<Log>>);

struct WatchedExecutor(Reference, Watched);

impl Watched {
    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap()
    }

    fn count(&self) -> Result<(), Error> {
        let mut log = self.log();
        let left = log.fail_in.as_mut();
        match left {
            Some(0) => Err(Error::Engine("the device is gone".into())),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Factory for Watched {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        self.count()?;
        Ok(Box::new(WatchedExecutor(Reference::new(plan)?, self.clone())))
    }
}

impl Executor for WatchedExecutor {
    fn name(&self) -> &'static str {
        "watched"
    }

    fn device(&self) -> Option<&str> {
        Some("a notebook")
    }

    fn lanes(&self) -> usize {
        self.0.lanes()
    }

    fn run(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, Error> {
        self.1.count()?;
        self.0.run(limits, observe)?;
        Ok(RunStats { dispatches: 10 })
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
        assert_eq!(self.0.drain_console(out)?, 0, "the CPU engine leaves all calls to the host");
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

    fn dirty_pages(&mut self, lane: usize) -> Result<Vec<u64>, Error> {
        self.1.count()?;
        self.0.dirty_pages(lane)
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

    fn set_frames_max(&mut self, frames_max: usize) -> Result<(), Error> {
        self.1.count()?;
        self.0.set_frames_max(frames_max)
    }
}

/// A program with 64 KiB of memory that may be read, written and executed.
pub(crate) fn raw(write: impl FnOnce(&mut Assembler)) -> Program {
    let mut assembler = Assembler::new(CODE);
    write(&mut assembler);
    let code = assembler.finish().expect("the programs of the tests assemble");
    let code = code.into_iter().flat_map(u32::to_le_bytes).collect();
    Program::raw("raw", code, CODE, 0x1_0000).expect("the program fits")
}

/// An image of one program, without stack and heap.
pub(crate) fn image(write: impl FnOnce(&mut Assembler)) -> Arc<Image> {
    Arc::new(Image::new(&raw(write).segments, kvrm_machine::Features::ALL).expect("it fits"))
}

/// A watched machine in which each lane makes one call: x0, x1 and the parameter block at x1.
pub(crate) fn calling(watched: &Watched, calls: &[(u64, u64, Vec<u64>)]) -> Machine {
    builder(watched, calls).build().expect("the machine can be built")
}

/// How [`calling`] builds it.
pub(crate) fn builder(watched: &Watched, calls: &[(u64, u64, Vec<u64>)]) -> Builder<'static> {
    let program = raw(|a| {
        a.hlt(0xf000).hlt(0);
    });
    let calls = calls.to_vec();
    Machine::builder(program).engine(watched.clone()).lanes(calls.len()).prepare(move |lane| {
        let (operation, parameter, fields) = &calls[lane.number()];
        lane.set_x(0, *operation);
        lane.set_x(1, *parameter);
        if !fields.is_empty() {
            lane.write(*parameter, &fields.iter().flat_map(|field| field.to_le_bytes()).collect::<Vec<u8>>());
        }
    })
}
