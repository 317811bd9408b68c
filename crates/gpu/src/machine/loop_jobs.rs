//! Iterations of a loop as a job of the device.

use kvrm_arm64::micro_op::SP;
use kvrm_loops::{Fold, Loop, Operation, Plan, Slot, Stream, Tape};
use kvrm_machine::PAGE_BYTES;
use kvrm_shaders::layout::{
    COLUMN_SP, FOLD_AND, FOLD_EOR, FOLD_GREATEST, FOLD_LEAST, FOLD_ORR, FOLD_SUM, TAPE_COMPARE, TAPE_COMPUTE,
    TAPE_FOLD, TAPE_FOLDS, TAPE_LEAVE_IF, TAPE_LEAVE_IF_ZERO, TAPE_LOAD, TAPE_LOGIC, TAPE_PROGRESSION,
    TAPE_SELECT, TAPE_SLOTS, TAPE_STORE, TAPE_SUM, TAPE_WORD,
};

/// The least distance in bytes of the stores of a chunk from those of the next chunk but one: a word, and some.
const CHUNK_BYTES: u128 = 16;
/// The largest number of iterations of a chunk.
const CHUNK_MAX: u128 = 1 << 10;

/// The largest number of pages that are checked instead of iterations.
const PAGES_MAX: u64 = 1 << 16;

/// Four words of a job.
pub(crate) type Cell = [u32; 4];

/// Iterations of a loop in a lane, for the device.
#[derive(Clone, Debug)]
pub(crate) struct LoopJob {
    pub(crate) lane: u32,
    /// The address of the first instruction, and the instructions.
    pub(crate) head: u64,
    pub(crate) words: Vec<u32>,
    /// The most iterations, including the one that is stepped.
    pub(crate) most: u64,
    /// The number of steps of an iteration.
    pub(crate) steps: u64,
    /// Whether more iterations are certain to follow than the job has.
    pub(crate) is_clipped: bool,
    /// The number of iterations that one invocation executes, because their stores share words.
    pub(crate) chunk: u32,
    /// Whether iterations access memory, combine values, or may leave the loop.
    pub(crate) evaluates: bool,
    /// The number of iterations that are evaluated to find out which are valid.
    pub(crate) probed: u32,
    /// The ranges of addresses from which iterations load, if all iterations are valid when these pages can be accessed. Otherwise
    /// iterations are evaluated to find out.
    pub(crate) loads: Option<Vec<Cell>>,
    pub(crate) stores: Vec<Cell>,
    pub(crate) registers: Vec<Cell>,
    pub(crate) folds: Vec<Cell>,
    pub(crate) operations: Vec<Cell>,
}

impl LoopJob {
    /// Creates the job of a plan, of at most `evaluated_max` iterations if they have to be evaluated. Returns `None` if the device
    /// cannot execute it.
    pub(crate) fn new(
        lane: u32,
        (head, words): (u64, &[u32]),
        found: &Loop,
        plan: &Plan,
        evaluated_max: u64,
    ) -> Option<Self> {
        // The kernels have no operation for the accesses of an inner loop.
        if plan.streams.iter().flatten().any(Stream::is_row) {
            return None;
        }
        let tape = plan.tape(found);
        if tape.slots > TAPE_SLOTS || tape.folds.len() > TAPE_FOLDS as usize {
            return None;
        }
        let evaluates = !tape.operations.is_empty();
        let is_steady = is_steady(&tape);
        let most = match (evaluates, is_steady) {
            (false, _) => plan.most,
            (true, false) => plan.most.min(evaluated_max),
            (true, true) => plan.most.min(u32::MAX.into()),
        };
        let streams: Vec<&Stream> = plan.stores().collect();
        let stores: Vec<_> = streams.iter().map(|stream| stream.range(most)).collect();
        let loads = tape.loads_within(most, &stores).filter(|loads| pages(loads) <= PAGES_MAX);
        Some(Self {
            lane,
            head,
            words: words.to_vec(),
            most,
            steps: plan.length,
            is_clipped: most < plan.most,
            chunk: chunk(&streams, most)?,
            evaluates,
            probed: if is_steady { 1 } else { most as u32 },
            loads: loads.map(|loads| loads.into_iter().map(range).collect()),
            stores: streams.iter().flat_map(|stream| store(stream, most)).collect(),
            registers: tape.steps.iter().copied().map(moving).collect(),
            folds: tape.folds.iter().map(|(register, of)| fold(*register, *of)).collect(),
            operations: operations(&tape),
        })
    }
}

/// Returns the column of a register of micro-ops.
pub(super) const fn column(register: u32) -> u32 {
    if register == SP { COLUMN_SP } else { register }
}

/// Returns the cells of instructions, four in each.
pub(crate) fn instructions(words: &[u32]) -> impl Iterator<Item = Cell> {
    words.chunks(4).map(|words| std::array::from_fn(|place| words.get(place).copied().unwrap_or(0)))
}

/// Returns the cell of a register that changes by a step in each iteration: its number, the step, and whether it has 64 bits.
pub(super) const fn moving((register, step, wide): (u32, u64, bool)) -> Cell {
    let [low, high] = halves(step);
    [column(register), wide as u32, low, high]
}

/// Returns the low and the high word of a number.
pub(super) const fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Returns the number of iterations that one invocation executes, so that no two invocations that run at the same time change the
/// same word. Returns `None` if stores of iterations that are far from each other may share a word.
fn chunk(streams: &[&Stream], most: u64) -> Option<u32> {
    let mut chunk = 1;
    for (number, one) in streams.iter().enumerate() {
        let step = u128::from(one.step.unsigned_abs());
        chunk = chunk.max(CHUNK_BYTES.div_ceil(step.max(1)));
        for other in &streams[..number] {
            let words = |stream: &Stream| {
                let (begin, end) = stream.range(most);
                (begin & !7, (end + 7) & !7)
            };
            let (a, b) = (words(one), words(other));
            if a.1 <= b.0 || b.1 <= a.0 {
                continue;
            }
            if one.step != other.step {
                return None;
            }
            let distance = u128::from(one.address.abs_diff(other.address));
            chunk = chunk.max((distance + CHUNK_BYTES).div_ceil(step.max(1)));
        }
    }
    (chunk <= CHUNK_MAX).then_some(chunk as u32)
}

/// Returns the cells of a store.
fn store(stream: &Stream, most: u64) -> [Cell; 2] {
    let (begin, end) = stream.range(most);
    let [low, high] = halves(stream.step as u64);
    [range((begin as u64, end as u64)), [low, high, stream.bytes as u32, 0]]
}

/// Returns the cell of a range of addresses.
const fn range((begin, end): (u64, u64)) -> Cell {
    let ([a, b], [c, d]) = (halves(begin), halves(end));
    [a, b, c, d]
}

/// Returns the number of pages of ranges of addresses.
fn pages(ranges: &[(u64, u64)]) -> u64 {
    ranges.iter().map(|(begin, end)| (end - begin) / PAGE_BYTES as u64 + 2).sum()
}

/// Returns whether all iterations are the same.
fn is_steady(tape: &Tape) -> bool {
    tape.operations.iter().all(|operation| match operation {
        Operation::Progression { step, .. } => *step == 0,
        Operation::Store { .. } | Operation::Fold { .. } => false,
        _ => true,
    })
}

/// Returns the cell of a fold.
const fn fold(register: u32, fold: Fold) -> Cell {
    let (kind, is_signed, wide) = match fold {
        Fold::Sum => (FOLD_SUM, false, true),
        Fold::SumOfWords => (FOLD_SUM, false, false),
        Fold::And { wide } => (FOLD_AND, false, wide),
        Fold::Orr { wide } => (FOLD_ORR, false, wide),
        Fold::Eor { wide } => (FOLD_EOR, false, wide),
        Fold::Extreme { is_greatest: true, is_signed, wide } => (FOLD_GREATEST, is_signed, wide),
        Fold::Extreme { is_greatest: false, is_signed, wide } => (FOLD_LEAST, is_signed, wide),
    };
    [column(register), kind, is_signed as u32, wide as u32]
}

/// Returns the cells of the operations of an iteration.
fn operations(tape: &Tape) -> Vec<Cell> {
    let first =
        |operation: u32, slots: [Slot; 3]| operation | slots[0] << 8 | slots[1] << 16 | slots[2] << 24;
    let mut cells = Vec::new();
    for operation in &tape.operations {
        match operation {
            Operation::Progression { to, start, step } => {
                let ([a, b], [c, d]) = (halves(*start), halves(*step));
                cells.extend([[first(TAPE_PROGRESSION, [*to, 0, 0]), 0, 0, 0], [a, b, c, d]]);
            }
            Operation::Sum { to, constant, parts } => {
                let [low, high] = halves(*constant);
                cells.push([first(TAPE_SUM, [*to, 0, 0]), parts.len() as u32, low, high]);
                cells.extend(parts.iter().map(|(slot, factor)| {
                    let [low, high] = halves(*factor);
                    [*slot, 0, low, high]
                }));
            }
            Operation::Word { to, of, is_signed } => {
                cells.push([first(TAPE_WORD, [*to, *of, 0]), u32::from(*is_signed), 0, 0]);
            }
            Operation::Load { to, address, size, extend, is_pair, may_meet_stores } => {
                let kind = size.trailing_zeros()
                    | extend << 8
                    | u32::from(*is_pair) << 16
                    | u32::from(*may_meet_stores) << 24;
                cells.push([first(TAPE_LOAD, [to[0], to[1], *address]), kind, 0, 0]);
            }
            Operation::Compare { to, operands: [x, y], adds, wide } => {
                cells.push([first(TAPE_COMPARE, [*to, *x, *y]), u32::from(*wide), u32::from(*adds), 0]);
            }
            Operation::Logic { to, of, wide } => {
                cells.push([first(TAPE_LOGIC, [*to, *of, 0]), u32::from(*wide), 0, 0]);
            }
            Operation::Select { to, cond, flags, values: [yes, no] } => {
                cells.push([first(TAPE_SELECT, [*to, *yes, *no]), *cond, *flags, 0]);
            }
            Operation::Compute { to, op, operands: [a, b, c] } => {
                cells.extend([[first(TAPE_COMPUTE, [*to, *a, *b]), *c, 0, 0], op.words()]);
            }
            Operation::LeaveIf { cond, flags } => {
                cells.push([first(TAPE_LEAVE_IF, [0, *flags, 0]), *cond, 0, 0]);
            }
            Operation::LeaveIfZero { of, inverted } => {
                cells.push([first(TAPE_LEAVE_IF_ZERO, [0, *of, 0]), u32::from(*inverted), 0, 0]);
            }
            Operation::Store { address, values: [low, high], size, is_pair } => {
                let kind = size.trailing_zeros() | u32::from(*is_pair) << 16;
                cells.push([first(TAPE_STORE, [*address, *low, *high]), kind, 0, 0]);
            }
            Operation::Fold { number, of } => {
                cells.push([first(TAPE_FOLD, [0, *of, 0]), *number as u32, 0, 0]);
            }
        }
    }
    cells
}
