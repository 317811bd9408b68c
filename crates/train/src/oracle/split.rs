//! The split of the programs: from which the oracle learns, and on which it is measured.

use std::str::FromStr;

use thiserror::Error;

/// The programs of the published tables. The oracle does not learn from them.
const HELD_OUT: &[&str] = &["stream", "stride", "chase", "join", "sort", "sqlite", "zstandard", "lua"];
/// The programs that show the progress of a training.
const VALIDATION: &[&str] = &["gather", "heap", "transpose", "json", "lz"];

/// A part of the programs. Each program is in one part, with all of its levels and runs, so no sample of it is in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The programs from which the oracle learns: all that are in no other part.
    Training,
    /// The programs that show the progress of a training.
    Validation,
    /// The programs on which the oracle is measured.
    HeldOut,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Training, Self::Validation, Self::HeldOut];

    /// Returns the part of a program.
    #[must_use]
    pub fn of(program: &str) -> Self {
        if HELD_OUT.contains(&program) {
            Self::HeldOut
        } else if VALIDATION.contains(&program) {
            Self::Validation
        } else {
            Self::Training
        }
    }

    /// Returns the name of the part.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Validation => "validation",
            Self::HeldOut => "held-out",
        }
    }
}

/// A name that no part has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown part of the programs `{0}`; expected training, validation or held-out")]
pub struct UnknownPart(String);

impl FromStr for Part {
    type Err = UnknownPart;

    fn from_str(text: &str) -> Result<Self, UnknownPart> {
        Self::ALL.into_iter().find(|part| part.name() == text).ok_or_else(|| UnknownPart(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_is_in_one_part() {
        assert!(HELD_OUT.iter().all(|program| !VALIDATION.contains(program)), "no program is in both lists");
        let parts = ["chase", "heap", "radix", "quicksort"].map(Part::of);
        let expected = [Part::HeldOut, Part::Validation, Part::Training, Part::Training];
        assert_eq!(parts, expected, "lists, and the rest");
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        assert_eq!(Part::ALL.map(|part| part.name().parse()), Part::ALL.map(Ok), "all parts");
        let error = "heldout".parse::<Part>().expect_err("no part has this name").to_string();
        let expected = "unknown part of the programs `heldout`; expected training, validation or held-out";
        assert_eq!(error, expected, "the message");
    }
}
