//! What many iterations do to registers and memory, in closed form.

use alloc::vec::Vec;

use kvrm_arm64::micro_op::{REGISTERS, SINK, ZERO};

use crate::body::{Access, Body};
use crate::motion::{Loop, Motion, Progression, iterations_within};
use crate::term::{Atom, Term};
use crate::trips::certain_iterations;

/// Why iterations are not executed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// This register of micro-ops changes in a way that has no closed form.
    Register(u32),
    /// An iteration depends on the flags of the iteration before.
    Flags,
    /// The address of this access of the body is not a progression, or is not aligned as the access needs it.
    Address(usize),
    /// A value that this access stores is neither a progression nor just loaded.
    Value(usize),
    /// This store and another access may overlap in the iterations that follow.
    Overlap(usize),
    /// Fewer than two iterations are certain to follow.
    TooShort,
}

/// Where a value that is stored comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The numbers of a progression. Only the bytes that are stored need to be right.
    Progression(Progression),
    /// What a load loads in the same iteration, with the same size.
    Loaded {
        /// The number of the load in [`Body::accesses`].
        load: usize,
        /// The distance from its address: 0, or the size of a register for the second one of a pair.
        offset: u64,
    },
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
    /// The values to store, one or two for a pair; none for a load.
    pub sources: Vec<Source>,
}

impl Stream {
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
}

/// Iterations that can be executed at once, without their last one.
///
/// The registers get new values, and the stores are made, in any order: no two overlap, and none overlaps a load. Temporaries
/// and flags keep theirs, so the next iteration has to be stepped. It is certain to stay in the loop, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of iterations.
    pub iterations: u64,
    /// The numbers of registers in micro-ops, and their values after the iterations.
    pub registers: Vec<(u32, u64)>,
    /// The accesses, in the order of [`Body::accesses`]. All bytes of these, and those of the iteration that is stepped
    /// afterwards, must be mapped and permitted.
    pub streams: Vec<Stream>,
}

impl Plan {
    /// Plans at most `most` iterations, and one that is stepped, if the registers of micro-ops are `registers` now.
    ///
    /// # Errors
    /// Nothing is gained, or the iterations have no closed form.
    pub fn new(of: &Loop, registers: &[u64], most: u64) -> Result<Self, Obstacle> {
        let body = of.body();
        let moving = (0..REGISTERS).filter(|register| ![ZERO, SINK].contains(register));
        if let Some(register) = moving.clone().find(|register| *of.motion(*register) == Motion::Other) {
            return Err(Obstacle::Register(register));
        }
        if body.reads_flags {
            return Err(Obstacle::Flags);
        }
        let mut certain = certain_iterations(of, registers).min(most.saturating_add(1));
        let mut streams = Vec::new();
        for (number, access) in body.accesses.iter().enumerate() {
            let address = of.progression(&access.address, registers, true);
            let address = address.ok_or(Obstacle::Address(number))?;
            let mut stream = Stream {
                address: address.start,
                step: address.step as i64,
                bytes: Body::bytes(access),
                sources: Vec::new(),
            };
            if access.is_aligned && (address.start | address.step) % stream.bytes != 0 {
                return Err(Obstacle::Address(number));
            }
            certain = certain.min(address.length).min(stream.iterations_within(0, u64::MAX));
            for value in &access.stores {
                let source = source(of, value, access, registers);
                let source = source.ok_or(Obstacle::Value(number))?;
                if let Source::Progression(progression) = source {
                    certain = certain.min(progression.length);
                }
                stream.sources.push(source);
            }
            streams.push(stream);
        }
        for (number, stream) in streams.iter().enumerate().filter(|(_, stream)| !stream.sources.is_empty()) {
            if !stores_are_apart(stream) {
                return Err(Obstacle::Overlap(number));
            }
            for other in streams.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, of)| of) {
                certain = certain.min(iterations_apart(stream, other, certain));
                if certain < 2 {
                    return Err(Obstacle::Overlap(number));
                }
            }
        }
        if certain < 2 {
            return Err(Obstacle::TooShort);
        }
        let iterations = certain - 1;
        let mut after = Vec::new();
        for register in moving {
            let step = match of.motion(register) {
                Motion::Wide(step) => of.progression(step, registers, true).map(|step| step.start),
                Motion::Narrow(step) => of.progression(step, registers, false).map(|step| step.start),
                Motion::Invariant | Motion::Temporary | Motion::Other => continue,
            };
            let step = step.ok_or(Obstacle::Register(register))?;
            let value = registers[register as usize].wrapping_add(step.wrapping_mul(iterations));
            let is_wide = matches!(of.motion(register), Motion::Wide(_));
            after.push((register, if is_wide { value } else { value & u64::from(u32::MAX) }));
        }
        Ok(Self { iterations, registers: after, streams })
    }
}

/// Returns the source of a value that an access stores.
fn source(of: &Loop, value: &Term, access: &Access, registers: &[u64]) -> Option<Source> {
    let body = of.body();
    if let ([(id, 1)], 0) = (value.parts(), value.addend()) {
        let loaded = match *body.atoms.atom(*id) {
            Atom::Loaded(load) => Some((load, 0)),
            Atom::LoadedSecond(load) => Some((load, access.size)),
            _ => None,
        };
        if let Some((load, offset)) = loaded {
            let is_whole = body.accesses[load].size == access.size;
            return is_whole.then_some(Source::Loaded { load, offset });
        }
    }
    of.progression(value, registers, access.size == 8).map(Source::Progression)
}

/// Returns whether the stores of a stream do not overlap each other.
fn stores_are_apart(stream: &Stream) -> bool {
    stream.step.unsigned_abs() >= stream.bytes
}

/// Returns the number of iterations, of at most `most`, whose accesses of two streams do not overlap.
fn iterations_apart(one: &Stream, other: &Stream, most: u64) -> u64 {
    let (a, b) = (one.range(most), other.range(most));
    if a.1 <= b.0 || b.1 <= a.0 {
        return most;
    }
    let distance = i128::from(other.address) - i128::from(one.address);
    let step = i128::from(one.step);
    if one.step == other.step && step != 0 {
        // Both may take turns, so that they never meet.
        let (behind, room) = (distance.rem_euclid(step.abs()), step.abs());
        if behind >= one.bytes.into() && behind + i128::from(other.bytes) <= room {
            return most;
        }
        // They meet after as many iterations as one needs to reach the other.
        let apart = (distance.abs() - i128::from(one.bytes.max(other.bytes))) / step.abs() + 1;
        return u64::try_from(apart.max(0)).unwrap_or(u64::MAX).min(most);
    }
    0
}
