//! The lowering of words on the GPU without a machine, so that tests can compare it with its twin in Rust.

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_machine::Plan;
use kvrm_shaders::layout::{FRAME_WORDS, PAGE_OPS};

use crate::device::Device;
use crate::device::error::Error;
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::ClassSelection;
use crate::machine::pages::Frames;
use crate::machine::store::limits::code_pages_max;
use crate::machine::store::{Store, StoreConfig};

/// A device that lowers words with the kernel that lowers the code pages of machines.
#[derive(Debug)]
pub struct Lowering {
    store: Store,
}

impl Lowering {
    /// Creates a lowering with room for `pages` code pages of 1,024 words, for a machine with `features`.
    ///
    /// # Errors
    ///
    /// The device has no room for the pages, or it fails.
    pub fn new(device: &Device, pages: usize, features: Features) -> Result<Self, Error> {
        let frames = Frames {
            words: vec![[0; FRAME_WORDS as usize]; 1 + pages],
            executable: (1..=pages as u32).collect(),
        };
        let max = code_pages_max(device);
        if pages > max {
            let page = u64::from(PAGE_OPS) * size_of::<MicroOp>() as u64;
            return Err(Error::TooLarge {
                label: "micro-ops".to_owned(),
                bytes: pages as u64 * page,
                max: max as u64 * page,
            });
        }
        let plan = Plan { images: &[], lanes: 1, frames_max: 0, calls: None, loops: None };
        let contents = StoreConfig {
            frames: &frames,
            plan: &plan,
            features,
            selection: &ClassSelection::TABLE,
            workgroup: 1,
            bounds: &Bounds::NONE,
        };
        let store = Store::new(device, &contents)?;
        Ok(Self { store })
    }

    /// Returns the micro-ops of `words`. There are at most as many words as the pages have room for.
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

    /// Returns a digest of the micro-ops of each block of 1,024 consecutive words. Block `n` begins with the word
    /// `1024 * n`.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn digests(&mut self, blocks: &[u32]) -> Result<Vec<u64>, Error> {
        self.store.digests(blocks)
    }
}

/// Adds a word to a digest.
const fn with_word(digest: u64, word: u32) -> u64 {
    let product = (digest ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ product >> 32
}

/// Returns the digest of a block of words, computed on the CPU. [`Lowering::digests`] returns the same from the device.
///
/// The micro-op of each word is hashed with the word. The low and the high halves of the hashes are added up
/// separately.
///
/// WGSL twin: `digest` in `machine/digest.wgsl`.
#[must_use]
pub fn digest(block: u32, features: Features) -> u64 {
    let first = block * PAGE_OPS;
    let (mut low, mut high) = (0_u32, 0_u32);
    for word in first..=first + (PAGE_OPS - 1) {
        let of_word = lower(word, features).words().into_iter().fold(word.into(), with_word);
        low = low.wrapping_add(of_word as u32);
        high = high.wrapping_add((of_word >> 32) as u32);
    }
    u64::from(low) | u64::from(high) << 32
}
