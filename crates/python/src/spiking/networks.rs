//! Networks of the literature.

use std::sync::Arc;

use kvrm::spiking::networks::{self, Background, Balanced, Fly, HpcBenchmark, Microcircuit, VogelsAbbott};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::field::field;
use super::network::SpikingNetwork;
use super::units::Units;
use crate::error::{OrRaise as _, refused};

/// Builds a network of the literature. The options are those of the function of `kvrm.spiking.networks` with this name.
#[pyfunction]
#[pyo3(signature = (name, options: "dict[str, object]"))]
pub(crate) fn spiking_network(
    py: Python<'_>,
    name: &str,
    options: &Bound<'_, PyDict>,
) -> PyResult<SpikingNetwork> {
    let network = match name {
        "balanced" => {
            let choices = Balanced {
                neurons: field(options, "neurons")?,
                synapses: field(options, "synapses")?,
                dt: field(options, "dt")?,
                seed: field(options, "seed")?,
            };
            py.detach(|| networks::balanced(&choices).or_raise())
        }
        "feagi" => {
            let (neurons, synapses) = (field(options, "neurons")?, field(options, "synapses")?);
            let seed = field(options, "seed")?;
            py.detach(|| networks::feagi(neurons, synapses, seed).or_raise())
        }
        "fly" => {
            let choices = Fly {
                neurons: field(options, "neurons")?,
                degree: field(options, "degree")?,
                sensory: field(options, "sensory")?,
                rate: field(options, "rate")?,
                seed: field(options, "seed")?,
            };
            py.detach(|| networks::fly(&choices).or_raise())
        }
        "hpc-benchmark" => {
            let choices = HpcBenchmark { scale: field(options, "scale")?, seed: field(options, "seed")? };
            py.detach(|| networks::hpc_benchmark(&choices).or_raise())
        }
        "microcircuit" => {
            let background: String = field(options, "background")?;
            let background = match &background[..] {
                "poisson" => Background::Poisson,
                "constant" => Background::Constant,
                _ => {
                    let text = format!("background {background:?}: expected \"poisson\" or \"constant\"");
                    return Err(refused(text));
                }
            };
            let choices = Microcircuit {
                scale: field(options, "scale")?,
                background,
                dt: field(options, "dt")?,
                seed: field(options, "seed")?,
            };
            py.detach(|| networks::microcircuit(&choices).or_raise())
        }
        "vogels-abbott" => {
            let choices = VogelsAbbott {
                neurons: field(options, "neurons")?,
                probability: field(options, "probability")?,
                drive: field(options, "drive")?,
                delay: Units { dt: 0.1, fraction_bits: 0 }.steps(field(options, "delay")?),
                seed: field(options, "seed")?,
            };
            py.detach(|| networks::vogels_abbott(&choices).or_raise())
        }
        _ => Err(refused(format!("there is no network {name:?}"))),
    };
    Ok(SpikingNetwork(Arc::new(network?)))
}

/// Injections: columns of steps and neurons, and the amount.
type Injections<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>, f64);

/// Returns input that makes a part of the neurons of FEAGI's area fire in each step: steps, neurons, and the amount.
#[pyfunction]
#[pyo3(signature = (neurons, part, steps, seed) -> "tuple[NDArray[numpy.uint64], NDArray[numpy.uint32], float]")]
pub(crate) fn spiking_feagi_input(
    py: Python<'_>,
    neurons: u32,
    part: f64,
    steps: u64,
    seed: u64,
) -> PyResult<Injections<'_>> {
    if !(0.0..=1.0).contains(&part) {
        return Err(refused(format!("part is {part}, expected 0 to 1")));
    }
    let input = py.detach(|| networks::feagi_input(neurons, part, steps, seed).or_raise())?;
    let columns: (Vec<_>, Vec<_>) =
        input.injections().iter().map(|injection| (injection.step, injection.neuron)).unzip();
    let amount = f64::from(networks::FIRING_AMOUNT);
    Ok((PyArray1::from_vec(py, columns.0), PyArray1::from_vec(py, columns.1), amount))
}
