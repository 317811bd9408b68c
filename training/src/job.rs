//! A training: initial weights, steps, the average of the weights, and the file.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use burn::tensor::{Device, Tensor};
use half::f16;
use kvrm_learn::Adam;
use kvrm_models::inputs::ITERATION_INPUTS;
use kvrm_models::{Architecture, Dtype, Weights};
use kvrm_train::Random;

use crate::graph::Graph;
use crate::rate::rate;

/// The factor by which the first weights of distance and step are larger than those of the embedding, which has many more values.
const NUMBERS: f32 = 10.0;
/// The approximate number of steps over which weights are averaged.
const AVERAGED: f32 = 1000.0;
/// The number of steps between two measurements on the validation.
const INTERVAL: u32 = 1000;

/// A training of a network.
pub(crate) struct Job {
    pub(crate) architecture: Architecture,
    pub(crate) seed: u64,
    pub(crate) steps: u32,
    pub(crate) batch: usize,
    pub(crate) peak: f32,
    pub(crate) out: PathBuf,
    pub(crate) data_hash: String,
    pub(crate) device: Device,
}

/// Returns initial weights: uniform with a variance of 2 / (inputs + outputs) for matrices, 1 for factors of norms.
pub(crate) fn initial(architecture: Architecture, random: &mut Random) -> Vec<f32> {
    let mut flat = Vec::with_capacity(architecture.parameters());
    for spec in architecture.tensors() {
        let is_norm = ["norm.weight", "embed.1.weight"].iter().any(|end| spec.name.ends_with(end));
        let deviation = match spec.dims {
            [outputs, inputs] if spec.name.contains("embedding") => {
                (2.0 / (*inputs + *outputs) as f32).sqrt().max(0.1)
            }
            [outputs, inputs] => (2.0 / (*inputs + *outputs) as f32).sqrt(),
            _ => 0.0,
        };
        let forget = spec.name.contains("bias_ih_l");
        flat.extend((0..spec.len()).map(|index| match spec.name {
            "fc1.weight" if spec.dims[1] == ITERATION_INPUTS && index % ITERATION_INPUTS / 128 == 1 => {
                random.normal() * deviation * NUMBERS
            }
            "prototypes" => random.normal(),
            "temperature" => 10.0,
            _ if is_norm => 1.0,
            // Memories last at first.
            _ if forget && (spec.len() / 4..spec.len() / 2).contains(&index) => 1.0,
            _ => random.normal() * deviation,
        }));
    }
    flat
}

/// Rounds weights to half precision, in which devices store them.
pub(crate) fn rounded(flat: &[f32]) -> Vec<f32> {
    flat.iter().map(|value| f16::from_f32(*value).to_f32()).collect()
}

impl Job {
    /// Trains for all steps, and returns the rounded average of the weights, in which late steps count most. The validation
    /// shows the progress: of the average, and of the weights themselves.
    pub(crate) fn train(
        &self,
        mut step: impl FnMut(&[f32]) -> (Graph, Tensor<1>),
        score: impl Fn(&[f32]) -> Result<String>,
    ) -> Result<Vec<f32>> {
        let mut random = Random::new(self.seed);
        let mut flat = initial(self.architecture, &mut random);
        let mut adam = Adam::new(flat.len());
        let mut average = flat.clone();
        let (mut mean, start) = (0.0, Instant::now());
        let interval = INTERVAL.min(self.steps);
        for number in 0..self.steps {
            let (graph, loss) = step(&flat);
            let gradient = graph.flat_gradient(&loss.backward());
            mean += loss.into_scalar::<f32>() / interval as f32;
            ensure!(mean.is_finite(), "the loss is {mean} after {number} steps; try another seed");
            adam.step(&mut flat, &gradient, rate(self.peak, number, self.steps));
            // The first steps are forgotten soon.
            let share = 1.0 / AVERAGED.min(1.0 + number as f32 / 10.0);
            average.iter_mut().zip(&flat).for_each(|(average, value)| *average += share * (value - *average));
            if (number + 1) % interval == 0 {
                let (text, last) = (score(&rounded(&average))?, score(&rounded(&flat))?);
                let seconds = start.elapsed().as_secs();
                println!("step {} loss {mean:.4} {text} (last step: {last}), {seconds} s", number + 1);
                mean = 0.0;
            }
        }
        Ok(rounded(&average))
    }

    /// Writes weights with the metrics of the held-out data.
    pub(crate) fn save(&self, flat: Vec<f32>, metrics: &[(&str, f64)]) -> Result<()> {
        let mut weights = Weights::from_flat(self.architecture, flat)?;
        weights.metadata.seed = Some(self.seed);
        weights.metadata.data_hash = Some(self.data_hash.clone());
        for (name, value) in [
            ("steps", self.steps.to_string()),
            ("batch", self.batch.to_string()),
            ("rate", self.peak.to_string()),
        ] {
            weights.metadata.config.insert(name.to_owned(), value);
        }
        for (name, value) in metrics {
            println!("{name} = {value}");
            weights.metadata.metrics.insert((*name).to_owned(), *value);
        }
        weights.save(&self.out, Dtype::F16)?;
        ensure!(Weights::load(&self.out)?.values() == weights.values(), "the file has other weights");
        Ok(())
    }
}

/// Fails if outputs of the training differ from those of `kvrm-models`.
pub(crate) fn same(ours: &[f32], theirs: &[f32]) -> Result<()> {
    for (a, b) in ours.iter().zip(theirs) {
        ensure!(
            (a - b).abs() <= 2e-3 * (1.0 + b.abs()),
            "the training computes {a} where kvrm-models computes {b}"
        );
    }
    Ok(())
}
