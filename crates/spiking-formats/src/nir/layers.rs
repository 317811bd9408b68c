//! [`Layer`]: nodes that fire, as populations.
//!
//! Potentials of a graph have no unit. The potentials of a layer are multiplied by a power of two, so that threshold
//! and inputs stay well within the fixed-point range and are resolved as finely as possible.

use kvrm_spiking::{Feagi, Kind, Lif, Model};

use super::graph::Node;
use super::linear::{Map, size};

/// The fraction bits of weights: as many as possible, because the weights of graphs are arbitrary numbers.
pub(super) const FRACTION_BITS: u32 = 20;

/// The milliseconds in a second. Times of NIR graphs are in seconds.
pub(super) const MS: f64 = 1000.0;

/// The largest potential or sum of inputs, in mV: half of the fixed-point range.
const RANGE: f64 = 1000.0;

/// The smallest threshold, in mV: 2^14 times the resolution of potentials.
const THRESHOLD_MIN: f64 = 1.0 / 64.0;

/// The ratio of a step to the time constant of the synaptic current that replaces a current of one step. Less than
/// 2^-23 of the current is left for the next step.
const STEP_DECAYS: f64 = 16.0;

/// The resolution of LIF potentials. NIR's neurons fire above their threshold, those of `kvrm-spiking` at the
/// threshold.
const LIF_STEP: f64 = 1.0 / (1_u64 << 20) as f64;
/// The resolution of FEAGI potentials, for the same purpose.
const FEAGI_STEP: f64 = 1.0 / (1_u64 << 32) as f64;

/// A layer of neurons.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) shape: Vec<usize>,
    form: Form,
}

/// The neuron model of a layer, with its parameters in the units of the graph.
#[derive(Debug)]
enum Form {
    Input,
    If { r: Vec<f64>, threshold: Vec<f64> },
    Lif(LeakyParameters, Vec<f64>),
    Cuba(LeakyParameters, Vec<f64>),
}

/// The parameters that `LIF` and `CubaLIF` have in common. Times are in seconds. `gain` is the factor from the weight
/// of a spike to a current times a resistance. The vector beside this in [`Form`] has the time constants of the
/// membranes (`LIF`) or of the synapses (`CubaLIF`).
#[derive(Debug)]
struct LeakyParameters {
    tau: Vec<f64>,
    rest: Vec<f64>,
    threshold: Vec<f64>,
    reset: Vec<f64>,
    gain: Vec<f64>,
}

/// The inputs of the neurons of a layer, in the units of the graph.
pub(super) struct Inputs {
    /// The largest input of each neuron in a step.
    sums: Vec<f64>,
    biases: Vec<f64>,
}

/// The neurons of a layer, in the models of `kvrm-spiking`.
pub(super) struct Cells {
    pub(super) models: Vec<Model>,
    /// The factor of incoming weights, for each neuron.
    pub(super) jumps: Vec<f64>,
}

impl Inputs {
    pub(super) fn new(neurons: usize) -> Self {
        Self { sums: vec![0.0; neurons], biases: vec![0.0; neurons] }
    }

    pub(super) fn add(&mut self, is_bias: bool, map: &Map) {
        for entry in &map.entries {
            let neuron = entry.output as usize;
            if is_bias {
                self.biases[neuron] += entry.weight;
            } else {
                self.sums[neuron] += entry.weight.abs();
            }
        }
    }
}

impl Layer {
    /// Returns the layer that a node becomes; `None` if the node does not fire.
    pub(super) fn new(node: &Node) -> Result<Option<Self>, String> {
        let shape = match node.kind.as_str() {
            "Input" => node.tensor("shape")?.values.iter().map(|extent| *extent as usize).collect(),
            "IF" | "LIF" | "CubaLIF" => node.tensor("v_threshold")?.shape.clone(),
            _ => return Ok(None),
        };
        let neurons = shape.iter().try_fold(1_usize, |neurons, extent| neurons.checked_mul(*extent));
        let Some(neurons) = neurons.filter(|neurons| *neurons < 1 << 28) else {
            return Err(format!("the shape {shape:?} with 2^28 neurons or more"));
        };
        let all = |name: &str| {
            let values = &node.tensor(name)?.values;
            match values.len() {
                1 => Ok(vec![values[0]; neurons]),
                found if found == neurons => Ok(values.clone()),
                found => Err(format!("`{name}` with {found} values for {neurons} neurons")),
            }
        };
        let times = |name: &str| {
            let values = all(name)?;
            match values.iter().find(|value| **value <= 0.0) {
                Some(value) => Err(format!("`{name}` of {value} s, which is not positive")),
                None => Ok(values),
            }
        };
        let reset =
            || if node.tensors.contains_key("v_reset") { all("v_reset") } else { Ok(vec![0.0; neurons]) };
        let form = match node.kind.as_str() {
            "Input" => Form::Input,
            "IF" => {
                if let Some(reset) = reset()?.iter().find(|reset| **reset != 0.0) {
                    return Err(format!("`v_reset` of {reset}, but neurons without a leak are reset to 0"));
                }
                Form::If { r: all("r")?, threshold: all("v_threshold")? }
            }
            kind => {
                let [rest, threshold, reset] = [all("v_leak")?, all("v_threshold")?, reset()?];
                let r = all("r")?;
                if kind == "LIF" {
                    let tau = times("tau")?;
                    Form::Lif(LeakyParameters { tau: tau.clone(), rest, threshold, reset, gain: r }, tau)
                } else {
                    let w_in = all("w_in")?;
                    let gain = r.iter().zip(&w_in).map(|(r, w_in)| r * w_in).collect();
                    Form::Cuba(
                        LeakyParameters { tau: times("tau_mem")?, rest, threshold, reset, gain },
                        times("tau_syn")?,
                    )
                }
            }
        };
        Ok(Some(Self { shape, form }))
    }

    pub(super) fn neurons(&self) -> usize {
        size(&self.shape)
    }

    pub(super) const fn kind(&self) -> Kind {
        match self.form {
            Form::Input | Form::If { .. } => Kind::Feagi,
            Form::Lif(..) | Form::Cuba(..) => Kind::Lif,
        }
    }

    /// Returns the neurons for steps of `dt` ms.
    pub(super) fn cells(&self, dt: f64, inputs: &Inputs) -> Result<Cells, String> {
        match &self.form {
            Form::Input => {
                let model = Model::Feagi(Feagi { leak: 1.0, ..Feagi::default() });
                Ok(Cells { models: vec![model; self.neurons()], jumps: vec![1.0; self.neurons()] })
            }
            Form::If { r, threshold } => {
                let gains: Vec<f64> = r.iter().map(|r| r * dt / MS).collect();
                let drives: Vec<f64> =
                    gains.iter().zip(&inputs.biases).map(|(gain, bias)| gain * bias).collect();
                if drives.iter().any(|drive| *drive != drives[0]) {
                    return Err("a bias that differs among neurons".to_owned());
                }
                let scale = scale(threshold, &[&drives], &products(&gains, &inputs.sums))?;
                let model = |threshold: &f64| {
                    let threshold = threshold * scale + FEAGI_STEP;
                    let drive = drives.first().map_or(0.0, |drive| drive * scale);
                    Model::Feagi(Feagi { threshold, leak: 0.0, drive, ..Feagi::default() })
                };
                let jumps = gains.iter().map(|gain| gain * scale).collect();
                Ok(Cells { models: threshold.iter().map(model).collect(), jumps })
            }
            Form::Lif(leaky, tau) => {
                let synapse = dt / STEP_DECAYS;
                let jump = |neuron: usize| {
                    let tau = tau[neuron] * MS;
                    leaky.gain[neuron] * dt / tau / response(dt, tau, synapse)
                };
                leaky.cells(|_| synapse, jump, inputs)
            }
            Form::Cuba(leaky, synapses) => {
                let synapse = |neuron: usize| synapses[neuron] * MS;
                leaky.cells(synapse, |neuron| leaky.gain[neuron] * dt / synapse(neuron), inputs)
            }
        }
    }
}

impl LeakyParameters {
    /// Returns LIF neurons with the synaptic time constants `synapse`, in ms. `jump` is the jump of the current for a
    /// weight of 1. Both are by neuron.
    fn cells(
        &self,
        synapse: impl Fn(usize) -> f64,
        jump: impl Fn(usize) -> f64,
        inputs: &Inputs,
    ) -> Result<Cells, String> {
        let neurons = self.threshold.len();
        let jumps: Vec<f64> = (0..neurons).map(jump).collect();
        let biases = products(&self.gain, &inputs.biases);
        let height: Vec<f64> = self.threshold.iter().zip(&self.rest).map(|(a, b)| a - b).collect();
        let others: [&[f64]; 4] = [&self.rest, &self.reset, &self.threshold, &biases];
        let scale = scale(&height, &others, &products(&jumps, &inputs.sums))?;
        let model = |neuron: usize| {
            Model::Lif(Lif {
                tau_m: self.tau[neuron] * MS,
                tau_ex: synapse(neuron),
                tau_in: synapse(neuron),
                v_rest: self.rest[neuron] * scale,
                v_th: self.threshold[neuron] * scale + LIF_STEP,
                v_reset: self.reset[neuron] * scale,
                t_ref: 0.0,
                bias: biases[neuron] * scale,
                poisson_rate: 0.0,
                poisson_weight: 0.0,
                drive: 0.0,
            })
        };
        let models = (0..neurons).map(model).collect();
        Ok(Cells { models, jumps: jumps.iter().map(|jump| jump * scale).collect() })
    }
}

fn products(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// Returns the power of two that makes the best use of the fixed-point range.
fn scale(thresholds: &[f64], others: &[&[f64]], sums: &[f64]) -> Result<f64, String> {
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let most =
        others.iter().map(|values| largest(values)).fold(largest(thresholds).max(largest(sums)), f64::max);
    let scale = if most > 0.0 { (RANGE / most).log2().floor().clamp(-40.0, 10.0).exp2() } else { 1.0 };
    let least = thresholds.iter().fold(f64::INFINITY, |least, value| least.min(value.abs()));
    if least * scale < THRESHOLD_MIN {
        return Err(format!(
            "a threshold of {least} with values of up to {most}: the ratio exceeds the fixed-point range"
        ));
    }
    Ok(scale)
}

/// Returns the part of the potential at the end of a step that comes from a current of 1 at its beginning.
fn response(dt: f64, tau_m: f64, tau_s: f64) -> f64 {
    let (membrane, synapse) = (1.0 / tau_m, 1.0 / tau_s);
    let difference = membrane - synapse;
    let share = if difference == 0.0 { dt } else { libm::expm1(dt * difference) / difference };
    membrane * libm::exp(-dt * membrane) * share
}
