//! The inputs of a batch as kernels read them.

use kvrm_models::inputs::{FIELDS, REGISTERS, word_fields};
use kvrm_shaders::interface::networks::{InputsGroup, LoopWord, TokenSequence};

use super::interface::LoopCandidate;
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::layers::arena::Size;

/// The inputs of a batch.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bodies: Vec<TokenSequence>,
    words: Vec<LoopWord>,
    /// The registers, the distance, the step and the address of each body.
    numbers: Vec<u64>,
    /// The fields of each word.
    pub(super) fields: Vec<f32>,
}

/// The number of numbers of a body.
const NUMBERS: usize = REGISTERS + 3;

impl Batch {
    /// Takes candidates with bodies of one to 32 words, longest first.
    pub(super) fn new<'a, 'b: 'a>(candidates: impl Iterator<Item = &'a LoopCandidate<'b>>) -> Self {
        let mut batch = Self::default();
        for candidate in candidates {
            let first = batch.words.len() as u32;
            batch.bodies.push(TokenSequence { first, tokens: candidate.body.len() as u32 });
            for (position, word) in (0..).zip(candidate.body) {
                batch.words.push(LoopWord { word: *word, position });
                batch.fields.extend::<[f32; FIELDS]>(word_fields(*word));
            }
            batch.numbers.extend(candidate.registers);
            batch.numbers.extend([candidate.distance, candidate.step, candidate.pc]);
        }
        batch
    }
}

/// The words and numbers of batches up to a size, on a device.
#[derive(Debug)]
pub(super) struct InputBuffers {
    pub(super) words: Buffer,
    pub(super) numbers: Buffer,
}

impl InputBuffers {
    pub(super) fn new(device: &Device, size: Size) -> Result<Self, Error> {
        let words = u64::from(size.tokens) * InputsGroup::LOOP_WORDS_STRIDE;
        let numbers = u64::from(size.sequences) * NUMBERS as u64 * InputsGroup::LOOP_NUMBERS_STRIDE;
        Ok(Self {
            words: Buffer::zeroed(device, "words", words)?,
            numbers: Buffer::zeroed(device, "numbers", numbers)?,
        })
    }

    /// Writes the words and numbers of a batch.
    pub(super) fn upload(&self, batch: &Batch) -> Result<(), Error> {
        self.words.upload(0, &batch.words)?;
        self.numbers.upload(0, &batch.numbers)
    }
}
