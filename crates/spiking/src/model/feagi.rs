//! The neuron of FEAGI (feagi-core of 2026-02, sequential path of its CPU backend).
//!
//! A neuron is updated only in steps in which it gets input, even if the input adds up to zero: only then does it leak,
//! and does its refractory countdown tick. FEAGI's second path, for many candidates, differs in four ways; this module
//! implements the first path for any number of neurons. State: potential (2 words), countdown | consecutive spikes <<
//! 16, unused.

use super::step::{Arrival, Clock, Neuron, Words};
use super::units::weight_units;
use crate::fixed::{self, KEEP_BITS, POTENTIAL_BITS};
use crate::record::{join, split};
pub use crate::record_words::{
    FEAGI_ACCUMULATES as ACCUMULATES, FEAGI_DIVIDED as DIVIDED, FEAGI_EXCITABLE as EXCITABLE,
    FEAGI_MP_DRIVEN as MP_DRIVEN, FEAGI_TICKS_ALWAYS as TICKS_ALWAYS,
};
use crate::record_words::{
    FEAGI_CONSECUTIVE_LIMIT as CONSECUTIVE_LIMIT, FEAGI_EXCITABILITY as EXCITABILITY, FEAGI_FLAGS as FLAGS,
    FEAGI_KEEP as KEEP, FEAGI_LIMIT as LIMIT, FEAGI_PERIODS as PERIODS, FEAGI_PSP as PSP,
    FEAGI_THRESHOLD as THRESHOLD,
};
use crate::{Error, Kind, Record, random};

/// The parameters of FEAGI neurons; potentials are in FEAGI's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Feagi {
    /// The firing threshold, inclusive.
    pub threshold: f64,
    /// The potential above which the neuron does not fire. `None` is no limit, as are 0 and the greatest number in
    /// FEAGI.
    pub threshold_limit: Option<f64>,
    /// The fraction of the potential, 0 to 1, that leaks in a step with input and without a spike.
    pub leak: f64,
    /// The refractory period: the number of steps with input that are ignored after a spike.
    pub refractory: u16,
    /// The probability of firing if all other conditions are met; 0.999 and more count as 1.
    pub excitability: f64,
    /// The number of consecutive spikes after which the neuron pauses; 0 and 65,535 are no limit.
    pub consecutive_limit: u16,
    /// The steps that are added to `refractory` after the last of these spikes.
    pub snooze: u16,
    /// Whether the potential persists from step to step. Otherwise it is 0 at the beginning of each step.
    pub charge_accumulation: bool,
    /// The postsynaptic potential: the factor of the weights.
    pub psp: u8,
    /// Whether the postsynaptic potential is the potential at firing, rounded and at most 255, instead of `psp`.
    pub mp_driven_psp: bool,
    /// Whether each target gets the full postsynaptic potential. Otherwise it is divided by the neuron's fan-out.
    /// FEAGI's default depends on whether any area sets it; here it is always explicit.
    pub psp_uniform: bool,
    /// Whether the refractory countdown ticks in every step, and not only in steps with input, as in FEAGI.
    pub tick_always: bool,
    /// Input in every step, as FEAGI gives its power area.
    pub drive: f64,
}

impl Default for Feagi {
    fn default() -> Self {
        Self {
            threshold: 1.0,
            threshold_limit: None,
            leak: 0.1,
            refractory: 0,
            excitability: 1.0,
            consecutive_limit: 0,
            snooze: 0,
            charge_accumulation: true,
            psp: 1,
            mp_driven_psp: false,
            psp_uniform: true,
            tick_always: false,
            drive: 0.0,
        }
    }
}

impl Feagi {
    /// Returns the record for a network with `fraction_bits` fraction bits; the caller fills in the population.
    pub(crate) fn record(&self, fraction_bits: u32) -> Result<Record, Error> {
        let threshold = potential("threshold", self.threshold)?;
        let limit = self.threshold_limit.map_or(Ok(i64::MAX), |limit| potential("threshold limit", limit))?;
        for (what, value) in [("leak", self.leak), ("excitability", self.excitability)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::parameter(what, value, "0 to 1"));
            }
        }
        let is_unlimited = self.consecutive_limit == u16::MAX;
        let flags = [
            (DIVIDED, !self.psp_uniform),
            (MP_DRIVEN, self.mp_driven_psp),
            (ACCUMULATES, self.charge_accumulation),
            (TICKS_ALWAYS, self.tick_always),
            (EXCITABLE, self.excitability >= 0.999),
        ];
        let mut words = [0; 15];
        words[Record::DRIVE] = weight_units("drive", self.drive, fraction_bits)? as u32;
        words[THRESHOLD..THRESHOLD + 2].copy_from_slice(&split(threshold));
        words[LIMIT..LIMIT + 2].copy_from_slice(&split(limit));
        words[KEEP] = libm::round((1.0 - self.leak) * (1_u64 << KEEP_BITS) as f64) as u32;
        words[EXCITABILITY] = libm::round(self.excitability * (1_u64 << 32) as f64) as u32;
        words[PERIODS] = u32::from(self.snooze) << 16 | u32::from(self.refractory);
        words[CONSECUTIVE_LIMIT] = if is_unlimited { 0 } else { self.consecutive_limit.into() };
        words[PSP] = self.psp.into();
        words[FLAGS] = flags.iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag).sum();
        words[Record::SHIFT] = POTENTIAL_BITS - fraction_bits;
        Ok(Record { kind: Kind::Feagi as u32, words })
    }
}

/// Converts a potential to a fixed-point number; `what` names it in messages.
fn potential(what: &str, value: f64) -> Result<i64, Error> {
    if !(-2_147_483_648.0..2_147_483_648.0).contains(&value) {
        return Err(Error::parameter(what, value, "between -2^31 and 2^31"));
    }
    Ok(libm::round(value * (1_u64 << POTENTIAL_BITS) as f64) as i64)
}

/// Returns the initial state of a neuron with this potential.
pub(crate) fn initial(value: f64) -> Result<Words, Error> {
    let [low, high] = split(potential("initial potential", value)?);
    Ok([low, high, 0, 0])
}

/// Returns whether the postsynaptic potential is divided by the neuron's fan-out.
#[must_use]
pub const fn is_divided(record: &Record) -> bool {
    record.kind == Kind::Feagi as u32 && record.words[FLAGS] & DIVIDED != 0
}

/// Returns whether the parameters that have limits are within them.
pub(crate) const fn is_possible(record: &Record) -> bool {
    record.words[PSP] <= 255 && record.words[KEEP] <= 1 << KEEP_BITS
}

/// Returns whether steps without input leave the neuron's state unchanged.
pub(crate) const fn is_quiet(record: &Record) -> bool {
    record.kind == Kind::Feagi as u32 && record.words[FLAGS] & (ACCUMULATES | TICKS_ALWAYS) == ACCUMULATES
}

/// Returns the largest postsynaptic potential that a neuron can have.
pub(crate) const fn psp_max(record: &Record) -> u32 {
    if record.words[FLAGS] & MP_DRIVEN != 0 { 255 } else { record.words[PSP] }
}

/// Prevents a neuron from firing and leaking, so that after a step its potential is the one it would have fired at.
pub(crate) const fn mute(record: &mut Record) {
    record.words[FLAGS] &= !EXCITABLE;
    record.words[EXCITABILITY] = 0;
    record.words[KEEP] = 1 << KEEP_BITS;
}

/// Returns the membrane potential, in FEAGI's units.
pub(crate) fn potential_of(state: &Words) -> f64 {
    join(state[0], state[1]) as f64 / (1_u64 << POTENTIAL_BITS) as f64
}

/// Advances the neuron by one step. Returns the postsynaptic potential if it fires.
#[inline]
pub(crate) fn update(neuron: &Neuron<'_>, clock: &Clock, arrival: Arrival, state: &mut Words) -> Option<u32> {
    let Neuron { number, record, .. } = *neuron;
    let words = &record.words;
    let has = |flag: u32| words[FLAGS] & flag != 0;
    if !has(ACCUMULATES) {
        (state[0], state[1]) = (0, 0);
    }
    let ticks = arrival.is_input || has(TICKS_ALWAYS) && state[2] & 0xffff != 0;
    if !ticks {
        return None;
    }
    let (mut countdown, mut count) = (state[2] & 0xffff, state[2] >> 16);
    let limit = words[CONSECUTIVE_LIMIT];
    let is_exhausted = limit != 0 && count >= limit;
    if countdown > 0 {
        countdown -= 1;
        if countdown == 0 && is_exhausted {
            count = 0;
        }
        state[2] = count << 16 | countdown;
        return None;
    }
    let input = (i64::from(arrival.ports[0]) + i64::from(arrival.ports[1])) << words[Record::SHIFT];
    let mut potential = join(state[0], state[1]).saturating_add(input);
    let mut psp = None;
    if is_exhausted {
        count = 0;
    } else if record.wide(THRESHOLD) <= potential
        && potential <= record.wide(LIMIT)
        && (has(EXCITABLE) || random::excitability(number, clock.burst) < words[EXCITABILITY])
    {
        let at_firing = potential.saturating_add(1 << 31) >> 32;
        psp = Some(if has(MP_DRIVEN) { at_firing.clamp(0, 255) as u32 } else { words[PSP] });
        potential = 0;
        count = (count + 1).min(0xffff);
        let snooze = if limit != 0 && count >= limit { words[PERIODS] >> 16 } else { 0 };
        countdown = ((words[PERIODS] & 0xffff) + snooze).min(0xffff);
    } else {
        if limit != 0 {
            count = 0;
        }
        potential = fixed::leak(potential, words[KEEP]);
    }
    [state[0], state[1]] = split(potential);
    state[2] = count << 16 | countdown;
    psp
}
