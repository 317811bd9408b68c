//! Checks of the parts of networks and of states, so that engines can rely on them.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use crate::model::{feagi, izhikevich, poisson};
use crate::parts::rules_of;
use crate::{Error, Kind, NetworkParts, Record, STATE_WORDS, bound, fixed};

/// The largest number of elements of the ring, 16 GiB.
const RING_MAX: u64 = 1 << 32;
/// The largest number of words of synapses, 32 GiB. A sum of that many capped contributions fits in 64 bits.
const WORDS_MAX: u64 = (1 << 33) - 1;

/// Checks everything but the contents of rows.
pub(crate) fn parts(parts: &NetworkParts) -> Result<(), Error> {
    let neurons = parts.record_of.len();
    if neurons >= u32::MAX as usize {
        return Err(Error::TooMany {
            what: "neurons",
            count: neurons as u64,
            limit: u64::from(u32::MAX) - 1,
        });
    }
    let require = |what: &str, value: u64, range: Range<u64>| {
        let expected = format!("{} to {}", range.start, range.end - 1);
        if range.contains(&value) { Ok(()) } else { Err(Error::parameter(what, value, expected)) }
    };
    if !(parts.dt > 0.0 && parts.dt.is_finite()) {
        return Err(Error::parameter("dt", parts.dt, "more than 0 ms"));
    }
    require("fraction bits", parts.fraction_bits.into(), 0..u64::from(fixed::FRACTION_BITS_MAX) + 1)?;
    require("ports", parts.ports.into(), 1..3)?;
    require("longest delay", parts.max_delay.into(), 1..1 << 16)?;
    // Injections and drive together stay below 2^31 even for neurons without incoming synapses.
    if !(0..=i32::MAX / 2).contains(&parts.injection_limit) {
        return Err(Error::parameter("injection limit", parts.injection_limit, "0 to 2^30 - 1"));
    }
    ring(parts)?;
    if parts.columns.len() != STATE_WORDS * neurons {
        let what = "initial state";
        return Err(Error::StateShape { what, found: parts.columns.len(), expected: STATE_WORDS * neurons });
    }
    let mut next = 0;
    for population in &parts.populations {
        let Range { start, end } = population.neurons;
        let extents = population.dimensions.iter();
        let size = extents.fold(1_u64, |size, &extent| size.saturating_mul(extent.into()));
        if start != next || end < start || size != u64::from(end - start) {
            let name = &population.name;
            return Err(Error::invalid(format!(
                "population '{name}' has the neurons {start}..{end}, expected {size} neurons from {next}"
            )));
        }
        next = end;
    }
    if next as usize != neurons {
        return Err(Error::invalid(format!(
            "the populations have {next} neurons, but {neurons} neurons have records"
        )));
    }
    records(parts)?;
    rows(parts)?;
    let mut last = None;
    for rule in &parts.plasticity {
        for population in [rule.source, rule.target] {
            require("population", population.into(), 0..parts.populations.len() as u64)?;
        }
        rule.check(&parts.synapses.packing)?;
        if last.replace((rule.source, rule.target)) >= Some((rule.source, rule.target)) {
            return Err(Error::invalid(
                "plasticity rules are not sorted by source and target, or two have the same populations",
            ));
        }
    }
    Ok(())
}

fn records(parts: &NetworkParts) -> Result<(), Error> {
    let mut drives = HashMap::new();
    let pairs = parts.tables.iter().zip(parts.tables.iter().skip(1)).enumerate();
    let falls: Vec<u64> = pairs.filter(|(_, (a, b))| a > b).map(|(place, _)| place as u64).collect();
    for (index, record) in parts.records.iter().enumerate() {
        let population = parts.populations.get(record.words[Record::POPULATION] as usize);
        if population.is_none_or(|population| population.kind as u32 != record.kind) {
            return Err(Error::invalid(format!("record {index} has no population, or one of another model")));
        }
        let shift = record.words[Record::SHIFT];
        let membrane =
            if record.kind == Kind::Feagi as u32 { fixed::POTENTIAL_BITS } else { fixed::MILLIVOLT_BITS };
        if record.kind != Kind::Poisson as u32 && shift != membrane - parts.fraction_bits {
            return Err(Error::invalid(format!(
                "record {index} shifts weights by {shift} bits, expected {}",
                membrane - parts.fraction_bits
            )));
        }
        let is_possible = match Kind::of(record.kind) {
            Some(Kind::Feagi) => feagi::is_possible(record),
            Some(Kind::Izhikevich) => izhikevich::is_possible(record),
            _ => true,
        };
        if !is_possible {
            return Err(Error::invalid(format!("record {index} has parameters out of range for its model")));
        }
        let is_table = |[start, length]: [u32; 2]| {
            length <= poisson::TABLE_MAX && u64::from(start) + u64::from(length) <= parts.tables.len() as u64
        };
        if !record.poisson_table().is_none_or(is_table) {
            return Err(Error::invalid(format!(
                "record {index} has a Poisson table that is too long or ends behind the last entry"
            )));
        }
        // Engines that skip entries or compare several at once would count differently from a search in order.
        let rises = |[start, length]: [u32; 2]| {
            let end = u64::from(start) + u64::from(length);
            falls.get(falls.partition_point(|&fall| fall < start.into())).is_none_or(|&fall| fall + 1 >= end)
        };
        if !record.poisson_table().is_none_or(rises) {
            let reason =
                format!("record {index} has a Poisson table that decreases, unlike distribution functions");
            return Err(Error::invalid(reason));
        }
        let drive = record.signed(Record::DRIVE);
        bound::check_drive(drive, parts.injection_limit)?;
        let number = record.words[Record::POPULATION];
        if *drives.entry(number).or_insert(drive) != drive {
            return Err(Error::invalid(format!("the records of population {number} have different drives")));
        }
    }
    for (number, population) in parts.populations.iter().enumerate() {
        for neuron in population.neurons.clone() {
            let index = parts.record_of[neuron as usize];
            let record = parts.records.get(index as usize);
            if record.is_none_or(|record| record.words[Record::POPULATION] as usize != number) {
                return Err(Error::invalid(format!(
                    "neuron {neuron} has record {index}, which is not of its population"
                )));
            }
        }
    }
    Ok(())
}

/// Checks that the ring is not too large for memory.
pub(crate) fn ring(parts: &NetworkParts) -> Result<(), Error> {
    let count = u64::from(parts.max_delay) * u64::from(parts.ports) * parts.record_of.len() as u64;
    let what = "elements of the ring of pending inputs (neurons * ports * longest delay)";
    if count > RING_MAX { Err(Error::TooMany { what, count, limit: RING_MAX }) } else { Ok(()) }
}

/// Checks that rows lie inside the words and do not overlap, so that no word is read more than once and rows can learn
/// in parallel.
fn rows(parts: &NetworkParts) -> Result<(), Error> {
    let synapses = &parts.synapses;
    synapses.packing.check()?;
    let (neurons, words) = (parts.record_of.len(), synapses.words.len() as u64);
    if words > WORDS_MAX {
        return Err(Error::TooMany { what: "words of synapses", count: words, limit: WORDS_MAX });
    }
    if synapses.starts.len() != neurons || synapses.lengths.len() != neurons {
        return Err(Error::invalid(format!(
            "{neurons} neurons, but {} rows of synapses",
            synapses.starts.len()
        )));
    }
    let rows = synapses.starts.iter().zip(&synapses.lengths).enumerate();
    let mut rows: Vec<(u64, u32, usize)> =
        rows.map(|(source, (&start, &length))| (start, length, source)).collect();
    rows.sort_unstable();
    let mut free = 0;
    for (start, length, source) in rows {
        let end = start.checked_add(u64::from(length) * u64::from(synapses.packing.words));
        let Some(end) = end.filter(|&end| end <= words && (start >= free || length == 0)) else {
            let reason =
                format!("the row of neuron {source} overlaps another row or ends behind the last word");
            return Err(Error::invalid(reason));
        };
        free = free.max(end);
    }
    Ok(())
}

/// Checks that words of synapses differ from those of the parts only in weights that plasticity rules can have learned.
pub(crate) fn weights(parts: &NetworkParts, words: &[u32]) -> Result<(), Error> {
    let synapses = &parts.synapses;
    let expected = synapses.words.len();
    if words.len() != expected {
        return Err(Error::StateShape { what: "weights", found: words.len(), expected });
    }
    let packing = &synapses.packing;
    (0..parts.record_of.len() as u32).into_par_iter().with_min_len(64).try_for_each(|source| {
        let record = &parts.records[parts.record_of[source as usize] as usize];
        let rules = rules_of(&parts.plasticity, record.words[Record::POPULATION]);
        let [own, given] = [&synapses.words[..], words].map(|words| &words[synapses.range(source)]);
        for index in 0..synapses.lengths[source as usize] as usize {
            let [own, given] = [own, given].map(|row| packing.read(row, index));
            if own == given {
                continue;
            }
            let (target, weight) = (packing.unpack(own).target, packing.weight(given));
            let can_learn = rules.iter().any(|rule| {
                let [low, high] = rule.weights;
                parts.populations[rule.target as usize].neurons.contains(&target)
                    && (low..=high).contains(&weight)
            });
            if !can_learn || packing.with_weight(given, 0) != packing.with_weight(own, 0) {
                return Err(Error::state(format!(
                    "synapse {index} of neuron {source} differs in more than a weight that can be learned"
                )));
            }
        }
        Ok(())
    })
}
