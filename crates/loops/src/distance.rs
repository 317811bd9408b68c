//! An estimate of how far a loop is from its exit.

use crate::flags::{Condition, Flags};
use crate::motion::Loop;

/// The distance of a loop from its exit, and the step by which an iteration shortens it. Their quotient is about the number of
/// iterations. Both are zero if they are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distance {
    /// The difference of the two sides of the comparison of the exit.
    pub distance: u64,
    /// The change of the difference in an iteration.
    pub step: u64,
}

impl Distance {
    /// Returns the distance from the exit that is reached first, of those that progressions decide, if the registers of micro-ops
    /// are `registers` now.
    ///
    /// Nothing is proved: other exits may be reached earlier.
    ///
    /// ```
    /// use kvrm_arm64::Features;
    /// use kvrm_arm64::lowering::lower;
    /// use kvrm_loops::{Distance, Loop, micro_op_registers};
    ///
    /// let words = [0xf800_8402, 0xeb01_001f, 0x54ff_ffc3]; // str x2, [x0], #8; cmp x0, x1; b.lo to the first
    /// let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
    /// let found = Loop::find(8, fetch).expect("the loop is simple");
    /// let mut registers = [0; 32];
    /// (registers[0], registers[1]) = (0x1000, 0x2000);
    /// let distance = Distance::new(&found, &micro_op_registers(&registers));
    /// assert_eq!(distance, Distance { distance: 0xff8, step: 8 });
    /// ```
    #[must_use]
    pub fn new(found: &Loop, registers: &[u64]) -> Self {
        let exits = found.body().exits.iter();
        let all = exits.filter_map(|exit| Self::of_exit(found, &exit.condition, registers));
        all.min_by_key(|of| of.distance / of.step.max(1)).unwrap_or_default()
    }

    fn of_exit(found: &Loop, condition: &Condition, registers: &[u64]) -> Option<Self> {
        let (terms, wide) = condition.compared();
        let mut values = terms.into_iter().map(|term| found.progression(term, registers, wide));
        let left = values.next()??;
        let (start, step) = match values.next() {
            None => (left.start, left.step),
            Some(right) => {
                let right = right?;
                (left.start.wrapping_sub(right.start), left.step.wrapping_sub(right.step))
            }
        };
        // Sums of words are right modulo 2^32 only, also where their result is compared with zero.
        let is_wide = match condition {
            Condition::Flags { flags: Flags::Sum { wide, .. } | Flags::Logic { wide, .. }, .. } => *wide,
            _ => wide,
        };
        let number = |value: u64| if is_wide { value as i64 } else { i64::from(value as i32) };
        let step = number(step);
        let distance = if step < 0 { number(start) } else { number(start.wrapping_neg()) };
        (step != 0).then_some(Self { distance: distance.unsigned_abs(), step: step.unsigned_abs() })
    }
}

#[cfg(test)]
mod tests {
    use kvrm_arm64::Features;
    use kvrm_arm64::lowering::lower;

    use super::*;
    use crate::registers::micro_op_registers;

    fn distance(words: &[u32]) -> Distance {
        let mut registers = [0; 32];
        (registers[0], registers[1], registers[4]) = (0x1000, 0x2000, 100);
        let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
        let found = Loop::find(4 * (words.len() as u64 - 1), fetch).expect("the loop is simple");
        Distance::new(&found, &micro_op_registers(&registers))
    }

    #[test]
    fn the_nearest_exit_counts() {
        // ldrb w3, [x1], #1; cbz w3 to the end; subs x4, x4, #1; b.ne
        let search = [0x3840_1423, 0x3400_0063, 0xf100_0484, 0x54ff_ffa1];
        assert_eq!(distance(&search), Distance { distance: 99, step: 1 }, "of the counter");
        // cbz x4 to the end; sub x4, x4, #1; add x0, x0, #8; cmp x0, x1; b.lo
        let both = [0xb400_00a4, 0xd100_0484, 0x9100_2000, 0xeb01_001f, 0x54ff_ff83];
        assert_eq!(
            distance(&both),
            Distance { distance: 100, step: 1 },
            "of the counter, not of the 511 other steps"
        );
        // subs w4, w4, #1; b.ne
        assert_eq!(distance(&[0x7100_0484, 0x54ff_ffe1]), Distance { distance: 99, step: 1 }, "a word");
        assert_eq!(distance(&[0x1400_0000]), Distance::default(), "no exit");
    }
}
