//! The copy of the memory that is checked.

use kvrm_shaders::layout::INFO_NODE;

use crate::machine::pages::{Frames, Root, Words};

/// The most violations that are told.
pub(super) const VIOLATIONS_MAX: usize = 1000;

/// A copy of what is checked.
#[derive(Debug)]
pub(super) struct Memory {
    /// What the images' frames have to be.
    pub(super) image: Frames,
    /// The page table of each image.
    pub(super) roots: Vec<Root>,
    /// How many frames are in use.
    pub(super) used: u32,
    /// Page (low and high word), next frame of the lane, code page, of each frame.
    pub(super) info: Vec<[u32; 4]>,
    /// The nodes of lanes, one behind the other.
    pub(super) nodes: Vec<Words>,
    /// One more than the place in `nodes` of each frame, 0 for frames that are no nodes.
    pub(super) node_places: Vec<u32>,
}

impl Memory {
    /// How many frames are those of the images.
    pub(super) fn shared(&self) -> u32 {
        self.image.words.len() as u32
    }

    /// Whether a frame says that it is a node.
    pub(super) fn is_node(&self, frame: u32) -> bool {
        self.info[frame as usize][1] & INFO_NODE != 0
    }

    /// The entries of a node of a lane.
    pub(super) fn node(&self, frame: u32) -> Option<&Words> {
        let place = self.node_places[frame as usize].checked_sub(1)?;
        self.nodes.get(place as usize)
    }
}

/// The words of a lane that the audit looks at, now or at the snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) root: u64,
    pub(super) window: u64,
    pub(super) tail: u64,
}
