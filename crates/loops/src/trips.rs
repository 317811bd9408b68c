//! The number of iterations that are certain to follow.

use alloc::vec::Vec;

use crate::atom::Atom;
use crate::flags::{Condition, Flags};
use crate::motion::{InnerLoop, Loop, Motion, Progression, Start, iterations_within};
use crate::term::Term;

/// Returns a number of iterations, from the next one on, of which none leaves the loop, if the registers of micro-ops are
/// `registers` now and no access to memory stops the lane. There may be more of them: 0 says nothing.
#[must_use]
pub fn certain_iterations(of: &Loop, registers: &[u64]) -> u64 {
    let start = Start::new(of, registers);
    let exits = of.body().exits.iter();
    exits.map(|exit| first_iteration(&start, &exit.condition).unwrap_or(0)).min().unwrap_or(0)
}

impl InnerLoop {
    /// Returns the number of iterations that the inner loop executes in each iteration of the outer one, if that is always the same
    /// and known.
    pub(crate) fn trips(&self, outer: &Start<'_>) -> Option<u64> {
        let known: Vec<_> = self.entry.iter().map(|value| outer.constant(value)).collect();
        let condition = &self.found.body().exits.first()?.condition;
        let mut are_known = true;
        condition.terms(&mut |term| are_known = are_known && self.are_known(term, &known));
        let registers: Vec<_> = known.iter().map(|value| value.unwrap_or(0)).collect();
        are_known.then(|| exact_iterations(&Start::new(&self.found, &registers), condition)).flatten()
    }

    /// Returns whether the registers on which the values of a term depend are known.
    fn are_known(&self, term: &Term, known: &[Option<u64>]) -> bool {
        !self.found.body().atoms.any(term, &mut |atom| match atom {
            Atom::Entry(register) => {
                let is_step_known = match self.found.motion(*register) {
                    // Its atoms are registers that do not change.
                    Motion::Wide(step) | Motion::Narrow(step) => {
                        step.as_constant().is_some() || self.are_known(step, known)
                    }
                    _ => true,
                };
                known[*register as usize].is_none() || !is_step_known
            }
            Atom::Loaded(_) | Atom::Unknown(_) | Atom::Trips => true,
            Atom::Low(_) | Atom::Signed(_) | Atom::Result(..) | Atom::Select { .. } => false,
        })
    }
}

/// Returns the number of iterations, from the next one on, up to the first one in which a condition holds, and with that one.
/// Returns `None` if it is not known, or there is no end.
fn exact_iterations(start: &Start<'_>, condition: &Condition) -> Option<u64> {
    let last = first_iteration(start, condition)?;
    let (_, wide) = condition.compared();
    let mut is_known = true;
    let holds = condition.holds(&mut |term| {
        let value = start.progression(term, wide).filter(|value| last < value.length);
        is_known &= value.is_some();
        value.map_or(0, |value| value.start.wrapping_add(value.step.wrapping_mul(last)))
    });
    // It may also be the first iteration in which a value is not known.
    (is_known && holds && condition.is_known()).then(|| last.checked_add(1)).flatten()
}

/// Returns the first iteration in which a condition may hold, if that is known: the next one is 0.
pub(crate) fn first_iteration(start: &Start<'_>, condition: &Condition) -> Option<u64> {
    let progression = |term: &Term, wide| start.progression(term, wide);
    let zero = Progression { start: 0, step: 0, length: u64::MAX };
    let first = match condition {
        Condition::Never => Some(u64::MAX),
        Condition::Zero { value, inverted } => {
            progression(value, true).map(|value| first_zero(value, 64, *inverted))
        }
        Condition::Flags { cond, flags: Flags::Sum { value, wide, .. } | Flags::Logic { value, wide } } => {
            progression(value, true).and_then(|value| match cond {
                0 | 1 => Some(first_zero(value, 64, *cond == 1)),
                4 | 5 => first_less(value, zero, *wide, true, *cond == 5),
                _ => None,
            })
        }
        Condition::Flags { cond, flags: Flags::Difference { x, y, wide } } => {
            progression(x, *wide).zip(progression(y, *wide)).and_then(|(x, y)| match cond {
                0 | 1 => Some(first_zero(difference(x, y), if *wide { 64 } else { 32 }, *cond == 1)),
                // CS, CC: x >= y, x < y. HI, LS: y < x, y >= x.
                2 | 3 => first_less(x, y, *wide, false, *cond == 2),
                4 | 5 => first_less(difference(x, y), zero, *wide, true, *cond == 5),
                8 | 9 => first_less(y, x, *wide, false, *cond == 9),
                // GE, LT; GT, LE.
                10 | 11 => first_less(x, y, *wide, true, *cond == 10),
                12 | 13 => first_less(y, x, *wide, true, *cond == 13),
                _ => None,
            })
        }
        Condition::Flags { flags: Flags::Unknown | Flags::Conditional { .. }, .. } => None,
    };
    first.or_else(|| {
        // The same in all iterations, whatever it is.
        let mut is_constant = !matches!(condition, Condition::Flags { flags, .. } if !flags.is_known());
        let holds = condition.holds(&mut |term| {
            let value = start.constant(term);
            is_constant &= value.is_some();
            value.unwrap_or(0)
        });
        is_constant.then_some(if holds { 0 } else { u64::MAX })
    })
}

/// Returns the difference of two progressions.
fn difference(x: Progression, y: Progression) -> Progression {
    Progression {
        start: x.start.wrapping_sub(y.start),
        step: x.step.wrapping_sub(y.step),
        length: x.length.min(y.length),
    }
}

/// Returns the first iteration in which a progression may be zero modulo 2^`bits`, or not be zero if `inverted`.
fn first_zero(value: Progression, bits: u32, inverted: bool) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let (start, step) = (value.start & mask, value.step & mask);
    let first = match (start == 0, step == 0, inverted) {
        (true, _, false) | (false, _, true) => 0,
        // Zero now, and not zero in the iteration after, unless it does not change.
        (true, false, true) => 1,
        (true, true, true) | (false, true, false) => u64::MAX,
        // start + n * step = 0 has a solution if each factor 2 of the step is one of the start.
        (false, false, false) => {
            let twos = step.trailing_zeros();
            if start.trailing_zeros() < twos {
                u64::MAX
            } else {
                let odd = step >> twos;
                (start.wrapping_neg() >> twos).wrapping_mul(inverse(odd)) & (mask >> twos)
            }
        }
    };
    first.min(value.length)
}

/// Returns the inverse of an odd number modulo 2^64.
const fn inverse(odd: u64) -> u64 {
    // Each of Newton's steps doubles the number of bits that are right, of which the number itself has three.
    let mut inverse = odd;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// Returns the first iteration in which `x < y` may hold, or `x >= y` if `inverted`, as signed or unsigned numbers.
fn first_less(x: Progression, y: Progression, wide: bool, is_signed: bool, inverted: bool) -> Option<u64> {
    let number = |value: u64| match (wide, is_signed) {
        (true, true) => i128::from(value as i64),
        (true, false) => i128::from(value),
        (false, true) => i128::from(value as i32),
        (false, false) => i128::from(value as u32),
    };
    // The steps may be negative in both cases.
    let step = |value: u64| if wide { i128::from(value as i64) } else { i128::from(value as i32) };
    let (least, most) = match (wide, is_signed) {
        (true, true) => (i64::MIN.into(), i64::MAX.into()),
        (true, false) => (0, u64::MAX.into()),
        (false, true) => (i32::MIN.into(), i32::MAX.into()),
        (false, false) => (0, u32::MAX.into()),
    };
    // As long as neither wraps, the difference is a progression of integers.
    let length =
        |of: Progression| iterations_within(number(of.start), step(of.step), least, most).min(of.length);
    let (distance, change) = (number(x.start) - number(y.start), step(x.step) - step(y.step));
    // The number of iterations, from the next one on, in which the condition does not hold.
    let most = i128::MAX / 4;
    let first = if inverted {
        iterations_within(distance, change, -most, -1)
    } else {
        iterations_within(distance, change, 0, most)
    };
    Some(first.min(length(x)).min(length(y)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_of_odd_numbers() {
        for odd in (1..10_001).step_by(2).chain([u64::MAX, 0x1234_5678_9abc_def1]) {
            assert_eq!(odd.wrapping_mul(inverse(odd)), 1, "{odd}");
        }
    }

    #[test]
    fn the_first_zero_of_bytes_scaled_to_words() {
        // All starts and steps of eight bits, as the highest byte of a word and of a doubleword.
        for bits in [32_u32, 64] {
            let scale = 1 << (bits - 8);
            for start in 0..=255_u8 {
                for step in 0..=255_u8 {
                    let values = |n: u16| start.wrapping_add(step.wrapping_mul(n as u8));
                    for inverted in [false, true] {
                        let expected = (0..=256_u16).find(|n| (values(*n) == 0) != inverted);
                        let length = u64::MAX;
                        let progression = Progression {
                            start: u64::from(start) * scale,
                            step: u64::from(step) * scale,
                            length,
                        };
                        assert_eq!(
                            first_zero(progression, bits, inverted),
                            expected.map_or(u64::MAX, u64::from),
                            "{start} by {step}, {bits} bits, {inverted}"
                        );
                    }
                }
            }
        }
    }
}
