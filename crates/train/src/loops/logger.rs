//! A runner that records the loops of a lane.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use kvrm_arm64::{Class, Cpu, Op, Stop, decode};
use kvrm_machine::{AddressSpace, Error, Executor, Factory, Interpreter, Plan, Reference, Runner};
use kvrm_models::inputs::{BODY_WORDS_MAX, REGISTERS};

use super::record::{Entry, LoopRecord};
use kvrm_learn::Random;

/// The greatest distance in bytes from a branch back to its target.
const DISTANCE_MAX: u64 = 4 * (BODY_WORDS_MAX as u64 - 1);
/// The number of entries that a record has.
const ENTRIES: usize = 10;
/// The number of loops that a lane may be in at a time. The outermost ones are forgotten.
const DEPTH_MAX: usize = 256;
/// The number of bits of the filter of addresses.
const FILTER_BITS: u32 = 16;

/// The loops that a run has executed so far. All clones are the same log.
#[derive(Clone, Debug, Default)]
pub struct LoopLog(Arc<Mutex<Log>>);

impl LoopLog {
    /// Ends all entries that are not left yet, as cut, and returns the records in the order of their discovery.
    #[must_use]
    pub fn finish(self, program: &str, level: &str) -> Vec<LoopRecord> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(active) = log.active.pop() {
            log.end(&active, true);
        }
        let loops = std::mem::take(&mut log.loops).into_iter().map(|found| LoopRecord {
            program: program.to_owned(),
            level: level.to_owned(),
            head: found.head,
            words: found.words,
            entries: found.entries.into_iter().map(|(_, entry)| entry).collect(),
            entry_count: found.entry_count,
            iteration_count: found.iteration_count,
        });
        loops.filter(|record| !record.entries.is_empty()).collect()
    }
}

/// An engine that steps one lane and writes its loops to a log.
///
/// ```
/// use kvrm_machine::{Machine, Program};
/// use kvrm_train::loops::{LogEngine, LoopLog};
///
/// // mov x0, #5; subs x0, x0, #1; b.ne to it; hlt #0
/// let program = Program::from_code(0x1000, &[0xd280_00a0, 0xf100_0400, 0x54ff_ffe1, 0xd440_0000])?;
/// let log = LoopLog::default();
/// Machine::builder(program).engine(LogEngine(log.clone())).build()?.run(100)?;
/// let records = log.finish("countdown", "none");
/// assert_eq!((records[0].head, records[0].words.len()), (0x1004, 2));
/// // The loop is known from its first branch back on, so this entry begins with the second iteration.
/// assert_eq!((records[0].entries[0].registers[0], records[0].entries[0].iterations), (4, 4));
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogEngine(pub LoopLog);

impl Factory for LogEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        Ok(Box::new(Reference::with_runners(plan, || Logger(self.0.clone()))?))
    }
}

#[derive(Debug)]
struct Logger(LoopLog);

impl Runner for Logger {
    const ENGINE: &str = "reference";

    fn run(&mut self, cpu: &mut Cpu, memory: &mut AddressSpace, budget: u64) -> Stop {
        let mut log = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..budget {
            let from = cpu.pc;
            if let Err(stop) = Interpreter::step(cpu, memory) {
                return stop;
            }
            log.observe(from, cpu, memory);
        }
        Stop::Budget
    }

    fn another(&self) -> Self {
        Self(self.0.clone())
    }

    fn for_other_code(&self) -> Self {
        self.another()
    }
}

/// A loop that has been found.
#[derive(Debug)]
struct Found {
    head: u64,
    /// The address of the branch back.
    end: u64,
    words: Vec<u32>,
    /// The chosen entries, each with its number among all entries.
    entries: Vec<(u64, Entry)>,
    entry_count: u64,
    iteration_count: u64,
    /// The number of iterations of the last entry that has ended.
    last: u64,
}

/// A loop that the lane is in.
#[derive(Debug)]
struct Active {
    number: usize,
    head: u64,
    end: u64,
    registers: [u64; REGISTERS],
    iterations: u64,
    /// The address and the stack pointer after the return, while a call lasts.
    call: Option<(u64, u64)>,
}

#[derive(Debug)]
struct Log {
    loops: Vec<Found>,
    /// The numbers of loops by the addresses of their branches back; `None` if that is not a backward branch.
    by_end: HashMap<(u64, u64), Option<usize>>,
    by_head: HashMap<u64, Vec<usize>>,
    /// Bits of addresses that may be those of first instructions.
    filter: Box<[u64]>,
    /// From the outermost to the innermost loop.
    active: Vec<Active>,
    random: Random,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            loops: Vec::new(),
            by_end: HashMap::new(),
            by_head: HashMap::new(),
            filter: vec![0; 1 << (FILTER_BITS - 6)].into(),
            active: Vec::new(),
            random: Random::new(1),
        }
    }
}

impl Log {
    /// Takes note of a step from `from` to where the lane is now.
    fn observe(&mut self, from: u64, cpu: &Cpu, memory: &AddressSpace) {
        let to = cpu.pc;
        self.leave(from, to, cpu);
        let distance = from.wrapping_sub(to);
        if distance <= DISTANCE_MAX
            && let Some(number) = self.branch_back(from, to, memory)
        {
            let known = self.active.iter_mut().rev().take_while(|active| active.call.is_none());
            match known.into_iter().find(|active| active.number == number) {
                Some(active) => active.iterations += 1,
                None => self.enter(number, cpu),
            }
        }
        let (word, bit) = filter_bit(to);
        if self.filter[word] & bit != 0
            && let Some(numbers) = self.by_head.get(&to)
        {
            for number in numbers.clone() {
                let is_active = |active: &Active| active.number == number;
                let inner = self.active.iter().rev().take_while(|active| active.call.is_none());
                if !inner.into_iter().any(is_active) {
                    self.enter(number, cpu);
                }
            }
        }
    }

    /// Ends the loops that a step leaves, and notes calls and returns.
    fn leave(&mut self, from: u64, to: u64, cpu: &Cpu) {
        while let Some(active) = self.active.last_mut() {
            if let Some(after) = active.call {
                if after == (to, cpu.sp) {
                    active.call = None;
                }
                return;
            }
            if (active.head..=active.end).contains(&to) {
                return;
            }
            let behind = from.wrapping_add(4);
            if to != behind && cpu.x(30) == behind && (active.head..=active.end).contains(&from) {
                active.call = Some((behind, cpu.sp));
                return;
            }
            if let Some(active) = self.active.pop() {
                self.end(&active, false);
            }
        }
    }

    fn enter(&mut self, number: usize, cpu: &Cpu) {
        if self.active.len() >= DEPTH_MAX {
            let oldest = self.active.remove(0);
            self.end(&oldest, true);
        }
        let (head, end) = (self.loops[number].head, self.loops[number].end);
        let registers = std::array::from_fn(|n| if n == 31 { cpu.sp } else { cpu.x(n as u32) });
        self.active.push(Active { number, head, end, registers, iterations: 1, call: None });
    }

    /// Records an entry. Each entry has the same chance to be among those that stay.
    fn end(&mut self, active: &Active, is_cut: bool) {
        let found = &mut self.loops[active.number];
        let number = found.entry_count;
        found.entry_count += 1;
        found.iteration_count += active.iterations;
        let entry = Entry {
            registers: active.registers,
            iterations: active.iterations,
            is_cut,
            previous: found.last,
        };
        found.last = active.iterations;
        if found.entries.len() < ENTRIES {
            found.entries.push((number, entry));
        } else if self.random.below((number + 1).min(1 << 31) as usize) < ENTRIES {
            found.entries.remove(self.random.below(ENTRIES));
            found.entries.push((number, entry));
        }
    }

    /// Returns the number of the loop with a branch back from `from` to `to`, if that is one.
    fn branch_back(&mut self, from: u64, to: u64, memory: &AddressSpace) -> Option<usize> {
        if let Some(known) = self.by_end.get(&(from, to)) {
            return *known;
        }
        let number = self.find(from, to, memory);
        self.by_end.insert((from, to), number);
        number
    }

    fn find(&mut self, from: u64, to: u64, memory: &AddressSpace) -> Option<usize> {
        let mut bytes = vec![0; (from - to) as usize + 4];
        memory.read_bytes(to, &mut bytes, None).ok()?;
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)))
            .collect();
        // Only direct branches that are not calls.
        let op = decode(*words.last()?)?;
        let is_direct = op.class() == Class::Branch
            && !matches!(
                op,
                Op::BL_only_branch_imm
                    | Op::BLR_64_branch_reg
                    | Op::BR_64_branch_reg
                    | Op::RET_64R_branch_reg
            );
        if !is_direct {
            return None;
        }
        let number = self.loops.len();
        self.loops.push(Found {
            head: to,
            end: from,
            words,
            entries: Vec::new(),
            entry_count: 0,
            iteration_count: 0,
            last: 0,
        });
        let (word, bit) = filter_bit(to);
        self.filter[word] |= bit;
        let numbers = self.by_head.entry(to).or_default();
        numbers.push(number);
        // Outer loops are entered first.
        numbers.sort_by_key(|number| std::cmp::Reverse(self.loops[*number].end));
        Some(number)
    }
}

/// Returns the place of an address in the filter.
const fn filter_bit(address: u64) -> (usize, u64) {
    let hash = (address >> 2) & ((1 << FILTER_BITS) - 1);
    ((hash >> 6) as usize, 1 << (hash & 63))
}
