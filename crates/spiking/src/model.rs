//! The models: what a neuron does in a step.
//!
//! Each file has the parameters of a model in physical units, how they become a [`Record`], and `update`, a pure
//! function of integers that every engine calls or has a twin of.

use crate::random::{self, Purpose};
use crate::{Error, Kind, Record, STATE_WORDS, fixed};

use feagi::Feagi;
use izhikevich::Izhikevich;
use lif::Lif;
use poisson::Poisson;

pub mod feagi;
pub mod izhikevich;
pub mod lif;
pub mod poisson;

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

/// The state of a neuron: columns 0 to 3.
pub type Words = [u32; STATE_WORDS];

/// What a neuron gets in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The sums of its ports, in weight units, injections and drive included.
    pub ports: [i32; 2],
    /// Whether anything has arrived, even if the sum is zero. Only FEAGI neurons ask.
    pub is_input: bool,
}

impl Arrival {
    /// Adds an injection or a drive: input, even if it is zero, for the port of its sign.
    #[inline]
    pub const fn give(&mut self, amount: i32, ports: usize) {
        self.ports[if amount < 0 { ports - 1 } else { 0 }] += amount;
        self.is_input = true;
    }
}

/// What all neurons share in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The step, counted from the network's beginning.
    pub step: u64,
    /// What FEAGI calls the burst: one more than the step.
    pub burst: u32,
    /// The key of Poisson inputs.
    pub input: u32,
    /// The key of Poisson sources.
    pub source: u32,
}

impl Clock {
    /// The clock of a step in a network with this seed.
    #[must_use]
    pub const fn new(seed: u64, step: u64) -> Self {
        Self {
            step,
            burst: step.wrapping_add(1) as u32,
            input: random::step_key(random::base(seed, Purpose::Input), step),
            source: random::step_key(random::base(seed, Purpose::Source), step),
        }
    }
}

/// One step of a neuron. If it fires, gives its postsynaptic potential, 1 for all but FEAGI neurons.
#[must_use]
#[inline]
pub fn update(
    record: &Record,
    tables: &[u32],
    clock: &Clock,
    neuron: u32,
    arrival: Arrival,
    state: &mut Words,
) -> Option<u32> {
    update_of(Kind::of(record.kind)?, record, tables, clock, neuron, arrival, state)
}

/// One step of a neuron of this model; loops over many of one model are compiled for it.
#[inline(always)]
pub(crate) fn update_of(
    kind: Kind,
    record: &Record,
    tables: &[u32],
    clock: &Clock,
    neuron: u32,
    arrival: Arrival,
    state: &mut Words,
) -> Option<u32> {
    match kind {
        Kind::Feagi => feagi::update(record, clock, neuron, arrival, state),
        Kind::Lif => lif::update(record, tables, clock, neuron, arrival, state).then_some(1),
        Kind::Izhikevich => izhikevich::update(record, tables, clock, neuron, arrival, state).then_some(1),
        Kind::Poisson => poisson::update(record, clock, neuron).then_some(1),
    }
}

/// The potential at which a neuron fires that does so in this step: in FEAGI's units, in mV above the resting potential
/// for LIF neurons, in mV for Izhikevich's, and `None` for sources, which have none.
///
/// It is what a mute twin of the neuron has after the step, so `update` need not tell anybody.
#[must_use]
pub fn potential_at_firing(
    record: &Record,
    tables: &[u32],
    clock: &Clock,
    neuron: u32,
    arrival: Arrival,
    mut state: Words,
) -> Option<f64> {
    let kind = Kind::of(record.kind)?;
    let mut twin = *record;
    match kind {
        Kind::Feagi => feagi::mute(&mut twin),
        Kind::Lif => lif::mute(&mut twin),
        Kind::Izhikevich => izhikevich::mute(&mut twin),
        Kind::Poisson => return None,
    }
    update_of(kind, &twin, tables, clock, neuron, arrival, &mut state);
    Some(match kind {
        Kind::Feagi => feagi::potential_of(&state),
        _ => fixed::float(state[0] as i32, fixed::MILLIVOLT_BITS),
    })
}

/// The record of a model whose potentials are in mV, of fixed-point numbers given by word, name, value and fraction
/// bits.
fn record(
    kind: Kind,
    drive: f64,
    fraction_bits: u32,
    numbers: &[(usize, &str, f64, u32)],
) -> Result<Record, Error> {
    let mut words = [0; 15];
    words[Record::DRIVE] = weight_units("drive", drive, fraction_bits)? as u32;
    words[Record::SHIFT] = fixed::MILLIVOLT_BITS - fraction_bits;
    for &(place, what, value, bits) in numbers {
        words[place] = word(what, value, bits)?;
    }
    Ok(Record { kind: kind as u32, words })
}

/// A fixed-point number of a record.
fn word(what: &str, value: f64, bits: u32) -> Result<u32, Error> {
    let limit = f64::from(1_u32 << (31 - bits));
    fixed::fixed(value, bits)
        .map(|fixed| fixed as u32)
        .ok_or_else(|| Error::parameter(what, value, format!("less than {limit} either way")))
}

/// A number of weight units.
pub(crate) fn weight_units(what: &str, value: f64, fraction_bits: u32) -> Result<i32, Error> {
    if fraction_bits > fixed::FRACTION_BITS_MAX {
        return Err(Error::parameter("fraction bits", fraction_bits, "0 to 20"));
    }
    word(what, value, fraction_bits).map(|word| word as i32)
}
