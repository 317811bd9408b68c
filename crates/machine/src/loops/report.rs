//! Reports of the acceleration of loops.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::advice::LoopOpinion;

/// The acceleration of loops since a machine was built: distinct loops, and steps of all lanes together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoopReport {
    /// The mode, which says who proposes loops to the checker: `checker` if all candidates are proposed.
    pub mode: Cow<'static, str>,
    /// The number of loops in which lanes were found several times.
    pub candidates: u64,
    /// The number of candidates about which there is no advice yet.
    pub waiting: u64,
    /// The number of candidates that were proposed to the checker.
    pub proposed: u64,
    /// The number of proposals that were proved: all iterations have a closed form, or can be executed in any order.
    pub proved: u64,
    /// The number of proposals that were refused, by reason.
    pub refused: BTreeMap<Cow<'static, str>, u64>,
    /// The number of proofs that contradict the claim of an opinion.
    pub disagreed: u64,
    /// How often a lane was in a loop that is proved.
    pub attempts: u64,
    /// How often iterations were executed at once then.
    pub commits: u64,
    /// The number of steps in these iterations. They count as retired, but no lane has stepped through them.
    pub credited_steps: u64,
    /// The number of bodies about which advice was given. Loops with the same words are one body.
    pub advised: u64,
    /// The time that advice took, in seconds.
    pub advice_seconds: f64,
    /// The time that the checker took, in seconds.
    pub checker_seconds: f64,
    /// The time until iterations were executed at once for the first time, in seconds.
    pub first_seconds: Option<f64>,
}

impl fmt::Display for LoopReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mode, candidates, proposed, proved, attempts, commits, credited_steps, .. } = self;
        write!(f, "{mode}, {candidates} candidates, {proposed} proposed, {proved} proved")?;
        if self.disagreed > 0 {
            write!(f, ", {} of them with another opinion", self.disagreed)?;
        }
        let refused: Vec<String> =
            self.refused.iter().map(|(reason, count)| format!("{count} for {reason}")).collect();
        if !refused.is_empty() {
            write!(f, ", refused {}", refused.join(", "))?;
        }
        write!(f, "\n{credited_steps} steps executed at once in {commits} of {attempts} attempts")?;
        if self.advised > 0 || self.waiting > 0 {
            write!(f, "\nadvice about {} bodies in {:.1} ms", self.advised, 1e3 * self.advice_seconds)?;
            write!(f, ", {} candidates wait for it", self.waiting)?;
        }
        Ok(())
    }
}

/// A loop in which lanes were found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HotLoop {
    /// The address of the first instruction.
    pub head: u64,
    /// The words from there to the branch back, both included.
    pub words: Vec<u32>,
    /// The steps of all lanes in the loop: those executed at once, and an estimate of the others from samples.
    pub steps: u64,
    /// The steps that were executed at once.
    pub credited_steps: u64,
    /// How often iterations were executed at once.
    pub commits: u64,
    /// The opinions about the loop.
    pub opinions: Vec<LoopOpinion>,
    /// Whether the proof contradicts the claim of an opinion.
    pub disagrees: bool,
    /// Whether the checker has proved what iterations do.
    pub is_proved: bool,
    /// The result of the checker.
    pub verdict: Cow<'static, str>,
}
