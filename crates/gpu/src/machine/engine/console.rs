//! Console output that lanes wrote without the host.

use kvrm_shaders::layout::COLUMN_CONSOLE;

use super::lanes::GpuExecutor;
use super::words::{halves, word};
use crate::device::error::{Error, Request};

impl GpuExecutor {
    pub(super) fn set_console_handles(&mut self, lane: usize, handles: u32) -> Result<(), Error> {
        let columns = &mut self.store.columns;
        let (_, waiting) = halves(columns.word(COLUMN_CONSOLE, lane)?);
        columns.set(COLUMN_CONSOLE, lane, word(handles, waiting))
    }

    /// Takes what has been written, in one transfer for all lanes, if there were any calls.
    pub(super) fn drain(&mut self, out: &mut dyn FnMut(usize, &[u8])) -> Result<u64, Error> {
        self.settle()?;
        if self.written == 0 {
            return Ok(std::mem::take(&mut self.served));
        }
        let lanes = self.waiting()?;
        let contents = self.written()?;
        for word in self.store.columns.get_mut(COLUMN_CONSOLE)? {
            *word &= 0xffff_ffff;
        }
        let row = 8 * lanes.len();
        let mut text = Vec::new();
        for (lane, bytes) in lanes.into_iter().enumerate().filter(|(_, bytes)| *bytes > 0) {
            text.clear();
            for row in contents.chunks_exact(row).take(bytes.div_ceil(8)) {
                text.extend_from_slice(&row[8 * lane..8 * lane + 8]);
            }
            out(lane, &text[..bytes]);
        }
        self.written = 0;
        Ok(std::mem::take(&mut self.served))
    }

    /// How many bytes of each lane wait for the host.
    fn waiting(&mut self) -> Result<Vec<usize>, Error> {
        let waiting = |word: &u64| halves(*word).1 as usize;
        Ok(self.store.columns.get(COLUMN_CONSOLE)?.iter().map(waiting).collect())
    }

    /// The first words of all lanes, then the second ones, until there are all of those that wait.
    pub(super) fn written(&mut self) -> Result<Vec<u8>, Error> {
        if self.written == 0 {
            return Ok(Vec::new());
        }
        let room = self.store.console_room() as usize;
        let waiting = self.waiting()?;
        if let Some(lane) = waiting.iter().position(|bytes| *bytes > room) {
            return Err(self.bad_request(lane, Request::Console { waiting: waiting[lane], room }));
        }
        let words = waiting.into_iter().max().map_or(0, |bytes| bytes.div_ceil(8));
        let bytes = 8 * (words * self.store.lanes) as u64;
        let contents = self.store.device.download(&[(&self.store.console, 0..bytes)])?;
        Ok(contents.into_iter().next().unwrap_or_default())
    }
}
