//! Inner loops: what all iterations of a loop within the body do together.
//!
//! The number of iterations is an atom, [`Atom::Trips`], that the registers at the beginning of the outer loop decide. An access of
//! the inner loop whose addresses follow each other becomes one access to a *row*, the bytes of all iterations.

use alloc::vec::Vec;
use core::ops::Range;

use kvrm_arm64::micro_op::{MicroOp, REGISTERS, SINK, ZERO};

use crate::atom::Atom;
use crate::body::{Access, Body, INSTRUCTIONS_MAX, Iteration, Refusal, branch_target};
use crate::flags::Flags;
use crate::motion::{InnerLoop, Loop, Motion};
use crate::plan::as_loaded;
use crate::term::Term;

/// Finds the loop whose branch back is at `end` and that has one loop in it, with iterations that begin at `entry`, or at the target
/// of the branch.
///
/// # Errors
/// It is not understood.
pub(crate) fn find_nest(
    end: u64,
    entry: Option<u64>,
    fetch: &dyn Fn(u64) -> Option<MicroOp>,
) -> Result<Loop, Refusal> {
    let mut inner = None;
    let mut enter = |iteration: &mut Iteration, place: usize, addresses: Range<u64>| {
        let Some(end) = branch_to_start(&addresses, fetch).filter(|_| inner.is_none()) else {
            return Ok(None);
        };
        let found = Loop::find(end, fetch)?;
        let entry = (Entry { iteration, inner: &found, place })
            .execute()
            .ok_or(Refusal::InnerLoop(addresses.start))?;
        let ops = found.body().ops.clone();
        inner = Some(InnerLoop { found, entry });
        Ok(Some(ops))
    };
    let found = Loop::of(Body::find_nest(end, entry, &mut enter, fetch)?);
    Ok(match inner {
        Some(inner) => found.with_inner(inner),
        None => found,
    })
}

/// Returns the address of the first branch to the start of a range of addresses from within it.
fn branch_to_start(addresses: &Range<u64>, fetch: &dyn Fn(u64) -> Option<MicroOp>) -> Option<u64> {
    addresses
        .clone()
        .step_by(4)
        .take(INSTRUCTIONS_MAX)
        .find(|address| fetch(*address).and_then(|op| branch_target(op, *address)) == Some(addresses.start))
}

/// An iteration that enters an inner loop, whose first instruction is at a place of the body.
struct Entry<'a> {
    iteration: &'a mut Iteration,
    inner: &'a Loop,
    place: usize,
}

/// What registers and accesses are after an inner loop, as far as that is known.
struct Summary {
    /// The registers that change.
    registers: Vec<(u32, Option<Term>)>,
    accesses: Vec<Access>,
}

impl Entry<'_> {
    /// Executes all iterations of the inner loop, if it has a summary. Returns the registers at its beginning.
    fn execute(mut self) -> Option<Vec<Term>> {
        let body = self.inner.body();
        for register in (0..REGISTERS).filter(|register| body.is_read[*register as usize]) {
            self.iteration.read(register);
        }
        let Summary { registers, accesses } = self.summary()?;
        let entry = self.iteration.registers.clone();
        self.iteration.accesses.extend(accesses);
        for (register, value) in registers {
            // No micro-op has this number.
            let unknown = Atom::Unknown(INSTRUCTIONS_MAX + register as usize);
            let value = value.unwrap_or_else(|| self.iteration.atoms.term(unknown));
            self.iteration.write(register, value);
        }
        if body.sets_flags {
            self.iteration.set_flags(Flags::Unknown);
        }
        Some(entry)
    }

    /// Returns what all iterations of an inner loop do, if it has a summary.
    fn summary(&mut self) -> Option<Summary> {
        let (inner, body) = (self.inner, self.inner.body());
        let [exit] = &body.exits[..] else { return None };
        if inner.obstacle().is_some() || exit.place + 1 != body.ops.len() {
            return None;
        }
        let trips = self.iteration.atoms.term(Atom::Trips);
        let entry: Vec<_> = self.iteration.registers.iter().cloned().map(Some).collect();
        // The registers at the beginning of the last iteration, as far as they are known.
        let mut last = entry.clone();
        let (mut after, mut temporaries) = (Vec::new(), Vec::new());
        for register in (0..REGISTERS).filter(|register| ![ZERO, SINK].contains(register)) {
            let before = self.iteration.registers[register as usize].clone();
            match inner.motion(register) {
                Motion::Invariant => {}
                Motion::Temporary => {
                    last[register as usize] = None;
                    temporaries.push(register);
                }
                Motion::Wide(step) => {
                    let step = self.substituted(step, &entry)?;
                    let moved = before.plus(&self.iteration.product(step.clone(), trips.clone()));
                    last[register as usize] = Some(moved.minus(&step));
                    after.push((register, Some(moved)));
                }
                Motion::Narrow(step) => {
                    let step = self.substituted(step, &entry)?;
                    let moved = before.plus(&self.iteration.product(step, trips.clone()));
                    // In the first iteration, it may have a high word.
                    last[register as usize] = None;
                    after.push((register, Some(self.iteration.atoms.low(&moved))));
                }
                Motion::Fold(..) | Motion::Other => return None,
            }
        }
        for register in temporaries {
            let value = self.substituted(&body.after[register as usize], &last);
            after.push((register, value));
        }
        let mut accesses = Vec::new();
        for access in &body.accesses {
            accesses.push(self.row(access, &entry)?);
        }
        Some(Summary { registers: after, accesses })
    }

    /// Returns the accesses of all iterations of an inner loop as one, if their addresses follow each other and what they store does
    /// not change, or is what another such access loads.
    fn row(&mut self, access: &Access, entry: &[Option<Term>]) -> Option<Access> {
        let bytes = access.bytes();
        let step = step_of(self.inner, &access.address)?;
        if access.is_aligned || ![bytes, bytes.wrapping_neg()].contains(&step) {
            return None;
        }
        let mut address = self.substituted(&access.address, entry)?;
        if step != bytes {
            let trips = self.iteration.atoms.term(Atom::Trips);
            address = address.plus(&Term::constant(bytes)).minus(&trips.times(bytes));
        }
        let body = self.inner.body();
        let first = self.iteration.accesses.len();
        let (mut stores, mut copies) = (Vec::new(), 0);
        for (number, value) in access.stores.iter().enumerate() {
            let Some(loaded) = as_loaded(body, value) else {
                stores
                    .push(self.substituted(value, entry).filter(|_| step_of(self.inner, value) == Some(0))?);
                continue;
            };
            let from = &body.accesses[loaded.access];
            let is_alike = (from.size, from.is_pair) == (access.size, access.is_pair)
                && loaded.is_second == (number == 1)
                && step_of(self.inner, &from.address) == Some(step);
            if !is_alike {
                return None;
            }
            let copied = from.loaded(first + loaded.access, loaded.is_second);
            stores.push(self.iteration.atoms.term(Atom::Loaded(copied)));
            copies += 1;
        }
        // All of them are copies, or none is.
        if ![0, stores.len()].contains(&copies) {
            return None;
        }
        Some(Access { place: self.place + access.place, address, stores, is_row: true, ..access.clone() })
    }

    /// Returns a term of an inner loop as one of the body, if the registers have these values.
    fn substituted(&mut self, term: &Term, registers: &[Option<Term>]) -> Option<Term> {
        let mut sum = Term::constant(term.addend());
        for (id, factor) in term.parts() {
            let value = match self.inner.body().atoms.atom(*id) {
                Atom::Entry(register) => registers[*register as usize].clone()?,
                Atom::Low(of) => {
                    let of = self.substituted(of, registers)?;
                    self.iteration.atoms.low(&of)
                }
                Atom::Signed(of) => {
                    let of = self.substituted(of, registers)?;
                    self.iteration.atoms.signed(&of)
                }
                Atom::Result(op, operands) => {
                    let of = operands.iter().map(|operand| self.substituted(operand, registers));
                    let of = of.collect::<Option<Vec<_>>>()?;
                    self.iteration.atoms.term(Atom::Result(*op, of))
                }
                Atom::Loaded(_) | Atom::Select { .. } | Atom::Unknown(_) | Atom::Trips => return None,
            };
            sum = sum.plus(&value.times(*factor));
        }
        Some(sum)
    }
}

/// Returns by how much a value changes in each iteration of a loop, if that is a constant.
fn step_of(of: &Loop, value: &Term) -> Option<u64> {
    let atoms = &of.body().atoms;
    let mut step = 0_u64;
    for (id, factor) in value.parts() {
        let atom = Term::atom(*id);
        let by = match atoms.atom(*id) {
            Atom::Entry(register) => match of.motion(*register) {
                Motion::Invariant => 0,
                Motion::Wide(step) => step.as_constant()?,
                _ => return None,
            },
            _ => {
                let changes = atoms.any(&atom, &mut |atom| match atom {
                    Atom::Entry(register) => *of.motion(*register) != Motion::Invariant,
                    Atom::Loaded(_) | Atom::Unknown(_) => true,
                    _ => false,
                });
                if changes {
                    return None;
                }
                0
            }
        };
        step = step.wrapping_add(by.wrapping_mul(*factor));
    }
    Some(step)
}
