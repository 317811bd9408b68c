//! Poisson spike sources, and the distribution tables of the Poisson inputs of other models.

use super::step::{Clock, Neuron};
use crate::record_words::{SOURCE_ALWAYS as ALWAYS, SOURCE_PROBABILITY as PROBABILITY};
use crate::{Error, Kind, Record, random};

/// The largest mean number of events per step of a Poisson input.
const MEAN_MAX: f64 = 4096.0;

/// The largest number of entries of a table. The table of the largest mean has 4,506.
pub(crate) const TABLE_MAX: u32 = 2 * MEAN_MAX as u32;

/// A Poisson spike source. It ignores its input.
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson {
    /// The rate, in spikes a second. A source fires at most once in a step, with the probability that a Poisson process
    /// has at least one event in it.
    pub rate: f64,
}

impl Poisson {
    /// Returns the record for steps of `dt` ms.
    pub(crate) fn record(&self, dt: f64) -> Result<Record, Error> {
        let mean = mean("rate", self.rate, dt)?;
        let probability = libm::round(-libm::expm1(-mean) * (1_u64 << 32) as f64);
        let mut words = [0; 15];
        words[PROBABILITY] = probability as u32;
        words[ALWAYS] = u32::from(probability >= (1_u64 << 32) as f64);
        Ok(Record { kind: Kind::Poisson as u32, words })
    }
}

/// Returns the mean number of events in a step of `dt` ms; `what` names the rate in messages.
pub(crate) fn mean(what: &str, rate: f64, dt: f64) -> Result<f64, Error> {
    let mean = rate * dt / 1000.0;
    if !(0.0..=MEAN_MAX).contains(&mean) {
        return Err(Error::parameter(what, rate, format!("0 to {} spikes a second", MEAN_MAX * 1000.0 / dt)));
    }
    Ok(mean)
}

/// Returns the cumulative distribution function of a Poisson distribution, with 32 fraction bits. The number of events
/// of a random number is the number of entries that are not greater than it. The tail beyond the last entry has a
/// probability below 2^-32.
pub(crate) fn table(mean: f64) -> Vec<u32> {
    let mut table = Vec::new();
    if mean == 0.0 {
        return table;
    }
    let mut sum = 0.0;
    for count in 0.. {
        let events = f64::from(count);
        sum += libm::exp(events * libm::log(mean) - mean - libm::lgamma(events + 1.0));
        let threshold = libm::round(sum * (1_u64 << 32) as f64);
        if threshold >= f64::from(u32::MAX) || (events > mean && table.last() == Some(&(threshold as u32))) {
            break;
        }
        table.push(threshold as u32);
    }
    table
}

/// A table with an index by the highest bits of the random number (a guide table), for fast repeated draws.
#[derive(Debug)]
pub(crate) struct Guide {
    table: Vec<u32>,
    /// The smallest number of events, by the highest bits of the random number.
    least: Vec<u32>,
}

/// The number of highest bits that select an entry of the guide.
const GUIDE_BITS: u32 = 8;

impl Guide {
    /// Makes a guide to a sorted table.
    pub(crate) fn new(table: &[u32]) -> Self {
        let table = table.to_vec();
        let lowest = |high: u32| high << (32 - GUIDE_BITS);
        let least = |high| table.partition_point(|&threshold| threshold <= lowest(high)) as u32;
        Self { least: (0..1 << GUIDE_BITS).map(least).collect(), table }
    }

    /// Returns the number of events of a random number.
    #[inline]
    pub(crate) fn count(&self, number: u32) -> u32 {
        let least = self.least[(number >> (32 - GUIDE_BITS)) as usize];
        let more = self.table[least as usize..].iter().take_while(|&&threshold| threshold <= number);
        least + more.count() as u32
    }
}

/// Returns whether the source fires in this step.
#[inline]
pub(crate) fn update(neuron: &Neuron<'_>, clock: &Clock) -> bool {
    let record = neuron.record;
    record.words[ALWAYS] != 0 || random::draw(clock.source, neuron.number) < record.words[PROBABILITY]
}

/// Returns the Poisson input of a LIF or Izhikevich neuron in this step, in mV with 20 fraction bits.
#[inline]
pub(super) fn poisson_input(neuron: &Neuron<'_>, clock: &Clock) -> i64 {
    let [start, length, weight] = [0, 1, 2].map(|word| neuron.record.words[Record::POISSON + word]);
    if length == 0 {
        return 0;
    }
    let number = random::draw(clock.input, neuron.number);
    let table = &neuron.tables[start as usize..][..length as usize];
    let count = table.iter().take_while(|&&threshold| threshold <= number).count();
    count as i64 * i64::from(weight as i32)
}

#[cfg(test)]
mod tests {
    use super::{Guide, table};

    #[test]
    fn guides_count_as_tables_do() {
        let steep = vec![1 << 20, 5 << 24, 5 << 24, 7 << 24, u32::MAX - 1];
        for table in [table(0.01), table(1.7), table(300.0), steep] {
            let guide = Guide::new(&table);
            let beside = table
                .iter()
                .flat_map(|&threshold| [threshold.saturating_sub(1), threshold, threshold.saturating_add(1)]);
            for number in beside.chain([0, 1, 1 << 24, u32::MAX]) {
                let count = table.iter().take_while(|&&threshold| threshold <= number).count();
                assert_eq!(guide.count(number), count as u32, "{number} in {table:?}");
            }
        }
    }
}
