//! Loops that replace each byte with the element of a table that it numbers: `target[i] = table[source[i]]`.

use alloc::vec;
use alloc::vec::Vec;

use crate::atom::{Atom, Loaded};
use crate::memory::{Memory, read};
use crate::motion::Loop;
use crate::plan::{Kind, Plan, Source, Stream, as_loaded};

/// The number of elements of a table.
const ELEMENTS: usize = 256;
/// The largest number of bytes from the first element to the end of the last one.
const SPAN_MAX: u64 = 4096;
/// The largest number of bytes that are stored together: those of a page.
const BLOCK: u64 = 4096;

/// Iterations of a plan that do nothing but this.
pub(crate) struct ByteTable<'a> {
    source: &'a Stream,
    target: &'a Stream,
    /// The elements, one after the other.
    elements: Vec<u8>,
}

impl<'a> ByteTable<'a> {
    /// Returns the table of a plan, if it has one, if its elements can be loaded, and if no iteration stores to them.
    pub(crate) fn of(plan: &'a Plan, of: &Loop, memory: &impl Memory) -> Option<Self> {
        let body = of.body();
        // Loading the table takes the time of some hundred iterations.
        if plan.most < ELEMENTS as u64 {
            return None;
        }
        if !plan.tests.is_empty() || !plan.searches.is_empty() || !plan.folds.is_empty() {
            return None;
        }
        let mut stores = plan.stores();
        let (target, None) = (stores.next()?, stores.next()) else { return None };
        let [Source::Term(value)] = &target.sources[..] else { return None };
        let element = as_loaded(body, value).filter(|element| element.size == target.bytes)?;
        let access = &body.accesses[element.access];
        let others = plan.streams.iter().filter(|stream| stream.is_none());
        if target.step != target.bytes as i64 || target.is_row() || access.is_pair || others.count() != 1 {
            return None;
        }
        let mut base = access.address.addend();
        let mut index: Option<(Loaded, u64)> = None;
        for (id, factor) in access.address.parts() {
            let place = plan.needed.binary_search_by_key(id, |(needed, _)| *needed).ok()?;
            match (plan.needed[place].1, body.atoms.atom(*id)) {
                (Kind::Progression(start, 0), _) => base = base.wrapping_add(start.wrapping_mul(*factor)),
                (Kind::Column, Atom::Loaded(loaded)) if index.is_none() => index = Some((*loaded, *factor)),
                _ => return None,
            }
        }
        let (number, factor) = index.filter(|(number, _)| (number.size, number.extend) == (1, 0))?;
        let source =
            plan.streams[number.access].as_ref().filter(|source| (source.step, source.bytes) == (1, 1))?;
        let size = element.size as usize;
        // All elements are loaded together.
        let span = factor.checked_mul(ELEMENTS as u64 - 1)?.checked_add(element.size)?;
        let (begin, end) = (i128::from(base), i128::from(base) + i128::from(span));
        let (first, last) = target.range(plan.most);
        if span > SPAN_MAX || end > 1 << 64 || (begin < last && first < end) {
            return None;
        }
        let mut bytes = vec![0; span as usize];
        if !read(memory, base, &mut bytes) {
            return None;
        }
        let places = (0..ELEMENTS).map(|number| number * factor as usize);
        let elements = places.flat_map(|place| &bytes[place..place + size]).copied().collect();
        Some(Self { source, target, elements })
    }

    /// Executes iterations.
    pub(crate) fn execute(&self, iterations: u64, memory: &mut impl Memory) {
        match self.target.bytes {
            1 => self.replace::<1>(iterations, memory),
            2 => self.replace::<2>(iterations, memory),
            4 => self.replace::<4>(iterations, memory),
            _ => self.replace::<8>(iterations, memory),
        }
    }

    fn replace<const N: usize>(&self, iterations: u64, memory: &mut impl Memory) {
        let Some((table, _)) = self.elements.as_chunks::<N>().0.split_first_chunk::<ELEMENTS>() else {
            return;
        };
        let mut numbers = [0; BLOCK as usize];
        let mut values = [[0; N]; BLOCK as usize];
        let mut done = 0;
        while done < iterations {
            // Up to the end of a page, so that no page is looked up twice.
            let in_page = (BLOCK - self.target.at(done) % BLOCK) / N as u64;
            let count = in_page.max(1).min(iterations - done) as usize;
            let values = &mut values[..count];
            let from = self.source.at(done);
            let numbers = match memory.readable(from).and_then(|bytes| bytes.get(..count)) {
                Some(bytes) => bytes,
                None => {
                    read(memory, from, &mut numbers[..count]);
                    &numbers[..count]
                }
            };
            for (value, number) in values.iter_mut().zip(numbers) {
                *value = table[usize::from(*number)];
            }
            memory.write(self.target.at(done), values.as_flattened());
            done += count as u64;
        }
    }
}
