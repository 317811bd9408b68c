//! The gradient of an LSTM whose layers have one direction, forward.

use super::{Direction, Lstm};
use crate::layers::gradient::Gradient;
use crate::layers::rows::Rows;
use crate::tanh::tanh;

/// What one layer has computed for a sequence of tokens.
#[derive(Clone, Debug)]
pub(crate) struct LstmTrace {
    inputs: Rows,
    /// The gates i, f, g and o.
    gates: Rows,
    cells: Rows,
    outputs: Rows,
}

impl LstmTrace {
    /// Returns the outputs of the layer for each token.
    pub(crate) fn outputs(&self) -> &Rows {
        &self.outputs
    }
}

impl Lstm<'_> {
    /// Computes what [`Lstm::of_rows`] does, and returns what each layer has computed.
    pub(crate) fn trace(&self, tokens: &Rows) -> Vec<LstmTrace> {
        let mut traces: Vec<LstmTrace> = Vec::with_capacity(self.layers.len());
        for direction in self.layers.iter().flatten() {
            let inputs = traces.last().map_or_else(|| tokens.clone(), |trace| trace.outputs.clone());
            traces.push(direction.trace(inputs));
        }
        traces
    }

    /// Adds to the gradient of the weights what follows from the gradient of the outputs. Returns the gradient of the tokens. `name` is
    /// the prefix of the tensors.
    pub(crate) fn backward(
        &self,
        traces: &[LstmTrace],
        mut outputs: Rows,
        name: &str,
        gradient: &mut Gradient<'_>,
    ) -> Rows {
        for (layer, (directions, trace)) in self.layers.iter().zip(traces).enumerate().rev() {
            let direction = &directions[0];
            let gates = direction.gates_gradient(trace, &outputs);
            let tensor = |part: &str| format!("{name}.{part}_l{layer}");
            let of_hidden = gradient.tensors(&tensor("weight_hh"), &tensor("bias_hh"));
            direction.hidden.add_gradient(&trace.previous_outputs(), &gates, of_hidden);
            let of_input = gradient.tensors(&tensor("weight_ih"), &tensor("bias_ih"));
            outputs = direction.input.backward(&trace.inputs, &gates, of_input);
        }
        outputs
    }
}

impl LstmTrace {
    /// Returns the output before each token, which is zero before the first.
    fn previous_outputs(&self) -> Rows {
        let mut previous = Rows::zeros(self.outputs.count(), self.outputs.width());
        for token in 1..self.outputs.count() {
            previous.row_mut(token).copy_from_slice(self.outputs.row(token - 1));
        }
        previous
    }
}

impl Direction<'_> {
    fn trace(&self, inputs: Rows) -> LstmTrace {
        let (tokens, units) = (inputs.count(), self.units());
        let (mut cells, mut outputs) = (Rows::zeros(tokens, units), Rows::zeros(tokens, units));
        let mut gates = self.input.of_rows(&inputs);
        let mut state = self.state();
        for token in 0..tokens {
            self.step(gates.row_mut(token), &mut state);
            cells.row_mut(token).copy_from_slice(&state.cell);
            outputs.row_mut(token).copy_from_slice(&state.output);
        }
        LstmTrace { inputs, gates, cells, outputs }
    }

    /// Returns the gradient of the sums of the gates, before their activations, for the gradient of the outputs.
    fn gates_gradient(&self, trace: &LstmTrace, outputs: &Rows) -> Rows {
        let (tokens, units) = (outputs.count(), self.units());
        let mut gradients = Rows::zeros(tokens, 4 * units);
        // What the output and the cell after a token mean for the tokens behind it.
        let (mut of_output, mut of_cell) = (vec![0.0; units], vec![0.0; units]);
        for token in (0..tokens).rev() {
            let gates = trace.gates.row(token);
            let sums = gradients.row_mut(token);
            for unit in 0..units {
                let [i, f, g, o] = [0, 1, 2, 3].map(|gate| gates[gate * units + unit]);
                let before = if token == 0 { 0.0 } else { trace.cells.row(token - 1)[unit] };
                let cell = tanh(trace.cells.row(token)[unit]);
                let output = outputs.row(token)[unit] + of_output[unit];
                let sum = output * o * (1.0 - cell * cell) + of_cell[unit];
                sums[unit] = sum * g * i * (1.0 - i);
                sums[units + unit] = sum * before * f * (1.0 - f);
                sums[2 * units + unit] = sum * i * (1.0 - g * g);
                sums[3 * units + unit] = output * cell * o * (1.0 - o);
                of_cell[unit] = sum * f;
            }
            of_output.fill(0.0);
            self.hidden.add_input_gradient(sums, &mut of_output);
        }
        gradients
    }
}
