//! The report of the translation of hot code.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The translation of hot code by an engine that measures whether it is faster than interpretation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TranslationReport {
    /// The state of the translation: `waiting` until lanes have run for long enough, `sampling` while it is found out which
    /// code is hot, `trying` while ways take turns, `compiling` while more ways are to come, `chosen`, or `none` if no hot
    /// code can be translated.
    pub state: Cow<'static, str>,
    /// The ways to run lanes, the interpreter first.
    pub ways: Vec<TranslationTrial>,
    /// The number of steps that all lanes have taken in translated code since the machine was built.
    pub steps: u64,
    /// How often code was sampled. It is sampled again when lanes get to other code.
    #[serde(default)]
    pub samplings: u32,
    /// Whether the chosen way is that of an earlier process, tried again.
    #[serde(default)]
    pub is_remembered: bool,
    /// The reason for which a way could not be compiled, if there is one. It is not among the ways then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A way to run lanes, and its speed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TranslationTrial {
    /// The number of regions of code that are translated; 0 for the interpreter.
    pub regions: usize,
    /// The number of instructions in them.
    pub instructions: usize,
    /// The number of lanes that share a workgroup of the device.
    pub workgroup: u32,
    /// Whether the lanes of a workgroup vote on what they execute next.
    #[serde(default)]
    pub has_votes: bool,
    /// The steps per second of all lanes together, as measured when the ways last took turns; `None` if they have not.
    pub steps_per_second: Option<f64>,
    /// Whether the lanes run this way.
    pub is_chosen: bool,
}

impl TranslationReport {
    /// Creates a report.
    #[must_use]
    pub const fn new(state: &'static str, ways: Vec<TranslationTrial>, steps: u64) -> Self {
        let state = Cow::Borrowed(state);
        Self { state, ways, steps, samplings: 0, is_remembered: false, failure: None }
    }

    /// Returns how many times faster than the interpreter the chosen way is, if it has translated code and both were
    /// measured.
    #[must_use]
    pub fn gain(&self) -> Option<f64> {
        let interpreter = self.ways.first()?.steps_per_second?;
        let chosen = self.ways.iter().find(|way| way.is_chosen && way.regions > 0)?;
        Some(chosen.steps_per_second? / interpreter)
    }

    /// Returns whether the way to run lanes is chosen and no other is tried at the moment.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(&*self.state, "chosen" | "none")
    }
}

impl TranslationTrial {
    /// Creates the report of a way.
    #[must_use]
    pub const fn new(
        regions: usize,
        instructions: usize,
        workgroup: u32,
        steps_per_second: Option<f64>,
        is_chosen: bool,
    ) -> Self {
        Self { regions, instructions, workgroup, has_votes: false, steps_per_second, is_chosen }
    }
}

impl fmt::Display for TranslationReport {
    /// Writes the state, and a line for each way.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} steps in translated code", self.state, self.steps)?;
        match self.samplings {
            0 => {}
            1 => write!(f, ", sampled once")?,
            times => write!(f, ", sampled {times} times")?,
        }
        if self.is_remembered {
            write!(f, ", remembered from an earlier run")?;
        }
        self.gain().map_or(Ok(()), |gain| write!(f, ", {gain:.2} times as fast as the interpreter"))?;
        for way in &self.ways {
            let TranslationTrial { regions, instructions, workgroup, has_votes, steps_per_second, is_chosen } =
                way;
            let name = match regions {
                0 => "interpreter".to_owned(),
                1 => format!("1 region of {instructions} instructions"),
                _ => format!("{regions} regions with {instructions} instructions"),
            };
            let speed = steps_per_second.map_or_else(String::new, |speed| format!("{:.1} MIPS", speed / 1e6));
            let mark = if *is_chosen { "  chosen" } else { "" };
            let lanes = if *workgroup == 1 { "lane" } else { "lanes" };
            let votes = if *has_votes { ", votes" } else { "" };
            let name = format!("{name}, {workgroup} {lanes} a workgroup{votes}");
            write!(f, "\n{name:<60} {speed:>14}{mark}")?;
        }
        self.failure.iter().try_for_each(|failure| write!(f, "\nnot compiled: {failure}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_name_the_ways_and_the_chosen_one() {
        let ways = vec![
            TranslationTrial::new(0, 0, 2, Some(4e6), false),
            TranslationTrial::new(2, 300, 1, Some(49.5e6), true),
            TranslationTrial { has_votes: true, ..TranslationTrial::new(0, 0, 64, None, false) },
        ];
        let mut report = TranslationReport::new("chosen", ways, 12);
        let text = report.to_string();
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let expected = [
            "chosen, 12 steps in translated code, 12.38 times as fast as the interpreter",
            "interpreter, 2 lanes a workgroup 4.0 MIPS",
            "2 regions with 300 instructions, 1 lane a workgroup 49.5 MIPS chosen",
            "interpreter, 64 lanes a workgroup, votes",
        ];
        assert_eq!(lines, expected, "a line for each way");
        assert!(report.is_settled() && !TranslationReport::default().is_settled(), "a choice was made");
        (report.samplings, report.is_remembered) = (2, true);
        let expected = "chosen, 12 steps in translated code, sampled 2 times, remembered from an earlier run, 12.38 times";
        assert!(report.to_string().starts_with(expected), "{report}");
    }

    #[test]
    fn the_gain_is_that_of_measured_translated_code() {
        let gain = |interpreter, translated, is_translated_chosen: bool| {
            let ways = vec![
                TranslationTrial::new(0, 0, 2, interpreter, !is_translated_chosen),
                TranslationTrial::new(1, 30, 2, translated, is_translated_chosen),
            ];
            TranslationReport::new("chosen", ways, 12).gain()
        };
        assert_eq!(gain(Some(2e6), Some(3e6), true), Some(1.5), "both were measured");
        assert_eq!(gain(Some(2e6), Some(1e6), false), None, "the interpreter is chosen");
        assert_eq!(
            [gain(None, Some(3e6), true), gain(Some(2e6), None, true)],
            [None; 2],
            "one was not measured"
        );
        assert_eq!(TranslationReport::default().gain(), None, "there are no ways");
    }
}
