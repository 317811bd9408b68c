//! Exact labels of loops, from what `kvrm-loops` proves about their bodies.
//!
//! | kind | definition |
//! | --- | --- |
//! | countdown, count-up | every exit of the loop is decided by values that are proved to move in steps, and one of them moves; the counter goes down, or up |
//! | memory-fill | the same, and the loop loads nothing and stores only values that do not change, at addresses that move |
//! | none | everything else: loops that the checker refuses (calls, inner branches, vectors), or with an exit that depends on loaded data |
//!
//! The counter is the register that moves in the comparison of the last exit: usually that of the branch back.

use kvrm_arm64::micro_op::SP;
use kvrm_loops::{Atom, Body, Exit, Loop, Motion, Term, certain_iterations, micro_op_registers};
use kvrm_models::inputs::REGISTERS;
use kvrm_models::{LoopKind, LoopPattern};

use super::pattern::pattern;
use super::symbolic::{find, is_understood};

/// The labels of a loop with the values of its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopLabels {
    /// The kind.
    pub kind: LoopKind,
    /// The counter, from 0 to 31, unless the kind is [`LoopKind::None`].
    pub counter: Option<usize>,
    /// The pattern.
    pub pattern: LoopPattern,
    /// The number of iterations that the checker proves, including the one that leaves the loop. It is `None` if the checker
    /// proves none.
    pub proved_iterations: Option<u64>,
}

/// The analysis of a body, from which the labels for any values of registers follow.
#[derive(Clone, Debug)]
pub struct Analysis {
    found: Option<Loop>,
    pattern: LoopPattern,
}

impl Analysis {
    /// Analyses the words of a body.
    ///
    /// ```
    /// use kvrm_models::{LoopKind, LoopPattern};
    /// use kvrm_train::loops::Analysis;
    ///
    /// let body = [0x3800_1402, 0xf100_0421, 0x54ff_ffc1]; // strb w2, [x0], #1; subs x1, x1, #1; b.ne to the first
    /// let mut registers = [0; 32];
    /// registers[1] = 100;
    /// let labels = Analysis::new(&body).labels(&registers);
    /// assert_eq!((labels.kind, labels.counter), (LoopKind::MemoryFill, Some(1)));
    /// assert_eq!((labels.pattern, labels.proved_iterations), (LoopPattern::Memset, Some(100)));
    /// ```
    #[must_use]
    pub fn new(words: &[u32]) -> Self {
        Self { found: find(words), pattern: pattern(words) }
    }

    /// Returns the pattern, which does not depend on registers.
    #[must_use]
    pub const fn pattern(&self) -> LoopPattern {
        self.pattern
    }

    /// Returns the labels for values of x0 to x30 and the stack pointer.
    #[must_use]
    pub fn labels(&self, registers: &[u64; REGISTERS]) -> LoopLabels {
        let none = LoopLabels {
            kind: LoopKind::None,
            counter: None,
            pattern: self.pattern,
            proved_iterations: None,
        };
        let Some(found) = &self.found else { return none };
        let registers = micro_op_registers(registers);
        let Some((counter, step)) = counter(found, &registers) else { return none };
        let kind = if is_fill(found, &registers) {
            LoopKind::MemoryFill
        } else if step < 0 {
            LoopKind::Countdown
        } else {
            LoopKind::CountUp
        };
        let proved = certain_iterations(found, &registers).checked_add(1);
        LoopLabels { kind, counter: Some(counter), proved_iterations: proved, ..none }
    }
}

/// Returns the counter of a loop and its step, if values that move in steps decide all exits.
fn counter(found: &Loop, registers: &[u64]) -> Option<(usize, i64)> {
    let exits = &found.body().exits;
    if !exits.iter().all(|exit| is_decided(found, exit, registers)) {
        return None;
    }
    exits.iter().rev().find_map(|exit| {
        let (terms, _) = exit.condition.compared();
        terms.into_iter().find_map(|term| moving_register(found, term, registers))
    })
}

/// Returns whether an exit is decided by values that move in steps, and in a way that the checker understands.
fn is_decided(found: &Loop, exit: &Exit, registers: &[u64]) -> bool {
    let (terms, wide) = exit.condition.compared();
    is_understood(&exit.condition)
        && terms.into_iter().all(|term| found.progression(term, registers, wide).is_some())
}

/// Returns the first register in a term that moves, and its step.
fn moving_register(found: &Loop, term: &Term, registers: &[u64]) -> Option<(usize, i64)> {
    let atoms = &found.body().atoms;
    term.parts().iter().find_map(|(id, _)| match atoms.atom(*id) {
        Atom::Entry(register) => {
            let step = match found.motion(*register) {
                Motion::Wide(step) => found.progression(step, registers, true)?.start as i64,
                Motion::Narrow(step) => i64::from(found.progression(step, registers, false)?.start as i32),
                Motion::Invariant | Motion::Temporary | Motion::Fold(..) | Motion::Other => return None,
            };
            let register = if *register == SP { 31 } else { *register as usize };
            (step != 0).then_some((register, step))
        }
        Atom::Low(inner) | Atom::Signed(inner) => moving_register(found, inner, registers),
        Atom::Result(_, operands) => {
            operands.iter().find_map(|operand| moving_register(found, operand, registers))
        }
        Atom::Loaded(_) | Atom::Select { .. } | Atom::Unknown(_) | Atom::Trips => None,
    })
}

/// Returns whether a loop loads nothing, and stores values that do not change at addresses that move.
fn is_fill(found: &Loop, registers: &[u64]) -> bool {
    let Body { accesses, .. } = found.body();
    !accesses.is_empty()
        && accesses.iter().all(|access| {
            let moves = found.progression(&access.address, registers, true).is_some_and(|at| at.step != 0);
            let is_same = |value: &Term| {
                found.progression(value, registers, access.size == 8).is_some_and(|values| values.step == 0)
            };
            moves && !access.stores.is_empty() && access.stores.iter().all(is_same)
        })
}
