//! Reads from pseudo terminals, and writes to them.

use super::call::{Call, Interrupted};
use super::errno::{EAGAIN, EIO};
use super::failure::{CallResult, Failure};
use super::open_files::Description;
use super::readiness::{POLLHUP, POLLIN};
use super::signals::{SIGTTIN, SIGTTOU};
use super::terminals::TRANSIT_BYTES;
use super::termios::{TOSTOP, VMIN, VTIME};
use super::time_calls::NANOSECONDS;
use super::wait::Event;

/// The unit of `VTIME`, in nanoseconds.
const TENTH: u64 = NANOSECONDS / 10;

impl Call<'_> {
    /// Returns the bytes that the next read of a slave gets.
    pub(super) fn peek_terminal(&mut self, id: u32, number: u32, bytes: usize) -> Result<Vec<u8>, Failure> {
        if self.kernel.is_dead(id) || bytes == 0 {
            return Ok(Vec::new());
        }
        self.kernel.check_foreground(number, SIGTTIN)?;
        let does_wait = self.kernel.open.get(id)?.does_wait();
        let terminal = self.kernel.open.terminals.get(number)?;
        let (have, now) = (terminal.readable(), terminal.peek(bytes));
        let [least, time] = match terminal.is_canonical() {
            true => [1, 0],
            false => [VMIN, VTIME].map(|at| terminal.settings.characters[at].into()),
        };
        let wanted = least.clamp(1, bytes);
        let polls = least == 0 && time == 0;
        if terminal.has_input(wanted) || polls || !does_wait && have > 0 {
            return Ok(now);
        }
        if !does_wait {
            return Err(EAGAIN.into());
        }
        let time = time as u64 * TENTH;
        let (deadline, wanted) = match (least, time) {
            (0, time) => (self.deadline(Some(time)), wanted),
            // The time is that between two bytes, and begins with the first one.
            (_, 1..) => ((have > 0).then(|| self.later(time)), have + 1),
            (_, 0) => (None, wanted),
        };
        match self.wait(
            Event::Input { description: id, terminal: number, bytes: wanted },
            deadline,
            Interrupted::Restarts,
        ) {
            Err(Failure::Interrupted { .. }) if have > 0 => Ok(now),
            waited => waited.map(|()| now),
        }
    }

    /// Consumes the bytes that a read of a slave has got.
    pub(super) fn consume_terminal(&mut self, id: u32, number: u32, bytes: usize) -> Result<(), Failure> {
        if !self.kernel.is_dead(id) {
            self.kernel.open.terminals.get_mut(number)?.consume(bytes);
            self.kernel.run_terminal(number);
        }
        Ok(())
    }

    /// Returns the bytes that the next read of a master gets.
    pub(super) fn peek_master(&self, id: u32, number: u32, bytes: usize) -> Result<Vec<u8>, Failure> {
        let terminal = self.kernel.open.terminals.get(number)?;
        if !terminal.output.is_empty() || bytes == 0 {
            return Ok(terminal.output.iter().take(bytes).copied().collect());
        }
        if terminal.has_lost_slave() {
            return Err(EIO.into());
        }
        let does_wait = self.kernel.open.get(id).is_ok_and(Description::does_wait);
        Err(if does_wait { self.wait_until_ready(id, POLLIN | POLLHUP) } else { EAGAIN.into() })
    }

    pub(super) fn consume_master(&mut self, number: u32, bytes: usize) -> Result<(), Failure> {
        self.kernel.open.terminals.get_mut(number)?.output.drain(..bytes);
        self.kernel.note_terminal(number);
        Ok(())
    }

    /// Writes to a slave.
    pub(super) fn put_into_terminal(&mut self, id: u32, number: u32, data: &[u8]) -> CallResult {
        if self.kernel.is_dead(id) {
            return Err(EIO.into());
        }
        if self.kernel.open.terminals.get(number)?.settings.has_local(TOSTOP) {
            self.kernel.check_foreground(number, SIGTTOU)?;
        }
        let done = self.bytes_written().min(data.len());
        let terminal = self.kernel.open.terminals.get_mut(number)?;
        let mut now = 0;
        while done + now < data.len() && terminal.room() > 0 {
            terminal.put(data[done + now]);
            now += 1;
        }
        self.kernel.note_terminal(number);
        self.go_on_writing(id, (done, now), data.len())
    }

    /// Writes to a master, as a user types.
    pub(super) fn put_into_master(&mut self, id: u32, number: u32, data: &[u8]) -> CallResult {
        let done = self.bytes_written().min(data.len());
        let mut now = 0;
        while done + now < data.len() {
            let terminal = self.kernel.open.terminals.get_mut(number)?;
            let left = &data[done + now..];
            let count = left.len().min(TRANSIT_BYTES - terminal.unread.len());
            if count == 0 {
                break;
            }
            terminal.unread.extend(&left[..count]);
            now += count;
            self.kernel.run_terminal(number);
        }
        self.go_on_writing(id, (done, now), data.len())
    }
}
