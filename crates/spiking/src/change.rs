//! Changes of a network that leave most of it where it is.

mod apply;
mod draft;

pub use self::apply::Changed;
use crate::{Model, Synapse};

/// A change of a network.
///
/// Neurons are not removed, as their numbers are their places; one without synapses costs next to nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A new synapse, beside others of the same ends.
    Add {
        /// Its source.
        source: u32,
        /// What it is.
        synapse: Synapse,
    },
    /// Removes a synapse with these ends and this delay, the first if there are several.
    Remove {
        /// Its source.
        source: u32,
        /// Its target.
        target: u32,
        /// Its delay.
        delay: u32,
    },
    /// Gives a synapse another weight: that with these ends and this delay, the first if there are several.
    Weigh {
        /// Its source.
        source: u32,
        /// What it is to be.
        synapse: Synapse,
    },
    /// Gives a neuron other parameters of the same model; its state stays, and so does the drive of its population.
    Set {
        /// The neuron.
        neuron: u32,
        /// Its parameters.
        model: Model,
    },
    /// A new population of equal neurons, behind all others.
    Populate {
        /// Its name.
        name: String,
        /// Its grid.
        dimensions: [u32; 3],
        /// Its parameters.
        model: Model,
    },
}
