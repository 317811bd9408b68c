//! The proof that no sum of inputs overflows.
//!
//! A source fires at most once in a step and a synapse has one delay, so each synapse adds to a slot of the ring at
//! most once. Therefore all incoming synapses of a neuron together, whatever their delays, plus the largest injection
//! and the largest drive bound every intermediate sum: both ports together stay below 2^31.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use crate::model::feagi;
use crate::parts::{NetworkParts, rules_of};
use crate::{Error, Kind, Record, Synapse, fixed};

/// The largest allowed total input of a neuron in a step.
pub(crate) const LIMIT: u64 = i32::MAX as u64;

/// The results of a pass over all synapses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// The largest synaptic input of each neuron in a step, in weight units.
    pub(crate) sums: Vec<u64>,
    /// The shortest delay, in steps; `None` if there are no synapses.
    pub(crate) min_delay: Option<u32>,
}

/// Checks all synapses, and computes and checks the bound of each neuron.
pub(crate) fn survey(parts: &NetworkParts) -> Result<Survey, Error> {
    let neurons = parts.record_of.len();
    let sums: Vec<AtomicU64> = (0..neurons).map(|_| AtomicU64::new(0)).collect();
    let rows = (0..neurons as u32).into_par_iter().with_min_len(64);
    let min_delay = rows
        .map(|source| {
            row(parts, source, |synapse, most| {
                sums[synapse.target as usize].fetch_add(most, Relaxed);
            })
        })
        .try_reduce(|| u32::MAX, |left, right| Ok(left.min(right)))?;
    let sums: Vec<u64> = sums.into_iter().map(AtomicU64::into_inner).collect();
    for (neuron, &sum) in sums.iter().enumerate() {
        check_sum(neuron as u32, sum, parts.injection_limit)?;
    }
    Ok(Survey { sums, min_delay: (min_delay != u32::MAX).then_some(min_delay) })
}

/// Checks the row of a source, passes each synapse with its largest contribution to `add`, and returns the shortest
/// delay.
fn row(parts: &NetworkParts, source: u32, add: impl FnMut(Synapse, u64)) -> Result<u32, Error> {
    let synapses = &parts.synapses;
    let packing = &synapses.packing;
    let row = &synapses.words[synapses.range(source)];
    let is_packed = |index: usize| {
        let packed = packing.read(row, index);
        packing.pack(&packing.unpack(packed)) == packed
    };
    let length = synapses.lengths[source as usize];
    // A synapse of one word has no unused bits.
    if packing.words == 2 && !(0..length as usize).all(is_packed) {
        return Err(Error::invalid(format!(
            "the synapses of neuron {source} have bits set above their targets"
        )));
    }
    contributions(parts, source, length, synapses.row(source), add)
}

/// Does the same as [`row`] for synapses that need not be those of `parts`.
pub(crate) fn contributions(
    parts: &NetworkParts,
    source: u32,
    length: u32,
    row: impl Iterator<Item = Synapse>,
    mut add: impl FnMut(Synapse, u64),
) -> Result<u32, Error> {
    let record = &parts.records[parts.record_of[source as usize] as usize];
    let scale = u64::from(scale_max(record, length));
    let rules = rules_of(&parts.plasticity, record.words[Record::POPULATION]);
    let mut min_delay = u32::MAX;
    let mut last = 0;
    for synapse in row {
        let target = synapse.target;
        if target < last || target as usize >= parts.record_of.len() {
            let neurons = parts.record_of.len();
            let reason = format!(
                "the row of neuron {source} has target {target} after {last}, expected ascending ones below {neurons}"
            );
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
        let most = (u64::from(weight) * scale + (1 << (fixed::SCALE_BITS - 1))) >> fixed::SCALE_BITS;
        // A contribution above the limit is invalid anyway, and with this cap the sums fit in 64 bits.
        add(synapse, most.min(LIMIT + 1));
    }
    Ok(min_delay)
}

/// Returns the largest scale of a neuron's spikes.
fn scale_max(record: &Record, fan_out: u32) -> u32 {
    let psp = if record.kind == Kind::Feagi as u32 { feagi::psp_max(record) } else { 1 };
    fixed::scale(psp, feagi::is_divided(record), fan_out)
}

/// Checks that the bound of a neuron, with the largest injection and drive added, is within the limit.
pub(crate) fn check_sum(neuron: u32, sum: u64, injection_limit: i32) -> Result<(), Error> {
    let sum = sum + 2 * u64::from(injection_limit.unsigned_abs());
    if sum > LIMIT { Err(Error::AccumulatorBound { neuron, sum, limit: LIMIT }) } else { Ok(()) }
}

/// Checks that the pending inputs in the ring of a state, with all inputs that can still be added, do not overflow.
///
/// During a run they cannot, because a synapse adds to a slot once. But after a change the ring can contain input from
/// removed synapses, which no bound includes, and states may come from anywhere.
pub(crate) fn check_ring(parts: &NetworkParts, survey: &Survey, ring: &[i32]) -> Result<(), Error> {
    let (neurons, ports) = (parts.record_of.len(), parts.ports as usize);
    let sum_of = |slot: usize, neuron: usize| -> u64 {
        let sum = |port: usize| ring[(slot * ports + port) * neurons + neuron].unsigned_abs();
        (0..ports).map(|port| u64::from(sum(port))).sum()
    };
    // The slots and neurons for which the sum of pending input and bound is too large.
    let slots = 0..parts.max_delay as usize;
    let places = slots.flat_map(|slot| (0..neurons).map(move |neuron| (slot, neuron)));
    let is_doubtful = |&(slot, neuron): &(usize, usize)| {
        let sum = sum_of(slot, neuron);
        sum != 0 && check_sum(neuron as u32, sum + survey.sums[neuron], parts.injection_limit).is_err()
    };
    let mut doubtful: BTreeMap<(usize, usize), u64> =
        places.filter(is_doubtful).map(|(slot, neuron)| ((neuron, slot), sum_of(slot, neuron))).collect();
    if doubtful.is_empty() {
        return Ok(());
    }
    // A synapse can still add only to slots whose number is at least its delay.
    for source in 0..neurons as u32 {
        row(parts, source, |synapse, most| {
            let target = synapse.target as usize;
            for sum in doubtful.range_mut((target, synapse.delay as usize)..(target + 1, 0)) {
                *sum.1 += most;
            }
        })?;
    }
    doubtful.iter().try_for_each(|(&(neuron, _), &sum)| check_sum(neuron as u32, sum, parts.injection_limit))
}

/// Checks that a drive is within the injection limit.
pub(crate) fn check_drive(amount: i32, injection_limit: i32) -> Result<(), Error> {
    if amount.unsigned_abs() > injection_limit.unsigned_abs() {
        return Err(Error::parameter(
            "drive",
            amount,
            format!("at most {injection_limit} weight units in magnitude"),
        ));
    }
    Ok(())
}
