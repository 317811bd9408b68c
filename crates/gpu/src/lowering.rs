//! The lowering of code words on the GPU, by itself: what is compared with its twin in Rust.

use kvrm_arm64::Features;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_shaders::layout::{FRAME_WORDS, PAGE_OPS};

use crate::device::Device;
use crate::error::Error;
use crate::pages::Frames;
use crate::store::Store;

/// Lowers words as the machine does with the words of a page of code.
#[derive(Debug)]
pub struct Lowering {
    store: Store,
}

impl Lowering {
    /// Room for `pages` pages of 1,024 words on a machine with `features`.
    ///
    /// # Errors
    ///
    /// There is no room, or the device fails.
    pub fn new(device: &Device, pages: usize, features: Features) -> Result<Self, Error> {
        let mut frames = Frames::new();
        frames.words.resize(1 + pages, [0; FRAME_WORDS as usize]);
        frames.executable = (1..=pages as u32).collect();
        Ok(Self { store: Store::new(device, &frames, 1, features)? })
    }

    /// The micro-ops of `words`, as many as there is room for.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn lower(&mut self, words: &[u32]) -> Result<Vec<MicroOp>, Error> {
        let mut frames: Vec<[u64; FRAME_WORDS as usize]> = vec![[0; FRAME_WORDS as usize]];
        for words in words.chunks(PAGE_OPS as usize) {
            let mut frame = [0; FRAME_WORDS as usize];
            for (index, word) in words.iter().enumerate() {
                frame[index / 2] |= u64::from(*word) << (32 * (index % 2));
            }
            frames.push(frame);
        }
        self.store.upload_frames(&frames)?;
        let jobs: Vec<(u32, u32)> = (1..frames.len() as u32).map(|frame| (frame, frame)).collect();
        self.store.decode(&jobs)?;
        let mut ops = self.store.micro_ops(jobs.len())?;
        ops.truncate(words.len());
        Ok(ops)
    }
}
