//! Updates of LIF neurons with the same record in blocks, which compilers vectorise.
//!
//! [`super::update`] saturates every value that may leave its range. If decays are at most 1 and all inputs of the step
//! are below 2^29 in magnitude, no value does, so sums of 32 bits are exact. A block with a larger number is left to
//! `super::update`.

use super::{
    BIAS, DECAY, DECAY_EXCITATORY, DECAY_INHIBITORY, EXCITATORY, INHIBITORY, REFRACTORY, RESET, THRESHOLD,
};
use crate::fixed::{self, COEFFICIENT_BITS};
use crate::model::Clock;
use crate::model::poisson::Guide;
use crate::{Kind, Record, random};

/// The number of neurons in a block.
pub(crate) const BLOCK: usize = 32;

/// The largest number of bits, without the sign, of the numbers of a block (512 mV): four of them add up to 32 bits.
const ROOM_BITS: u32 = 29;

/// The columns of a block, which a step changes.
pub(crate) struct Columns<'a> {
    /// The input sums, by port.
    pub(crate) sums: [&'a mut Lanes<i32>; 2],
    /// The words of the neurons' states.
    pub(crate) state: [&'a mut Lanes<u32>; 4],
}

/// One value for each neuron of a block.
pub(crate) type Lanes<T> = [T; BLOCK];

/// The parameters of neurons that share a record.
#[derive(Debug)]
pub(crate) struct Block {
    decay: Factor,
    shares: [Factor; 2],
    decays: [Factor; 2],
    bias: i32,
    threshold: i32,
    reset: i32,
    refractory: u32,
    shift: u32,
    poisson: Option<Jumps>,
}

/// The Poisson input of the neurons.
#[derive(Debug)]
struct Jumps {
    guide: Guide,
    weight: i32,
}

impl Block {
    /// Prepares the parameters of a record. Returns `None` if the record is of another model or has extreme parameters.
    pub(crate) fn new(record: &Record, tables: &[u32]) -> Option<Self> {
        let factor = |word: usize| Factor::new(record.signed(word));
        let is_small = |number: i64| number.unsigned_abs() < 1 << ROOM_BITS;
        let weight = record.signed(Record::POISSON + 2);
        let poisson =
            record.poisson_table().map(|[start, length]| &tables[start as usize..][..length as usize]);
        let most = poisson.map_or(0, |table| table.len() as i64 * i64::from(weight));
        if record.kind != Kind::Lif as u32 || !is_small(record.signed(BIAS).into()) || !is_small(most) {
            return None;
        }
        Some(Self {
            decay: factor(DECAY)?,
            shares: [factor(EXCITATORY)?, factor(INHIBITORY)?],
            decays: [factor(DECAY_EXCITATORY)?, factor(DECAY_INHIBITORY)?],
            bias: record.signed(BIAS),
            threshold: record.signed(THRESHOLD),
            reset: record.signed(RESET),
            refractory: record.words[REFRACTORY],
            shift: record.words[Record::SHIFT],
            poisson: poisson.map(|table| Jumps { guide: Guide::new(table), weight }),
        })
    }

    /// Advances the block that begins with `neuron` by one step and clears the sums of its ports; `drives` are added to
    /// them. Returns a bit mask of the neurons that fire, or `None`, without a change, if a sum might leave its range.
    pub(crate) fn update(
        &self,
        clock: &Clock,
        neuron: u32,
        drives: [i32; 2],
        columns: Columns<'_>,
    ) -> Option<u32> {
        let [first, second] = columns.sums;
        let [potentials, excitatory, inhibitory, refractory] = columns.state;
        let of_state = |column| all_bits(column, |word: u32| word as i32);
        let state_bits = of_state(potentials) | of_state(excitatory) | of_state(inhibitory);
        let sum_bits = all_bits(first, |sum| sum + drives[0]) | all_bits(second, |sum| sum + drives[1]);
        if state_bits >> ROOM_BITS != 0 || sum_bits >> (ROOM_BITS - self.shift) != 0 {
            return None;
        }
        let mut inputs = [[0; BLOCK]; 2];
        for lane in 0..BLOCK {
            inputs[0][lane] = (std::mem::take(&mut first[lane]) + drives[0]) << self.shift;
            inputs[1][lane] = (std::mem::take(&mut second[lane]) + drives[1]) << self.shift;
        }
        if let Some(Jumps { guide, weight }) = &self.poisson {
            for (neuron, input) in (neuron..).zip(&mut inputs[usize::from(*weight < 0)]) {
                *input += guide.count(random::draw(clock.input, neuron)) as i32 * weight;
            }
        }
        Some(self.integrate(&inputs, potentials, excitatory, inhibitory, refractory))
    }

    /// Advances a block by one step with these inputs, in mV with 20 fraction bits.
    ///
    /// This is a function of its own because compilers know that the columns do not overlap if they are parameters.
    #[inline(never)]
    #[expect(
        clippy::too_many_arguments,
        reason = "compilers know only of parameters that they do not overlap"
    )]
    fn integrate(
        &self,
        inputs: &[Lanes<i32>; 2],
        potentials: &mut Lanes<u32>,
        excitatory: &mut Lanes<u32>,
        inhibitory: &mut Lanes<u32>,
        refractory: &mut Lanes<u32>,
    ) -> u32 {
        let Self { decay, shares, decays, .. } = self;
        let Self { bias, threshold, reset, refractory: period, .. } = *self;
        let mut fires = [0; BLOCK];
        let mut any = 0;
        for lane in 0..BLOCK {
            let v = potentials[lane] as i32;
            let [exciting, inhibiting] = [excitatory[lane] as i32, inhibitory[lane] as i32];
            let next = decay.times(lane, v)
                + shares[0].times(lane, exciting)
                + shares[1].times(lane, inhibiting)
                + bias;
            let left = refractory[lane];
            let v = if left == 0 { next } else { v };
            let is_firing = v >= threshold;
            potentials[lane] = if is_firing { reset } else { v } as u32;
            refractory[lane] = if is_firing { period } else { left - u32::from(left != 0) };
            excitatory[lane] = (decays[0].times(lane, exciting) + inputs[0][lane]) as u32;
            inhibitory[lane] = (decays[1].times(lane, inhibiting) + inputs[1][lane]) as u32;
            fires[lane] = u32::from(is_firing);
            any |= fires[lane];
        }
        // Few blocks have a neuron that fires, so this need not be fast.
        if any != 0 { fires.iter().rev().fold(0, |bits, bit| bits << 1 | bit) } else { 0 }
    }
}

/// Returns all bits that any of the numbers has besides its sign.
#[inline]
fn all_bits<T: Copy>(words: &Lanes<T>, number: impl Fn(T) -> i32) -> u32 {
    words.iter().fold(0, |bits, &word| bits | magnitude(number(word)))
}

/// Returns the bits that a number has besides its sign.
const fn magnitude(number: i32) -> u32 {
    (number ^ number >> 31) as u32
}

/// A coefficient from 0 to 1, prepared for multiplication where there are only unsigned products, as in SSE2.
#[derive(Debug)]
struct Factor {
    /// The coefficient, repeated for each lane: compilers then know that a loop loads 32 bits.
    coefficient: Lanes<u32>,
    /// The correction for the offset of the number, and for rounding.
    correction: u64,
}

impl Factor {
    /// Returns the factor of a coefficient, or `None` if it is not from 0 to 1.
    fn new(coefficient: i32) -> Option<Self> {
        let correction = (1_i64 << (COEFFICIENT_BITS - 1)) - (i64::from(coefficient) << 31);
        fixed::is_in_unit_interval(coefficient)
            .then_some(Self { coefficient: [coefficient as u32; BLOCK], correction: correction as u64 })
    }

    /// Returns the same product as [`crate::fixed::mul`].
    const fn times(&self, lane: usize, number: i32) -> i32 {
        let above_least = number as u32 ^ 1 << 31;
        let product = above_least as u64 * self.coefficient[lane] as u64;
        // The result has 32 bits, so the bits that an unsigned shift loses are not among them.
        (product.wrapping_add(self.correction) >> COEFFICIENT_BITS) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::Factor;
    use crate::fixed;

    #[test]
    fn factors_multiply_as_fixed_point_does() {
        let numbers = [i32::MIN, i32::MIN + 1, -3, -2, -1, 0, 1, 2, 3, 1 << 29, i32::MAX - 1, i32::MAX];
        let coefficients = [0, 1, (1 << 29) - 1, 1 << 29, (1 << 29) + 1, (1 << 30) - 1, 1 << 30];
        for coefficient in coefficients {
            let factor = Factor::new(coefficient).expect("it is at most 1");
            for number in numbers {
                assert_eq!(
                    factor.times(5, number),
                    fixed::mul(number, coefficient),
                    "{number} times {coefficient}"
                );
            }
        }
        assert!(
            Factor::new(-1).is_none() && Factor::new((1 << 30) + 1).is_none(),
            "they are not from 0 to 1"
        );
    }
}
