//! Faults that tests inject on the device, to show that the host detects them.

use std::mem::offset_of;

use kvrm_shaders::interface::spiking::{Settings, Time};

use super::store::Store;
use crate::device::error::Error;

/// A fault in the data that the kernels read, from the next slice on.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Batches have no steps, so the clock stands still.
    NoSteps,
    /// Batches have more steps than the host asks for.
    LongBatches,
    /// A kernel that runs several batches in one dispatch runs none.
    NoRounds,
    /// Pieces have no synapses, so a row would have infinitely many.
    NoPieces,
    /// A team has 2^31 invocations, more than a dispatch. So there is not one whole team, and an index that advances by
    /// the number of teams would stand still.
    LargeTeams,
    /// The clock has no steps left.
    NothingLeft,
    /// The clock is three steps ahead.
    Ahead,
}

impl Fault {
    /// Breaks settings before they are uploaded.
    pub(super) const fn break_settings(self, settings: &mut Settings) {
        match self {
            Self::NoSteps => settings.batch = 0,
            Self::LongBatches => settings.batch = u32::MAX,
            Self::NoRounds => settings.rounds = 0,
            Self::NoPieces => settings.piece = 0,
            Self::LargeTeams => settings.team_bits = 31,
            Self::NothingLeft | Self::Ahead => {}
        }
    }

    /// Breaks the clock on the device.
    pub(super) fn break_clock(self, store: &Store, step: u64) -> Result<(), Error> {
        let time = &store.buffers.time;
        match self {
            Self::NothingLeft => time.upload(offset_of!(Time, before.remaining) as u64, &[0_u32]),
            Self::Ahead => time.upload(offset_of!(Time, before.step) as u64, &[(step + 3) as u32]),
            _ => Ok(()),
        }
    }
}
