//! The check that every slice advances the clock on the device.

use crate::device::error::Error;
use kvrm_shaders::interface::spiking::Clock;

/// The position of the clock after the last slice that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    /// The next step.
    pub(super) step: u64,
    /// The slot of the ring that holds the input of the next step.
    pub(super) head: u32,
    /// The number of steps that are left of the chunk.
    pub(super) left: u64,
}

/// The number of steps that a slice has to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedSteps {
    /// The number of steps of all its batches. It does fewer if fewer are left.
    pub(super) steps: u64,
    /// The minimum number of steps of a slice that records spikes: it may stop after these if the recording is full.
    pub(super) least: Option<u64>,
}

impl Progress {
    /// Advances to the clock after a slice, in a network whose ring has `slots` slots.
    ///
    /// # Errors
    ///
    /// [`Error::NoProgress`]: the slice did not do the expected steps, or the fields of the clock contradict each
    /// other.
    pub(super) fn advance(
        &mut self,
        clock: &Clock,
        expected: ExpectedSteps,
        slots: u32,
    ) -> Result<(), Error> {
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

    /// Returns the clock `steps` steps after [`BEGIN`].
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
    fn a_slice_has_to_do_all_its_steps_or_all_that_are_left() {
        for (steps, made, is_right) in [
            (40, 40, true),
            (40, 39, false),
            (40, 41, false),
            (300, 100, true),
            (300, 99, false),
            (40, 0, false),
        ] {
            let mut progress = BEGIN;
            let result = progress.advance(&clock(made), ExpectedSteps { steps, least: None }, SLOTS);
            assert_eq!(result.is_ok(), is_right, "{made} of {steps} steps: {result:?}");
            let end = Progress { step: BEGIN.step + made, head: clock(made).head, left: BEGIN.left - made };
            assert_eq!(progress, if is_right { end } else { BEGIN }, "after {made} of {steps} steps");
        }
    }

    #[test]
    fn a_slice_whose_recording_is_full_may_do_fewer_steps() {
        for (made, is_right) in [(0, false), (3, false), (4, true), (20, true), (40, true), (41, false)] {
            let expected = ExpectedSteps { steps: 40, least: Some(4) };
            let result = { BEGIN }.advance(&clock(made), expected, SLOTS);
            assert_eq!(result.is_ok(), is_right, "{made} steps: {result:?}");
        }
        let expected = ExpectedSteps { steps: 40, least: Some(4) };
        let error = { BEGIN }.advance(&clock(0), expected, SLOTS).expect_err("the clock stands still");
        let text = error.to_string();
        assert!(text.contains("step 4294967293 instead of step 4294967297 or later"), "{text}");
    }

    #[test]
    fn all_fields_of_the_clock_have_to_agree() {
        let right = clock(40);
        let wrong = [
            Clock { step: right.step + 1, ..right },
            Clock { step_high: 0, ..right },
            Clock { head: right.head + 1, ..right },
            Clock { remaining: 61, ..right },
            Clock { remaining: u32::MAX, ..right },
        ];
        for clock in wrong {
            let result = { BEGIN }.advance(&clock, ExpectedSteps { steps: 40, least: None }, SLOTS);
            assert!(matches!(result, Err(Error::NoProgress { .. })), "{clock:?}: {result:?}");
        }
    }
}
