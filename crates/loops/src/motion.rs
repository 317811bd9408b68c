//! The values of registers and terms in the iterations that follow, as arithmetic progressions.

use alloc::boxed::Box;
use alloc::vec::Vec;

use kvrm_arm64::micro_op::{Handler, MicroOp, REGISTERS, SINK, ZERO};
use kvrm_arm64::semantics::flags::condition_holds;

use crate::atom::{Atom, Loaded};
use crate::body::{Body, Refusal};
use crate::flags::Flags;
use crate::obstacle::Obstacle;
use crate::result::result;
use crate::term::{AtomId, Term};

/// How the value of a register changes from one iteration to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Not at all.
    Invariant,
    /// A term whose atoms do not change is added to it, modulo 2^64.
    Wide(Term),
    /// Such a term is added to its low word modulo 2^32, and the result is zero-extended.
    Narrow(Term),
    /// It is computed anew, without the value from the iteration before.
    Temporary,
    /// It is combined with a value of each iteration, and nothing else in the iteration depends on it.
    Fold(Fold, Term),
    /// In another way.
    Other,
}

/// How a register is combined with the values of iterations. The order of the values does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The sum modulo 2^64.
    Sum,
    /// The sum modulo 2^32, zero-extended.
    SumOfWords,
    /// The bitwise AND, of words unless it is `wide`.
    And {
        /// Whether values have 64 bits rather than 32.
        wide: bool,
    },
    /// The bitwise OR.
    Orr {
        /// Whether values have 64 bits rather than 32.
        wide: bool,
    },
    /// The bitwise exclusive OR.
    Eor {
        /// Whether values have 64 bits rather than 32.
        wide: bool,
    },
    /// The least or the greatest value.
    Extreme {
        /// Whether it is the greatest.
        is_greatest: bool,
        /// Whether values are signed.
        is_signed: bool,
        /// Whether values have 64 bits rather than 32.
        wide: bool,
    },
}

impl Fold {
    /// Combines two values.
    #[must_use]
    #[inline]
    pub const fn combine(self, one: u64, other: u64) -> u64 {
        let (value, wide) = match self {
            Self::Sum => (one.wrapping_add(other), true),
            Self::SumOfWords => (one.wrapping_add(other), false),
            Self::And { wide } => (one & other, wide),
            Self::Orr { wide } => (one | other, wide),
            Self::Eor { wide } => (one ^ other, wide),
            Self::Extreme { is_greatest, is_signed, wide } => {
                let (x, y) = match (wide, is_signed) {
                    (true, true) => (one ^ 1 << 63, other ^ 1 << 63),
                    (false, true) => ((one ^ 1 << 31) & 0xffff_ffff, (other ^ 1 << 31) & 0xffff_ffff),
                    (true, false) => (one, other),
                    (false, false) => (one & 0xffff_ffff, other & 0xffff_ffff),
                };
                (if (x > y) == is_greatest { one } else { other }, wide)
            }
        };
        if wide { value } else { value & 0xffff_ffff }
    }

    /// Combines a value with others.
    #[must_use]
    #[inline]
    pub fn combine_all(self, one: u64, all: impl Iterator<Item = u64>) -> u64 {
        // The loops over these are simple enough for vectors of the host.
        match self {
            Self::Sum | Self::SumOfWords => self.combine(one, all.fold(0, u64::wrapping_add)),
            Self::Eor { .. } => self.combine(one, all.fold(0, |x, y| x ^ y)),
            Self::Orr { .. } => self.combine(one, all.fold(0, |x, y| x | y)),
            Self::And { .. } => self.combine(one, all.fold(u64::MAX, |x, y| x & y)),
            Self::Extreme { is_greatest, is_signed, wide } => {
                // Signed numbers, and words, as doublewords of the same order.
                let (shift, bias) = (if wide { 0 } else { 32 }, u64::from(is_signed) << 63);
                let keys = all.chain([one]).map(|value| value << shift ^ bias);
                let key = if is_greatest { keys.max() } else { keys.min() };
                (key.unwrap_or(0) ^ bias) >> shift
            }
        }
    }
}

/// The numbers from a start by a step, modulo 2^64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progression {
    /// The value in the next iteration.
    pub start: u64,
    /// The difference between an iteration and the one before.
    pub step: u64,
    /// The number of iterations, from the next one on, in which the value is known to be so.
    pub length: u64,
}

/// A loop: its body, and how the body changes the registers.
///
/// ```
/// use kvrm_arm64::Features;
/// use kvrm_arm64::lowering::lower;
/// use kvrm_loops::{Loop, Motion, Refusal};
///
/// let words = [0xf800_8402, 0xeb01_001f, 0x54ff_ffc3]; // str x2, [x0], #8; cmp x0, x1; b.lo to the first
/// let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
/// let found = Loop::find(8, fetch)?;
/// assert!(matches!(found.motion(0), Motion::Wide(step) if step.as_constant() == Some(8)));
/// assert_eq!(*found.motion(1), Motion::Invariant);
/// # Ok::<(), Refusal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    body: Body,
    motions: Vec<Motion>,
    inner: Option<Box<InnerLoop>>,
}

/// A loop in the body of another one, which each iteration executes to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerLoop {
    /// The inner loop. Its only exit is the branch at its end.
    pub found: Loop,
    /// The value of each register of micro-ops when it begins, in the atoms of the other one.
    pub entry: Vec<Term>,
}

impl Loop {
    /// Finds the loop whose branch back is at `end`. `fetch` returns the micro-op at an address.
    ///
    /// # Errors
    /// The loop has no body that is understood.
    pub fn find(end: u64, fetch: impl FnMut(u64) -> Option<MicroOp>) -> Result<Self, Refusal> {
        Body::find(end, None, fetch).map(Self::of)
    }

    /// Finds the loop whose branch back is at `end`, with iterations that begin at `entry`, any of its instructions.
    ///
    /// # Errors
    /// The loop has no body that is understood.
    pub fn find_from(
        end: u64,
        entry: u64,
        fetch: impl FnMut(u64) -> Option<MicroOp>,
    ) -> Result<Self, Refusal> {
        Body::find(end, Some(entry), fetch).map(Self::of)
    }

    /// Finds how a body changes the registers.
    pub(crate) fn of(body: Body) -> Self {
        let mut motions: Vec<_> = (0..REGISTERS).map(|register| motion(&body, register)).collect();
        let others = (0..REGISTERS).filter(|register| {
            matches!(&motions[*register as usize], Motion::Fold(_, value) if !is_fold(&body, &motions, *register, value))
        });
        for register in others.collect::<Vec<_>>() {
            motions[register as usize] = Motion::Other;
        }
        Self { body, motions, inner: None }
    }

    /// Returns the loop with another one in it.
    pub(crate) fn with_inner(self, inner: InnerLoop) -> Self {
        Self { inner: Some(Box::new(inner)), ..self }
    }

    /// Returns the loop in the body, if there is one.
    #[must_use]
    pub fn inner(&self) -> Option<&InnerLoop> {
        self.inner.as_deref()
    }

    /// Returns the reason for which iterations are never executed at once, if there is one: a register changes in a way
    /// without a closed form, or an iteration depends on the flags of the one before.
    #[must_use]
    pub fn obstacle(&self) -> Option<Obstacle> {
        let other = (0..REGISTERS).find(|register| *self.motion(*register) == Motion::Other);
        other.map(Obstacle::Register).or_else(|| self.body.reads_flags.then_some(Obstacle::Flags))
    }

    /// Returns the body.
    #[must_use]
    pub const fn body(&self) -> &Body {
        &self.body
    }

    /// Returns how each register changes.
    pub(crate) fn motions(&self) -> &[Motion] {
        &self.motions
    }

    /// Returns how a register changes.
    #[must_use]
    pub fn motion(&self, register: u32) -> &Motion {
        &self.motions[register as usize]
    }

    /// Returns the values of a term in the iterations that follow, if the registers are `registers` now and the values are
    /// known to be a progression. Terms of words need to be right modulo 2^32 only.
    #[must_use]
    pub fn progression(&self, term: &Term, registers: &[u64], wide: bool) -> Option<Progression> {
        Start::new(self, registers).progression(term, wide)
    }
}

/// The numbers with which the next iteration begins.
#[derive(Clone, Debug)]
pub(crate) struct Start<'a> {
    of: &'a Loop,
    registers: &'a [u64],
    /// Values that are loaded from the same address in all iterations, and that no iteration changes.
    loaded: Vec<(Loaded, u64)>,
    /// The number of iterations of the inner loop, once it is known.
    trips: Option<u64>,
}

impl<'a> Start<'a> {
    pub(crate) const fn new(of: &'a Loop, registers: &'a [u64]) -> Self {
        Self { of, registers, loaded: Vec::new(), trips: None }
    }

    /// Sets the number of iterations of the inner loop.
    pub(crate) const fn set_trips(&mut self, trips: u64) {
        self.trips = Some(trips);
    }

    /// Returns the number of iterations of the inner loop, if it is known.
    pub(crate) const fn trips(&self) -> Option<u64> {
        self.trips
    }

    /// Adds a value that is the same in all iterations.
    pub(crate) fn add_loaded(&mut self, loaded: Loaded, value: u64) {
        self.loaded.push((loaded, value));
    }

    /// Returns the values of a term in the iterations that follow, if they are known to be a progression. Terms of words need to
    /// be right modulo 2^32 only.
    pub(crate) fn progression(&self, term: &Term, wide: bool) -> Option<Progression> {
        let mut sum = Progression { start: term.addend(), step: 0, length: u64::MAX };
        for (id, factor) in term.parts() {
            let atom = self.of_atom(*id, wide)?;
            sum.start = sum.start.wrapping_add(atom.start.wrapping_mul(*factor));
            sum.step = sum.step.wrapping_add(atom.step.wrapping_mul(*factor));
            sum.length = sum.length.min(atom.length);
        }
        Some(sum)
    }

    /// Returns the value of a term if it is the same in all iterations.
    pub(crate) fn constant(&self, term: &Term) -> Option<u64> {
        let value = self.progression(term, true)?;
        (value.step == 0 && value.length == u64::MAX).then_some(value.start)
    }

    /// Returns the progression of an atom.
    pub(crate) fn of_atom(&self, id: AtomId, wide: bool) -> Option<Progression> {
        let constant = |start| Progression { start, step: 0, length: u64::MAX };
        match self.of.body.atoms.atom(id) {
            Atom::Entry(register) => {
                let start = self.registers[*register as usize];
                match self.of.motion(*register) {
                    Motion::Invariant => Some(constant(start)),
                    Motion::Wide(step) => {
                        let step = self.progression(step, true)?.start;
                        Some(Progression { start, step, length: u64::MAX })
                    }
                    Motion::Narrow(step) => {
                        let step = self.progression(step, false)?.start;
                        let word = Progression { start, step, length: u64::MAX };
                        // In the next iteration, the high word is what it is now.
                        match (wide, start >> 32) {
                            (false, _) => Some(word),
                            (true, 0) => Some(unsigned_word(word)),
                            (true, _) => None,
                        }
                    }
                    Motion::Temporary | Motion::Fold(..) | Motion::Other => None,
                }
            }
            Atom::Low(word) => {
                let word = self.progression(word, false)?;
                Some(if wide { unsigned_word(word) } else { word })
            }
            Atom::Signed(word) => {
                let word = self.progression(word, false)?;
                Some(if wide { signed_word(word) } else { word })
            }
            Atom::Result(op, operands) => {
                let values = operands.iter().map(|operand| self.constant(operand));
                Some(constant(result(*op, &values.collect::<Option<Vec<_>>>()?)))
            }
            Atom::Loaded(loaded) => {
                let (_, value) = self.loaded.iter().find(|(of, _)| of == loaded)?;
                Some(constant(*value))
            }
            Atom::Select { cond, flags, yes, no, .. } => {
                let mut is_constant = true;
                let nzcv = flags.nzcv(&mut |term| {
                    let value = self.constant(term);
                    is_constant &= value.is_some();
                    value.unwrap_or(0)
                });
                let selected = if condition_holds(*cond, nzcv) { yes } else { no };
                is_constant.then(|| self.constant(selected)).flatten().map(constant)
            }
            Atom::Trips => self.trips.map(constant),
            Atom::Unknown(_) => None,
        }
    }
}

/// Returns how a body changes a register.
fn motion(body: &Body, register: u32) -> Motion {
    let is_invariant = |register: u32| is_entry(body, &body.after[register as usize], register);
    let after = &body.after[register as usize];
    if [ZERO, SINK].contains(&register) || is_invariant(register) {
        return Motion::Invariant;
    }
    if !body.is_read[register as usize] {
        return Motion::Temporary;
    }
    let is_constant = |term: &Term| {
        !body.atoms.any(term, &mut |atom| match atom {
            Atom::Entry(register) => !is_invariant(*register),
            Atom::Loaded(_) | Atom::Unknown(_) => true,
            Atom::Low(_) | Atom::Signed(_) | Atom::Result(..) | Atom::Select { .. } | Atom::Trips => false,
        })
    };
    if let Some(step) = without_entry(body, after, register).filter(is_constant) {
        return Motion::Wide(step);
    }
    let word = match after.parts() {
        [(id, 1)] if after.addend() == 0 => match body.atoms.atom(*id) {
            Atom::Low(word) => Some(word),
            _ => None,
        },
        _ => None,
    };
    let step = word.and_then(|word| without_entry(body, word, register)).filter(is_constant);
    if let Some(step) = step {
        return Motion::Narrow(step);
    }
    fold(body, after, register).map_or(Motion::Other, |(fold, value)| Motion::Fold(fold, value))
}

/// Returns how a register is combined with a value in each iteration.
fn fold(body: &Body, after: &Term, register: u32) -> Option<(Fold, Term)> {
    if let Some(value) = without_entry(body, after, register) {
        return Some((Fold::Sum, value));
    }
    let ([(id, 1)], 0) = (after.parts(), after.addend()) else { return None };
    let low = |term: &Term| match term.parts() {
        [(id, 1)] if term.addend() == 0 => match body.atoms.atom(*id) {
            Atom::Low(word) => Some(word.clone()),
            _ => None,
        },
        _ => None,
    };
    let is_it = |term: &Term, wide: bool| {
        is_entry(body, term, register)
            || !wide && low(term).is_some_and(|word| is_entry(body, &word, register))
    };
    let other = |one: &Term, two: &Term, wide| match (is_it(one, wide), is_it(two, wide)) {
        (true, false) => Some(two.clone()),
        (false, true) => Some(one.clone()),
        _ => None,
    };
    match body.atoms.atom(*id) {
        Atom::Low(word) => Some((Fold::SumOfWords, without_entry(body, word, register)?)),
        Atom::Result(op, operands) => {
            let wide = op.wide() == 1;
            let [one, two] = &operands[..] else { return None };
            let fold = match Handler::of(*op) {
                Handler::AND => Fold::And { wide },
                Handler::ORR => Fold::Orr { wide },
                Handler::EOR => Fold::Eor { wide },
                _ => return None,
            };
            Some((fold, other(one, two, wide)?))
        }
        Atom::Select { cond, flags: Flags::Difference { x, y, wide }, yes, no, wide: selects_wide } => {
            if wide != selects_wide {
                return None;
            }
            let value = other(yes, no, *wide)?;
            // The operands of the comparison are those of the selection, in one order or the other.
            let is_same = |one: &Term, two: &Term| {
                one == two
                    || (is_it(one, *wide) && is_it(two, *wide))
                    || !*wide && (low(one).as_ref() == Some(two) || low(two).as_ref() == Some(one))
            };
            let is_first = if is_same(x, yes) && is_same(y, no) {
                true
            } else if is_same(x, no) && is_same(y, yes) {
                false
            } else {
                return None;
            };
            // Whether the greater operand of the comparison is selected, and whether numbers are signed. Equal ones are equal.
            let (selects_greater, is_signed) = match cond {
                2 | 8 => (is_first, false),
                3 | 9 => (!is_first, false),
                10 | 12 => (is_first, true),
                11 | 13 => (!is_first, true),
                _ => return None,
            };
            Some((Fold::Extreme { is_greatest: selects_greater, is_signed, wide: *wide }, value))
        }
        _ => None,
    }
}

/// Returns whether a register is only combined with values: neither these nor anything else in the iteration depends on it, nor do
/// the values depend on other registers without a closed form.
pub(crate) fn is_fold(body: &Body, motions: &[Motion], register: u32, value: &Term) -> bool {
    let mut reads = |term: &Term| body.atoms.any(term, &mut |atom| *atom == Atom::Entry(register));
    let mut is_read = reads(value);
    for exit in &body.exits {
        exit.condition.terms(&mut |term| is_read = is_read || reads(term));
    }
    for access in &body.accesses {
        is_read = is_read || reads(&access.address) || access.stores.iter().any(&mut reads);
    }
    let others =
        (0..REGISTERS).filter(|other| *other != register && motions[*other as usize] != Motion::Temporary);
    is_read = is_read || others.into_iter().any(|other| reads(&body.after[other as usize]));
    !is_read
}

/// Returns whether a term is the value of a register at the beginning of the iteration.
fn is_entry(body: &Body, term: &Term, register: u32) -> bool {
    without_entry(body, term, register).is_some_and(|rest| rest.as_constant() == Some(0))
}

/// Returns a term without the value of a register at the beginning of the iteration, if that is added once.
fn without_entry(body: &Body, term: &Term, register: u32) -> Option<Term> {
    let is_it = |id| matches!(body.atoms.atom(id), Atom::Entry(of) if *of == register);
    let (id, _) = *term.parts().iter().find(|(id, factor)| is_it(*id) && *factor == 1)?;
    Some(term.minus(&Term::atom(id)))
}

/// Returns the number of iterations, from the next one on, in which `start` plus the iteration's number times `step` is from
/// `least` to `most`.
pub(crate) fn iterations_within(start: i128, step: i128, least: i128, most: i128) -> u64 {
    if !(least..=most).contains(&start) {
        return 0;
    }
    let count = match step {
        0 => return u64::MAX,
        1.. => (most - start) / step + 1,
        _ => (start - least) / -step + 1,
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Returns a progression modulo 2^32, zero-extended.
fn unsigned_word(word: Progression) -> Progression {
    let (start, step) = (u64::from(word.start as u32), i64::from(word.step as i32));
    let length = iterations_within(start.into(), step.into(), 0, u32::MAX.into());
    Progression { start, step: step as u64, length: length.min(word.length) }
}

/// Returns a progression modulo 2^32, sign-extended.
fn signed_word(word: Progression) -> Progression {
    let (start, step) = (i64::from(word.start as i32), i64::from(word.step as i32));
    let length = iterations_within(start.into(), step.into(), i32::MIN.into(), i32::MAX.into());
    Progression { start: start as u64, step: step as u64, length: length.min(word.length) }
}
