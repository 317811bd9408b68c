//! Izhikevich's neuron (2003): v' = 0.04 v^2 + 5 v + 140 - u + I, u' = a (b v - u); when v reaches the peak, it is
//! reset to c, and u grows by d.
//!
//! As in the paper, v is advanced by Euler steps of at most 0.5 ms, and then u by one Euler step of `dt`. The input is
//! the current I of this step. The peak is tested at the end of the step, so the neuron fires in the step in which v
//! reaches the peak, not in the next one. State: v (absolute) and u, with 20 fraction bits each.

use super::poisson::poisson_input;
use super::step::{Arrival, Clock, Neuron, Words};
use super::units;
use crate::fixed::{self, COEFFICIENT_BITS, MILLIVOLT_BITS, round_shift};
use crate::record_words::{
    IZHIKEVICH_A_DT as A_DT, IZHIKEVICH_B as B, IZHIKEVICH_BIAS as BIAS, IZHIKEVICH_C as C,
    IZHIKEVICH_D as D, IZHIKEVICH_PEAK as PEAK, IZHIKEVICH_SUBSTEP as SUBSTEP,
    IZHIKEVICH_SUBSTEPS as SUBSTEPS,
};
use crate::{Error, Kind, Record};

/// The fraction bits of the length of a substep, in ms.
const SUBSTEP_BITS: u32 = 24;

/// The factor 0.04 of v^2, as a coefficient.
const SQUARE: i64 = 42_949_673;

/// The parameters of Izhikevich neurons; the defaults are those of a regular spiking cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Izhikevich {
    /// The rate of the recovery variable u, in 1/ms.
    pub a: f64,
    /// The sensitivity of u to v.
    pub b: f64,
    /// The reset potential: v after a spike, in mV.
    pub c: f64,
    /// The increase of u by a spike.
    pub d: f64,
    /// The potential at which the neuron fires, in mV.
    pub peak: f64,
    /// A constant current.
    pub bias: f64,
    /// The rate of the Poisson input, in spikes a second, all inputs together.
    pub poisson_rate: f64,
    /// The current of one Poisson event, in its step.
    pub poisson_weight: f64,
    /// A constant current that can be changed while the network runs.
    pub drive: f64,
}

impl Default for Izhikevich {
    fn default() -> Self {
        Self {
            a: 0.02,
            b: 0.2,
            c: -65.0,
            d: 8.0,
            peak: 30.0,
            bias: 0.0,
            poisson_rate: 0.0,
            poisson_weight: 0.0,
            drive: 0.0,
        }
    }
}

impl Izhikevich {
    /// Returns the record for steps of `dt` ms in a network with `fraction_bits` fraction bits, without its Poisson
    /// table.
    pub(crate) fn record(&self, dt: f64, fraction_bits: u32) -> Result<Record, Error> {
        let substeps = libm::ceil(dt / 0.5).max(1.0);
        if !(1.0..=1000.0).contains(&substeps) {
            return Err(Error::parameter("dt", dt, "at most 500 ms for Izhikevich neurons"));
        }
        let numbers = [
            (A_DT, "a dt", self.a * dt, COEFFICIENT_BITS),
            (B, "b", self.b, COEFFICIENT_BITS),
            (C, "c", self.c, MILLIVOLT_BITS),
            (D, "d", self.d, MILLIVOLT_BITS),
            (PEAK, "peak", self.peak, MILLIVOLT_BITS),
            (BIAS, "bias", self.bias, MILLIVOLT_BITS),
            (SUBSTEP, "substep", dt / substeps, SUBSTEP_BITS),
            (Record::POISSON + 2, "Poisson weight", self.poisson_weight, MILLIVOLT_BITS),
        ];
        let mut record = units::record(Kind::Izhikevich, self.drive, fraction_bits, &numbers)?;
        record.words[SUBSTEPS] = substeps as u32;
        Ok(record)
    }

    /// Returns the initial state of a neuron with this potential: u is b v.
    pub(crate) fn initial(&self, v: f64) -> Result<Words, Error> {
        let u = units::word("initial recovery", self.b * v, MILLIVOLT_BITS)?;
        Ok([units::word("initial potential", v, MILLIVOLT_BITS)?, u, 0, 0])
    }
}

/// Returns whether the parameters that have limits are within them.
pub(crate) const fn is_possible(record: &Record) -> bool {
    record.words[SUBSTEP] <= 1 << (SUBSTEP_BITS - 1) && record.words[SUBSTEPS] <= 1000
}

/// Moves peak and reset to the end of the range, so that after a step v is the potential that the neuron would have
/// fired at.
pub(crate) const fn mute(record: &mut Record) {
    (record.words[PEAK], record.words[C]) = (i32::MAX as u32, i32::MAX as u32);
}

/// Advances the neuron by one step. Returns whether it fires.
#[inline]
pub(crate) fn update(neuron: &Neuron<'_>, clock: &Clock, arrival: Arrival, state: &mut Words) -> bool {
    let record = neuron.record;
    let [mut v, mut u] = [state[0] as i32, state[1] as i32];
    let input = (i64::from(arrival.ports[0]) + i64::from(arrival.ports[1])) << record.words[Record::SHIFT];
    let poisson = poisson_input(neuron, clock);
    let current = i64::from(fixed::saturate(input + poisson + i64::from(record.signed(BIAS))));
    // |v| < 2^31 and the factor before it < 2^27, so the slope stays below 2^38, and its product with the substep, at
    // most 2^23, within 64 bits.
    for _ in 0..record.words[SUBSTEPS] {
        let factor = round_shift(i64::from(v) * SQUARE, COEFFICIENT_BITS) + (5 << MILLIVOLT_BITS);
        let square = round_shift(i64::from(v) * factor, MILLIVOLT_BITS);
        let slope = square + (140 << MILLIVOLT_BITS) - i64::from(u) + current;
        v = fixed::saturate(
            i64::from(v) + round_shift(slope * i64::from(record.words[SUBSTEP]), SUBSTEP_BITS),
        );
    }
    let toward = fixed::saturate(i64::from(fixed::mul(v, record.signed(B))) - i64::from(u));
    u = fixed::add(u, fixed::mul(toward, record.signed(A_DT)));
    let fires = v >= record.signed(PEAK);
    if fires {
        v = record.signed(C);
        u = fixed::add(u, record.signed(D));
    }
    (state[0], state[1]) = (v as u32, u as u32);
    fires
}
