//! The inputs of a batch as kernels read them.

use kvrm_models::inputs::{FIELDS, REGISTERS, word_fields};
use kvrm_shaders::interface::networks::{LoopBatch, LoopBody, LoopWord};

use super::arena::Size;
use super::interface::LoopCandidate;

/// The inputs of a batch.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bodies: Vec<LoopBody>,
    pub(super) words: Vec<LoopWord>,
    /// The registers, the distance and the step of each body.
    pub(super) numbers: Vec<u64>,
    /// The fields of each word.
    pub(super) fields: Vec<f32>,
}

/// The number of numbers of a body.
pub(super) const NUMBERS: usize = REGISTERS + 2;

impl Batch {
    /// Takes candidates with bodies of one to 32 words, longest first.
    pub(super) fn new<'a, 'b: 'a>(candidates: impl Iterator<Item = &'a LoopCandidate<'b>>) -> Self {
        let mut batch = Self::default();
        for candidate in candidates {
            let words = candidate.body.len() as u32;
            let first = batch.words.len() as u32;
            batch.bodies.push(LoopBody { first, words, pc: candidate.pc as u32 });
            for (position, word) in (0..).zip(candidate.body) {
                batch.words.push(LoopWord { word: *word, position });
                batch.fields.extend::<[f32; FIELDS]>(word_fields(*word));
            }
            batch.numbers.extend(candidate.registers);
            batch.numbers.extend([candidate.distance, candidate.step]);
        }
        batch
    }

    pub(super) fn size(&self) -> Size {
        Size { bodies: self.bodies.len() as u32, words: self.words.len() as u32 }
    }

    pub(super) fn header(&self) -> LoopBatch {
        let Size { bodies, words } = self.size();
        LoopBatch { bodies, words }
    }
}
