//! What can go wrong.

/// A failure of what was asked for, or of the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("{what} is {value}, expected {expected}")]
    Parameter {
        /// Which one.
        what: String,
        /// What it is.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A handle was given to a builder that did not make it.
    #[error("a population of another network was given")]
    ForeignPopulation,
    /// A neuron number is out of range.
    #[error("there is no neuron {neuron}: there are {neurons}, numbered from 0")]
    NoSuchNeuron {
        /// The number.
        neuron: u64,
        /// How many there are.
        neurons: u64,
    },
    /// A population number is out of range.
    #[error("there is no population {population}: there are {populations}, numbered from 0")]
    NoSuchPopulation {
        /// The number.
        population: u64,
        /// How many there are.
        populations: u64,
    },
    /// A synapse was to be changed that is not there.
    #[error("there is no synapse from neuron {from} to neuron {to} with a delay of {delay} steps")]
    NoSuchSynapse {
        /// The source.
        from: u32,
        /// The target.
        to: u32,
        /// The delay.
        delay: u32,
    },
    /// What arrives at a neuron could exceed 32 bits.
    #[error(
        "up to {sum} weight units can arrive at neuron {neuron} in one step, and at most {limit} may; fewer fraction \
         bits, smaller weights or a smaller injection limit make room"
    )]
    AccumulatorBound {
        /// The neuron.
        neuron: u32,
        /// How much can arrive, injections and drive included.
        sum: u64,
        /// How much may.
        limit: u64,
    },
    /// Synapses do not fit in 64 bits.
    #[error(
        "a synapse needs {target} bits for its target, {delay} for its delay and {weight} for its weight, 64 at most"
    )]
    Packing {
        /// Bits of the target.
        target: u32,
        /// Bits of the delay.
        delay: u32,
        /// Bits of the weight.
        weight: u32,
    },
    /// An injection is too large.
    #[error("neuron {neuron} is injected {amount} in step {step}, at most {limit} either way is allowed")]
    Injection {
        /// The neuron.
        neuron: u32,
        /// The step, counted from the beginning of the run.
        step: u64,
        /// How much, all injections of the step together.
        amount: i64,
        /// The network's injection limit.
        limit: i32,
    },
    /// An injection lies behind the end of the run.
    #[error("an injection in step {step} of a run of {steps}")]
    InjectionStep {
        /// The step.
        step: u64,
        /// How many the run has.
        steps: u64,
    },
    /// More spikes than there was room for. The run was made to its end.
    #[error("{lost} spikes were not recorded, as there was room for {capacity} and {recorded} were there")]
    RecordingOverflow {
        /// How many are in the recorder, those of complete steps.
        recorded: u64,
        /// How many are missing.
        lost: u64,
        /// How many there is room for.
        capacity: u64,
    },
    /// A state is not one of this network.
    #[error("the state is not one of this network: {what} has {found} elements, expected {expected}")]
    StateShape {
        /// Which part of it.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        expected: usize,
    },
    /// A state has the shape, but not the contents, of one of this network.
    #[error("the state is not one of this network: {reason}")]
    State {
        /// Why.
        reason: String,
    },
    /// A network is larger than numbers of its parts can say.
    #[error("{what}: {count}, at most {limit}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How much.
        count: u64,
        /// The limit.
        limit: u64,
    },
    /// Parts do not make a network.
    #[error("no network: {reason}")]
    Invalid {
        /// Why.
        reason: String,
    },
    /// The engine failed, or the device it runs on.
    #[error("the engine failed")]
    Engine(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A parameter outside its range.
    pub(crate) fn parameter(
        what: impl Into<String>,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self::Parameter { what: what.into(), value: value.to_string(), expected: expected.into() }
    }

    /// A state of another network, or of none.
    pub(crate) fn state(reason: impl Into<String>) -> Self {
        Self::State { reason: reason.into() }
    }

    /// Parts that make no network.
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into() }
    }
}
