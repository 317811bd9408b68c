//! A runner that records the page accesses of a lane.

use std::sync::{Arc, Mutex, PoisonError};

use kvrm_arm64::{Cpu, Instruction, Memory, Stop};
use kvrm_machine::{
    AddressSpace, Error, Executor, Factory, Interpreter, PAGE_BYTES, Plan, Reference, Runner,
};
use kvrm_prefetch::{PageAccess, RecordedAccess, StreamBuilder};

/// The number of steps between two looks at whether the stream is full.
const PIECE_STEPS: u64 = 1 << 14;

/// The page accesses that a run has made so far. All clones are the same log.
#[derive(Clone, Debug)]
pub struct PageLog(Arc<Mutex<StreamBuilder>>);

impl PageLog {
    /// Creates an empty log that is full with so many accesses.
    #[must_use]
    pub fn new(accesses_max: usize) -> Self {
        Self(Arc::new(Mutex::new(StreamBuilder::new(accesses_max))))
    }

    /// Returns the accesses.
    #[must_use]
    pub fn finish(self) -> Vec<RecordedAccess> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().finish()
    }
}

/// An engine that runs one lane and writes its accesses to data to a log, through the filter of [`StreamBuilder`].
///
/// Instruction fetches and accesses of the host, such as those of system calls, are not recorded. A program with several
/// processes must not be recorded, because their pages would be mixed up.
///
/// ```
/// use kvrm_machine::{Machine, Permissions, Program};
/// use kvrm_train::oracle::{PageLog, RecordEngine};
///
/// // mov x1, #0x2000; str x0, [x1]; ldr x0, [x1, #8]; mov x1, #0x3000; ldrb w0, [x1]; hlt #0
/// let code = [0xd284_0001, 0xf900_0020, 0xf940_0420, 0xd286_0001, 0x3940_0020, 0xd440_0000];
/// let program =
///     Program::builder().code(0x1000, &code).data(0x2000, [0; 0x2000], Permissions::RW).build()?;
/// let log = PageLog::new(100);
/// Machine::builder(program).engine(RecordEngine(log.clone())).build()?.run(100)?;
/// let accesses = log.finish();
/// let found: Vec<_> = accesses.iter().map(|r| (r.access.page, r.access.size, r.access.load, r.access.step)).collect();
/// assert_eq!(found, [(2, 8, false, 1), (3, 1, true, 4)]);
/// assert_eq!(accesses[1].access.pc, 0x1010);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RecordEngine(pub PageLog);

impl Factory for RecordEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        Ok(Box::new(Reference::with_runners(plan, || Recorder(self.0.clone()))?))
    }
}

#[derive(Debug)]
struct Recorder(PageLog);

impl Runner for Recorder {
    const ENGINE: &str = "reference";

    fn run(&mut self, cpu: &mut Cpu, memory: &mut AddressSpace, budget: u64) -> Stop {
        let mut builder = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = cpu.steps.saturating_add(budget);
        // One call for many steps: a call for each of them takes several times as long.
        while cpu.steps < end && !builder.is_full() {
            let mut noting = Noting::new(memory, &mut builder, cpu.steps);
            let stop = kvrm_arm64::run(cpu, &mut noting, PIECE_STEPS.min(end - cpu.steps));
            if stop != Stop::Budget {
                // An instruction that faults has done nothing.
                return stop;
            }
            noting.retire();
        }
        drop(builder);
        Interpreter.run(cpu, memory, end - cpu.steps)
    }

    fn another(&self) -> Self {
        Self(self.0.clone())
    }

    fn for_other_code(&self) -> Self {
        self.another()
    }
}

/// The memory of a lane, which adds the accesses of each instruction to a stream when the instruction has retired.
struct Noting<'a> {
    memory: &'a mut AddressSpace,
    builder: &'a mut StreamBuilder,
    /// The address of the current instruction, and the number of steps before it.
    pc: u64,
    step: u64,
    is_first: bool,
    /// The accesses of the current instruction.
    pending: Vec<Pending>,
}

/// An access of an instruction that has not retired.
struct Pending {
    address: u64,
    bytes: u8,
    /// The value that is loaded; `None` for a store.
    loaded: Option<u128>,
}

impl<'a> Noting<'a> {
    fn new(memory: &'a mut AddressSpace, builder: &'a mut StreamBuilder, step: u64) -> Self {
        Self { memory, builder, pc: 0, step, is_first: true, pending: Vec::new() }
    }

    /// Adds the accesses of the current instruction to the stream.
    #[inline(always)]
    fn retire(&mut self) {
        for access in self.pending.drain(..) {
            access.record(self.builder, self.pc, self.step);
        }
    }

    #[inline(always)]
    fn note<const N: usize>(&mut self, address: u64, loaded: Option<[u8; N]>) {
        // Nothing is recorded after the instruction that has filled the stream.
        if !self.builder.is_full() {
            let loaded = loaded.map(|bytes| {
                bytes.iter().take(16).rev().fold(0, |value, byte| value << 8 | u128::from(*byte))
            });
            self.pending.push(Pending { address, bytes: N as u8, loaded });
        }
    }
}

impl Memory for Noting<'_> {
    #[inline(always)]
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        // The instruction before has retired, because this one is fetched.
        self.retire();
        self.step += u64::from(!std::mem::take(&mut self.is_first));
        self.pc = pc;
        self.memory.fetch(pc)
    }

    #[inline(always)]
    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        let bytes = self.memory.read(address)?;
        self.note(address, Some(bytes));
        Ok(bytes)
    }

    #[inline(always)]
    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        self.memory.write(address, bytes)?;
        self.note::<N>(address, None);
        Ok(())
    }

    fn check_write(&mut self, address: u64, bytes: u64) -> Result<(), Stop> {
        self.memory.check_write(address, bytes)
    }
}

impl Pending {
    fn record(&self, builder: &mut StreamBuilder, pc: u64, step: u64) {
        const PAGE: u64 = PAGE_BYTES as u64;
        let Self { address, bytes, loaded } = *self;
        let (first, last) = (address / PAGE, (address + u64::from(bytes.max(1) - 1)) / PAGE);
        let access = PageAccess { page: first, size: bytes, load: loaded.is_some(), pc, step };
        builder.access(access, address);
        if first != last {
            builder.access(PageAccess { page: last, ..access }, last * PAGE);
        }
        if let Some(value) = loaded.filter(|_| matches!(bytes, 8 | 16)) {
            builder.loaded(value as u64);
            if bytes == 16 {
                builder.loaded((value >> 64) as u64);
            }
        }
    }
}
