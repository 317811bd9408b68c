//! Deliberate damage to the engine's state, for tests of the checks that must find it.

use super::lanes::GpuExecutor;
use crate::device::error::Error;

/// The place of a number that the engine relies on.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// A word of a frame.
    Frame { frame: u32, word: u32 },
    /// A word of the information about a frame: its page (low and high word), the next frame in its chain, its code
    /// page.
    Info { frame: u32, word: u32 },
    /// The word of a lane in a column of the state.
    State { column: u32, lane: usize },
    /// The host's copy of a word of the state.
    Copy { column: u32, lane: usize },
    /// The word of a lane in a column of the snapshot.
    Snapshot { column: u32, lane: usize },
    /// An entry of the TLBs that a lane keeps: the set, first those for data, and the entry in the set.
    KeptPage { lane: usize, set: u32, entry: u32 },
    /// The frame of a code page, in the host's record.
    CodePage { page: u32 },
    /// The number of frames in use, in the host's record.
    FramesUsed,
}

impl GpuExecutor {
    /// Replaces a number and returns its previous value, or 0 if the place does not exist.
    ///
    /// # Errors
    ///
    /// The device fails.
    #[doc(hidden)]
    pub fn exchange(&mut self, place: Place, value: u64) -> Result<u64, Error> {
        self.flush_memory()?;
        self.store.columns.flush()?;
        if !matches!(place, Place::KeptPage { .. }) {
            // Without this, the audit would also report TLB entries that the damage has made wrong.
            self.store.columns.forget_pages();
        }
        let before = match place {
            Place::Frame { frame, word } => {
                let places = self.store.frame_places(&(frame..frame + 1));
                let Some((buffer, range)) = places.into_iter().next() else { return Ok(0) };
                let at = range.start + 8 * u64::from(word);
                let before = self.store.device.download(&[(buffer, at..at + 8)])?;
                buffer.upload(at, &[value])?;
                bytemuck::pod_read_unaligned(&before[0])
            }
            Place::Info { frame, word } => {
                let at = self.store.info_places(&(frame..frame + 1)).start + 4 * u64::from(word);
                let before = self.store.device.download(&[(&self.store.info, at..at + 4)])?;
                self.store.info.upload(at, &[value as u32])?;
                bytemuck::pod_read_unaligned::<u32>(&before[0]).into()
            }
            Place::State { column, lane } => {
                let before = self.store.columns.word(column, lane)?;
                self.store.columns.set(column, lane, value)?;
                before
            }
            Place::Copy { column, lane } => self.store.columns.exchange_copy(column, lane, value)?,
            Place::Snapshot { column, lane } => {
                let Some(snapshot) = &self.snapshot else { return Ok(0) };
                let at = 8 * (u64::from(column) * self.store.lanes as u64 + lane as u64);
                let before = self.store.device.download(&[(&snapshot.state, at..at + 8)])?;
                snapshot.state.upload(at, &[value])?;
                bytemuck::pod_read_unaligned(&before[0])
            }
            Place::KeptPage { lane, set, entry } => self.store.exchange_kept_page(lane, set, entry, value)?,
            Place::CodePage { page } => self.store.exchange_code_page(page, value as u32).into(),
            Place::FramesUsed => std::mem::replace(&mut self.frames, value as u32).into(),
        };
        self.cache.forget();
        Ok(before)
    }
}
