//! What is known about the iterations that follow before they are executed.

use alloc::vec::Vec;

use kvrm_arm64::micro_op::{REGISTERS, SINK, ZERO};

use crate::atom::{Atom, Loaded};
use crate::body::Body;
use crate::flags::{Condition, Flags};
use crate::memory::{Memory, read};
use crate::motion::{Fold, Loop, Motion, Progression, Start, iterations_within};
use crate::obstacle::Obstacle;
use crate::term::{AtomId, Term};
use crate::trips::first_iteration;

/// Where a value that is stored comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The numbers of a progression. Only the bytes that are stored need to be right.
    Progression(Progression),
    /// The bytes that a load of the same size loads in the same iteration.
    Copy(Loaded),
    /// The values of a term.
    Term(Term),
}

/// An access in the iterations that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The address in the next iteration.
    pub address: u64,
    /// The distance to the address in the iteration after.
    pub step: i64,
    /// The number of bytes of an access.
    pub bytes: u64,
    /// The number of bytes of each of the accesses of an inner loop for which it stands, or as many bytes.
    pub unit: u64,
    /// The values to store, one or two for a pair; none for a load.
    pub sources: Vec<Source>,
}

impl Stream {
    /// Whether it stands for several accesses of an inner loop.
    #[must_use]
    pub const fn is_row(&self) -> bool {
        self.unit != self.bytes
    }

    /// Whether it stores.
    #[must_use]
    pub const fn is_store(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Returns the first address of a number of iterations, and the address behind the last byte.
    #[must_use]
    pub fn range(&self, iterations: u64) -> (i128, i128) {
        let first = i128::from(self.address);
        let last = first + i128::from(self.step) * i128::from(iterations.max(1) - 1);
        (first.min(last), first.max(last) + i128::from(self.bytes))
    }

    /// Returns the number of iterations, from the next one on, whose accesses are in a range of addresses.
    #[must_use]
    pub fn iterations_within(&self, begin: u64, end: u64) -> u64 {
        let most = i128::from(end) - i128::from(self.bytes);
        iterations_within(self.address.into(), self.step.into(), begin.into(), most)
    }

    /// Returns the address in an iteration, from the next one on.
    pub(crate) const fn at(&self, iteration: u64) -> u64 {
        self.address.wrapping_add((self.step as u64).wrapping_mul(iteration))
    }
}

/// A comparison of a value that is loaded, for which no other value of the iteration is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    /// The load, whose addresses follow each other.
    pub(crate) load: usize,
    pub(crate) size: u64,
    pub(crate) with: Needle,
    /// Whether the loop is left if both are equal, or if they are not.
    pub(crate) stops_if_equal: bool,
}

/// What a loaded value is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Needle {
    /// A number of that size.
    Number(u64),
    /// Another such load.
    Load(usize),
}

/// A register that changes in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moving {
    pub(crate) register: u32,
    pub(crate) start: u64,
    pub(crate) step: u64,
    pub(crate) wide: bool,
}

impl Moving {
    /// Returns its value after some iterations, at least one.
    pub(crate) const fn after(&self, iterations: u64) -> u64 {
        let value = self.start.wrapping_add(self.step.wrapping_mul(iterations));
        if self.wide { value } else { value & u32::MAX as u64 }
    }
}

/// The values that a register is combined with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Folded {
    /// The values of a load whose addresses follow each other.
    InOrder(Loaded),
    /// The values of a term.
    Term(Term),
}

/// How an atom is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is a progression.
    Progression(u64, u64),
    /// It has a value for each iteration.
    Column,
}

/// Iterations that can be executed at once, without their last one.
///
/// No iteration depends on memory that another one writes, so they may be executed in any order, or at the same time. Temporaries
/// and flags keep their values, so the iteration behind them has to be stepped. It is certain to stay in the loop, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of iterations that neither leave the loop by an exit whose condition is a function of progressions, nor break
    /// another limit that is known. Values that are loaded may end it earlier.
    pub most: u64,
    /// The number of instructions of an iteration.
    pub length: u64,
    /// The accesses whose addresses are progressions, in the order of [`Body::accesses`]; `None` for the others, which are loads.
    /// All bytes of the streams in `most` iterations must be mapped and permitted.
    pub streams: Vec<Option<Stream>>,
    pub(crate) registers: Vec<Moving>,
    pub(crate) folds: Vec<(u32, Fold, Folded)>,
    pub(crate) searches: Vec<Search>,
    /// The exits whose conditions are evaluated in each iteration.
    pub(crate) tests: Vec<Condition>,
    /// The atoms that are evaluated, in the order in which they depend on each other.
    pub(crate) needed: Vec<(AtomId, Kind)>,
}

impl Plan {
    /// Plans iterations that have at most `steps` instructions together with one more, which is stepped, if the registers of micro-ops
    /// are `registers` now.
    ///
    /// # Errors
    /// Nothing is gained, or the iterations cannot be executed in any order.
    pub fn new(of: &Loop, registers: &[u64], steps: u64, memory: &impl Memory) -> Result<Self, Obstacle> {
        let body = of.body();
        let moving = (0..REGISTERS).filter(|register| ![ZERO, SINK].contains(register));
        if let Some(obstacle) = of.obstacle() {
            return Err(obstacle);
        }
        let mut start = Start::new(of, registers);
        let mut length = body.ops.len() as u64;
        if let Some(inner) = of.inner() {
            let trips = inner.trips(&start).ok_or(Obstacle::Trips)?;
            start.set_trips(trips);
            let of_inner = inner.found.body().ops.len() as u64;
            let all = of_inner.checked_mul(trips - 1).and_then(|more| length.checked_add(more));
            length = all.ok_or(Obstacle::TooShort)?;
        }
        let mut planner = Planner { body, start, most: steps / length, needed: Vec::new() };
        let mut streams = Vec::new();
        for number in 0..body.accesses.len() {
            let stream = planner.stream(number, memory)?;
            if stream.is_none() {
                planner.need_load(number)?;
            }
            streams.push(stream);
        }
        let (mut searches, mut tests) = (Vec::new(), Vec::new());
        for exit in &body.exits {
            if let Some(first) = first_iteration(&planner.start, &exit.condition) {
                planner.most = planner.most.min(first);
            } else if let Some(search) = planner.search(&exit.condition, &streams) {
                searches.push(search);
            } else {
                planner.need_condition(&exit.condition)?;
                tests.push(exit.condition.clone());
            }
        }
        for number in 0..streams.len() {
            let access = &body.accesses[number];
            for value in &access.stores {
                let source = planner.source(value, number, &streams)?;
                if let Some(stream) = &mut streams[number] {
                    stream.sources.push(source);
                }
            }
        }
        let mut folds = Vec::new();
        let mut after = Vec::new();
        for register in moving {
            let (step, wide) = match of.motion(register) {
                Motion::Wide(step) => (planner.start.progression(step, true), true),
                Motion::Narrow(step) => (planner.start.progression(step, false), false),
                Motion::Fold(fold, value) => {
                    folds.push((register, *fold, planner.folded(value, &streams)?));
                    continue;
                }
                Motion::Invariant | Motion::Temporary | Motion::Other => continue,
            };
            let step = step.ok_or(Obstacle::Register(register))?.start;
            after.push(Moving { register, start: registers[register as usize], step, wide });
        }
        // Copies read the bytes of their load, which may be compared, too.
        let Planner { mut needed, most, .. } = planner;
        let most = apart(body, &streams, most)?;
        if most < 2 {
            return Err(Obstacle::TooShort);
        }
        needed.sort_unstable_by_key(|(id, _)| *id);
        Ok(Self { most, length, streams, registers: after, folds, searches, tests, needed })
    }

    /// Whether the number of iterations depends on values that are loaded: an exit does, or an address that may fault.
    #[must_use]
    pub fn has_tests(&self) -> bool {
        !self.tests.is_empty() || !self.searches.is_empty() || self.streams.contains(&None)
    }

    /// Returns the stores.
    pub fn stores(&self) -> impl Iterator<Item = &Stream> {
        self.streams.iter().flatten().filter(|stream| stream.is_store())
    }
}

/// A plan that is being made.
struct Planner<'a> {
    body: &'a Body,
    start: Start<'a>,
    most: u64,
    needed: Vec<(AtomId, Kind)>,
}

impl Planner<'_> {
    /// Returns the stream of an access without its sources; `None` for a load from any addresses.
    fn stream(&mut self, number: usize, memory: &impl Memory) -> Result<Option<Stream>, Obstacle> {
        let access = &self.body.accesses[number];
        let Some(address) = self.start.progression(&access.address, true) else {
            let is_load = access.stores.is_empty() && !access.is_aligned;
            return if is_load { Ok(None) } else { Err(Obstacle::Address(number)) };
        };
        let unit = access.bytes();
        let mut bytes = unit;
        if access.is_aligned && (address.start | address.step) % bytes != 0 {
            return Err(Obstacle::Address(number));
        }
        if access.is_row {
            bytes = self.start.trips().and_then(|trips| bytes.checked_mul(trips)).ok_or(Obstacle::Trips)?;
        }
        let stream =
            Stream { address: address.start, step: address.step as i64, bytes, unit, sources: Vec::new() };
        self.most = self.most.min(address.length).min(stream.iterations_within(0, u64::MAX));
        if stream.step == 0 && access.stores.is_empty() && !access.is_row {
            // Values from an address that does not change are the same in all iterations. `apart` makes sure that none writes it.
            let mut value = [0; 16];
            if read(memory, stream.address, &mut value[..bytes as usize]) {
                let size = access.size as usize;
                for is_second in [false, true] {
                    let mut of = [0; 8];
                    of[..size].copy_from_slice(&value[usize::from(is_second) * size..][..size]);
                    let loaded = access.loaded(number, is_second);
                    self.start.add_loaded(loaded, loaded.extended(u64::from_le_bytes(of)));
                }
            }
        }
        Ok(Some(stream))
    }

    /// Notes that the values of a term are needed.
    fn need(&mut self, term: &Term) -> Result<(), Obstacle> {
        for (id, _) in term.parts() {
            if self.needed.iter().any(|(known, _)| known == id) {
                continue;
            }
            if let Some(values) = self.start.of_atom(*id, true) {
                self.most = self.most.min(values.length);
                self.needed.push((*id, Kind::Progression(values.start, values.step)));
                continue;
            }
            match self.body.atoms.atom(*id) {
                Atom::Low(inner) | Atom::Signed(inner) => self.need(inner)?,
                // An iteration has many values of a row.
                Atom::Loaded(loaded) if self.body.accesses[loaded.access].is_row => {
                    return Err(Obstacle::Value);
                }
                Atom::Loaded(loaded) => {
                    let address = &self.body.accesses[loaded.access].address;
                    if self.start.progression(address, true).is_none() {
                        self.need(address)?;
                    }
                }
                Atom::Result(_, operands) => operands.iter().try_for_each(|operand| self.need(operand))?,
                Atom::Select { cond, flags, yes, no, .. } => {
                    self.need_condition(&Condition::Flags { cond: *cond, flags: flags.clone() })?;
                    self.need(yes)?;
                    self.need(no)?;
                }
                Atom::Entry(_) | Atom::Unknown(_) | Atom::Trips => return Err(Obstacle::Value),
            }
            self.needed.push((*id, Kind::Column));
        }
        Ok(())
    }

    /// Notes that a load from any addresses has to be evaluated, because it may fault.
    fn need_load(&mut self, number: usize) -> Result<(), Obstacle> {
        let loaded = Atom::Loaded(self.body.accesses[number].loaded(number, false));
        self.body.atoms.find(&loaded).map_or(Err(Obstacle::Value), |value| self.need(&value))
    }

    /// Notes that the values of the terms of a condition are needed.
    fn need_condition(&mut self, condition: &Condition) -> Result<(), Obstacle> {
        if !condition.is_known() {
            return Err(Obstacle::Value);
        }
        let mut result = Ok(());
        condition.terms(&mut |term| {
            if result.is_ok() {
                result = self.need(term);
            }
        });
        result
    }

    /// Returns the source of a value that the access with this number stores.
    fn source(
        &mut self,
        value: &Term,
        number: usize,
        streams: &[Option<Stream>],
    ) -> Result<Source, Obstacle> {
        let access = &self.body.accesses[number];
        if let Some(values) = self.start.progression(value, access.size == 8) {
            self.most = self.most.min(values.length);
            return Ok(Source::Progression(values));
        }
        if let Some(loaded) = as_loaded(self.body, value)
            && loaded.size == access.size
            && self.body.accesses[loaded.access].is_row == access.is_row
            && streams[number].is_some()
            && self.is_kept(loaded.access, number, streams)
        {
            return Ok(Source::Copy(loaded));
        }
        self.need(value)?;
        Ok(Source::Term(value.clone()))
    }

    /// Returns whether what a load loads is still in memory when the store with this number is made. Stores are made one after the
    /// other, each for many iterations, so no other one may change it, even if it comes later in the iteration.
    fn is_kept(&self, load: usize, store: usize, streams: &[Option<Stream>]) -> bool {
        let Some(from) = &streams[load] else { return false };
        let others = streams.iter().enumerate().filter(|(other, _)| *other != store);
        let (begin, end) = from.range(self.most);
        others.filter(|(other, _)| !self.body.accesses[*other].stores.is_empty()).all(|(_, other)| {
            let range = other.as_ref().map(|other| other.range(self.most));
            range.is_some_and(|(first, last)| last <= begin || end <= first)
        })
    }

    /// Returns the values of a term, with which a register is combined.
    fn folded(&mut self, value: &Term, streams: &[Option<Stream>]) -> Result<Folded, Obstacle> {
        if let Some(loaded) = self.in_order(value, streams) {
            return Ok(Folded::InOrder(loaded));
        }
        self.need(value)?;
        Ok(Folded::Term(value.clone()))
    }

    /// Returns the loaded value that a term is, if its addresses follow each other.
    fn in_order(&self, term: &Term, streams: &[Option<Stream>]) -> Option<Loaded> {
        let loaded = as_loaded(self.body, term)?;
        let stream = streams[loaded.access].as_ref()?;
        (stream.step == stream.bytes as i64 && stream.bytes == loaded.size).then_some(loaded)
    }

    /// Returns the search that a condition is, if it is one.
    fn search(&self, condition: &Condition, streams: &[Option<Stream>]) -> Option<Search> {
        let contiguous = |term: &Term| self.in_order(term, streams).filter(|loaded| loaded.extend == 0);
        let (loaded, with, stops_if_equal, wide) = match condition {
            Condition::Zero { value, inverted } => (contiguous(value)?, Needle::Number(0), !inverted, true),
            Condition::Flags { cond: cond @ (0 | 1), flags: Flags::Difference { x, y, wide } } => {
                let (loaded, with) = match (contiguous(x), contiguous(y)) {
                    (Some(x), Some(y)) if x.size == y.size => (x, Needle::Load(y.access)),
                    (Some(x), None) => (x, Needle::Number(self.start.constant(y)?)),
                    (None, Some(y)) => (y, Needle::Number(self.start.constant(x)?)),
                    _ => return None,
                };
                (loaded, with, *cond == 0, *wide)
            }
            _ => return None,
        };
        // The comparison is of whole values of the load's size.
        let is_narrow = !wide && loaded.size == 8;
        let with = match with {
            Needle::Number(number) if !wide => Needle::Number(number & u64::from(u32::MAX)),
            with => with,
        };
        let fits = match with {
            Needle::Number(number) => loaded.size == 8 || number >> (8 * loaded.size) == 0,
            Needle::Load(_) => true,
        };
        (fits && !is_narrow).then_some(Search {
            load: loaded.access,
            size: loaded.size,
            with,
            stops_if_equal,
        })
    }
}

/// Returns the loaded value that a term is, if it is one.
pub(crate) fn as_loaded(body: &Body, term: &Term) -> Option<Loaded> {
    match (term.parts(), term.addend()) {
        ([(id, 1)], 0) => match body.atoms.atom(*id) {
            Atom::Loaded(loaded) => Some(*loaded),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the number of iterations, of at most `most`, in which no store overlaps an access of another iteration.
fn apart(body: &Body, streams: &[Option<Stream>], mut most: u64) -> Result<u64, Obstacle> {
    let streams =
        || streams.iter().enumerate().filter_map(|(number, stream)| Some((number, stream.as_ref()?)));
    for (number, store) in streams().filter(|(_, stream)| stream.is_store()) {
        if store.step.unsigned_abs() < store.bytes {
            return Err(Obstacle::Overlap(number));
        }
        for (other_number, other) in streams().filter(|(other, _)| *other != number) {
            // A load of the same iteration may come first. Those of an inner loop take turns with its stores.
            let (one, two) = (&body.accesses[number], &body.accesses[other_number]);
            let is_before = !other.is_store() && two.place < one.place && !(one.is_row && two.is_row);
            most = most.min(iterations_apart(store, other, is_before, most));
            if most < 2 {
                return Err(Obstacle::Overlap(number));
            }
        }
    }
    Ok(most)
}

/// Returns the number of iterations, of at most `most`, whose accesses of two streams do not overlap. Those of the same iteration
/// may overlap if `may_meet`.
fn iterations_apart(store: &Stream, other: &Stream, may_meet: bool, most: u64) -> u64 {
    let (a, b) = (store.range(most), other.range(most));
    if a.1 <= b.0 || b.1 <= a.0 {
        return most;
    }
    let distance = i128::from(other.address) - i128::from(store.address);
    let step = i128::from(store.step);
    if store.step == other.step && step != 0 {
        let room = step.abs();
        let behind = distance + i128::from(other.bytes);
        if may_meet && distance.max(0).max(behind).max(store.bytes.into()) - distance.min(0) <= room {
            return most;
        }
        // Both may take turns, so that they never meet.
        let place = distance.rem_euclid(room);
        if place >= store.bytes.into() && place + i128::from(other.bytes) <= room {
            return most;
        }
        // They meet after as many iterations as one needs to reach the other.
        let apart = (distance.abs() - i128::from(store.bytes.max(other.bytes))) / room + 1;
        return u64::try_from(apart.max(0)).unwrap_or(u64::MAX).min(most);
    }
    0
}
