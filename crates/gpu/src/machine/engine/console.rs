//! Console output that lanes have written without the host.

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

    /// Sets the console handles of all lanes.
    pub(super) fn set_console_handles_of_all(&mut self, handles: u32) -> Result<(), Error> {
        for console in self.store.columns.get_mut(COLUMN_CONSOLE)? {
            *console = word(handles, halves(*console).1);
        }
        Ok(())
    }

    /// Passes the console output of all lanes to `out`, and returns the number of calls that the device has served
    /// since the last drain. If there is output, one transfer fetches it for all lanes.
    pub(super) fn drain(&mut self, out: &mut dyn FnMut(usize, &[u8])) -> Result<u64, Error> {
        self.read_pending_counters()?;
        if self.printing_calls == 0 {
            return Ok(std::mem::take(&mut self.served_calls));
        }
        let lanes = self.waiting_bytes()?;
        let contents = self.download_console()?;
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
        self.printing_calls = 0;
        Ok(std::mem::take(&mut self.served_calls))
    }

    /// Returns the number of bytes of console output that wait for the host, for each lane.
    fn waiting_bytes(&mut self) -> Result<Vec<usize>, Error> {
        let waiting = |word: &u64| halves(*word).1 as usize;
        Ok(self.store.columns.get(COLUMN_CONSOLE)?.iter().map(waiting).collect())
    }

    /// Downloads the waiting console output: the first words of all lanes, then their second words, up to the length of
    /// the longest output.
    pub(super) fn download_console(&mut self) -> Result<Vec<u8>, Error> {
        if self.printing_calls == 0 {
            return Ok(Vec::new());
        }
        let room = self.store.console_room() as usize;
        let waiting = self.waiting_bytes()?;
        if let Some(lane) = waiting.iter().position(|bytes| *bytes > room) {
            return Err(self.bad_request(lane, Request::Console { waiting: waiting[lane], room }));
        }
        let words = waiting.into_iter().max().map_or(0, |bytes| bytes.div_ceil(8));
        let bytes = 8 * (words * self.store.lanes) as u64;
        let contents = self.store.device.download(&[(&self.store.console, 0..bytes)])?;
        Ok(contents.into_iter().next().unwrap_or_default())
    }
}
