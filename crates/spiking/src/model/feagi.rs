//! The neuron of FEAGI (feagi-core of 2026-02, sequential path of its CPU backend).
//!
//! A neuron is touched only in steps in which something arrives at it, be it zero in sum: only then it leaks and its
//! refractory countdown ticks. FEAGI has a second path for many candidates, which differs in four ways; this is the
//! first one whatever their number. State: potential (2 words), countdown | consecutive spikes << 16, unused.

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

/// Parameters of FEAGI neurons; potentials are in FEAGI's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Feagi {
    /// Fires at this potential or more.
    pub threshold: f64,
    /// Does not fire above this potential; `None`, as FEAGI's 0 and greatest number, is no limit.
    pub threshold_limit: Option<f64>,
    /// The part of the potential that is lost in a step with input and without a spike, 0 to 1.
    pub leak: f64,
    /// Steps with input that are ignored after a spike.
    pub refractory: u16,
    /// The probability of firing if all else is fulfilled; 0.999 and more is always.
    pub excitability: f64,
    /// Spikes in a row before the neuron pauses; 0 and 65,535 are no limit.
    pub consecutive_limit: u16,
    /// What is added to `refractory` after the last of these.
    pub snooze: u16,
    /// Whether the potential is kept from step to step; otherwise it begins each one at 0.
    pub charge_accumulation: bool,
    /// What weights are multiplied by.
    pub psp: u8,
    /// Takes the potential at firing, rounded and at most 255, instead of `psp`.
    pub mp_driven_psp: bool,
    /// Whether each target gets the full amount; otherwise it is divided by the number of the neuron's synapses.
    /// FEAGI's own default depends on whether any area sets it; here it is to be said.
    pub psp_uniform: bool,
    /// Whether the countdown ticks in every step, and not, as in FEAGI, only in those with input.
    pub tick_always: bool,
    /// Input of every step, as FEAGI gives its power area.
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
    /// The record for a network of so many fraction bits; the population is filled in later.
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

/// A potential as a fixed-point number.
fn potential(what: &str, value: f64) -> Result<i64, Error> {
    if !(-2_147_483_648.0..2_147_483_648.0).contains(&value) {
        return Err(Error::parameter(what, value, "between -2^31 and 2^31"));
    }
    Ok(libm::round(value * (1_u64 << POTENTIAL_BITS) as f64) as i64)
}

/// The state that a neuron of this potential begins with.
pub(crate) fn initial(value: f64) -> Result<Words, Error> {
    let [low, high] = split(potential("initial potential", value)?);
    Ok([low, high, 0, 0])
}

/// Whether what a spike brings is divided by the number of the neuron's synapses.
#[must_use]
pub const fn is_divided(record: &Record) -> bool {
    record.kind == Kind::Feagi as u32 && record.words[FLAGS] & DIVIDED != 0
}

/// Whether what has limits is within them.
pub(crate) const fn is_possible(record: &Record) -> bool {
    record.words[PSP] <= 255 && record.words[KEEP] <= 1 << KEEP_BITS
}

/// Whether a neuron is left as it is while nothing arrives.
pub(crate) const fn is_quiet(record: &Record) -> bool {
    record.kind == Kind::Feagi as u32 && record.words[FLAGS] & (ACCUMULATES | TICKS_ALWAYS) == ACCUMULATES
}

/// The greatest postsynaptic potential a neuron can have.
pub(crate) const fn psp_max(record: &Record) -> u32 {
    if record.words[FLAGS] & MP_DRIVEN != 0 { 255 } else { record.words[PSP] }
}

/// Makes a neuron never fire or leak: after a step it has the potential that it would have fired at.
pub(crate) const fn mute(record: &mut Record) {
    record.words[FLAGS] &= !EXCITABLE;
    record.words[EXCITABILITY] = 0;
    record.words[KEEP] = 1 << KEEP_BITS;
}

/// The potential that a neuron has, in FEAGI's units.
pub(crate) fn potential_of(state: &Words) -> f64 {
    join(state[0], state[1]) as f64 / (1_u64 << POTENTIAL_BITS) as f64
}

/// One step; gives the postsynaptic potential if the neuron fires.
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
