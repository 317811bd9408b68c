//! Neuron models from Python, with the same parameters as in Rust.

use kvrm::spiking::{Feagi, Izhikevich, Kind, Lif, Model, Poisson};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::field::{field, kind};
use crate::error::refused;

/// A neuron model: its name and its parameters.
#[derive(Clone, Debug)]
pub(super) struct AnyModel(pub(super) Model);

impl<'py> FromPyObject<'_, 'py> for AnyModel {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (name, options) = kind(object)?;
        Ok(Self(match &name[..] {
            "feagi" => Model::Feagi(Feagi::parameters(&options)?),
            "lif" => Model::Lif(Lif::parameters(&options)?),
            "izhikevich" => Model::Izhikevich(Izhikevich::parameters(&options)?),
            "poisson" => Model::Poisson(Poisson::parameters(&options)?),
            _ => {
                let text = format!("model {name:?}: expected feagi, lif, izhikevich or poisson");
                return Err(refused(text));
            }
        }))
    }
}

/// Returns the name of a kind of neurons.
pub(super) const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Feagi => "feagi",
        Kind::Lif => "lif",
        Kind::Izhikevich => "izhikevich",
        Kind::Poisson => "poisson",
    }
}

/// The parameters of a model from a dictionary.
trait Parameters: Sized {
    fn parameters(options: &Bound<'_, PyDict>) -> PyResult<Self>;
}

macro_rules! parameters {
    ($($model:ident { $($field:ident),* $(,)? })*) => {$(
        // The struct names every field, so a new parameter of a model cannot be forgotten here.
        impl Parameters for $model {
            fn parameters(options: &Bound<'_, PyDict>) -> PyResult<Self> {
                Ok(Self { $($field: field(options, stringify!($field))?),* })
            }
        }
    )*};
}

parameters! {
    Feagi {
        threshold, threshold_limit, leak, refractory, excitability, consecutive_limit, snooze, charge_accumulation, psp,
        mp_driven_psp, psp_uniform, tick_always, drive,
    }
    Lif { tau_m, tau_ex, tau_in, v_rest, v_th, v_reset, t_ref, bias, poisson_rate, poisson_weight, drive }
    Izhikevich { a, b, c, d, peak, bias, poisson_rate, poisson_weight, drive }
    Poisson { rate }
}
