//! The loop detector, which proposes the kind, the counter and the number of iterations of a loop.

use crate::Architecture;
use crate::elementary::exp10;
use crate::error::{WeightsError, check};
use crate::half_precision::rounded_to_half;
use crate::inputs::{REGISTERS, is_body_length, register_values, word_bits};
use crate::layers::{Parts, Rows, relu, softmax};
use crate::tuple_network::argmax;

/// The number of values in the embedding of a word and in that of registers.
const EMBEDDING: usize = 128;

/// A network that looks at the body of a loop and at the registers before it; 1,083,397 parameters.
///
/// For a body of T words, in the names of the tensors:
///
/// | step | shape |
/// | --- | --- |
/// | [`word_bits`] of each word | T × 32 |
/// | instructions: Linear, layer norm, ReLU, Linear (`inst_embed`) of the bits | T × 128 |
/// | sequence: LSTM of two layers in both directions (`seq_encoder`) over the instructions | T × 256 |
/// | pointers: Linear (`reg_field_extract`) of the bits, softmax of each group of 32: soft Rd, Rn and Rm | T × 3 × 32 |
/// | registers: Linear, layer norm, ReLU, Linear (`reg_embed`) of the encoding from [`register_values`] | 128 |
/// | token of register r: `reg_embed` of the encoding with zeros for all other registers (128) ++ sum over words of (Rd + Rn + Rm pointer to r) × instruction (128) | 32 × 256 |
/// | attention of 4 heads (`cross_attn`): queries are the sequence, keys and values the tokens; the sequence is added | T × 256 |
/// | body: mean over the words | 256 |
/// | summary: body ++ registers | 384 |
/// | kind: Linear, ReLU, Linear (`type_head`) of the summary | 4 |
/// | counter: Linear (`counter_attn`) of the body, softmax | 32 |
/// | iterations: Linear, ReLU, Linear (`iter_head`) of summary ++ counter, 416 values | 1 |
///
/// The published network never uses its attention and its pointers. So weights of its shape can be converted, but they
/// have to be trained again.
///
/// A proposal is a guess. It decides nothing without an exact check.
///
/// ```
/// use kvrm_models::{LoopDetector, LoopKind};
///
/// let untrained = LoopDetector::from_flat(&vec![0.0; LoopDetector::PARAMETERS])?;
/// let body = [0xf100_0400, 0x54ff_ffe1]; // subs x0, x0, #1; b.ne to the first
/// let proposal = untrained.propose(&body, &[0; 32]).expect("one to 32 words");
/// assert_eq!((proposal.kind(), proposal.counter[0]), (LoopKind::None, 1.0 / 32.0));
/// assert!(untrained.propose(&[0; 33], &[0; 32]).is_none());
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LoopDetector {
    flat: Box<[f32]>,
}

impl LoopDetector {
    /// The number of weights.
    pub const PARAMETERS: usize = Architecture::LoopDetector.parameters();
    /// The number of heads of the attention.
    pub const HEADS: usize = 4;

    /// Builds a network from its flat weights, in the order of [`Architecture::tensors`].
    ///
    /// # Errors
    ///
    /// If there are not [`Self::PARAMETERS`] weights, or one is not finite.
    pub fn from_flat(flat: &[f32]) -> Result<Self, WeightsError> {
        check("loop detector", flat, Self::PARAMETERS)?;
        Ok(Self { flat: flat.into() })
    }

    /// Returns the flat weights.
    #[must_use]
    pub fn flat(&self) -> &[f32] {
        &self.flat
    }

    /// Returns the network with its weights rounded to half precision, as devices store them.
    ///
    /// # Errors
    ///
    /// If a weight is too large for half precision.
    pub fn rounded_to_half(&self) -> Result<Self, WeightsError> {
        Ok(Self { flat: rounded_to_half(&self.flat)?.into() })
    }

    /// Returns the proposal for a body and the values of x0 to x30 and the stack pointer before it.
    ///
    /// Returns `None` if the body has no words, or more than [`BODY_WORDS_MAX`](crate::inputs::BODY_WORDS_MAX).
    #[must_use]
    pub fn propose(&self, body: &[u32], registers: &[u64; REGISTERS]) -> Option<LoopProposal> {
        if !is_body_length(body.len()) {
            return None;
        }
        let parts = Parts::new(Architecture::LoopDetector, &self.flat);
        let bits = Rows::of(body.iter().map(|word| word_bits(*word)));
        let instructions = embed(parts, "inst_embed", &bits);
        let pointers = register_pointers(parts, &bits);
        // One row for each register alone, and the last one for all of them.
        let encoding = register_values(registers);
        let single = (0..REGISTERS).map(|register| only_register(&encoding, register));
        let registers = embed(parts, "reg_embed", &Rows::of(single.chain([encoding])));

        let mut tokens = Rows::zeros(REGISTERS, 2 * EMBEDDING);
        for (register, token) in tokens.iter_mut().enumerate() {
            let (value, uses) = token.split_at_mut(EMBEDDING);
            value.copy_from_slice(registers.row(register));
            for (pointers, instruction) in pointers.iter().zip(instructions.iter()) {
                let weight = pointers[register];
                uses.iter_mut().zip(instruction).for_each(|(sum, value)| *sum += weight * value);
            }
        }
        let mut sequence = parts.lstm("seq_encoder").of_rows(&instructions);
        let attended = parts.attention("cross_attn", Self::HEADS).of_rows(&sequence, &tokens);
        sequence.add(&attended);
        let body = sequence.mean();

        let mut counter_logits = [0.0; REGISTERS];
        parts.linear("counter_attn").apply(&body, &mut counter_logits);
        let counter = probabilities(counter_logits);

        let mut summary = body;
        summary.extend(registers.row(REGISTERS));
        let mut kind_logits = [0.0; 4];
        let mut hidden = parts.linear("type_head.0").of(&summary);
        relu(&mut hidden);
        parts.linear("type_head.3").apply(&hidden, &mut kind_logits);
        summary.extend(counter);
        parts.linear("iter_head.0").apply(&summary, &mut hidden);
        relu(&mut hidden);
        let mut log10_iterations = [0.0];
        parts.linear("iter_head.2").apply(&hidden, &mut log10_iterations);
        Some(LoopProposal::new(kind_logits, counter_logits, log10_iterations[0]))
    }
}

/// Returns the softmax of logits of registers.
fn probabilities(mut logits: [f32; REGISTERS]) -> [f32; REGISTERS] {
    softmax(&mut logits);
    logits
}

/// Applies an embedding: Linear, layer norm, ReLU, Linear.
fn embed(parts: Parts<'_>, name: &str, rows: &Rows) -> Rows {
    let mut hidden = parts.linear(&format!("{name}.0")).of_rows(rows);
    parts.norm(&format!("{name}.1")).apply_to_rows(&mut hidden);
    relu(hidden.values_mut());
    parts.linear(&format!("{name}.3")).of_rows(&hidden)
}

/// Returns an encoding of registers with zeros for all but one register.
fn only_register(encoding: &[f32; 2 * REGISTERS], register: usize) -> [f32; 2 * REGISTERS] {
    std::array::from_fn(|index| if index % REGISTERS == register { encoding[index] } else { 0.0 })
}

/// Returns the sum of the three pointers of each word to each register: T × 32 values between 0 and 3.
fn register_pointers(parts: Parts<'_>, bits: &Rows) -> Rows {
    let logits = parts.linear("reg_field_extract").of_rows(bits);
    let mut pointers = Rows::zeros(bits.count(), REGISTERS);
    let mut pointer = [0.0; REGISTERS];
    for (logits, sums) in logits.iter().zip(pointers.iter_mut()) {
        for group in logits.chunks_exact(REGISTERS) {
            pointer.copy_from_slice(group);
            softmax(&mut pointer);
            sums.iter_mut().zip(pointer).for_each(|(sum, value)| *sum += value);
        }
    }
    pointers
}

/// The kind of a loop, in the order of the detector's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum LoopKind {
    /// No loop that could be accelerated.
    None,
    /// A counter goes down to a limit.
    Countdown,
    /// A counter goes up to a limit.
    CountUp,
    /// Memory is filled.
    MemoryFill,
}

impl LoopKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::None, Self::Countdown, Self::CountUp, Self::MemoryFill];

    /// Returns the name used in documents and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Countdown => "countdown",
            Self::CountUp => "count-up",
            Self::MemoryFill => "memory-fill",
        }
    }
}

/// The outputs of a [`LoopDetector`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoopProposal {
    /// The logits of the kinds, in the order of [`LoopKind::ALL`].
    pub kind_logits: [f32; 4],
    /// The logits of the registers; [`Self::counter`] is their softmax.
    pub counter_logits: [f32; REGISTERS],
    /// The probability of each register to be the counter: x0 to x30, then the stack pointer.
    pub counter: [f32; REGISTERS],
    /// The decimal logarithm of the number of iterations.
    pub log10_iterations: f32,
}

impl LoopProposal {
    /// Returns the proposal of these outputs of a detector.
    #[must_use]
    pub fn new(kind_logits: [f32; 4], counter_logits: [f32; REGISTERS], log10_iterations: f32) -> Self {
        Self { kind_logits, counter_logits, counter: probabilities(counter_logits), log10_iterations }
    }

    /// Returns the most likely kind.
    #[must_use]
    pub fn kind(&self) -> LoopKind {
        LoopKind::ALL[argmax(&self.kind_logits)]
    }

    /// Returns the number of the most likely counter; 31 is the stack pointer.
    #[must_use]
    pub fn counter_register(&self) -> usize {
        argmax(&self.counter_logits)
    }

    /// Returns the number of iterations, at most 6e37.
    #[must_use]
    pub fn iterations(&self) -> f32 {
        exp10(self.log10_iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_register_keeps_its_value_and_its_flag() {
        let encoding = register_values(&std::array::from_fn(|register| register as u64));
        let mut sum = [0.0; 2 * REGISTERS];
        for register in 0..REGISTERS {
            let only = only_register(&encoding, register);
            assert!(only.iter().filter(|value| **value != 0.0).count() <= 2, "of register {register}");
            sum.iter_mut().zip(only).for_each(|(sum, value)| *sum += value);
        }
        assert_eq!(sum, encoding, "the registers together");
    }

    #[test]
    fn the_greatest_output_is_the_answer() {
        let mut counter_logits = [0.0; REGISTERS];
        counter_logits[9] = 0.5;
        let proposal = LoopProposal::new([0.0, -1.0, 2.0, 1.0], counter_logits, 3.0);
        assert_eq!((proposal.kind(), proposal.counter_register()), (LoopKind::CountUp, 9), "the greatest");
        assert!((proposal.iterations() - 1_000.0).abs() < 1e-3, "{}", proposal.iterations());
        assert_eq!(LoopKind::ALL.map(|kind| LoopKind::ALL[kind as usize]), LoopKind::ALL, "in order");
    }
}
