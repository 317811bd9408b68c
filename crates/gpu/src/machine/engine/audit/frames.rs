//! The copy of nodes, and the checks of the frames of the image and of code.

use std::collections::HashSet;

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_machine::{Damage, Violation};
use kvrm_shaders::layout::{FRAME_WORDS, INFO_CODE_PAGE, INFO_CODE_VALID, INFO_PAGE_HIGH};
use rayon::prelude::*;

use super::copy::{Memory, VIOLATIONS_MAX};
use crate::device::error::Error;
use crate::machine::engine::GpuExecutor;
use crate::machine::pages::{Frames, Words};
use crate::machine::store::places::places_of;

/// The number of frames in a batch, which has 16 MiB.
const BATCH: usize = 1 << 12;

impl GpuExecutor {
    /// Copies the memory that the audit needs. Checks frames of the image and code while it copies them.
    pub(super) fn copy_memory(&mut self) -> Result<(Memory, Vec<Violation>), Error> {
        let mut image = Frames::new();
        let roots: Vec<_> = self.images.iter().map(|of_lane| image.add(of_lane)).collect();
        let store = &self.store;
        let frames = 0..self.frames;
        let bytes = store.device.download(&[(&store.info, store.info_places(&frames))])?;
        let info: Vec<[u32; 4]> = bytemuck::pod_collect_to_vec(&bytes[0]);
        let places = places_of(&info);
        let node_places = vec![0; info.len()];
        let mut memory =
            Memory { image, roots, used: self.frames, info, places, nodes: Vec::new(), node_places };
        let mut violations = self.code_owners(&memory.info);
        violations.extend(self.wrong_places(&memory));
        for first in frames.step_by(BATCH) {
            let batch = first..self.frames.min(first + BATCH as u32);
            let words = store.contents_of(&memory.places, batch.clone())?;
            for (frame, words) in batch.clone().zip(&words) {
                if let Some(was) = memory.image.words.get(frame as usize) {
                    violations.extend(image_change(frame, words, was));
                } else if memory.is_node(frame) {
                    memory.nodes.push(*words);
                    memory.node_places[frame as usize] = memory.nodes.len() as u32;
                }
            }
            self.check_code(&memory.info, first, &words, &mut violations)?;
            violations.truncate(VIOLATIONS_MAX);
        }
        Ok((memory, violations))
    }

    /// Checks that no two frames have the same place, that no frame has a free one, and that the host has the contents of frames
    /// that are away.
    fn wrong_places(&self, memory: &Memory) -> Vec<Violation> {
        let Some(places) = &self.store.places else { return Vec::new() };
        let mut taken: HashSet<u32> = places.free_numbers().collect();
        let is_wrong = |(frame, place): (u32, &Option<u32>)| match *place {
            Some(place) => {
                let is_right = place < places.count() && taken.insert(place);
                (!is_right).then(|| Violation::new(Damage::FramePlace { place }).of_frame(frame))
            }
            None => {
                // A frame that no page has yet has no contents.
                let [low, high, ..] = memory.info[frame as usize];
                let has_page = low != 0 || high & INFO_PAGE_HIGH != 0;
                let is_lost = has_page && !places.host.has(frame);
                is_lost.then(|| Violation::new(Damage::FrameLost).of_frame(frame))
            }
        };
        (0..).zip(&memory.places).filter_map(is_wrong).take(VIOLATIONS_MAX).collect()
    }

    /// Checks that frames and code pages name each other.
    fn code_owners(&self, info: &[[u32; 4]]) -> Vec<Violation> {
        let held = self.store.code_pages();
        let mut violations = Vec::new();
        for (frame, [.., code]) in (0..).zip(info) {
            let Some(page) = (code & INFO_CODE_PAGE).checked_sub(1) else { continue };
            let held_there = held.get(page as usize).copied();
            if held_there != Some(frame) {
                let damage = Damage::CodePage { page, pages: held.len() as u32, held: held_there };
                violations.push(Violation::new(damage).of_frame(frame));
            }
        }
        for (page, &frame) in (0..).zip(held) {
            let named =
                info.get(frame as usize).and_then(|[.., code]| (code & INFO_CODE_PAGE).checked_sub(1));
            if named != Some(page) {
                violations.push(Violation::new(Damage::CodeOwner { page, named }).of_frame(frame));
            }
        }
        violations.truncate(VIOLATIONS_MAX);
        violations
    }

    /// Checks that each micro-op of a batch of frames is stale or is the lowering of its word. The batch begins at the
    /// frame `first`.
    fn check_code(
        &self,
        info: &[[u32; 4]],
        first: u32,
        all: &[Words],
        violations: &mut Vec<Violation>,
    ) -> Result<(), Error> {
        let features = self.images[0].features();
        // With a network that chooses a wrong class, a word may be lowered as undefined, so that lanes stop there.
        let may_be_undefined = self.store.network_variant().is_some();
        let known = self.store.code_pages().len() as u32;
        let lowered: Vec<(u32, u32, &Words)> = (first..)
            .zip(all)
            .filter_map(|(frame, words)| {
                let code = info[frame as usize][3];
                let page = (code & INFO_CODE_PAGE).checked_sub(1)?;
                (code & INFO_CODE_VALID != 0 && page < known).then_some((frame, page, words))
            })
            .collect();
        let pages: Vec<u32> = lowered.iter().map(|(_, page, _)| *page).collect();
        let ops = self.store.micro_ops_of(&pages)?;
        let found = lowered.par_iter().zip(ops).filter_map(|((frame, _, words), ops)| {
            let words = words.iter().flat_map(|both| [*both as u32, (*both >> 32) as u32]);
            let wrong = words.zip(ops).enumerate().find(|(_, (word, op))| {
                let is_undefined = may_be_undefined && *op == MicroOp::undefined(*word);
                *op != MicroOp::default() && *op != lower(*word, features) && !is_undefined
            });
            let (index, (word, _)) = wrong?;
            Some(Violation::new(Damage::Code { index, word }).of_frame(*frame))
        });
        violations.extend(found.collect::<Vec<_>>());
        Ok(())
    }
}

/// Returns a violation for the first word of a frame of the image that has changed.
fn image_change(frame: u32, words: &Words, was: &Words) -> Option<Violation> {
    let word = (0..FRAME_WORDS as usize).find(|word| words[*word] != was[*word])?;
    let damage = Damage::ImageChanged { word, is: words[word], was: was[word] };
    Some(Violation::new(damage).of_frame(frame))
}
