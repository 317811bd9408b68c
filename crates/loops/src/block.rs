//! The values of some iterations that follow each other.
//!
//! An atom that is not a progression has a column, with its value in each of these iterations. Columns are computed one after
//! the other, so the loops over iterations are simple.

use alloc::vec::Vec;
use core::ops::Range;

use kvrm_arm64::micro_op::{Handler, MicroOp};
use kvrm_arm64::semantics::flags::condition_holds;

use crate::atom::{Atom, Loaded};
use crate::body::Body;
use crate::flags::{Condition, Flags};
use crate::memory::{Memory, read};
use crate::motion::{Fold, Loop};
use crate::plan::{Folded, Kind, Needle, Plan, Search, Source, Stream};
use crate::result::result;
use crate::term::{AtomId, Term};

/// The largest distance between the addresses of two iterations for which the bytes between them are read, too.
const NEAR: u64 = 64;
/// The largest number of bytes between the addresses of a block that are read together.
const TABLE_MAX: u128 = 1 << 14;

/// Iterations that are evaluated together.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    body: &'a Body,
    plan: &'a Plan,
    /// The number of the first iteration.
    first: u64,
    /// The number of iterations.
    count: usize,
    /// The columns of [`Plan::needed`], which has the same order.
    columns: Vec<Vec<u64>>,
    /// The addresses from the lowest to the one behind the highest that each store of the plan writes.
    stored: Vec<(i128, i128)>,
    /// Space for bytes and for operands.
    bytes: [Vec<u8>; 2],
    operands: [Vec<u64>; 3],
}

impl<'a> Block<'a> {
    pub(crate) fn new(of: &'a Loop, plan: &'a Plan) -> Self {
        Self {
            body: of.body(),
            plan,
            first: 0,
            count: 0,
            columns: plan.needed.iter().map(|_| Vec::new()).collect(),
            stored: plan.stores().map(|store| store.range(plan.most)).collect(),
            bytes: Default::default(),
            operands: Default::default(),
        }
    }

    /// Returns the number of the first iteration.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// Evaluates `count` iterations from `first` on. Returns how many of them, from the first one on, stay in the loop and have no
    /// fault.
    pub(crate) fn evaluate(&mut self, first: u64, count: u64, memory: &impl Memory) -> u64 {
        (self.first, self.count) = (first, count as usize);
        for search in &self.plan.searches {
            self.count = self.search(search, memory);
        }
        for place in 0..self.plan.needed.len() {
            let (id, kind) = self.plan.needed[place];
            if kind == Kind::Column && self.count > 0 {
                let mut column = core::mem::take(&mut self.columns[place]);
                column.resize(self.count, 0);
                self.compute(id, &mut column, memory);
                self.columns[place] = column;
            }
        }
        for condition in &self.plan.tests {
            self.count = self.test(condition);
        }
        self.count as u64
    }

    /// Computes the column of an atom. Fewer iterations are valid if one loads what it must not.
    fn compute(&mut self, id: AtomId, column: &mut [u64], memory: &impl Memory) {
        let mut operands = core::mem::take(&mut self.operands);
        let body = self.body;
        match body.atoms.atom(id) {
            Atom::Loaded(loaded) => match &self.plan.streams[loaded.access] {
                Some(stream) => self.load(stream, *loaded, column, memory),
                None => {
                    self.term(&body.accesses[loaded.access].address, &mut operands[0]);
                    self.count = self.gather(*loaded, &operands[0], column, memory);
                }
            },
            Atom::Low(inner) => {
                self.term(inner, &mut operands[0]);
                each(column, &operands[0], |value| value & u64::from(u32::MAX));
            }
            Atom::Signed(inner) => {
                self.term(inner, &mut operands[0]);
                each(column, &operands[0], |value| i64::from(value as i32) as u64);
            }
            Atom::Result(op, terms) => {
                for (term, operand) in terms.iter().zip(&mut operands) {
                    self.term(term, operand);
                }
                compute_result(*op, terms.len(), &operands, column);
            }
            Atom::Select { cond, flags, yes, no, .. } => {
                self.term(yes, &mut operands[2]);
                self.holds(*cond, flags, &mut operands, column);
                // The comparison does not need the first operands any more.
                self.term(no, &mut operands[0]);
                let values = operands[2].iter().zip(&operands[0]);
                for (holds, (yes, no)) in column.iter_mut().zip(values) {
                    *holds = if *holds != 0 { *yes } else { *no };
                }
            }
            // The plan has no columns for these.
            Atom::Entry(_) | Atom::Unknown(_) | Atom::Trips => {}
        }
        self.operands = operands;
    }

    /// Computes the values of a term.
    fn term(&self, term: &Term, values: &mut Vec<u64>) {
        self.term_of(term, 0..self.count, values);
    }

    /// Computes the values of a term in some iterations of the block.
    fn term_of(&self, term: &Term, iterations: Range<usize>, values: &mut Vec<u64>) {
        values.clear();
        let (mut start, mut step) = (term.addend(), 0_u64);
        let mut columns = 0;
        for (id, factor) in term.parts() {
            match self.plan.needed[self.place(*id)].1 {
                Kind::Progression(first, by) => {
                    start = start.wrapping_add(first.wrapping_mul(*factor));
                    step = step.wrapping_add(by.wrapping_mul(*factor));
                }
                Kind::Column => columns += 1,
            }
        }
        let parts = || {
            term.parts().iter().filter_map(|(id, factor)| {
                let place = self.place(*id);
                let is_column = self.plan.needed[place].1 == Kind::Column;
                is_column.then(|| (&self.columns[place][iterations.clone()], *factor))
            })
        };
        start = start.wrapping_add(step.wrapping_mul(self.first + iterations.start as u64));
        if columns == 0 {
            values.extend((0..iterations.len() as u64).map(|n| start.wrapping_add(step.wrapping_mul(n))));
            return;
        }
        for (number, (column, factor)) in parts().enumerate() {
            match (number, factor, start, step) {
                (0, 1, 0, 0) => values.extend_from_slice(column),
                (0, _, _, 0) => {
                    values.extend(column.iter().map(|value| value.wrapping_mul(factor).wrapping_add(start)));
                }
                (0, ..) => values.extend(column.iter().zip(0..).map(|(value, n): (&u64, u64)| {
                    value.wrapping_mul(factor).wrapping_add(start.wrapping_add(step.wrapping_mul(n)))
                })),
                _ => values
                    .iter_mut()
                    .zip(column)
                    .for_each(|(sum, value)| *sum = sum.wrapping_add(value.wrapping_mul(factor))),
            }
        }
    }

    /// Returns the value of a term in an iteration of the block.
    fn scalar(&self, term: &Term, iteration: usize) -> u64 {
        term.parts().iter().fold(term.addend(), |sum, (id, factor)| {
            let place = self.place(*id);
            let value = match self.plan.needed[place].1 {
                Kind::Progression(first, by) => {
                    first.wrapping_add(by.wrapping_mul(self.first + iteration as u64))
                }
                Kind::Column => self.columns[place][iteration],
            };
            sum.wrapping_add(value.wrapping_mul(*factor))
        })
    }

    /// Returns the place of an atom among those that are needed.
    fn place(&self, id: AtomId) -> usize {
        let found = self.plan.needed.binary_search_by_key(&id, |(needed, _)| *needed);
        found.unwrap_or_else(|_| unreachable!("the plan needs the atom"))
    }

    /// Loads a column from a stream.
    fn load(&mut self, stream: &Stream, loaded: Loaded, column: &mut [u64], memory: &impl Memory) {
        let size = loaded.size as usize;
        let offset = u64::from(loaded.is_second) * loaded.size;
        let distance = stream.step.unsigned_abs();
        if distance > NEAR {
            let mut one = [0; 8];
            for (value, iteration) in column.iter_mut().zip(self.first..) {
                read(memory, stream.at(iteration).wrapping_add(offset), &mut one[..size]);
                *value = loaded.extended(u64::from_le_bytes(one));
            }
            return;
        }
        if stream.step == size as i64 {
            load_in_order(memory, stream.at(self.first).wrapping_add(offset), size, column);
            if loaded.extend != 0 {
                column.iter_mut().for_each(|value| *value = loaded.extended(*value));
            }
            return;
        }
        let last = column.len() as u64 - 1;
        let lowest = self.first + if stream.step < 0 { last } else { 0 };
        let bytes = &mut self.bytes[0];
        bytes.resize((distance * last) as usize + size, 0);
        read(memory, stream.at(lowest).wrapping_add(offset), bytes);
        for (number, value) in column.iter_mut().enumerate() {
            let number = if stream.step < 0 { last as usize - number } else { number };
            *value = loaded.extended(number_of(&bytes[number * distance as usize..][..size]));
        }
    }

    /// Loads a column from any addresses. Returns the number of iterations before the first one that must not load there, or that
    /// loads what another iteration may store.
    fn gather(
        &mut self,
        loaded: Loaded,
        addresses: &[u64],
        column: &mut [u64],
        memory: &impl Memory,
    ) -> usize {
        // A pair is loaded as a whole.
        let bytes = self.body.accesses[loaded.access].bytes();
        let offset = u64::from(loaded.is_second) * loaded.size;
        let (first, last) = addresses.iter().fold((u64::MAX, 0), |(x, y), of| (x.min(*of), y.max(*of)));
        let end = u128::from(last) + u128::from(bytes);
        let span = end - u128::from(first);
        let table = &mut self.bytes[0];
        if span <= TABLE_MAX && end <= 1 << 64 && !is_stored(&self.stored, first.into(), end as i128) {
            // All addresses are near each other, as in a table.
            table.resize(span as usize, 0);
            if read(memory, first, table) {
                let base = first.wrapping_sub(offset);
                match loaded.size {
                    1 => gather_from::<1>(table, base, addresses, column),
                    2 => gather_from::<2>(table, base, addresses, column),
                    4 => gather_from::<4>(table, base, addresses, column),
                    _ => gather_from::<8>(table, base, addresses, column),
                }
                if loaded.extend != 0 {
                    column.iter_mut().for_each(|value| *value = loaded.extended(*value));
                }
                return self.count;
            }
        }
        for (iteration, (value, address)) in column.iter_mut().zip(addresses).enumerate() {
            let end = i128::from(*address) + i128::from(bytes);
            let mut all = [0; 16];
            let is_valid = end <= 1 << 64
                && !is_stored(&self.stored, (*address).into(), end)
                && read(memory, *address, &mut all[..bytes as usize]);
            if !is_valid {
                return iteration;
            }
            *value = loaded.extended(number_of(&all[offset as usize..][..loaded.size as usize]));
        }
        self.count
    }

    /// Returns the number of iterations before the first one that a search stops.
    fn search(&mut self, search: &Search, memory: &impl Memory) -> usize {
        match search.size {
            1 => self.search_for::<1>(search, memory),
            2 => self.search_for::<2>(search, memory),
            4 => self.search_for::<4>(search, memory),
            _ => self.search_for::<8>(search, memory),
        }
    }

    fn search_for<const N: usize>(&mut self, search: &Search, memory: &impl Memory) -> usize {
        let [one, other] = &mut self.bytes;
        let (streams, first, count) = (&self.plan.streams, self.first, self.count);
        let read_load = |load: usize, bytes: &mut Vec<u8>| {
            bytes.resize(count * N, 0);
            if let Some(stream) = &streams[load] {
                read(memory, stream.at(first), bytes);
            }
        };
        read_load(search.load, one);
        let (one, stops) = (one.as_chunks::<N>().0, search.stops_if_equal);
        match search.with {
            Needle::Number(number) => find(one, low_bytes::<N>(number), stops),
            Needle::Load(load) => {
                read_load(load, other);
                differ(one, other.as_chunks::<N>().0, stops)
            }
        }
    }

    /// Returns the number of iterations before the first one in which a condition holds.
    fn test(&mut self, condition: &Condition) -> usize {
        let mut operands = core::mem::take(&mut self.operands);
        let mut column = core::mem::take(&mut operands[2]);
        column.clear();
        column.resize(self.count, 0);
        match condition {
            Condition::Flags { cond, flags } => self.holds(*cond, flags, &mut operands, &mut column),
            Condition::Zero { value, inverted } => {
                self.term(value, &mut operands[0]);
                each(&mut column, &operands[0], |value| u64::from((value == 0) != *inverted));
            }
            Condition::Never => {}
        }
        let first = column.iter().position(|holds| *holds != 0).unwrap_or(self.count);
        operands[2] = column;
        self.operands = operands;
        first
    }

    /// Computes whether a condition on flags holds, 1 or 0. Uses the first two operands.
    fn holds(&self, cond: u32, flags: &Flags, operands: &mut [Vec<u64>; 3], column: &mut [u64]) {
        let simple = match flags {
            Flags::Difference { x, y, wide } => order(cond).map(|order| (x, y, *wide, order)),
            _ => None,
        };
        let Some((x, y, wide, (order, is_signed))) = simple else {
            for (iteration, holds) in column.iter_mut().enumerate() {
                let nzcv = flags.nzcv(&mut |term| self.scalar(term, iteration));
                *holds = condition_holds(cond, nzcv).into();
            }
            return;
        };
        let [first, second, _] = operands;
        self.term(x, first);
        self.term(y, second);
        // Signed numbers, and words, as doublewords of the same order.
        let (shift, bias) = (if wide { 0 } else { 32 }, u64::from(is_signed) << 63);
        let pairs = first.iter().zip(second.iter()).map(|(x, y)| (x << shift ^ bias, y << shift ^ bias));
        let column = column.iter_mut().zip(pairs);
        match order {
            Order::Equal => column.for_each(|(holds, (x, y))| *holds = (x == y).into()),
            Order::NotEqual => column.for_each(|(holds, (x, y))| *holds = (x != y).into()),
            Order::Less => column.for_each(|(holds, (x, y))| *holds = (x < y).into()),
            Order::NotLess => column.for_each(|(holds, (x, y))| *holds = (x >= y).into()),
            Order::Greater => column.for_each(|(holds, (x, y))| *holds = (x > y).into()),
            Order::NotGreater => column.for_each(|(holds, (x, y))| *holds = (x <= y).into()),
        }
    }

    /// Combines a register with values of the first `count` iterations.
    pub(crate) fn fold(
        &mut self,
        (register, fold, values): (u64, Fold, &Folded),
        count: u64,
        memory: &impl Memory,
    ) -> u64 {
        let value = match values {
            Folded::InOrder(loaded) => {
                let Some(stream) = &self.plan.streams[loaded.access] else { return register };
                let (address, count) = (stream.at(self.first), count as usize);
                return match loaded.size {
                    1 => fold_in_order::<1>(memory, (address, count), *loaded, fold, register),
                    2 => fold_in_order::<2>(memory, (address, count), *loaded, fold, register),
                    4 => fold_in_order::<4>(memory, (address, count), *loaded, fold, register),
                    _ => fold_in_order::<8>(memory, (address, count), *loaded, fold, register),
                };
            }
            Folded::Term(value) => value,
        };
        let mut operand = core::mem::take(&mut self.operands[0]);
        let iterations = 0..count as usize;
        let combined = match self.column_of(value) {
            Some(column) => fold.combine_all(register, column[iterations].iter().copied()),
            None => {
                self.term_of(value, iterations, &mut operand);
                fold.combine_all(register, operand.iter().copied())
            }
        };
        self.operands[0] = operand;
        combined
    }

    /// Returns the column that a term is, if it is one.
    fn column_of(&self, term: &Term) -> Option<&[u64]> {
        let ([(id, 1)], 0) = (term.parts(), term.addend()) else { return None };
        let place = self.place(*id);
        (self.plan.needed[place].1 == Kind::Column).then_some(&self.columns[place])
    }

    /// Computes the values of a source in some iterations. Only the bytes that are stored need to be right.
    pub(crate) fn values(
        &mut self,
        source: &Source,
        iterations: Range<usize>,
        memory: &impl Memory,
        values: &mut Vec<u64>,
    ) {
        match source {
            Source::Progression(of) => {
                values.clear();
                let numbers = self.first + iterations.start as u64..self.first + iterations.end as u64;
                values.extend(numbers.map(|n| of.start.wrapping_add(of.step.wrapping_mul(n))));
            }
            Source::Copy(loaded) => {
                values.clear();
                values.resize(iterations.len(), 0);
                let plan = self.plan;
                if let Some(stream) = &plan.streams[loaded.access] {
                    let first = self.first;
                    self.first += iterations.start as u64;
                    self.load(stream, *loaded, values, memory);
                    self.first = first;
                }
            }
            Source::Term(term) => self.term_of(term, iterations, values),
        }
    }
}

/// How two operands of a comparison are ordered.
#[derive(Clone, Copy, Debug)]
enum Order {
    Equal,
    NotEqual,
    Less,
    NotLess,
    Greater,
    NotGreater,
}

/// Returns the order for which a condition holds after a comparison, and whether numbers are signed.
const fn order(cond: u32) -> Option<(Order, bool)> {
    Some(match cond {
        0 => (Order::Equal, false),
        1 => (Order::NotEqual, false),
        2 => (Order::NotLess, false),
        3 => (Order::Less, false),
        8 => (Order::Greater, false),
        9 => (Order::NotGreater, false),
        10 => (Order::NotLess, true),
        11 => (Order::Less, true),
        12 => (Order::Greater, true),
        13 => (Order::NotGreater, true),
        _ => return None,
    })
}

/// Computes a column from another.
fn each(column: &mut [u64], values: &[u64], of: impl Fn(u64) -> u64) {
    column.iter_mut().zip(values).for_each(|(to, from)| *to = of(*from));
}

/// Computes the results of a micro-op.
fn compute_result(op: MicroOp, count: usize, operands: &[Vec<u64>; 3], column: &mut [u64]) {
    let [a, b, c] = operands;
    let wide = op.wide() == 1;
    let pairs = a.iter().zip(b);
    let pairs = column.iter_mut().zip(pairs);
    match (Handler::of(op), count) {
        (Handler::AND, _) if wide => pairs.for_each(|(to, (x, y))| *to = x & y),
        (Handler::ORR, _) if wide => pairs.for_each(|(to, (x, y))| *to = x | y),
        (Handler::EOR, _) if wide => pairs.for_each(|(to, (x, y))| *to = x ^ y),
        (Handler::MULTIPLY_ADD, 2) if wide => pairs.for_each(|(to, (x, y))| *to = x.wrapping_mul(*y)),
        (_, 1) => each(column, a, |value| result(op, &[value])),
        (_, 2) => pairs.for_each(|(to, (x, y))| *to = result(op, &[*x, *y])),
        _ => {
            for (to, ((x, y), z)) in column.iter_mut().zip(a.iter().zip(b).zip(c)) {
                *to = result(op, &[*x, *y, *z]);
            }
        }
    }
}

/// Returns the lowest bytes of a number.
fn low_bytes<const N: usize>(number: u64) -> [u8; N] {
    let bytes = number.to_le_bytes();
    core::array::from_fn(|place| bytes[place])
}

/// Returns the number that at most eight bytes are.
#[inline]
fn number_of(bytes: &[u8]) -> u64 {
    let mut number = [0; 8];
    number[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(number)
}

/// Returns whether bytes overlap one of some ranges.
fn is_stored(stored: &[(i128, i128)], begin: i128, end: i128) -> bool {
    stored.iter().any(|range| begin < range.1 && range.0 < end)
}

/// Calls a function with the bytes of some numbers that follow each other, piece by piece, and with how many came before.
fn each_piece(
    memory: &impl Memory,
    mut address: u64,
    size: usize,
    count: usize,
    mut visit: impl FnMut(usize, &[u8]),
) {
    let mut done = 0;
    while done < count {
        let piece = memory.readable(address).unwrap_or(&[]);
        let whole = (piece.len() / size).min(count - done);
        if whole == 0 {
            // The number crosses the end of the piece.
            let mut one = [0; 8];
            read(memory, address, &mut one[..size]);
            visit(done, &one[..size]);
        } else {
            visit(done, &piece[..whole * size]);
        }
        done += whole.max(1);
        address = address.wrapping_add((whole.max(1) * size) as u64);
    }
}

/// Loads numbers of some bytes that follow each other.
fn load_in_order(memory: &impl Memory, address: u64, size: usize, column: &mut [u64]) {
    each_piece(memory, address, size, column.len(), |done, piece| {
        let values = column[done..].iter_mut();
        match size {
            1 => values.zip(piece).for_each(|(value, byte)| *value = (*byte).into()),
            2 => values.zip(piece.as_chunks().0).for_each(|(v, of)| *v = u16::from_le_bytes(*of).into()),
            4 => values.zip(piece.as_chunks().0).for_each(|(v, of)| *v = u32::from_le_bytes(*of).into()),
            _ => values.zip(piece.as_chunks().0).for_each(|(v, of)| *v = u64::from_le_bytes(*of)),
        }
    });
}

/// Combines a register with numbers of `N` bytes that follow each other: from an address, so many.
fn fold_in_order<const N: usize>(
    memory: &impl Memory,
    (address, count): (u64, usize),
    loaded: Loaded,
    fold: Fold,
    mut register: u64,
) -> u64 {
    each_piece(memory, address, N, count, |_, piece| {
        let numbers = piece.as_chunks::<N>().0.iter().map(|bytes| number_of(bytes));
        register = if loaded.extend == 0 {
            fold.combine_all(register, numbers)
        } else {
            fold.combine_all(register, numbers.map(|number| loaded.extended(number)))
        };
    });
    register
}

/// Loads numbers of `N` bytes from a table whose first byte is at `base`.
fn gather_from<const N: usize>(table: &[u8], base: u64, addresses: &[u64], column: &mut [u64]) {
    for (value, address) in column.iter_mut().zip(addresses) {
        let place = address.wrapping_sub(base) as usize;
        let mut number = [0; 8];
        number[..N].copy_from_slice(&table[place..][..N]);
        *value = u64::from_le_bytes(number);
    }
}

/// Returns the place of the first value that is equal to the needle, or not equal to it; else their number.
fn find<T: PartialEq + Copy>(values: &[T], needle: T, equal: bool) -> usize {
    first(values.len(), |range| {
        values[range].iter().fold(false, |found, value| found | ((*value == needle) == equal))
    })
}

/// Returns the place of the first values that are equal, or not equal; else their number.
fn differ<T: PartialEq + Copy>(one: &[T], other: &[T], equal: bool) -> usize {
    first(one.len(), |range| {
        one[range.clone()].iter().zip(&other[range]).fold(false, |found, (x, y)| found | ((x == y) == equal))
    })
}

/// Returns the first of `count` places that a range with something has. `has` says whether a range has something.
fn first(count: usize, has: impl Fn(Range<usize>) -> bool) -> usize {
    // Long ranges are searched without branches, by vectors of the host.
    let mut begin = 0;
    for length in [256, 32, 1] {
        while begin + length <= count && !has(begin..begin + length) {
            begin += length;
        }
    }
    begin
}
