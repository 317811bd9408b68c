//! Leaky integrate-and-fire with exponential currents, integrated exactly, in the order of NEST's `iaf_psc_exp`.
//!
//! Potentials are relative to the resting potential. A synaptic current I is expressed as J = R I, in mV: the shift of
//! the potential that a constant current would cause. So a weight of 1 makes J jump by 1 mV. State: V, excitatory J,
//! inhibitory J (20 fraction bits each), remaining refractory steps.

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

/// The parameters of LIF neurons. Times are in ms, potentials in mV.
#[derive(Clone, Debug, PartialEq)]
pub struct Lif {
    /// The time constant of the membrane.
    pub tau_m: f64,
    /// The time constant of excitatory synaptic currents.
    pub tau_ex: f64,
    /// The time constant of inhibitory synaptic currents. If it equals `tau_ex` in all populations, the network has one
    /// port.
    pub tau_in: f64,
    /// The resting potential.
    pub v_rest: f64,
    /// The firing threshold, inclusive.
    pub v_th: f64,
    /// The reset potential.
    pub v_reset: f64,
    /// The refractory period, during which the potential stays at `v_reset`.
    pub t_ref: f64,
    /// A constant current, expressed as the shift of the potential that it causes.
    pub bias: f64,
    /// The rate of the Poisson input, in spikes a second, all inputs together.
    pub poisson_rate: f64,
    /// The jump of J by one event of the Poisson input, in mV.
    pub poisson_weight: f64,
    /// Input in every step, in mV of J; excitatory if it is positive.
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
    /// Returns the record for steps of `dt` ms in a network with `fraction_bits` fraction bits, without its Poisson
    /// table.
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

    /// Returns the initial state of a neuron with this potential.
    pub(crate) fn initial(&self, v: f64) -> Result<Words, Error> {
        Ok([units::word("initial potential", v - self.v_rest, MILLIVOLT_BITS)?, 0, 0, 0])
    }
}

impl Record {
    /// Returns whether all coefficients of a LIF neuron are from 0 to 1, so that no product of them saturates, and its bias is
    /// below 512 mV in magnitude. Only records in files can have other coefficients. For other models, the result is true.
    ///
    /// If V and the currents are below 512 mV in magnitude, too, V at the end of a step is a sum of four terms that has 32 bits.
    #[must_use]
    pub fn has_moderate_terms(&self) -> bool {
        const END: u32 = 512 << MILLIVOLT_BITS;
        let coefficients = [DECAY, EXCITATORY, INHIBITORY, DECAY_EXCITATORY, DECAY_INHIBITORY];
        self.kind != Kind::Lif as u32
            || self.signed(BIAS).unsigned_abs() < END
                && coefficients.iter().all(|&word| fixed::is_in_unit_interval(self.signed(word)))
    }
}

/// Moves threshold and reset to the end of the range, so that after a step V is the potential that the neuron would
/// have fired at.
pub(crate) const fn mute(record: &mut Record) {
    (record.words[THRESHOLD], record.words[RESET]) = (i32::MAX as u32, i32::MAX as u32);
}

/// Returns the part of V at the end of a step that comes from J = 1 mV at its beginning.
fn response(dt: f64, tau_m: f64, tau_s: f64) -> f64 {
    let (membrane, synapse) = (1.0 / tau_m, 1.0 / tau_s);
    let difference = dt * (membrane - synapse);
    // The slower of the two decays is factored out, so that nothing exceeds its range. Where the quotient cancels, its
    // limit is used; the error is of the order of the difference.
    let share = if difference.abs() < 1e-9 {
        dt
    } else {
        libm::expm1(-difference.abs()) / -(membrane - synapse).abs()
    };
    membrane * libm::exp(-dt * membrane.min(synapse)) * share
}

/// Advances the neuron by one step. Returns whether it fires.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_moderate_below_512_millivolts() {
        const END: i32 = 512 << MILLIVOLT_BITS;
        let is_moderate = |word: usize, value: i32| {
            let mut record = Record { kind: Kind::Lif as u32, words: [0; 15] };
            record.words[word] = value as u32;
            record.has_moderate_terms()
        };
        for (bias, expected) in [(0, true), (END - 1, true), (END, false), (1 - END, true), (i32::MIN, false)]
        {
            assert_eq!(is_moderate(BIAS, bias), expected, "a bias of {bias}");
        }
        let one = 1 << COEFFICIENT_BITS;
        for (decay, expected) in [(0, true), (one, true), (one + 1, false), (-1, false)] {
            assert_eq!(is_moderate(DECAY, decay), expected, "a decay of {decay}");
        }
    }
}
