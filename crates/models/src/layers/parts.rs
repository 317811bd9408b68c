//! The layers of a network, found by the names of its tensors.

use super::attention::Attention;
use super::linear::Linear;
use super::lstm::{Direction, Lstm};
use super::norm::Norm;
use crate::Architecture;

/// The layers of a network as views of its flat weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    architecture: Architecture,
    flat: &'a [f32],
}

impl<'a> Parts<'a> {
    /// Returns the parts of a network, given as many weights as the architecture has parameters.
    pub(crate) fn new(architecture: Architecture, flat: &'a [f32]) -> Self {
        Self { architecture, flat }
    }

    fn find(&self, name: &str) -> Option<&'a [f32]> {
        let spec = self.architecture.tensor(name)?;
        Some(&self.flat[spec.offset..][..spec.len()])
    }

    /// Returns the values of a tensor, which must exist.
    pub(crate) fn tensor(&self, name: &str) -> &'a [f32] {
        self.find(name).unwrap_or_else(|| panic!("{} has no tensor `{name}`", self.architecture))
    }

    /// Returns the tensors whose names are `prefix` and `weight` or `bias`.
    fn weight_and_bias(&self, prefix: &str) -> [&'a [f32]; 2] {
        ["weight", "bias"].map(|part| self.tensor(&format!("{prefix}{part}")))
    }

    /// Returns a linear layer.
    pub(crate) fn linear(&self, name: &str) -> Linear<'a> {
        let [weight, bias] = self.weight_and_bias(&format!("{name}."));
        Linear { weight, bias }
    }

    /// Returns a layer normalisation.
    pub(crate) fn norm(&self, name: &str) -> Norm<'a> {
        let [weight, bias] = self.weight_and_bias(&format!("{name}."));
        Norm { weight, bias }
    }

    /// Returns an LSTM, with as many layers and directions as there are tensors for.
    pub(crate) fn lstm(&self, name: &str) -> Lstm<'a> {
        let layers = (0..).map(|layer| {
            let directions = [("", false), ("_reverse", true)].map(|(suffix, is_reverse)| {
                let find = |part: &str| self.find(&format!("{name}.{part}_l{layer}{suffix}"));
                let input = Linear { weight: find("weight_ih")?, bias: find("bias_ih")? };
                let hidden = Linear { weight: find("weight_hh")?, bias: find("bias_hh")? };
                Some(Direction { input, hidden, is_reverse })
            });
            directions.into_iter().flatten().collect::<Vec<_>>()
        });
        Lstm { layers: layers.take_while(|directions| !directions.is_empty()).collect() }
    }

    /// Returns a multi-head attention. The first tensor has the weights of queries, keys and values, in this order.
    pub(crate) fn attention(&self, name: &str, heads: usize) -> Attention<'a> {
        let [weight, bias] = self.weight_and_bias(&format!("{name}.in_proj_"));
        let (weights, biases) = (weight.len() / 3, bias.len() / 3);
        let third = |index: usize| Linear {
            weight: &weight[index * weights..][..weights],
            bias: &bias[index * biases..][..biases],
        };
        let out = self.linear(&format!("{name}.out_proj"));
        Attention { query: third(0), key: third(1), value: third(2), out, heads }
    }
}
