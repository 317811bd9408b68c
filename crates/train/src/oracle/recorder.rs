//! A runner that records the page accesses of a lane.

use std::sync::{Arc, Mutex, PoisonError};

use kvrm_arm64::{Access, Cpu, Stop};
use kvrm_machine::{
    AddressSpace, DataAccess, Error, Executor, Factory, Interpreter, PAGE_BYTES, Plan, Reference, Runner,
};
use kvrm_prefetch::{PageAccess, RecordedAccess, StreamBuilder};

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
        memory.observe_accesses(!builder.is_full());
        while cpu.steps < end && !builder.is_full() {
            let (pc, step) = (cpu.pc, cpu.steps);
            let result = Interpreter::step(cpu, memory);
            let accesses = memory.take_accesses();
            if let Err(stop) = result {
                // An instruction that faults has done nothing.
                accesses.for_each(drop);
                return stop;
            }
            accesses.for_each(|access| record(&mut builder, access, pc, step));
        }
        memory.observe_accesses(!builder.is_full());
        Interpreter.run(cpu, memory, end - cpu.steps)
    }

    fn another(&self) -> Self {
        Self(self.0.clone())
    }

    fn for_other_code(&self) -> Self {
        self.another()
    }
}

/// Adds an access of an instruction to a stream.
fn record(builder: &mut StreamBuilder, data: DataAccess, pc: u64, step: u64) {
    const PAGE: u64 = PAGE_BYTES as u64;
    let DataAccess { access, address, bytes, value } = data;
    let load = access == Access::Read;
    let (first, last) = (address / PAGE, (address + u64::from(bytes.max(1) - 1)) / PAGE);
    let access = PageAccess { page: first, size: bytes, load, pc, step };
    builder.access(access, address);
    if first != last {
        builder.access(PageAccess { page: last, ..access }, last * PAGE);
    }
    if load && matches!(bytes, 8 | 16) {
        builder.loaded(value as u64);
        if bytes == 16 {
            builder.loaded((value >> 64) as u64);
        }
    }
}
