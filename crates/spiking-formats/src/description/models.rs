//! The parameters of models, with the same names and defaults as in Rust.

use serde::Deserialize;

macro_rules! parameters {
    ($($model:ident { $($field:ident: $kind:ty),* $(,)? })*) => {$(
        #[derive(Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(super) struct $model {
            $($field: $kind),*
        }

        // The pattern names every field, so a new parameter of a model cannot be forgotten here.
        impl Default for $model {
            fn default() -> Self {
                let kvrm_spiking::$model { $($field),* } = kvrm_spiking::$model::default();
                Self { $($field),* }
            }
        }

        impl From<&$model> for kvrm_spiking::$model {
            fn from(model: &$model) -> Self {
                Self { $($field: model.$field),* }
            }
        }
    )*};
}

parameters! {
    Feagi {
        threshold: f64, threshold_limit: Option<f64>, leak: f64, refractory: u16, excitability: f64,
        consecutive_limit: u16, snooze: u16, charge_accumulation: bool, psp: u8, mp_driven_psp: bool,
        psp_uniform: bool, tick_always: bool, drive: f64,
    }
    Lif {
        tau_m: f64, tau_ex: f64, tau_in: f64, v_rest: f64, v_th: f64, v_reset: f64, t_ref: f64, bias: f64,
        poisson_rate: f64, poisson_weight: f64, drive: f64,
    }
    Izhikevich {
        a: f64, b: f64, c: f64, d: f64, peak: f64, bias: f64, poisson_rate: f64, poisson_weight: f64, drive: f64,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Poisson {
    rate: f64,
}

impl From<&Poisson> for kvrm_spiking::Poisson {
    fn from(model: &Poisson) -> Self {
        Self { rate: model.rate }
    }
}
