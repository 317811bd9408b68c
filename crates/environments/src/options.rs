//! How steps and episodes go.

/// The options that steps and episodes have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// The units of its time that the program advances in a step.
    pub(crate) ticks: u32,
    /// The seed from which the seeds of episodes follow.
    pub(crate) seed: u64,
    /// The scenario of episodes.
    pub(crate) scenario: u32,
    /// The number of steps after which an episode is truncated.
    pub(crate) steps_max: u32,
    /// The number of instructions that a lane may take for one step.
    pub(crate) budget: u64,
    /// Whether lanes go on after an episode has ended.
    pub(crate) is_endless: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { ticks: 1, seed: 0, scenario: 0, steps_max: u32::MAX, budget: 1_000_000_000, is_endless: false }
    }
}
