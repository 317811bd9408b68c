//! The values of registers and terms in the iterations that follow, as arithmetic progressions.

use alloc::vec::Vec;

use kvrm_arm64::micro_op::{Handler, MicroOp, REGISTERS, ROTATED, SIGNED, SINK, ZERO};

use crate::body::{Body, Refusal};
use crate::term::{Atom, Term};

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
    /// In another way.
    Other,
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
}

impl Loop {
    /// Finds the loop whose branch back is at `end`. `fetch` returns the micro-op at an address.
    ///
    /// # Errors
    /// The loop has no body that is understood.
    pub fn find(end: u64, fetch: impl FnMut(u64) -> Option<MicroOp>) -> Result<Self, Refusal> {
        let body = Body::find(end, fetch)?;
        let motions = (0..REGISTERS).map(|register| motion(&body, register)).collect();
        Ok(Self { body, motions })
    }

    /// Returns whether many iterations may have a closed form: registers change in steps, and no iteration depends on the flags
    /// of the one before.
    #[must_use]
    pub fn has_closed_form(&self) -> bool {
        !self.body.reads_flags && !self.motions.contains(&Motion::Other)
    }

    /// Returns the body.
    #[must_use]
    pub const fn body(&self) -> &Body {
        &self.body
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
        let mut sum = Progression { start: term.addend(), step: 0, length: u64::MAX };
        for (id, factor) in term.parts() {
            let atom = self.of_atom(self.body.atoms.atom(*id), registers, wide)?;
            sum.start = sum.start.wrapping_add(atom.start.wrapping_mul(*factor));
            sum.step = sum.step.wrapping_add(atom.step.wrapping_mul(*factor));
            sum.length = sum.length.min(atom.length);
        }
        Some(sum)
    }

    /// Returns the progression of an atom.
    fn of_atom(&self, atom: &Atom, registers: &[u64], wide: bool) -> Option<Progression> {
        match atom {
            Atom::Entry(register) => {
                let start = registers[*register as usize];
                match self.motion(*register) {
                    Motion::Invariant => Some(Progression { start, step: 0, length: u64::MAX }),
                    Motion::Wide(step) => {
                        let step = self.progression(step, registers, true)?.start;
                        Some(Progression { start, step, length: u64::MAX })
                    }
                    Motion::Narrow(step) => {
                        let step = self.progression(step, registers, false)?.start;
                        let word = Progression { start, step, length: u64::MAX };
                        // In the next iteration, the high word is what it is now.
                        match (wide, start >> 32) {
                            (false, _) => Some(word),
                            (true, 0) => Some(unsigned_word(word)),
                            (true, _) => None,
                        }
                    }
                    Motion::Temporary | Motion::Other => None,
                }
            }
            Atom::Low(word) => {
                let word = self.progression(word, registers, false)?;
                Some(if wide { unsigned_word(word) } else { word })
            }
            Atom::Signed(word) => {
                let word = self.progression(word, registers, false)?;
                Some(if wide { signed_word(word) } else { word })
            }
            Atom::Result(op, operands) => {
                let values = operands.iter().map(|operand| {
                    let value = self.progression(operand, registers, true)?;
                    (value.step == 0 && value.length == u64::MAX).then_some(value.start)
                });
                let start = result(*op, &values.collect::<Option<Vec<_>>>()?)?;
                Some(Progression { start, step: 0, length: u64::MAX })
            }
            Atom::Loaded(_) | Atom::LoadedSecond(_) | Atom::Unknown(_) => None,
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
            Atom::Loaded(_) | Atom::LoadedSecond(_) | Atom::Unknown(_) => true,
            Atom::Low(_) | Atom::Signed(_) | Atom::Result(..) => false,
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
    step.map_or(Motion::Other, Motion::Narrow)
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

/// Returns the result of a micro-op for operands, if it is one that this function knows.
fn result(op: MicroOp, operands: &[u64]) -> Option<u64> {
    const EXTRACTION: u32 = 0;
    const AND: u32 = Handler::AND as u32;
    const ORR: u32 = Handler::ORR as u32;
    const EOR: u32 = Handler::EOR as u32;
    const MULTIPLY: u32 = Handler::MULTIPLY_ADD as u32;
    match (op.handler(), operands) {
        (EXTRACTION, [value]) if op.extraction() != ROTATED => {
            let shifted = value << op.left();
            Some(if op.extraction() == SIGNED {
                ((shifted as i64) >> op.right()) as u64
            } else {
                shifted >> op.right()
            })
        }
        (AND, [a, b]) => Some(a & b),
        (ORR, [a, b]) => Some(a | b),
        (EOR, [a, b]) => Some(a ^ b),
        (MULTIPLY, [a, b]) => Some(a.wrapping_mul(*b)),
        _ => None,
    }
}
