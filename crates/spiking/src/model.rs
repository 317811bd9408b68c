//! Neuron models: the update of one neuron in one step.
//!
//! Each file contains the parameters of a model in physical units, their conversion to a [`Record`], and `update`, a
//! pure function of integers, which every engine calls or has a twin of.

use crate::{Error, Kind, Record, STATE_WORDS, fixed};

use feagi::Feagi;
use izhikevich::Izhikevich;
use lif::Lif;
use poisson::Poisson;

pub mod feagi;
pub mod izhikevich;
pub mod lif;
pub mod poisson;
mod step;
mod units;

pub use self::step::{Arrival, Clock, Neuron, Words};
pub(crate) use self::units::weight_units;

/// A neuron model with its parameters.
///
/// ```
/// use kvrm_spiking::{Builder, Lif, Model};
///
/// let model = Model::Lif(Lif { v_th: -48.0, ..Lif::default() });
/// let mut builder = Builder::new(0.1); // steps of 0.1 ms
/// builder.population("cells", 100, &model)?;
/// assert_eq!(builder.build()?.neurons(), 100);
/// # Ok::<(), kvrm_spiking::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// The neuron of FEAGI.
    Feagi(Feagi),
    /// Leaky integrate-and-fire with exponential synaptic currents.
    Lif(Lif),
    /// Izhikevich's neuron (2003).
    Izhikevich(Izhikevich),
    /// A Poisson spike source.
    Poisson(Poisson),
}

impl Model {
    /// Returns the kind of the model.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Feagi(_) => Kind::Feagi,
            Self::Lif(_) => Kind::Lif,
            Self::Izhikevich(_) => Kind::Izhikevich,
            Self::Poisson(_) => Kind::Poisson,
        }
    }

    pub(crate) fn record(&self, dt: f64, fraction_bits: u32) -> Result<Record, Error> {
        match self {
            Self::Feagi(feagi) => feagi.record(fraction_bits),
            Self::Lif(lif) => lif.record(dt, fraction_bits),
            Self::Izhikevich(izhikevich) => izhikevich.record(dt, fraction_bits),
            Self::Poisson(poisson) => poisson.record(dt),
        }
    }

    /// Returns the mean number of events of the Poisson input in a step of `dt` ms.
    pub(crate) fn poisson_mean(&self, dt: f64) -> Result<f64, Error> {
        match self {
            Self::Lif(Lif { poisson_rate, .. }) | Self::Izhikevich(Izhikevich { poisson_rate, .. }) => {
                poisson::mean("Poisson rate", *poisson_rate, dt)
            }
            Self::Feagi(_) | Self::Poisson(_) => Ok(0.0),
        }
    }

    /// Returns the initial state of a neuron with this membrane potential. The default is 0 for FEAGI neurons, the
    /// resting potential for LIF and the reset potential `c` for Izhikevich neurons.
    pub(crate) fn initial(&self, potential: Option<f64>) -> Result<Words, Error> {
        match self {
            Self::Feagi(_) => feagi::initial(potential.unwrap_or(0.0)),
            Self::Lif(lif) => lif.initial(potential.unwrap_or(lif.v_rest)),
            Self::Izhikevich(izhikevich) => izhikevich.initial(potential.unwrap_or(izhikevich.c)),
            Self::Poisson(_) => Ok([0; STATE_WORDS]),
        }
    }

    /// Returns whether excitatory and inhibitory inputs need accumulators of their own.
    pub(crate) fn has_two_ports(&self) -> bool {
        matches!(self, Self::Lif(lif) if lif.tau_ex != lif.tau_in)
    }
}

/// Advances a neuron by one step. Returns the postsynaptic potential if the neuron fires: 1 for all models but FEAGI's.
#[must_use]
#[inline]
pub fn update(neuron: &Neuron<'_>, clock: &Clock, arrival: Arrival, state: &mut Words) -> Option<u32> {
    update_of(Kind::of(neuron.record.kind)?, neuron, clock, arrival, state)
}

/// Advances a neuron whose model is known by one step. It is inlined, so the loops over neurons of one model are
/// compiled for this model.
#[inline(always)]
pub(crate) fn update_of(
    kind: Kind,
    neuron: &Neuron<'_>,
    clock: &Clock,
    arrival: Arrival,
    state: &mut Words,
) -> Option<u32> {
    match kind {
        Kind::Feagi => feagi::update(neuron, clock, arrival, state),
        Kind::Lif => lif::update(neuron, clock, arrival, state).then_some(1),
        Kind::Izhikevich => izhikevich::update(neuron, clock, arrival, state).then_some(1),
        Kind::Poisson => poisson::update(neuron, clock).then_some(1),
    }
}

/// Returns the membrane potential, before the reset, of a neuron that fires in this step: in FEAGI's units, in mV above
/// the resting potential for LIF neurons, in mV for Izhikevich neurons. Poisson sources have none.
///
/// This is the potential after the step of a muted copy of the neuron, so `update` need not return it.
#[must_use]
pub fn potential_at_firing(
    neuron: &Neuron<'_>,
    clock: &Clock,
    arrival: Arrival,
    mut state: Words,
) -> Option<f64> {
    let kind = Kind::of(neuron.record.kind)?;
    let mut muted = *neuron.record;
    match kind {
        Kind::Feagi => feagi::mute(&mut muted),
        Kind::Lif => lif::mute(&mut muted),
        Kind::Izhikevich => izhikevich::mute(&mut muted),
        Kind::Poisson => return None,
    }
    update_of(kind, &Neuron { record: &muted, ..*neuron }, clock, arrival, &mut state);
    Some(match kind {
        Kind::Feagi => feagi::potential_of(&state),
        _ => fixed::float(state[0] as i32, fixed::MILLIVOLT_BITS),
    })
}
