//! One step of a lane on the host, with the semantics of the reference.

use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Instruction, Memory, Stop, step};

use crate::error::Error;
use crate::executor::LaneAccess;
use crate::hooks::Hooks;

/// Executes the next instruction of a lane, which may hit the watchpoints of `hooks`. Sets and returns the stop of the lane.
pub(super) fn execute(
    lane: &mut dyn LaneAccess,
    features: Features,
    hooks: Option<&Hooks>,
) -> Result<Option<Stop>, Error> {
    let mut cpu = lane.general()?;
    let mut memory = HostMemory { lane, features, hooks, failure: None };
    // SIMD registers are fetched only if the instruction may use them.
    let fetched = memory.fetch(cpu.pc).ok().filter(|_| memory.failure.is_none());
    let uses_vectors = fetched.is_some_and(|Instruction { word, op }| {
        op.is_some_and(|op| !Features::GENERAL.has(op.feature_of(word)))
    });
    if uses_vectors {
        cpu.v = memory.lane.vectors()?;
    }
    let stop = step(&mut cpu, &mut memory).err();
    let HostMemory { lane, failure, .. } = memory;
    if let Some(failure) = failure {
        return Err(failure);
    }
    lane.set_general(&cpu)?;
    if uses_vectors {
        lane.set_vectors(&cpu.v)?;
    }
    lane.set_stop(stop)?;
    Ok(stop)
}

/// Returns the address and the number of bytes of the first access that the instruction `word` makes, if it makes one.
pub(super) fn first_access(mut cpu: Cpu, word: u32, features: Features) -> Option<(u64, usize)> {
    let mut memory = AccessRecorder { instruction: Instruction::new(word, features), accessed: None };
    // The first access ends the step.
    let _ends = step(&mut cpu, &mut memory);
    memory.accessed
}

/// The memory of a lane, accessed from the host as its guest would.
struct HostMemory<'a> {
    lane: &'a mut dyn LaneAccess,
    features: Features,
    /// The watchpoints, unless the lane passes them.
    hooks: Option<&'a Hooks>,
    /// The first failure of the engine.
    failure: Option<Error>,
}

impl HostMemory<'_> {
    /// Returns the result of an access. After a failure of the engine the stop has no meaning.
    fn checked<T>(&mut self, result: Result<Result<T, Stop>, Error>) -> Result<T, Stop> {
        result.unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            Err(Stop::Budget)
        })
    }

    /// Returns the stop of a watchpoint before an access. A fault comes first.
    fn check_watchpoints(&mut self, address: u64, bytes: u64, access: Access) -> Result<(), Stop> {
        let Some(hooks) = self.hooks else { return Ok(()) };
        let checked = self.lane.check(address, bytes, access);
        self.checked(checked.map(|checked| checked.map_err(Stop::from)))?;
        hooks.stop_before(access, address, bytes).map_or(Ok(()), Err)
    }
}

impl Memory for HostMemory<'_> {
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        if !pc.is_multiple_of(4) {
            return Err(Fault { kind: FaultKind::Alignment, access: Access::Execute, address: pc }.into());
        }
        let checked = self.lane.check(pc, 4, Access::Execute);
        self.checked(checked.map(|checked| checked.map_err(Stop::from)))?;
        let mut word = [0; 4];
        let read = self.lane.read_memory(pc, &mut word, Some(Access::Execute));
        self.checked(read)?;
        Ok(Instruction::new(u32::from_le_bytes(word), self.features))
    }

    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        self.check_watchpoints(address, N as u64, Access::Read)?;
        let mut bytes = [0; N];
        let read = self.lane.read_memory(address, &mut bytes, Some(Access::Read));
        self.checked(read)?;
        Ok(bytes)
    }

    fn write<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Stop> {
        self.check_watchpoints(address, N as u64, Access::Write)?;
        let written = self.lane.write_memory(address, &bytes, Some(Access::Write));
        self.checked(written)
    }

    fn check_write(&mut self, address: u64, bytes: u64) -> Result<(), Stop> {
        let checked = self.lane.check(address, bytes, Access::Write);
        self.checked(checked.map(|checked| checked.map_err(Stop::from)))
    }
}

/// A memory that records the first access of an instruction, and ends it there.
struct AccessRecorder {
    instruction: Instruction,
    accessed: Option<(u64, usize)>,
}

impl AccessRecorder {
    fn record(&mut self, address: u64, bytes: usize) -> Stop {
        self.accessed = Some((address, bytes));
        Stop::Budget
    }
}

impl Memory for AccessRecorder {
    fn fetch(&mut self, _: u64) -> Result<Instruction, Stop> {
        Ok(self.instruction)
    }

    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        Err(self.record(address, N))
    }

    fn write<const N: usize>(&mut self, address: u64, _: [u8; N]) -> Result<(), Stop> {
        Err(self.record(address, N))
    }

    fn check_write(&mut self, address: u64, bytes: u64) -> Result<(), Stop> {
        Err(self.record(address, bytes as usize))
    }
}
