//! Leaky integrate-and-fire with exponential currents, integrated exactly, in the order of NEST's `iaf_psc_exp`.
//!
//! Potentials are relative to the resting one. A current is expressed as what it would shift the potential by in the
//! long run, J = R I, in mV, so a weight of 1 lets J jump by 1 mV. State: V, J excitatory, J inhibitory (20 fraction
//! bits each), refractory steps left.

use super::poisson::poisson_input;
use super::step::{Arrival, Clock, Neuron, Words};
use super::units;
use crate::fixed::{self, COEFFICIENT_BITS, MILLIVOLT_BITS};
use crate::record_words::{
    LIF_BIAS as BIAS, LIF_DECAY as DECAY, LIF_DECAY_EXCITATORY as DECAY_EXCITATORY,
    LIF_DECAY_INHIBITORY as DECAY_INHIBITORY, LIF_EXCITATORY as EXCITATORY, LIF_INHIBITORY as INHIBITORY,
    LIF_REFRACTORY as REFRACTORY, LIF_RESET as RESET, LIF_THRESHOLD as THRESHOLD,
};
use crate::{Error, Kind, Record};

pub(crate) mod block;

/// Parameters of LIF neurons. Times are in ms, potentials in mV.
#[derive(Clone, Debug, PartialEq)]
pub struct Lif {
    /// Time constant of the membrane.
    pub tau_m: f64,
    /// Time constant of excitatory currents.
    pub tau_ex: f64,
    /// Time constant of inhibitory currents. If it equals `tau_ex` in all populations, the network has one port.
    pub tau_in: f64,
    /// Resting potential.
    pub v_rest: f64,
    /// Fires at this potential or more.
    pub v_th: f64,
    /// The potential after a spike.
    pub v_reset: f64,
    /// How long the potential then stays there.
    pub t_ref: f64,
    /// A constant current, as the shift of the potential that it leads to.
    pub bias: f64,
    /// Poisson input: spikes a second, of all inputs together.
    pub poisson_rate: f64,
    /// How much each of them lets J jump, in mV.
    pub poisson_weight: f64,
    /// Input of every step, in mV of J, excitatory if it is positive.
    pub drive: f64,
}

impl Default for Lif {
    /// The neuron of Potjans and Diesmann (2014).
    fn default() -> Self {
        Self {
            tau_m: 10.0,
            tau_ex: 0.5,
            tau_in: 0.5,
            v_rest: -65.0,
            v_th: -50.0,
            v_reset: -65.0,
            t_ref: 2.0,
            bias: 0.0,
            poisson_rate: 0.0,
            poisson_weight: 0.0,
            drive: 0.0,
        }
    }
}

impl Lif {
    /// The record for steps of `dt` ms in a network of so many fraction bits, without its Poisson table.
    pub(crate) fn record(&self, dt: f64, fraction_bits: u32) -> Result<Record, Error> {
        for (what, tau) in [("tau_m", self.tau_m), ("tau_ex", self.tau_ex), ("tau_in", self.tau_in)] {
            if !(tau > 0.0 && tau.is_finite()) {
                return Err(Error::parameter(what, tau, "more than 0 ms"));
            }
        }
        if !(f64::NEG_INFINITY..self.v_th).contains(&self.v_reset) {
            return Err(Error::parameter(
                "v_reset",
                self.v_reset,
                format!("less than v_th, {} mV", self.v_th),
            ));
        }
        let refractory = libm::round(self.t_ref / dt);
        if !(0.0..=f64::from(i32::MAX)).contains(&refractory) {
            return Err(Error::parameter("t_ref", self.t_ref, "0 to 2^31 steps"));
        }
        let Self { tau_m, tau_ex, tau_in, v_rest, .. } = *self;
        let decay = |tau: f64| libm::exp(-dt / tau);
        let bias = -libm::expm1(-dt / tau_m) * self.bias;
        let numbers = [
            (DECAY, "decay", decay(tau_m), COEFFICIENT_BITS),
            (EXCITATORY, "excitatory share", response(dt, tau_m, tau_ex), COEFFICIENT_BITS),
            (INHIBITORY, "inhibitory share", response(dt, tau_m, tau_in), COEFFICIENT_BITS),
            (DECAY_EXCITATORY, "decay", decay(tau_ex), COEFFICIENT_BITS),
            (DECAY_INHIBITORY, "decay", decay(tau_in), COEFFICIENT_BITS),
            (BIAS, "bias", bias, MILLIVOLT_BITS),
            (THRESHOLD, "v_th - v_rest", self.v_th - v_rest, MILLIVOLT_BITS),
            (RESET, "v_reset - v_rest", self.v_reset - v_rest, MILLIVOLT_BITS),
            (Record::POISSON + 2, "Poisson weight", self.poisson_weight, MILLIVOLT_BITS),
        ];
        let mut record = units::record(Kind::Lif, self.drive, fraction_bits, &numbers)?;
        record.words[REFRACTORY] = refractory as u32;
        Ok(record)
    }

    /// The state that a neuron of this potential begins with.
    pub(crate) fn initial(&self, v: f64) -> Result<Words, Error> {
        Ok([units::word("initial potential", v - self.v_rest, MILLIVOLT_BITS)?, 0, 0, 0])
    }
}

/// Lets a neuron keep the potential that it would have fired at: it fires at the end of the range only, and stays there.
pub(crate) const fn mute(record: &mut Record) {
    (record.words[THRESHOLD], record.words[RESET]) = (i32::MAX as u32, i32::MAX as u32);
}

/// How much of J = 1 mV at the beginning of a step is in V at its end.
fn response(dt: f64, tau_m: f64, tau_s: f64) -> f64 {
    let (membrane, synapse) = (1.0 / tau_m, 1.0 / tau_s);
    let difference = dt * (membrane - synapse);
    // The slower of the two decays is drawn out, so that nothing exceeds its range. Where the quotient cancels it is its
    // limit; what is neglected is of the order of the difference.
    let share = if difference.abs() < 1e-9 {
        dt
    } else {
        libm::expm1(-difference.abs()) / -(membrane - synapse).abs()
    };
    membrane * libm::exp(-dt * membrane.min(synapse)) * share
}

/// One step; says whether the neuron fires.
#[inline]
pub(crate) fn update(neuron: &Neuron<'_>, clock: &Clock, arrival: Arrival, state: &mut Words) -> bool {
    let record = neuron.record;
    let [mut v, mut excitatory, mut inhibitory] = [state[0], state[1], state[2]].map(|word| word as i32);
    let mut refractory = state[3];
    if refractory == 0 {
        let sum = i64::from(fixed::mul(v, record.signed(DECAY)))
            + i64::from(fixed::mul(excitatory, record.signed(EXCITATORY)))
            + i64::from(fixed::mul(inhibitory, record.signed(INHIBITORY)))
            + i64::from(record.signed(BIAS));
        v = fixed::saturate(sum);
    } else {
        refractory -= 1;
    }
    let [mut to_excitatory, mut to_inhibitory] =
        arrival.ports.map(|port| i64::from(port) << record.words[Record::SHIFT]);
    let poisson = poisson_input(neuron, clock);
    if poisson < 0 {
        to_inhibitory += poisson;
    } else {
        to_excitatory += poisson;
    }
    excitatory =
        fixed::saturate(i64::from(fixed::mul(excitatory, record.signed(DECAY_EXCITATORY))) + to_excitatory);
    inhibitory =
        fixed::saturate(i64::from(fixed::mul(inhibitory, record.signed(DECAY_INHIBITORY))) + to_inhibitory);
    let fires = v >= record.signed(THRESHOLD);
    if fires {
        v = record.signed(RESET);
        refractory = record.words[REFRACTORY];
    }
    *state = [v as u32, excitatory as u32, inhibitory as u32, refractory];
    fires
}
