//! The proof that no sum overflows.
//!
//! A source fires at most once in a step, and a synapse has one delay, so each synapse adds to a slot of the ring at
//! most once. All incoming synapses of a neuron together, whatever their delays, the largest injection and the
//! largest drive therefore bound whatever is added up on the way: both ports together stay below 2^31.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::model::feagi;
use crate::network::{Parts, rules_of};
use crate::{Error, Kind, Record, Synapse, fixed};

/// The most that can be added up for a neuron in a step.
pub(crate) const LIMIT: u64 = i32::MAX as u64;

/// What a look at all synapses has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// For each neuron, the most that can arrive in a step.
    pub(crate) sums: Vec<u64>,
    /// The shortest delay.
    pub(crate) min_delay: Option<u32>,
}

/// Checks all synapses and sums.
pub(crate) fn survey(parts: &Parts) -> Result<Survey, Error> {
    let synapses = &parts.synapses;
    let neurons = parts.record_of.len();
    if synapses.starts.len() != neurons || synapses.lengths.len() != neurons {
        return Err(Error::invalid(format!("{neurons} neurons, and {} rows", synapses.starts.len())));
    }
    let sums: Vec<AtomicU64> = (0..neurons).map(|_| AtomicU64::new(0)).collect();
    let rows = (0..neurons as u32).into_par_iter().with_min_len(64);
    let min_delay = rows
        .map(|source| {
            let add = |target: u32, most: u64| {
                sums[target as usize].fetch_add(most, Relaxed);
            };
            row(parts, source, add)
        })
        .try_reduce(|| u32::MAX, |left, right| Ok(left.min(right)))?;
    let sums: Vec<u64> = sums.into_iter().map(AtomicU64::into_inner).collect();
    for (neuron, &sum) in sums.iter().enumerate() {
        check_sum(neuron as u32, sum, parts.injection_limit)?;
    }
    Ok(Survey { sums, min_delay: (min_delay != u32::MAX).then_some(min_delay) })
}

/// Checks the row of a source, tells the most that each synapse can add to its target, and gives the shortest delay.
fn row(parts: &Parts, source: u32, add: impl FnMut(u32, u64)) -> Result<u32, Error> {
    let synapses = &parts.synapses;
    let start = synapses.starts[source as usize];
    let length = synapses.lengths[source as usize];
    let end = start.checked_add(u64::from(length) * u64::from(synapses.packing.words));
    if end.is_none_or(|end| end > synapses.words.len() as u64) {
        return Err(Error::invalid(format!("the row of neuron {source} ends behind the last word")));
    }
    contributions(parts, source, length, synapses.row(source), add)
}

/// The same for a row that need not be that of the parts.
pub(crate) fn contributions(
    parts: &Parts,
    source: u32,
    length: u32,
    row: impl Iterator<Item = Synapse>,
    mut add: impl FnMut(u32, u64),
) -> Result<u32, Error> {
    let record = &parts.records[parts.record_of[source as usize] as usize];
    let scale = u64::from(scale_max(record, length));
    let rules = rules_of(&parts.plasticity, record.words[Record::POPULATION]);
    let mut min_delay = u32::MAX;
    let mut last = 0;
    for synapse in row {
        let target = synapse.target;
        if target < last || target as usize >= parts.record_of.len() {
            let reason = format!("the row of neuron {source} leads to neuron {target} after {last}");
            return Err(Error::invalid(reason));
        }
        if synapse.delay == 0 || synapse.delay > parts.max_delay {
            return Err(Error::parameter("delay", synapse.delay, format!("1 to {} steps", parts.max_delay)));
        }
        last = target;
        min_delay = min_delay.min(synapse.delay);
        let mut weight = synapse.weight.unsigned_abs();
        for rule in rules {
            if parts.populations[rule.target as usize].neurons.contains(&target) {
                weight = rule.weights.iter().fold(weight, |weight, limit| weight.max(limit.unsigned_abs()));
            }
        }
        add(target, (u64::from(weight) * scale + (1 << (fixed::SCALE_BITS - 1))) >> fixed::SCALE_BITS);
    }
    Ok(min_delay)
}

/// The most that a neuron's spike multiplies weights by.
fn scale_max(record: &Record, fan_out: u32) -> u32 {
    let psp = if record.kind == Kind::Feagi as u32 { feagi::psp_max(record) } else { 1 };
    fixed::scale(psp, feagi::is_divided(record), fan_out)
}

/// Checks that injections and drive leave room for what can arrive.
pub(crate) fn check_sum(neuron: u32, sum: u64, injection_limit: i32) -> Result<(), Error> {
    let sum = sum + 2 * u64::from(injection_limit.unsigned_abs());
    if sum > LIMIT { Err(Error::AccumulatorBound { neuron, sum, limit: LIMIT }) } else { Ok(()) }
}

/// Checks a drive.
pub(crate) fn check_drive(amount: i32, injection_limit: i32) -> Result<(), Error> {
    if amount.unsigned_abs() > injection_limit.unsigned_abs() {
        return Err(Error::parameter(
            "drive",
            amount,
            format!("at most {injection_limit} weight units either way"),
        ));
    }
    Ok(())
}
