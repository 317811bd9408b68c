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
    /// How often the lane has reached addresses that are not translated, by their low bits.
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

/// Counts that a lane has reached an address without code in its table. Returns code that others have translated, or
/// asks for it if the lane comes often.
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
    let is_hot = *counter >= threshold;
    if !is_hot && !counter.is_power_of_two() {
        return None;
    }
    let found = shared.find(pc, memory);
    let entry = if is_hot { found.or_else(|| shared.translate(pc, memory)) } else { found };
    let Some(entry) = entry else {
        // While the region waits for the compiler, the lane asks for it again now and then.
        if is_hot {
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
