//! [`Change`]: incremental changes of a network.

mod apply;
mod draft;

pub use self::apply::ChangeSummary;
use crate::{Model, Synapse};

/// A change of a network.
///
/// Neurons cannot be removed, because their numbers are their places; a neuron without synapses costs almost nothing.
///
/// ```
/// use kvrm_spiking::{Builder, Change, Feagi, Model, Synapse};
///
/// # fn main() -> Result<(), kvrm_spiking::Error> {
/// let mut builder = Builder::new(1.0);
/// builder.population("area", 3, &Model::Feagi(Feagi::default()))?;
/// let mut network = builder.build()?;
/// let synapse = Synapse { target: 2, delay: 1, weight: 5 };
/// let changed = network.change(&[Change::AddSynapse { source: 0, synapse }])?;
/// assert_eq!(changed.rows, [0], "the synapses of neuron 0 have changed");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// Adds a synapse. There may be others between the same neurons.
    AddSynapse {
        /// The presynaptic neuron.
        source: u32,
        /// The synapse.
        synapse: Synapse,
    },
    /// Removes the first synapse with this source, target and delay.
    RemoveSynapse {
        /// The presynaptic neuron.
        source: u32,
        /// The postsynaptic neuron.
        target: u32,
        /// The delay, in steps.
        delay: u32,
    },
    /// Replaces the weight of the first synapse with this source, target and delay.
    SetWeight {
        /// The presynaptic neuron.
        source: u32,
        /// The synapse with its new weight.
        synapse: Synapse,
    },
    /// Replaces the parameters of a neuron by others of the same model. Its state and the drive of its population stay.
    SetParameters {
        /// The neuron.
        neuron: u32,
        /// The new parameters.
        model: Model,
    },
    /// Adds a population of neurons with the same parameters, behind all others.
    AddPopulation {
        /// The name of the population.
        name: String,
        /// The extents of its grid.
        dimensions: [u32; 3],
        /// The parameters of its neurons.
        model: Model,
    },
}
