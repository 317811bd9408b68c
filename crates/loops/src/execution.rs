//! The execution of a plan.

use alloc::vec::Vec;

use crate::block::Block;
use crate::byte_table::ByteTable;
use crate::memory::Memory;
use crate::motion::Loop;
use crate::plan::{Plan, Source, Stream};

/// The largest number of iterations that are evaluated together. Their values fit the first cache of a CPU.
const BLOCK: u64 = 1024;
/// The largest number of iterations of a block for which no values are computed.
const PLAIN_BLOCK: u64 = 1 << 14;

impl Plan {
    /// Executes iterations, and returns their number. One more is certain to follow, without leaving the loop and without a
    /// fault, and has to be stepped. `registers` are those of micro-ops.
    ///
    /// All bytes of the streams in [`Plan::most`] iterations must be permitted. None of the bytes that are stored may be an
    /// instruction of the loop.
    pub fn execute(&self, of: &Loop, registers: &mut [u64], memory: &mut impl Memory) -> u64 {
        let done = self.execute_memory(of, registers, memory);
        for moving in self.registers.iter().filter(|_| done > 0) {
            registers[moving.register as usize] = moving.after(done);
        }
        done
    }

    /// Makes the stores of the iterations and computes the registers that are combined with their values.
    fn execute_memory(&self, of: &Loop, registers: &mut [u64], memory: &mut impl Memory) -> u64 {
        let has_stores = self.stores().next().is_some();
        if !self.has_tests() && !has_stores && self.folds.is_empty() {
            return self.most - 1;
        }
        if let Some(table) = ByteTable::of(self, of, memory) {
            table.execute(self.most - 1, memory);
            return self.most - 1;
        }
        let size = if self.needed.is_empty() { PLAIN_BLOCK } else { BLOCK };
        let mut block = Block::new(of, self);
        let mut writer = Writer { plan: self, bytes: Vec::new(), values: Vec::new() };
        let mut done = 0;
        loop {
            let count = size.min(self.most - done);
            let valid = if count < 2 { 0 } else { block.evaluate(done, count, memory) };
            // The last valid iteration is stepped.
            if valid < 2 {
                return done;
            }
            let committed = valid - 1;
            for (register, fold, values) in &self.folds {
                let register = &mut registers[*register as usize];
                *register = block.fold((*register, *fold, values), committed, memory);
            }
            for stream in self.stores() {
                writer.store(stream, &mut block, committed, memory);
            }
            done += committed;
            if valid < count {
                return done;
            }
        }
    }
}

/// What the bytes of a stream have in common.
#[derive(Clone, Copy)]
enum Pattern<'a> {
    /// They are the same in all iterations.
    Fill,
    /// They are those of a load, in the same order.
    Copy(&'a Stream),
    /// Something else.
    Other,
}

/// Returns the pattern of a stream.
fn pattern<'a>(stream: &Stream, plan: &'a Plan) -> Pattern<'a> {
    let size = stream.unit / stream.sources.len() as u64;
    match &stream.sources[0] {
        Source::Copy(loaded) => {
            let Some(from) = &plan.streams[loaded.access] else { return Pattern::Other };
            let is_whole = stream.is_row() || (from.step, from.bytes) == (stream.step, stream.bytes);
            let are_in_order = stream.sources.iter().enumerate().all(|(number, source)| {
                matches!(source, Source::Copy(of)
                    if of.access == loaded.access && u64::from(of.is_second) * of.size == number as u64 * size)
            });
            if is_whole && are_in_order { Pattern::Copy(from) } else { Pattern::Other }
        }
        Source::Progression(_) => {
            let is_same = |source: &Source| matches!(source, Source::Progression(values) if values.step == 0);
            if stream.sources.iter().all(is_same) { Pattern::Fill } else { Pattern::Other }
        }
        Source::Term(_) => Pattern::Other,
    }
}

/// Returns whether two streams overlap in the first iterations.
fn overlaps(one: &Stream, other: &Stream, iterations: u64) -> bool {
    let (a, b) = (one.range(iterations), other.range(iterations));
    a.0 < b.1 && b.0 < a.1
}

/// Makes the stores of a plan.
struct Writer<'a> {
    plan: &'a Plan,
    bytes: Vec<u8>,
    values: Vec<u64>,
}

impl Writer<'_> {
    /// Makes the stores of a stream in the first `count` iterations of a block.
    fn store(&mut self, stream: &Stream, block: &mut Block<'_>, count: u64, memory: &mut impl Memory) {
        if stream.is_row() {
            return self.store_rows(stream, block, count, memory);
        }
        let bytes = stream.bytes as usize;
        let pattern = pattern(stream, self.plan);
        let is_whole = stream.step.unsigned_abs() == stream.bytes;
        let lowest = block.first() + if stream.step < 0 { count - 1 } else { 0 };
        match pattern {
            Pattern::Copy(from) if is_whole && !overlaps(stream, from, self.plan.most) => {
                return memory.copy(stream.at(lowest), from.at(lowest), count * stream.bytes);
            }
            Pattern::Fill => {
                self.bytes.resize(bytes, 0);
                self.number(stream, block, 0..1, memory);
                if is_whole {
                    return memory.fill(stream.at(lowest), count * stream.bytes, &self.bytes);
                }
                for iteration in block.first()..block.first() + count {
                    memory.write(stream.at(iteration), &self.bytes);
                }
                return;
            }
            Pattern::Copy(_) | Pattern::Other => {}
        }
        self.bytes.resize(count as usize * bytes, 0);
        self.number(stream, block, 0..count as usize, memory);
        if is_whole {
            if stream.step < 0 {
                // The bytes are in the order of iterations.
                self.reverse(bytes);
            }
            memory.write(stream.at(lowest), &self.bytes);
        } else {
            for (iteration, chunk) in (block.first()..).zip(self.bytes.chunks_exact(bytes)) {
                memory.write(stream.at(iteration), chunk);
            }
        }
    }

    /// Makes the stores of a stream whose accesses stand for those of inner loops.
    fn store_rows(&mut self, stream: &Stream, block: &mut Block<'_>, count: u64, memory: &mut impl Memory) {
        let iterations = block.first()..block.first() + count;
        if let Pattern::Copy(from) = pattern(stream, self.plan) {
            iterations.for_each(|n| memory.copy(stream.at(n), from.at(n), stream.bytes));
            return;
        }
        let unit = stream.unit as usize;
        self.bytes.resize(count as usize * unit, 0);
        self.number(stream, block, 0..count as usize, memory);
        for (iteration, unit) in iterations.zip(self.bytes.chunks_exact(unit)) {
            memory.fill(stream.at(iteration), stream.bytes, unit);
        }
    }

    /// Computes the bytes that some iterations store, in their order; of rows, those that they have copies of.
    fn number(
        &mut self,
        stream: &Stream,
        block: &mut Block<'_>,
        iterations: core::ops::Range<usize>,
        memory: &impl Memory,
    ) {
        let size = stream.unit as usize / stream.sources.len();
        let bytes = stream.unit as usize;
        for (number, source) in stream.sources.iter().enumerate() {
            block.values(source, iterations.clone(), memory, &mut self.values);
            let chunks = self.bytes.chunks_exact_mut(bytes);
            let places = chunks.map(|chunk| &mut chunk[number * size..][..size]).zip(&self.values);
            match size {
                8 => places.for_each(|(place, value)| place.copy_from_slice(&value.to_le_bytes())),
                4 => places.for_each(|(place, value)| place.copy_from_slice(&(*value as u32).to_le_bytes())),
                2 => places.for_each(|(place, value)| place.copy_from_slice(&(*value as u16).to_le_bytes())),
                _ => places.for_each(|(place, value)| place[0] = *value as u8),
            }
        }
    }

    /// Reverses the order of chunks of some bytes.
    fn reverse(&mut self, bytes: usize) {
        self.bytes.reverse();
        self.bytes.chunks_exact_mut(bytes).for_each(<[u8]>::reverse);
    }
}
