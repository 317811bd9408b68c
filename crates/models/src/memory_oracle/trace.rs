//! The gradient of a memory oracle, with which it learns.

use super::{AccessPattern, AccessPrediction, DELTAS, MemoryOracle};
use crate::Architecture;
use crate::elementary::sigmoid;
use crate::inputs::{Access, access_features, is_window_length};
use crate::layers::{Gradient, LstmTrace, Rows, relu};

/// The prefix of the tensors of the LSTM.
const LSTM: &str = "lstm";

/// The gradient of a loss with respect to the outputs of an oracle for one window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OutputGradient {
    /// With respect to the encoded deltas.
    pub deltas: [f32; DELTAS],
    /// With respect to the logits of the confidences.
    pub confidence_logits: [f32; DELTAS],
    /// With respect to the logits of the patterns.
    pub pattern_logits: [f32; AccessPattern::ALL.len()],
}

/// What a [`MemoryOracle`] has computed for a window and all windows that are beginnings of it, which its gradient needs.
///
/// ```
/// use kvrm_models::inputs::Access;
/// use kvrm_models::{MemoryOracle, OutputGradient};
///
/// let network = MemoryOracle::from_flat(&vec![0.01; MemoryOracle::PARAMETERS])?;
/// let window = [1, 2, 3].map(|delta| Access { delta, ..Access::default() });
/// let trace = network.trace(&window).expect("one to 32 accesses");
/// assert_eq!(trace.predictions()[1], network.predict(&window[..2]).expect("two accesses"));
///
/// // The loss is the first encoded delta behind the last access.
/// let mut outputs = [OutputGradient::default(); 3];
/// outputs[2].deltas[0] = 1.0;
/// let mut gradient = vec![0.0; MemoryOracle::PARAMETERS];
/// trace.add_gradient(&outputs, &mut gradient);
/// assert!(gradient.iter().any(|value| *value != 0.0));
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OracleTrace<'a> {
    network: &'a MemoryOracle,
    features: Rows,
    hidden: Rows,
    lstm: Vec<LstmTrace>,
    heads: [Head; 3],
    predictions: Vec<AccessPrediction>,
}

/// A head: two linear layers with a ReLU between them.
#[derive(Clone, Debug)]
struct Head {
    names: [&'static str; 2],
    hidden: Rows,
    outputs: Rows,
}

impl MemoryOracle {
    /// Predicts for a window of accesses and all beginnings of it. Returns `None` as [`MemoryOracle::predict`] does.
    #[must_use]
    pub fn trace(&self, window: &[Access]) -> Option<OracleTrace<'_>> {
        if !is_window_length(window.len()) {
            return None;
        }
        let parts = self.parts();
        let features = Rows::of(window.iter().map(access_features));
        let mut hidden = parts.linear("feature_encoder.0").of_rows(&features);
        relu(hidden.values_mut());
        let tokens = parts.linear("feature_encoder.2").of_rows(&hidden);
        let lstm = parts.lstm(LSTM).trace(&tokens);
        let states = lstm.last()?.outputs();
        let head = |names: [&'static str; 2]| {
            let mut hidden = parts.linear(names[0]).of_rows(states);
            relu(hidden.values_mut());
            let outputs = parts.linear(names[1]).of_rows(&hidden);
            Head { names, hidden, outputs }
        };
        let heads = super::HEADS.map(head);
        let predictions = (0..window.len())
            .map(|token| {
                AccessPrediction::new(
                    heads[0].values(token),
                    heads[1].values(token).map(sigmoid),
                    heads[2].values(token),
                )
            })
            .collect();
        Some(OracleTrace { network: self, features, hidden, lstm, heads, predictions })
    }
}

impl Head {
    /// Returns the outputs for a token.
    fn values<const N: usize>(&self, token: usize) -> [f32; N] {
        std::array::from_fn(|index| self.outputs.row(token)[index])
    }
}

impl OracleTrace<'_> {
    /// Returns the predictions for the beginnings of the window with 1, 2, ... accesses.
    #[must_use]
    pub fn predictions(&self) -> &[AccessPrediction] {
        &self.predictions
    }

    /// Adds the gradient of a loss with respect to the weights, in flat form, given that with respect to the outputs of each
    /// prediction.
    ///
    /// # Panics
    ///
    /// There are not as many outputs as predictions, or not [`MemoryOracle::PARAMETERS`] values of the gradient.
    pub fn add_gradient(&self, outputs: &[OutputGradient], gradient: &mut [f32]) {
        assert_eq!(outputs.len(), self.predictions.len(), "one output for each prediction");
        assert_eq!(gradient.len(), MemoryOracle::PARAMETERS, "one value for each weight");
        let (parts, mut gradient) =
            (self.network.parts(), Gradient::new(Architecture::MemoryOracle, gradient));
        let states = self.lstm[self.lstm.len() - 1].outputs();
        let mut of_states = Rows::zeros(states.count(), states.width());
        let of_heads = [
            Rows::of(outputs.iter().map(|output| output.deltas)),
            Rows::of(outputs.iter().map(|output| output.confidence_logits)),
            Rows::of(outputs.iter().map(|output| output.pattern_logits)),
        ];
        for (head, of_head) in self.heads.iter().zip(&of_heads) {
            let [first, second] = head.names;
            let mut of_hidden = parts.linear(second).backward(&head.hidden, of_head, gradient.layer(second));
            of_hidden.clear_where_zero(&head.hidden);
            of_states.add(&parts.linear(first).backward(states, &of_hidden, gradient.layer(first)));
        }
        let of_tokens = parts.lstm(LSTM).backward(&self.lstm, of_states, LSTM, &mut gradient);
        let [first, second] = ["feature_encoder.0", "feature_encoder.2"];
        let mut of_hidden = parts.linear(second).backward(&self.hidden, &of_tokens, gradient.layer(second));
        of_hidden.clear_where_zero(&self.hidden);
        parts.linear(first).add_gradient(&self.features, &of_hidden, gradient.layer(first));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradient_check::check_gradient;

    /// Weights of the size of trained ones.
    fn network() -> Vec<f32> {
        let value = |index: usize| ((index * 7919 + 13) % 1000) as f32 / 4000.0 - 0.125;
        (0..MemoryOracle::PARAMETERS).map(value).collect()
    }

    fn window() -> Vec<Access> {
        let access = |n: u32| Access {
            delta: [1, 1, -7, 4000, 16][n as usize % 5],
            size: n % 9,
            is_load: !n.is_multiple_of(3),
            pc: u64::from(4 * n),
        };
        (0..9).map(access).collect()
    }

    /// The loss is a sum of all outputs with these factors.
    fn outputs() -> Vec<OutputGradient> {
        let factor = |n: usize| ((n * 31) % 17) as f32 / 8.0 - 1.0;
        (0..9)
            .map(|token| OutputGradient {
                deltas: std::array::from_fn(|index| factor(token + 3 * index)),
                confidence_logits: std::array::from_fn(|index| factor(5 * token + index)),
                pattern_logits: std::array::from_fn(|index| factor(7 * token + index)),
            })
            .collect()
    }

    fn loss(flat: &[f32]) -> f64 {
        let network = MemoryOracle::from_flat(flat).expect("as many weights as it has");
        let trace = network.trace(&window()).expect("nine accesses");
        let mut sum = 0.0;
        for (token, outputs) in outputs().iter().enumerate() {
            let of_head = |head: usize, factors: &[f32]| -> f64 {
                let values = trace.heads[head].outputs.row(token);
                factors.iter().zip(values).map(|(factor, value)| f64::from(factor * value)).sum()
            };
            sum += of_head(0, &outputs.deltas);
            sum += of_head(1, &outputs.confidence_logits);
            sum += of_head(2, &outputs.pattern_logits);
        }
        sum
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_loss_in_every_tensor() {
        let flat = network();
        let network = MemoryOracle::from_flat(&flat).expect("as many weights as it has");
        let mut gradient = vec![0.0; flat.len()];
        network.trace(&window()).expect("nine accesses").add_gradient(&outputs(), &mut gradient);
        check_gradient(Architecture::MemoryOracle, &flat, &gradient, loss);
    }

    #[test]
    fn traces_predict_as_the_network_does() {
        let network = MemoryOracle::from_flat(&network()).expect("as many weights as it has");
        let (window, trace) = (window(), network.trace(&window()).expect("nine accesses"));
        for (token, prediction) in trace.predictions().iter().enumerate() {
            assert_eq!(Some(*prediction), network.predict(&window[..=token]), "of {} accesses", token + 1);
        }
    }
}
