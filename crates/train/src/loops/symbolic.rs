//! The loop of a body as the checker sees it, and what its conditions compare.

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::SP;
use kvrm_loops::{Condition, Flags, Loop, Term};
use kvrm_models::inputs::REGISTERS;

/// Finds the loop of a body as the checker sees it.
pub(super) fn find(words: &[u32]) -> Option<Loop> {
    let end = 4 * (words.len() as u64).checked_sub(1)?;
    let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::ARMV8_0));
    let found = Loop::find(end, fetch).ok()?;
    // The branch back leads to the first word, and not to another one.
    (found.body().head == 0).then_some(found)
}

/// Returns registers by their numbers in micro-ops.
pub(super) fn micro_op_registers(registers: &[u64; REGISTERS]) -> [u64; 34] {
    std::array::from_fn(|number| match number as u32 {
        number @ 0..=30 => registers[number as usize],
        SP => registers[31],
        _ => 0,
    })
}

/// Returns the terms that a condition compares, and whether they have 64 bits.
pub(super) fn compared(condition: &Condition) -> (Vec<&Term>, bool) {
    match condition {
        // Conditional comparisons have several of them, and count as not understood.
        Condition::Never | Condition::Flags { flags: Flags::Unknown | Flags::Conditional { .. }, .. } => {
            (Vec::new(), true)
        }
        Condition::Zero { value, .. } => (vec![value], true),
        Condition::Flags { flags: Flags::Sum { value, .. } | Flags::Logic { value, .. }, .. } => {
            (vec![value], true)
        }
        Condition::Flags { flags: Flags::Difference { x, y, wide }, .. } => (vec![x, y], *wide),
    }
}

/// Returns whether the checker understands a condition, if it knows the values that are compared.
pub(super) const fn is_understood(condition: &Condition) -> bool {
    match condition {
        Condition::Never | Condition::Zero { .. } => true,
        Condition::Flags { cond, flags } => match flags {
            // It does not know overflow alone, and of results it knows only sign and zero.
            Flags::Difference { .. } => !matches!(cond, 6 | 7),
            Flags::Sum { .. } | Flags::Logic { .. } => matches!(cond, 0 | 1 | 4 | 5),
            Flags::Unknown | Flags::Conditional { .. } => false,
        },
    }
}
