//! The places of frames in a machine whose frames move between the pools and the host.
//!
//! The numbers of free places are in a ring on the device, from which lanes take them. The host adds those of frames that leave.

use kvrm_machine::FrameMoves;
use kvrm_shaders::interface::machine::Move;
use kvrm_shaders::layout::{INFO_AWAY, INFO_PLACE, INFO_PLACE_BIT};

use super::host_frames::HostFrames;
use super::kept::KeptBuffers;
use crate::device::buffer::Buffer;

/// The places of frames.
#[derive(Debug)]
pub(crate) struct Places {
    /// The largest number of places.
    pub(super) max: u32,
    /// The ring, as on the device.
    pub(super) ring: Vec<u32>,
    /// The number of places that the pools have room for.
    pub(super) count: u32,
    /// The index in the ring of the first free place.
    pub(super) first_free: u32,
    /// The number of free places.
    pub(super) free: u32,
    /// The contents of the frames that are away.
    pub(crate) host: HostFrames,
    /// The moves since the last report.
    pub(crate) moves: FrameMoves,
    pub(super) buffers: KeptBuffers,
    /// The buffers of kernels that look at pages and move no words.
    pub(super) look_buffers: KeptBuffers,
    /// The buffer with the answer to [`Store::ask_used`](super::resident::Store::ask_used), until it is read, and its bytes.
    pub(super) asked: Option<(Buffer, u64)>,
    /// The answer.
    pub(super) uses: Vec<Move>,
}

impl Places {
    /// Creates places for at most `max` frames in the pools, of which there are none yet. The others are on the host.
    pub(super) fn new(max: u32, host: HostFrames) -> Self {
        Self {
            max,
            ring: vec![0; max as usize],
            count: 0,
            first_free: 0,
            free: 0,
            host,
            moves: FrameMoves::default(),
            buffers: KeptBuffers::default(),
            look_buffers: KeptBuffers::default(),
            asked: None,
            uses: Vec::new(),
        }
    }

    /// Returns the moves since the last call.
    pub(crate) fn take_moves(&mut self) -> FrameMoves {
        let mut moves = std::mem::take(&mut self.moves);
        moves.resident = (self.count - self.free).into();
        moves.to_file = self.host.take_filed();
        moves
    }

    /// Returns the number of places that the pools have room for.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// Returns the number of free places.
    pub(crate) const fn free(&self) -> u32 {
        self.free
    }

    /// Returns the numbers of the free places.
    pub(crate) fn free_numbers(&self) -> impl Iterator<Item = u32> {
        (0..self.free).map(|index| self.ring[((self.first_free + index) % self.max) as usize])
    }

    /// Removes `taken` places, or all if there are fewer, from the front of the ring.
    pub(crate) fn take(&mut self, taken: u32) {
        let taken = taken.min(self.free);
        self.first_free = (self.first_free + taken) % self.max.max(1);
        self.free -= taken;
    }
}

/// Returns the place of each frame, from the information about frames; `None` for frames that are away.
pub(crate) fn places_of(info: &[[u32; 4]]) -> Vec<Option<u32>> {
    let place = |(frame, [_, high, ..]): (u32, &[u32; 4])| {
        (high & INFO_AWAY == 0).then_some(frame ^ (high & INFO_PLACE) >> INFO_PLACE_BIT)
    };
    (0..).zip(info).map(place).collect()
}
