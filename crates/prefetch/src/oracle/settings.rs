//! The settings of the prefetcher of the memory oracle.

use thiserror::Error;

/// The largest number of rounds. With more, there would be little room for the window before the predicted accesses.
const ROUNDS_MAX: usize = 3;

/// What an [`OracleLane`](crate::OracleLane) does with predictions. The default is what the validation programs wait least with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OracleSettings {
    least_confidence: f32,
    rounds: usize,
}

/// A setting is wrong.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum InvalidOracleSettings {
    /// The least confidence.
    #[error("the least confidence is {0}; expected 0 to 1")]
    LeastConfidence(f32),
    /// The number of rounds.
    #[error("the number of rounds is {0}; expected 1 to {ROUNDS_MAX}")]
    Rounds(usize),
}

impl Default for OracleSettings {
    fn default() -> Self {
        Self { least_confidence: 0.1, rounds: 2 }
    }
}

impl OracleSettings {
    /// Creates settings: the confidence from which on a page is named, and how often the network predicts at an access, at most.
    /// The second time it predicts what comes after the accesses that it has predicted, and so on.
    ///
    /// # Errors
    /// The confidence is not from 0 to 1, or there are no rounds or more than 3.
    pub fn new(least_confidence: f32, rounds: usize) -> Result<Self, InvalidOracleSettings> {
        if !(0.0..=1.0).contains(&least_confidence) {
            return Err(InvalidOracleSettings::LeastConfidence(least_confidence));
        }
        if !(1..=ROUNDS_MAX).contains(&rounds) {
            return Err(InvalidOracleSettings::Rounds(rounds));
        }
        Ok(Self { least_confidence, rounds })
    }

    /// Returns the confidence from which on a page is named.
    #[must_use]
    pub const fn least_confidence(&self) -> f32 {
        self.least_confidence
    }

    /// Returns how often the network predicts at an access, at most.
    #[must_use]
    pub const fn rounds(&self) -> usize {
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_settings_are_named() {
        let message = |confidence, rounds| {
            OracleSettings::new(confidence, rounds).expect_err("a setting is wrong").to_string()
        };
        assert_eq!(message(1.5, 1), "the least confidence is 1.5; expected 0 to 1");
        assert_eq!(message(f32::NAN, 1), "the least confidence is NaN; expected 0 to 1");
        assert_eq!(message(0.5, 0), "the number of rounds is 0; expected 1 to 3");
        assert_eq!(message(0.5, 4), "the number of rounds is 4; expected 1 to 3");
        let default = OracleSettings::default();
        assert_eq!(OracleSettings::new(default.least_confidence(), default.rounds()), Ok(default), "valid");
    }
}
