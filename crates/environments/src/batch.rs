//! Results of lanes.

use kvrm_machine::Stop;

/// The results of the steps of some lanes. Each slice has those of the first lane, then those of the second, and so on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Batch<'a> {
    /// The lanes, in rising order.
    pub lanes: &'a [usize],
    /// The observations: for each lane rows from top to bottom, pixels from left to right, and their channels
    /// ([`Environments::shape`](crate::Environments::shape)).
    pub observations: &'a [u8],
    /// What the step has earned.
    pub rewards: &'a [f64],
    /// Whether the task has come to its end.
    pub terminations: &'a [bool],
    /// Whether the episode was cut off: by the program, by the limit of steps, or by a stop.
    pub truncations: &'a [bool],
    /// The stop of the program, if it is not waiting for its next step: it has exited, failed, or used up its budget.
    pub stops: &'a [Option<Stop>],
    /// The instructions that the program has executed for the step.
    pub instructions: &'a [u64],
    /// For each component of an action, which values make sense in the next step: bit `i` is for the least value plus `i`.
    /// Components with more than 64 values have no mask, and all bits are set.
    pub masks: &'a [u64],
    /// The values of the variables.
    pub variables: &'a [i64],
}

/// The memory of a [`Batch`], without its observations.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) lanes: Vec<usize>,
    pub(crate) rewards: Vec<f64>,
    pub(crate) terminations: Vec<bool>,
    pub(crate) truncations: Vec<bool>,
    pub(crate) stops: Vec<Option<Stop>>,
    pub(crate) instructions: Vec<u64>,
    pub(crate) masks: Vec<u64>,
    pub(crate) variables: Vec<i64>,
}

impl Results {
    /// Removes all results but the lanes, which are replaced.
    pub(crate) fn clear(&mut self) {
        self.rewards.clear();
        self.terminations.clear();
        self.truncations.clear();
        self.stops.clear();
        self.instructions.clear();
        self.masks.clear();
        self.variables.clear();
    }

    pub(crate) fn batch<'a>(&'a self, observations: &'a [u8]) -> Batch<'a> {
        Batch {
            lanes: &self.lanes,
            observations,
            rewards: &self.rewards,
            terminations: &self.terminations,
            truncations: &self.truncations,
            stops: &self.stops,
            instructions: &self.instructions,
            masks: &self.masks,
            variables: &self.variables,
        }
    }
}
