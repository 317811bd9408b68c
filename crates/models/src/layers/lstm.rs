//! A long short-term memory of one or more layers, in one or both directions.

mod backward;

pub(crate) use self::backward::LstmTrace;
use super::linear::Linear;
use super::rows::Rows;
use crate::elementary::sigmoid;
use crate::tanh::tanh;

/// One direction of a layer. Both linear layers have 4h outputs: the gates i, f, g and o of h units each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction<'a> {
    /// From the input of the layer to the gates.
    pub(super) input: Linear<'a>,
    /// From the previous output of the layer to the gates.
    pub(super) hidden: Linear<'a>,
    pub(super) is_reverse: bool,
}

/// A long short-term memory. States are zero before the first token.
#[derive(Clone, Debug)]
pub(crate) struct Lstm<'a> {
    /// The layers, each with one direction or with both, forward first.
    pub(super) layers: Vec<Vec<Direction<'a>>>,
}

/// The state of a direction between two tokens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LstmState {
    output: Vec<f32>,
    cell: Vec<f32>,
}

impl LstmState {
    /// Returns the output for the last token.
    pub(crate) fn output(&self) -> &[f32] {
        &self.output
    }

    /// Returns the number of bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.output[..]) + size_of_val(&self.cell[..])
    }
}

impl Lstm<'_> {
    /// Returns the outputs of the last layer for each token: h values of each direction, forward first.
    pub(crate) fn of_rows(&self, rows: &Rows) -> Rows {
        let mut outputs = rows.clone();
        for directions in &self.layers {
            let units: usize = directions.iter().map(Direction::units).sum();
            let mut next = Rows::zeros(rows.count(), units);
            let mut column = 0;
            for direction in directions {
                direction.run(&outputs, &mut next, column);
                column += direction.units();
            }
            outputs = next;
        }
        outputs
    }

    /// Returns the states before the first token, one for each layer of one direction.
    pub(crate) fn states(&self) -> Vec<LstmState> {
        self.layers.iter().flatten().map(Direction::state).collect()
    }

    /// Takes one token. The outputs of the states are then those of [`Lstm::of_rows`] for the same tokens. All layers have one
    /// direction, forward.
    pub(crate) fn step(&self, states: &mut [LstmState], token: &[f32]) {
        let mut input = token;
        for (direction, state) in self.layers.iter().flatten().zip(states) {
            direction.step(&mut direction.input.of(input), state);
            input = &state.output;
        }
    }
}

impl Direction<'_> {
    /// Returns h, the number of units.
    fn units(&self) -> usize {
        self.hidden.bias.len() / 4
    }

    /// Returns the state before the first token.
    fn state(&self) -> LstmState {
        LstmState { output: vec![0.0; self.units()], cell: vec![0.0; self.units()] }
    }

    /// Writes the outputs for all tokens to `out`, from column `column` on.
    fn run(&self, rows: &Rows, out: &mut Rows, column: usize) {
        // Only the products with the previous output depend on the order of tokens.
        let mut projected = self.input.of_rows(rows);
        let mut state = self.state();
        for step in 0..rows.count() {
            let token = if self.is_reverse { rows.count() - 1 - step } else { step };
            self.step(projected.row_mut(token), &mut state);
            out.row_mut(token)[column..column + self.units()].copy_from_slice(&state.output);
        }
    }

    /// Changes the state by a token, given its products with the weights of the input, which become the gates.
    fn step(&self, sums: &mut [f32], LstmState { output, cell }: &mut LstmState) {
        let units = self.units();
        let products = self.hidden.of(output);
        sums.iter_mut().zip(&products).for_each(|(sum, product)| *sum += product);
        let (i, rest) = sums.split_at_mut(units);
        let (f, rest) = rest.split_at_mut(units);
        let (g, o) = rest.split_at_mut(units);
        for unit in 0..units {
            (i[unit], f[unit]) = (sigmoid(i[unit]), sigmoid(f[unit]));
            (g[unit], o[unit]) = (tanh(g[unit]), sigmoid(o[unit]));
            cell[unit] = f[unit] * cell[unit] + i[unit] * g[unit];
            output[unit] = o[unit] * tanh(cell[unit]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One unit whose gates are open and whose candidate is the input, and half of the last output.
    fn direction(is_reverse: bool) -> Direction<'static> {
        let input = Linear { weight: &[0.0, 0.0, 1.0, 0.0], bias: &[20.0, -20.0, 0.0, 20.0] };
        let hidden = Linear { weight: &[0.0, 0.0, 0.5, 0.0], bias: &[20.0, -20.0, 0.0, 20.0] };
        Direction { input, hidden, is_reverse }
    }

    #[test]
    fn outputs_depend_on_earlier_tokens_of_the_direction() {
        let lstm = Lstm { layers: vec![vec![direction(false), direction(true)]] };
        let out = lstm.of_rows(&Rows::of([[0.25], [0.0], [-0.5]]));
        let cell = |input: f32| tanh(tanh(input));
        let forward = [cell(0.25), cell(0.5 * cell(0.25)), cell(-0.5 + 0.5 * cell(0.5 * cell(0.25)))];
        let reverse = [cell(0.25 + 0.5 * cell(0.5 * cell(-0.5))), cell(0.5 * cell(-0.5)), cell(-0.5)];
        for token in 0..3 {
            let (found, right) = (out.row(token), [forward[token], reverse[token]]);
            assert!((found[0] - right[0]).abs() < 1e-6, "forward {found:?}, {right:?}");
            assert!((found[1] - right[1]).abs() < 1e-6, "reverse {found:?}, {right:?}");
        }
    }
}
