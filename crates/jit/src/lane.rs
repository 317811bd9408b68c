//! The runner of a lane: interprets code that runs rarely, and calls translated code.

use std::sync::Arc;

use kvrm_arm64::{Cpu, Stop};
use kvrm_machine::{AddressSpace, CodeVersion, Error, Executor, Interpreter, Plan, Reference, Runner};

use crate::native::{Call, Table, enter};
use crate::shared::Shared;

/// The number of counters of a lane; a power of two.
const COUNTERS: usize = 512;
/// The number of slots of the table of a lane that has code of its own.
const OWN_SLOTS: usize = 512;
/// The largest number of steps between two looks at the budget of a lane.
const FUEL_MAX: u64 = 1 << 40;

/// The runner of lanes with translated code.
#[derive(Debug)]
pub(crate) struct TranslatedLane {
    /// What all lanes share; `None` if the host is not supported.
    shared: Option<Arc<Shared>>,
    /// How often the lane has reached addresses that are not translated, by their low bits. Each counter is added to that of all
    /// lanes from time to time ([`Shared::visit`]).
    counters: Vec<u16>,
    table: Option<LaneTable>,
}

/// Makes an executor whose lanes share `shared`.
pub(crate) fn executor(shared: Option<Arc<Shared>>, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
    Ok(Box::new(Reference::with_runners(plan, || TranslatedLane::new(shared.clone()))?))
}

/// The table in which a lane finds translated code.
#[derive(Debug)]
enum LaneTable {
    /// That of all lanes with the code of the image.
    OfImage(Arc<Table>),
    /// Its own, for a version of its code.
    Own(CodeVersion, Box<Table>),
}

impl TranslatedLane {
    const fn new(shared: Option<Arc<Shared>>) -> Self {
        Self { shared, counters: Vec::new(), table: None }
    }

    /// Makes `table` the table for the code of the lane.
    fn update_table(table: &mut Option<LaneTable>, shared: &Shared, memory: &AddressSpace) {
        let version = memory.code_version();
        match table {
            Some(LaneTable::OfImage(_)) if version.is_of_image() => {}
            Some(LaneTable::Own(of, _)) if *of == version => {}
            Some(LaneTable::Own(of, own)) if !version.is_of_image() => {
                own.clear();
                *of = version;
            }
            _ if version.is_of_image() => *table = Some(LaneTable::OfImage(shared.table(memory.image()))),
            _ => *table = Some(LaneTable::Own(version, Box::new(Table::new(OWN_SLOTS)))),
        }
    }
}

impl LaneTable {
    fn table(&self) -> &Table {
        match self {
            Self::OfImage(table) => table,
            Self::Own(_, table) => table,
        }
    }
}

/// Counts that a lane has reached an address without code in its table. Returns the code if there is some by now, and asks
/// for it if this lane, or all lanes together, have reached the address often.
fn count(
    counters: &mut [u16],
    shared: &Arc<Shared>,
    table: &Table,
    pc: u64,
    memory: &mut AddressSpace,
) -> Option<u64> {
    let counter = &mut counters[(pc >> 2) as usize % COUNTERS];
    *counter = counter.saturating_add(1);
    let threshold = shared.settings.threshold;
    let is_hot_here = *counter >= threshold;
    if !is_hot_here && !counter.is_power_of_two() {
        return None;
    }
    // The visits since the lane last got here.
    let visits = if is_hot_here { threshold / 16 } else { counter.div_ceil(2) };
    let is_hot = shared.visit(pc, visits) >= u32::from(threshold) || is_hot_here;
    let found = shared.find(pc, memory);
    let entry = if is_hot { found.or_else(|| shared.translate(pc, memory)) } else { found };
    let Some(entry) = entry else {
        // While the region waits for the compiler, the lane asks for it again now and then.
        if is_hot_here {
            *counter = threshold - threshold / 16;
        }
        return None;
    };
    *counter = 0;
    if entry.code == 0 {
        return None;
    }
    table.insert(&entry);
    Some(entry.code)
}

/// Interprets instructions until one of them branches, or until the lane has retired `end` steps.
fn interpret(cpu: &mut Cpu, memory: &mut AddressSpace, end: u64) -> Result<(), Stop> {
    while cpu.steps < end {
        let next = cpu.pc.wrapping_add(4);
        Interpreter::step(cpu, memory)?;
        if cpu.pc != next {
            break;
        }
    }
    Ok(())
}

impl Runner for TranslatedLane {
    const ENGINE: &str = "jit";
    // Translated code takes some of these per nanosecond.
    const LOOK_STEPS: u64 = 1 << 20;
    const OBSERVED_STEPS: u64 = 400_000_000;
    const IS_MEASURED: bool = true;

    fn run(&mut self, cpu: &mut Cpu, memory: &mut AddressSpace, budget: u64) -> Stop {
        let Some(shared) = &self.shared else { return Interpreter.run(cpu, memory, budget) };
        self.counters.resize(COUNTERS, 0);
        let end = cpu.steps.saturating_add(budget);
        while cpu.steps < end {
            Self::update_table(&mut self.table, shared, memory);
            let Some(table) = self.table.as_ref().map(LaneTable::table) else { break };
            let code =
                table.find(cpu.pc).or_else(|| count(&mut self.counters, shared, table, cpu.pc, memory));
            if let Some(code) = code {
                let before = cpu.steps;
                let steps = (end - before).min(FUEL_MAX);
                let call = Call { enter: shared.enter, code, steps };
                if let Some(stop) = enter(call, cpu, memory, table) {
                    return stop;
                }
                if cpu.steps != before {
                    continue;
                }
            }
            if let Err(stop) = interpret(cpu, memory, end) {
                return stop;
            }
        }
        Stop::Budget
    }

    fn another(&self) -> Self {
        Self::new(self.shared.clone())
    }

    fn for_other_code(&self) -> Self {
        Self::new(self.shared.as_ref().and_then(|shared| Shared::open(shared.settings)))
    }
}

#[cfg(test)]
mod tests {
    use kvrm_machine::{Features, Image, Permissions, Segment};

    use super::*;
    use crate::shared::Settings;

    #[test]
    fn code_that_many_lanes_reach_a_few_times_is_translated() {
        let settings = Settings { threshold: 100, waits: true, size: 8, slots: 64, bytes_max: 1 << 20 };
        let shared = Shared::open(settings).expect("the host is supported");
        let code = [0x9100_0400_u32, 0x17ff_ffff]; // add x0, x0, #1; b .-4
        let data = code.iter().flat_map(|word| word.to_le_bytes()).collect();
        let text = Segment { address: 0x1000, bytes: 4096, data, permissions: Permissions::RX };
        let image = Image::new(&[text], Features::ARMV8_0).expect("the segment fits");
        let mut memory = AddressSpace::new(Arc::new(image), 1);
        let table = Table::new(64);
        // Ten lanes visit the address up to twenty times. At which visit does each of them get code?
        let visits = [(); 10].map(|()| {
            let mut counters = vec![0; COUNTERS];
            let mut visit = || count(&mut counters, &shared, &table, 0x1000, &mut memory);
            (1..=20).find(|_| visit().is_some())
        });
        // A lane adds its visits to those of all lanes at its visits 1, 2, 4, 8 and 16, so six lanes have added 96.
        let expected = [None, None, None, None, None, None, Some(4), Some(1), Some(1), Some(1)];
        assert_eq!(visits, expected);
    }
}
