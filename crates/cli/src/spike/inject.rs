//! `--inject`: input to neurons from outside.

use std::ops::Range;

use anyhow::{Result, bail};
use kvrm::spiking::{Injection, Input, Network};

/// A value of `--inject`: NEURONS:AMOUNT or NEURONS:AMOUNT@STEPS.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inject {
    neurons: Neurons,
    amount: f64,
    /// The steps of the injection; `None` for every step.
    steps: Option<Ranges>,
}

/// The neurons of an injection.
#[derive(Clone, Debug, PartialEq)]
enum Neurons {
    Numbers(Ranges),
    Population(String),
}

/// Parses a value of `--inject`.
pub(crate) fn parse(text: &str) -> Result<Inject, String> {
    const EXPECTED: &str =
        "expected NEURONS:AMOUNT or NEURONS:AMOUNT@STEPS, such as 0-9,20:1.5@0-99 or retina:2";
    let (rest, steps) = match text.rsplit_once('@') {
        Some((rest, steps)) => (rest, Some(ranges(steps).ok_or(EXPECTED)?)),
        None => (text, None),
    };
    let (neurons, amount) = rest.rsplit_once(':').ok_or(EXPECTED)?;
    let amount = amount.parse().ok().filter(|amount: &f64| amount.is_finite()).ok_or(EXPECTED)?;
    let neurons = match ranges(neurons) {
        Some(numbers) => Neurons::Numbers(numbers),
        None if neurons.is_empty() => return Err(EXPECTED.to_owned()),
        None => Neurons::Population(neurons.to_owned()),
    };
    Ok(Inject { neurons, amount, steps })
}

/// Parses numbers and ranges of numbers, both ends included: `0-9,20`.
fn ranges(text: &str) -> Option<Ranges> {
    let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last): (u64, u64) = (number(first)?, number(last)?);
        (first <= last).then_some(first..last.checked_add(1)?)
    };
    text.split(',').map(range).collect()
}

/// The injections into a network, with amounts in its weight units.
pub(crate) struct Injections(Vec<Resolved>);

struct Resolved {
    neurons: Ranges,
    amount: i32,
    steps: Option<Ranges>,
}

/// Ranges of numbers.
type Ranges = Vec<Range<u64>>;

impl Injections {
    /// Resolves the names of populations, and checks neurons and amounts.
    pub(crate) fn new(arguments: &[Inject], network: &Network) -> Result<Self> {
        let parts = network.parts();
        let unit = f64::from(1_u32 << parts.fraction_bits);
        let resolve = |inject: &Inject| {
            let neurons = match &inject.neurons {
                Neurons::Numbers(numbers) => numbers.clone(),
                Neurons::Population(name) => {
                    let Some(number) = network.population(name) else {
                        let known = network.populations().iter().map(|population| population.name.as_str());
                        let known = known.collect::<Vec<_>>().join(", ");
                        bail!(
                            "--inject: there is no population '{name}', expected numbers of neurons or one of {known}"
                        );
                    };
                    let neurons = &network.populations()[number as usize].neurons;
                    std::iter::once(neurons.start.into()..neurons.end.into()).collect()
                }
            };
            let count = u64::from(network.neurons());
            if let Some(range) = neurons.iter().find(|range| range.end > count) {
                bail!("--inject: there is no neuron {}: there are {count}, numbered from 0", range.end - 1);
            }
            let units = (inject.amount * unit).round();
            if units.abs() > f64::from(parts.injection_limit) {
                let most = f64::from(parts.injection_limit) / unit;
                bail!(
                    "--inject: {} is more than this network takes in a step, {most}; inject less, or in several steps",
                    inject.amount
                );
            }
            Ok(Resolved { neurons, amount: units as i32, steps: inject.steps.clone() })
        };
        Ok(Self(arguments.iter().map(resolve).collect::<Result<_>>()?))
    }

    /// Returns `other` with the injections of the steps from `begin` on. Steps are numbered from `begin` in the result.
    pub(crate) fn input(&self, begin: u64, steps: u64, other: Input) -> Result<Input> {
        if self.0.is_empty() {
            return Ok(other);
        }
        let mut injections = other.injections().to_vec();
        let all = begin..begin + steps;
        for Resolved { neurons, amount, steps } in &self.0 {
            let when = steps.as_deref().unwrap_or(std::slice::from_ref(&all));
            for step in when.iter().flat_map(|when| when.start.max(all.start)..when.end.min(all.end)) {
                for neuron in neurons.iter().cloned().flatten() {
                    injections.push(Injection { step: step - begin, neuron: neuron as u32, amount: *amount });
                }
            }
        }
        Ok(Input::new(injections)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_neurons_an_amount_and_optional_steps() {
        let numbers = |ranges: &[Range<u64>]| Neurons::Numbers(ranges.to_vec());
        let expected =
            Inject { neurons: numbers(&[0..10, 20..21]), amount: -1.5, steps: Some(vec![3..4, 5..8]) };
        assert_eq!(parse("0-9,20:-1.5@3,5-7"), Ok(expected), "all three");
        let expected = Inject { neurons: Neurons::Population("a:b".to_owned()), amount: 2.0, steps: None };
        assert_eq!(parse("a:b:2"), Ok(expected), "a name with a colon");
        for wrong in ["", "1", ":1", "1:", "1:x", "1:inf", "1:2@", "1:2@x", "1:2@3-1", "1:2@-1", "1:2@+1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
