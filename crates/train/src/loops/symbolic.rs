//! The loop of a body as the checker sees it, and the conditions that the checker understands.

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_loops::{Condition, Flags, Loop};

/// The target of an exit that stands for an inner branch.
pub(super) const FAR: u64 = 1 << 40;

/// Finds the loop of a body as the checker sees it.
pub(super) fn find(words: &[u32]) -> Option<Loop> {
    let end = 4 * (words.len() as u64).checked_sub(1)?;
    let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::ARMV8_0));
    let found = Loop::find(end, fetch).ok()?;
    // The branch back leads to the first word, and not to another one.
    (found.body().head == 0).then_some(found)
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
