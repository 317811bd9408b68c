//! The host's copy of the memory that the audit checks.

use kvrm_shaders::layout::INFO_NODE;

use crate::machine::pages::{Frames, Root, Words};

/// The largest number of violations that an audit reports.
pub(super) const VIOLATIONS_MAX: usize = 1000;

/// A copy of the memory that the audit checks.
#[derive(Debug)]
pub(super) struct Memory {
    /// The frames that the images must have.
    pub(super) image: Frames,
    /// The page table of each image.
    pub(super) roots: Vec<Root>,
    /// The number of frames in use.
    pub(super) used: u32,
    /// For each frame, its page (low and high word), the next frame in its chain, and its code page.
    pub(super) info: Vec<[u32; 4]>,
    /// For each frame, its place in the pools; `None` if it is away.
    pub(super) places: Vec<Option<u32>>,
    /// The nodes of all lanes.
    pub(super) nodes: Vec<Words>,
    /// For each frame, its index in `nodes` plus one, or 0 if it is not a node.
    pub(super) node_places: Vec<u32>,
}

impl Memory {
    /// Returns the number of frames of the images, which lanes share.
    pub(super) fn shared(&self) -> u32 {
        self.image.words.len() as u32
    }

    /// Returns whether the information about a frame marks it as a node.
    pub(super) fn is_node(&self, frame: u32) -> bool {
        self.info[frame as usize][1] & INFO_NODE != 0
    }

    /// Returns the entries of a node of a lane.
    pub(super) fn node(&self, frame: u32) -> Option<&Words> {
        let place = self.node_places[frame as usize].checked_sub(1)?;
        self.nodes.get(place as usize)
    }
}

/// The words of a lane's state that the audit reads, now or in the snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) root: u64,
    pub(super) window: u64,
    pub(super) tail: u64,
    pub(super) base: u64,
}
