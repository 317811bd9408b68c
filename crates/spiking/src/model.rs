//! The models: what a neuron does in a step.
//!
//! Each file has the parameters of a model in physical units, how they become a [`Record`], and `update`, a pure
//! function of integers that every engine calls or has a twin of.

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

/// The parameters of a neuron.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// The neuron of FEAGI.
    Feagi(Feagi),
    /// Leaky integrate-and-fire with exponential currents.
    Lif(Lif),
    /// Izhikevich's neuron of 2003.
    Izhikevich(Izhikevich),
    /// A source of spikes at random.
    Poisson(Poisson),
}

impl Model {
    /// Which model it is.
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

    /// Mean events of its Poisson input in a step.
    pub(crate) fn poisson_mean(&self, dt: f64) -> Result<f64, Error> {
        match self {
            Self::Lif(Lif { poisson_rate, .. }) | Self::Izhikevich(Izhikevich { poisson_rate, .. }) => {
                poisson::mean("Poisson rate", *poisson_rate, dt)
            }
            Self::Feagi(_) | Self::Poisson(_) => Ok(0.0),
        }
    }

    /// The state of a neuron that begins with this potential; without one it is 0, or the resting potential.
    pub(crate) fn initial(&self, potential: Option<f64>) -> Result<Words, Error> {
        match self {
            Self::Feagi(_) => feagi::initial(potential.unwrap_or(0.0)),
            Self::Lif(lif) => lif.initial(potential.unwrap_or(lif.v_rest)),
            Self::Izhikevich(izhikevich) => izhikevich.initial(potential.unwrap_or(izhikevich.c)),
            Self::Poisson(_) => Ok([0; STATE_WORDS]),
        }
    }

    /// Whether its ports differ.
    pub(crate) fn has_two_ports(&self) -> bool {
        matches!(self, Self::Lif(lif) if lif.tau_ex != lif.tau_in)
    }
}

/// One step of a neuron. If it fires, gives its postsynaptic potential, 1 for all but FEAGI neurons.
#[must_use]
#[inline]
pub fn update(neuron: &Neuron<'_>, clock: &Clock, arrival: Arrival, state: &mut Words) -> Option<u32> {
    update_of(Kind::of(neuron.record.kind)?, neuron, clock, arrival, state)
}

/// One step of a neuron of this model; loops over many of one model are compiled for it.
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

/// The potential at which a neuron fires that does so in this step: in FEAGI's units, in mV above the resting potential
/// for LIF neurons, in mV for Izhikevich's, and `None` for sources, which have none.
///
/// It is what a mute twin of the neuron has after the step, so `update` need not tell anybody.
#[must_use]
pub fn potential_at_firing(
    neuron: &Neuron<'_>,
    clock: &Clock,
    arrival: Arrival,
    mut state: Words,
) -> Option<f64> {
    let kind = Kind::of(neuron.record.kind)?;
    let mut twin = *neuron.record;
    match kind {
        Kind::Feagi => feagi::mute(&mut twin),
        Kind::Lif => lif::mute(&mut twin),
        Kind::Izhikevich => izhikevich::mute(&mut twin),
        Kind::Poisson => return None,
    }
    update_of(kind, &Neuron { record: &twin, ..*neuron }, clock, arrival, &mut state);
    Some(match kind {
        Kind::Feagi => feagi::potential_of(&state),
        _ => fixed::float(state[0] as i32, fixed::MILLIVOLT_BITS),
    })
}
