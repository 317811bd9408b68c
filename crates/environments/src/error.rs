//! Errors of environments.

use kvrm_machine::Stop;

/// A failure of an environment, or of its input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The machine fails.
    #[error(transparent)]
    Machine(#[from] kvrm_machine::Error),
    /// The program is no environment: it did not yield.
    #[error("the program is no environment: expected it to yield within {budget} steps, but it stopped: {}", describe(*stop))]
    NoYield {
        /// The largest number of steps up to the first yield.
        budget: u64,
        /// The stop instead.
        stop: Option<Stop>,
    },
    /// The program yields with a description of itself that is wrong.
    #[error("the program describes its environment wrongly, at {address:#x}: {reason}")]
    Interface {
        /// The address of the description.
        address: u64,
        /// The reason.
        reason: String,
    },
    /// An action has no component of this name.
    #[error("no component '{name}' of actions: expected one of {names}")]
    NoComponent {
        /// The name.
        name: String,
        /// The names of all components.
        names: String,
    },
    /// The program has no variable of this name, or of another size.
    #[error("no variable '{name}' of {bytes} bytes: {reason}")]
    NoVariable {
        /// The name.
        name: String,
        /// The wanted size in bytes.
        bytes: u64,
        /// What the program has instead.
        reason: String,
    },
    /// There are not as many numbers as actions need.
    #[error("{values} numbers for the actions of {lanes} lanes: expected {components} for each lane")]
    Actions {
        /// The numbers.
        values: usize,
        /// The lanes.
        lanes: usize,
        /// The components of an action.
        components: usize,
    },
    /// A component of an action is out of its range.
    #[error("the action of lane {lane} has {name} = {value}: expected {low} to {high}")]
    Range {
        /// The lane.
        lane: usize,
        /// The name of the component.
        name: String,
        /// Its value.
        value: i32,
        /// The least value.
        low: i32,
        /// The greatest value.
        high: i32,
    },
    /// There is not one seed, or one scenario, for each lane that begins an episode.
    #[error("{values} {name} for {lanes} lanes: expected one for each")]
    Episodes {
        /// What there is too much or too little of: seeds or scenarios.
        name: &'static str,
        /// The number of values.
        values: usize,
        /// The number of lanes.
        lanes: usize,
    },
    /// A lane gets an action or begins an episode while it takes a step.
    #[error("lane {lane} is still taking a step: expected to receive its results first")]
    Busy {
        /// The lane.
        lane: usize,
    },
    /// A lane is given twice.
    #[error("lane {lane} is given twice")]
    Twice {
        /// The lane.
        lane: usize,
    },
    /// The memory for observations has another size.
    #[error("room for {room} bytes, but the observations of {lanes} lanes have {bytes} bytes each")]
    Room {
        /// The size of the memory in bytes.
        room: usize,
        /// The number of lanes.
        lanes: usize,
        /// The size of an observation in bytes.
        bytes: usize,
    },
    /// More lanes are to be received than take a step.
    #[error("cannot receive {wanted} lanes: expected at most {busy}, which take a step")]
    Receive {
        /// The wanted number of lanes.
        wanted: usize,
        /// The number of lanes that take a step.
        busy: usize,
    },
}

fn describe(stop: Option<Stop>) -> String {
    stop.map_or_else(|| "it was interrupted".into(), |stop| stop.to_string())
}
