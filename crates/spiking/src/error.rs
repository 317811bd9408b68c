//! [`Error`], the errors of this crate.

/// An invalid argument, network or state, or a failure of an engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("{what} is {value}, expected {expected}")]
    Parameter {
        /// The name of the parameter.
        what: String,
        /// The value.
        value: String,
        /// The expected range or value.
        expected: String,
    },
    /// A population handle was passed to a builder that did not make it.
    #[error("the population belongs to another builder; use a handle that this builder returned")]
    ForeignPopulation,
    /// A neuron number is out of range.
    #[error("there is no neuron {neuron}: there are {neurons}, numbered from 0")]
    NoSuchNeuron {
        /// The neuron number.
        neuron: u64,
        /// The number of neurons.
        neurons: u64,
    },
    /// A population number is out of range.
    #[error("there is no population {population}: there are {populations}, numbered from 0")]
    NoSuchPopulation {
        /// The population number.
        population: u64,
        /// The number of populations.
        populations: u64,
    },
    /// A change names a synapse that does not exist.
    #[error("there is no synapse from neuron {from} to neuron {to} with a delay of {delay} steps")]
    NoSuchSynapse {
        /// The presynaptic neuron.
        from: u32,
        /// The postsynaptic neuron.
        to: u32,
        /// The delay, in steps.
        delay: u32,
    },
    /// The inputs of a neuron in one step could add up to more than 32 bits.
    #[error(
        "the inputs of neuron {neuron} in one step can add up to {sum} weight units, expected at most {limit}; use \
         fewer fraction bits, smaller weights or a smaller injection limit"
    )]
    AccumulatorBound {
        /// The neuron.
        neuron: u32,
        /// The largest possible input, with injections and drive, in weight units.
        sum: u64,
        /// The largest input that is allowed, in weight units.
        limit: u64,
    },
    /// A synapse does not fit in 64 bits.
    #[error(
        "a synapse needs {target} bits for its target, {delay} for its delay and {weight} for its weight, expected at \
         most 64 in total; use fewer neurons, a smaller range of delays or fewer fraction bits"
    )]
    Packing {
        /// The bits of the target.
        target: u32,
        /// The bits of the delay.
        delay: u32,
        /// The bits of the weight.
        weight: u32,
    },
    /// The injections into a neuron in one step are too large.
    #[error(
        "the injections into neuron {neuron} in step {step} add up to {amount}, expected -{limit} to {limit}"
    )]
    Injection {
        /// The neuron.
        neuron: u32,
        /// The step, counted from the beginning of the run.
        step: u64,
        /// The sum of all injections into the neuron in the step, in weight units.
        amount: i64,
        /// The injection limit of the network, in weight units.
        limit: i32,
    },
    /// An injection is due after the end of the run.
    #[error("an injection is due in step {step} of a run of {steps} steps, which are numbered from 0")]
    InjectionStep {
        /// The step of the injection, counted from the beginning of the run.
        step: u64,
        /// The number of steps of the run.
        steps: u64,
    },
    /// The recorder was too small for the spikes of a run. The run completed all its steps.
    #[error(
        "{lost} spikes were not recorded: the recorder holds {recorded} and has room for {capacity}; use a larger \
         capacity or take spikes more often"
    )]
    RecordingOverflow {
        /// The number of spikes in the recorder. They are those of complete steps.
        recorded: u64,
        /// The number of spikes that are missing.
        lost: u64,
        /// The capacity of the recorder, in spikes.
        capacity: u64,
    },
    /// A part of a state has a size that does not match the network.
    #[error("the state does not match the network: {what} has {found} elements, expected {expected}")]
    StateShape {
        /// The name of the part.
        what: &'static str,
        /// The number of elements of the part.
        found: usize,
        /// The number of elements that the network needs.
        expected: usize,
    },
    /// A state has the right sizes for the network, but invalid contents.
    #[error("the state does not match the network: {reason}")]
    State {
        /// The reason.
        reason: String,
    },
    /// A network is larger than its representation allows.
    #[error("too many {what}: {count}, expected at most {limit}")]
    TooMany {
        /// The name of the quantity.
        what: &'static str,
        /// The quantity.
        count: u64,
        /// The largest quantity that is allowed.
        limit: u64,
    },
    /// A network does not fit in the memory of the host.
    #[error(
        "a network of {neurons} neurons{} does not fit in memory: it takes at least {}, and this host has {} available; \
         use fewer neurons, fewer synapses or shorter delays",
        and_synapses(*synapses), size(*bytes), size(*available)
    )]
    TooLarge {
        /// The number of neurons.
        neurons: u64,
        /// The number of synapses; 0 if it is not known yet.
        synapses: u64,
        /// The memory that the network still needs, at least, in bytes.
        bytes: u64,
        /// The available memory of the host, in bytes.
        available: u64,
    },
    /// The parts of a network are inconsistent.
    #[error("inconsistent parts: {reason}")]
    Invalid {
        /// The reason.
        reason: String,
    },
    /// The engine, or the device it runs on, failed.
    #[error("the engine failed")]
    Engine(#[source] Box<dyn std::error::Error + Send + Sync>),
}

fn and_synapses(synapses: u64) -> String {
    if synapses == 0 { String::new() } else { format!(" and {synapses} synapses") }
}

fn size(bytes: u64) -> String {
    format!("{bytes} bytes ({:.1} GiB)", bytes as f64 / f64::from(1 << 30))
}

impl Error {
    /// Returns the error of a parameter outside its range.
    pub(crate) fn parameter(
        what: impl Into<String>,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self::Parameter { what: what.into(), value: value.to_string(), expected: expected.into() }
    }

    /// Returns the error of a state with invalid contents.
    pub(crate) fn state(reason: impl Into<String>) -> Self {
        Self::State { reason: reason.into() }
    }

    /// Returns the error of inconsistent parts.
    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into() }
    }
}
