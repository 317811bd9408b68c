//! What tests break on the device, to see that the host notices.

use std::mem::offset_of;

use kvrm_shaders::interface::spiking::{Settings, Time};

use super::store::Store;
use crate::device::error::Error;

/// A fault of what the kernels read, from the next slice on.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No batch has any step, so that the clock stands still.
    NoSteps,
    /// Batches have more steps than the host asks for.
    LongBatches,
    /// No rounds: a kernel that makes several batches in one dispatch makes none.
    NoRounds,
    /// Rows are cut into pieces without synapses, of which there would be infinitely many.
    NoPieces,
    /// So many invocations share a piece that whoever takes one in so many takes the same again and again.
    Teams,
    /// The clock says that nothing is left to do.
    NothingLeft,
    /// The clock is some steps ahead.
    Ahead,
}

impl Fault {
    /// Breaks settings before they are brought to the device.
    pub(super) const fn settings(self, settings: &mut Settings) {
        match self {
            Self::NoSteps => settings.batch = 0,
            Self::LongBatches => settings.batch = u32::MAX,
            Self::NoRounds => settings.rounds = 0,
            Self::NoPieces => settings.piece = 0,
            Self::Teams => (settings.team_bits, settings.segment_team_bits) = (31, 31),
            Self::NothingLeft | Self::Ahead => {}
        }
    }

    /// Breaks the clock on the device.
    pub(super) fn clock(self, store: &Store, step: u64) -> Result<(), Error> {
        let time = &store.buffers.time;
        match self {
            Self::NothingLeft => time.upload(offset_of!(Time, before.remaining) as u64, &[0_u32]),
            Self::Ahead => time.upload(offset_of!(Time, before.step) as u64, &[(step + 3) as u32]),
            _ => Ok(()),
        }
    }
}
