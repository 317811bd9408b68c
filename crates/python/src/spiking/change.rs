//! Changes of a network between two steps.

use kvrm::spiking::{Change, Error, Synapse};
use pyo3::prelude::*;

use super::field::{field, kind};
use super::model::AnyModel;
use super::units::Units;
use crate::error::refused;

/// A change with weights in their unit and delays in ms.
#[derive(Debug)]
pub(crate) enum AnyChange {
    AddSynapse { source: u32, target: u32, weight: f64, delay: f64 },
    RemoveSynapse { source: u32, target: u32, delay: f64 },
    SetWeight { source: u32, target: u32, weight: f64, delay: f64 },
    SetParameters { neuron: u32, model: AnyModel },
    AddPopulation { name: String, dimensions: [u32; 3], model: AnyModel },
}

impl<'py> FromPyObject<'_, 'py> for AnyChange {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (name, options) = kind(object)?;
        let neuron = |name| field(&options, name);
        let number = |name| field(&options, name);
        Ok(match &name[..] {
            "add-synapse" => Self::AddSynapse {
                source: neuron("source")?,
                target: neuron("target")?,
                weight: number("weight")?,
                delay: number("delay")?,
            },
            "remove-synapse" => Self::RemoveSynapse {
                source: neuron("source")?,
                target: neuron("target")?,
                delay: number("delay")?,
            },
            "set-weight" => Self::SetWeight {
                source: neuron("source")?,
                target: neuron("target")?,
                weight: number("weight")?,
                delay: number("delay")?,
            },
            "set-parameters" => {
                Self::SetParameters { neuron: neuron("neuron")?, model: field(&options, "model")? }
            }
            "add-population" => Self::AddPopulation {
                name: field(&options, "name")?,
                dimensions: [neuron("width")?, neuron("height")?, neuron("depth")?],
                model: field(&options, "model")?,
            },
            _ => return Err(refused(format!("there is no change {name:?}"))),
        })
    }
}

impl AnyChange {
    /// Returns the change in weight units and steps.
    pub(super) fn change(&self, units: Units) -> Result<Change, Error> {
        let synapse = |target: u32, weight: f64, delay: f64| {
            Ok(Synapse { target, delay: units.steps(delay), weight: units.amount("weight", weight)? })
        };
        Ok(match self {
            Self::AddSynapse { source, target, weight, delay } => {
                Change::AddSynapse { source: *source, synapse: synapse(*target, *weight, *delay)? }
            }
            Self::RemoveSynapse { source, target, delay } => {
                Change::RemoveSynapse { source: *source, target: *target, delay: units.steps(*delay) }
            }
            Self::SetWeight { source, target, weight, delay } => {
                Change::SetWeight { source: *source, synapse: synapse(*target, *weight, *delay)? }
            }
            Self::SetParameters { neuron, model } => {
                Change::SetParameters { neuron: *neuron, model: model.0.clone() }
            }
            Self::AddPopulation { name, dimensions, model } => {
                Change::AddPopulation { name: name.clone(), dimensions: *dimensions, model: model.0.clone() }
            }
        })
    }
}
