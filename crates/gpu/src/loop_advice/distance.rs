//! How far a loop is from its exit: inputs of the iteration predictor.

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::{REGISTERS, SP};
use kvrm_loops::{Condition, Flags, Loop};

/// The difference of the two sides of the comparison of the exit that is reached first, and its change in an iteration. Both are
/// zero if that is not known.
///
/// Nothing is proved: other exits may be reached earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Distance {
    pub(super) distance: u64,
    pub(super) step: u64,
}

impl Distance {
    /// Returns the distance for the values of x0 to x30 and the stack pointer.
    pub(super) fn new(words: &[u32], registers: &[u64; 32]) -> Self {
        let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::ALL));
        let Ok(found) = Loop::find(4 * (words.len() as u64).saturating_sub(1), fetch) else {
            return Self::default();
        };
        let registers: [u64; REGISTERS as usize] = std::array::from_fn(|number| match number as u32 {
            number @ 0..=30 => registers[number as usize],
            SP => registers[31],
            _ => 0,
        });
        let exits = found.body().exits.iter();
        let all = exits.filter_map(|exit| Self::of_exit(&found, &exit.condition, &registers));
        all.min_by_key(|of| of.distance / of.step.max(1)).unwrap_or_default()
    }

    fn of_exit(found: &Loop, condition: &Condition, registers: &[u64]) -> Option<Self> {
        let progression = |term, wide| found.progression(term, registers, wide);
        let (start, step, is_wide) = match condition {
            Condition::Zero { value, .. } => {
                let value = progression(value, true)?;
                (value.start, value.step, true)
            }
            Condition::Flags {
                flags: Flags::Sum { value, wide, .. } | Flags::Logic { value, wide }, ..
            } => {
                let value = progression(value, true)?;
                (value.start, value.step, *wide)
            }
            Condition::Flags { flags: Flags::Difference { x, y, wide }, .. } => {
                let (x, y) = (progression(x, *wide)?, progression(y, *wide)?);
                (x.start.wrapping_sub(y.start), x.step.wrapping_sub(y.step), *wide)
            }
            Condition::Never | Condition::Flags { .. } => return None,
        };
        let number = |value: u64| if is_wide { value as i64 } else { i64::from(value as i32) };
        let step = number(step);
        let distance = if step < 0 { number(start) } else { number(start.wrapping_neg()) };
        (step != 0).then_some(Self { distance: distance.unsigned_abs(), step: step.unsigned_abs() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_exit_counts() {
        let mut registers = [0; 32];
        (registers[0], registers[1], registers[4]) = (0x1000, 0x2000, 100);
        // str x2, [x0], #8; cmp x0, x1; b.lo
        let fill = [0xf800_8402, 0xeb01_001f, 0x54ff_ffc3];
        assert_eq!(Distance::new(&fill, &registers), Distance { distance: 0xff8, step: 8 });
        // ldrb w3, [x1], #1; cbz w3 to the end; subs x4, x4, #1; b.ne
        let search = [0x3840_1423, 0x3400_0063, 0xf100_0484, 0x54ff_ffa1];
        assert_eq!(Distance::new(&search, &registers), Distance { distance: 99, step: 1 }, "of the counter");
        assert_eq!(Distance::new(&[0x1400_0000], &registers), Distance::default(), "no exit");
        assert_eq!(Distance::new(&[], &registers), Distance::default());
    }
}
