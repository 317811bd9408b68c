//! Sources that fire at random, and the tables that Poisson inputs are drawn from.

use super::step::{Clock, Neuron};
use crate::record_words::{SOURCE_ALWAYS as ALWAYS, SOURCE_PROBABILITY as PROBABILITY};
use crate::{Error, Kind, Record, random};

/// The most events a step that a Poisson input may have on average.
const MEAN_MAX: f64 = 4096.0;

/// The most entries that a table has: that of the greatest mean has 4,506.
pub(crate) const TABLE_MAX: u32 = 2 * MEAN_MAX as u32;

/// A source of spikes; what arrives at it is ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson {
    /// Spikes a second. A source fires at most once in a step, with the probability that a Poisson process has an
    /// event in it.
    pub rate: f64,
}

impl Poisson {
    /// The record for steps of `dt` ms.
    pub(crate) fn record(&self, dt: f64) -> Result<Record, Error> {
        let mean = mean("rate", self.rate, dt)?;
        let probability = libm::round(-libm::expm1(-mean) * (1_u64 << 32) as f64);
        let mut words = [0; 15];
        words[PROBABILITY] = probability as u32;
        words[ALWAYS] = u32::from(probability >= (1_u64 << 32) as f64);
        Ok(Record { kind: Kind::Poisson as u32, words })
    }
}

/// Events in a step of `dt` ms.
pub(crate) fn mean(what: &str, rate: f64, dt: f64) -> Result<f64, Error> {
    let mean = rate * dt / 1000.0;
    if !(0.0..=MEAN_MAX).contains(&mean) {
        return Err(Error::parameter(what, rate, format!("0 to {} spikes a second", MEAN_MAX * 1000.0 / dt)));
    }
    Ok(mean)
}

/// The distribution function of a Poisson number, with 32 fraction bits: as many events as entries that are not
/// greater than a random number. The tail beyond the last is less likely than 2^-32.
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

/// A table with where to begin in it, for those who draw often.
#[derive(Debug)]
pub(crate) struct Guide {
    table: Vec<u32>,
    /// By the highest bits of a random number, how many events there are at least.
    least: Vec<u32>,
}

/// How many of the highest bits.
const GUIDE_BITS: u32 = 8;

impl Guide {
    /// A guide to a table, which is sorted.
    pub(crate) fn new(table: &[u32]) -> Self {
        let table = table.to_vec();
        let lowest = |high: u32| high << (32 - GUIDE_BITS);
        let least = |high| table.partition_point(|&threshold| threshold <= lowest(high)) as u32;
        Self { least: (0..1 << GUIDE_BITS).map(least).collect(), table }
    }

    /// How many events a random number stands for.
    #[inline]
    pub(crate) fn count(&self, number: u32) -> u32 {
        let least = self.least[(number >> (32 - GUIDE_BITS)) as usize];
        let more = self.table[least as usize..].iter().take_while(|&&threshold| threshold <= number);
        least + more.count() as u32
    }
}

/// One step; says whether the source fires.
#[inline]
pub(crate) fn update(neuron: &Neuron<'_>, clock: &Clock) -> bool {
    let record = neuron.record;
    record.words[ALWAYS] != 0 || random::draw(clock.source, neuron.number) < record.words[PROBABILITY]
}

/// What the Poisson input of LIF and Izhikevich neurons brings, mV with 20 fraction bits.
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
