//! The clock on the device, which has to advance with every slice.

use crate::device::error::Error;
use kvrm_shaders::interface::spiking::Clock;

/// Where the clock was after the last slice that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    /// The next step.
    pub(super) step: u64,
    /// The slot of the ring for it.
    pub(super) head: u32,
    /// Steps that are left of what the device has been told.
    pub(super) left: u64,
}

/// How far a slice has to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// Its batches together have so many steps, unless fewer are left.
    pub(super) steps: u64,
    /// The fewest steps after which the recording may be full; then the rest of the slice does nothing.
    pub(super) least: Option<u64>,
}

impl Progress {
    /// Takes over the clock as a slice has left it, in a network whose ring has so many slots.
    ///
    /// # Errors
    ///
    /// [`Error::NoProgress`]: the clock is not where the slice should have taken it.
    pub(super) fn advance(&mut self, clock: &Clock, expected: Expected, slots: u32) -> Result<(), Error> {
        let found = u64::from(clock.step) | u64::from(clock.step_high) << 32;
        let most = expected.steps.min(self.left);
        let least = expected.least.map_or(most, |least| least.min(most));
        let made = found.wrapping_sub(self.step);
        let head = (u64::from(self.head) + made.min(most)) % u64::from(slots.max(1));
        let agrees =
            u64::from(clock.remaining) == self.left.wrapping_sub(made) && u64::from(clock.head) == head;
        if !(least..=most).contains(&made) || !agrees {
            return Err(Error::NoProgress {
                from: self.step,
                found,
                expected: self.step.wrapping_add(least),
                at_least: least != most,
            });
        }
        *self = Self { step: found, head: clock.head, left: self.left - made };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOTS: u32 = 7;
    /// Just before the low word of the step overflows.
    const BEGIN: Progress = Progress { step: u32::MAX as u64 - 2, head: 5, left: 100 };

    /// The clock so many steps after the beginning.
    fn clock(steps: u64) -> Clock {
        let step = BEGIN.step + steps;
        Clock {
            step: step as u32,
            step_high: (step >> 32) as u32,
            head: ((u64::from(BEGIN.head) + steps) % u64::from(SLOTS)) as u32,
            remaining: (BEGIN.left - steps) as u32,
            ..Clock::default()
        }
    }

    #[test]
    fn a_slice_makes_all_its_steps_or_all_that_are_left() {
        for (steps, made, is_right) in [
            (40, 40, true),
            (40, 39, false),
            (40, 41, false),
            (300, 100, true),
            (300, 99, false),
            (40, 0, false),
        ] {
            let mut progress = BEGIN;
            let result = progress.advance(&clock(made), Expected { steps, least: None }, SLOTS);
            assert_eq!(result.is_ok(), is_right, "{made} of {steps} steps: {result:?}");
            let end = Progress { step: BEGIN.step + made, head: clock(made).head, left: BEGIN.left - made };
            assert_eq!(progress, if is_right { end } else { BEGIN }, "after {made} of {steps} steps");
        }
    }

    #[test]
    fn a_slice_whose_recording_is_full_makes_some_steps() {
        for (made, is_right) in [(0, false), (3, false), (4, true), (20, true), (40, true), (41, false)] {
            let expected = Expected { steps: 40, least: Some(4) };
            let result = { BEGIN }.advance(&clock(made), expected, SLOTS);
            assert_eq!(result.is_ok(), is_right, "{made} steps: {result:?}");
        }
        let expected = Expected { steps: 40, least: Some(4) };
        let error = { BEGIN }.advance(&clock(0), expected, SLOTS).expect_err("it stands still");
        let text = error.to_string();
        assert!(text.contains("step 4294967293 in work that leads to step 4294967297 or later"), "{text}");
    }

    #[test]
    fn all_of_the_clock_has_to_agree() {
        let right = clock(40);
        let wrong = [
            Clock { step: right.step + 1, ..right },
            Clock { step_high: 0, ..right },
            Clock { head: right.head + 1, ..right },
            Clock { remaining: 61, ..right },
            Clock { remaining: u32::MAX, ..right },
        ];
        for clock in wrong {
            let result = { BEGIN }.advance(&clock, Expected { steps: 40, least: None }, SLOTS);
            assert!(matches!(result, Err(Error::NoProgress { .. })), "{clock:?}: {result:?}");
        }
    }
}
