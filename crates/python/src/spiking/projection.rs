//! Connection rules, distributions of weights and delays, and plasticity rules from Python.

use kvrm::spiking::{ConnectionRule, Delay, Error, PlasticityRule, Projection, Weight};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::field::{field, kind};
use super::units::{Units, parameter};
use crate::error::{OrRaise as _, refused};

/// A projection: connection rule, weights, delays, and which pairs are allowed.
#[derive(Debug)]
pub(super) struct AnyProjection(pub(super) Projection);

impl<'py> FromPyObject<'_, 'py> for AnyProjection {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let options: Bound<'py, PyDict> = object.extract()?;
        let (AnyRule(rule), AnyWeight(weight)) = (field(&options, "rule")?, field(&options, "weight")?);
        let AnyDelay(delay) = field(&options, "delay")?;
        let (autapses, multapses) = (field(&options, "autapses")?, field(&options, "multapses")?);
        Ok(Self(Projection { rule, weight, delay, autapses, multapses }))
    }
}

struct AnyRule(ConnectionRule);

impl<'py> FromPyObject<'_, 'py> for AnyRule {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (name, options) = kind(object)?;
        Ok(Self(match &name[..] {
            "one-to-one" => ConnectionRule::OneToOne,
            "all-to-all" => ConnectionRule::AllToAll,
            "probability" => ConnectionRule::Probability(field(&options, "probability")?),
            "in-degree" => ConnectionRule::InDegree(field(&options, "degree")?),
            "out-degree" => ConnectionRule::OutDegree(field(&options, "degree")?),
            "total" => ConnectionRule::Total(field(&options, "synapses")?),
            "offsets" => ConnectionRule::Offsets(field(&options, "offsets")?),
            _ => return Err(unknown("connection rule", &name)),
        }))
    }
}

struct AnyWeight(Weight);

impl<'py> FromPyObject<'_, 'py> for AnyWeight {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (name, options) = kind(object)?;
        let number = |name| field(&options, name);
        Ok(Self(match &name[..] {
            "constant" => Weight::Constant(number("value")?),
            "normal" => Weight::Normal { mean: number("mean")?, std: number("std")? },
            "uniform" => Weight::Uniform { low: number("low")?, high: number("high")? },
            _ => return Err(unknown("distribution of weights", &name)),
        }))
    }
}

struct AnyDelay(Delay);

impl<'py> FromPyObject<'_, 'py> for AnyDelay {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (name, options) = kind(object)?;
        let number = |name| field(&options, name);
        Ok(Self(match &name[..] {
            // Rounded to steps, like the delays of a range.
            "constant" => Delay::Uniform { low: number("value")?, high: number("value")? },
            "steps" => Delay::Steps(field(&options, "steps")?),
            "normal" => Delay::Normal { mean: number("mean")?, std: number("std")?, max: number("max")? },
            "uniform" => Delay::Uniform { low: number("low")?, high: number("high")? },
            _ => return Err(unknown("distribution of delays", &name)),
        }))
    }
}

/// A plasticity rule with amounts in the unit of weights and times in ms.
#[derive(Debug)]
pub(super) enum AnyPlasticity {
    Window { steps: u32, ltp: f64, ltd: f64 },
    Pair { potentiation: f64, depression: f64, tau_plus: f64, tau_minus: f64 },
    PairTable { potentiation: Vec<f64>, depression: Vec<f64> },
}

impl<'py> FromPyObject<'_, 'py> for AnyPlasticity {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (name, options) = kind(object)?;
        let number = |name| field(&options, name);
        Ok(match &name[..] {
            "window" => {
                Self::Window { steps: field(&options, "steps")?, ltp: number("ltp")?, ltd: number("ltd")? }
            }
            "pair" => Self::Pair {
                potentiation: number("potentiation")?,
                depression: number("depression")?,
                tau_plus: number("tau_plus")?,
                tau_minus: number("tau_minus")?,
            },
            "pair-table" => Self::PairTable {
                potentiation: field(&options, "potentiation")?,
                depression: field(&options, "depression")?,
            },
            _ => return Err(unknown("plasticity rule", &name)),
        })
    }
}

impl AnyPlasticity {
    /// Returns the rule in weight units and steps.
    pub(super) fn rule(&self, units: Units) -> PyResult<PlasticityRule> {
        let amount = |what, amount: f64| units.amount(what, amount);
        let table = |what, amounts: &[f64]| -> Result<Vec<i32>, Error> {
            amounts.iter().map(|each| amount(what, *each)).collect()
        };
        let rule = || {
            Ok(match self {
                Self::Window { steps, ltp, ltd } => PlasticityRule::Window {
                    steps: *steps,
                    ltp: amount("ltp", *ltp)?,
                    ltd: amount("ltd", *ltd)?,
                },
                Self::Pair { potentiation, depression, tau_plus, tau_minus } => {
                    for (what, tau) in [("tau_plus", *tau_plus), ("tau_minus", *tau_minus)] {
                        if !(tau > 0.0 && tau.is_finite()) {
                            return Err(parameter(what, tau, "more than 0 ms".to_owned()));
                        }
                    }
                    let amounts =
                        [amount("potentiation", *potentiation)?, amount("depression", *depression)?];
                    let taus = [tau_plus, tau_minus].map(|tau| tau / units.dt);
                    PlasticityRule::exponential(amounts.map(f64::from), taus)
                }
                Self::PairTable { potentiation, depression } => PlasticityRule::Pair {
                    potentiation: table("potentiation", potentiation)?,
                    depression: table("depression", depression)?,
                },
            })
        };
        rule().or_raise()
    }
}

fn unknown(what: &str, name: &str) -> PyErr {
    refused(format!("there is no {what} {name:?}"))
}
