//! Pseudo terminals: pairs of a master, from which a program plays the user, and a slave, which is a terminal to other programs.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::errno::{EIO, Errno};
use super::termios::{ICANON, Termios, VMIN, VTIME};

/// The limit on pseudo terminals of a lane.
pub(super) const TERMINALS_MAX: usize = 256;
/// The limit on bytes that a master has written and the line discipline has not taken yet, and on those that it can read.
pub(super) const TRANSIT_BYTES: usize = 65_536;
/// The limit on bytes that a slave can read, as on Linux.
pub(super) const INPUT_BYTES: usize = 4096;

/// A byte that a slave can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Key {
    Byte(u8),
    /// The last byte of a line.
    LineEnd(u8),
    /// The end of a line, or of the input, without a byte: what `VEOF` makes.
    End,
}

impl Key {
    /// Returns the byte that it is without lines.
    pub(super) const fn byte(self) -> u8 {
        match self {
            Self::Byte(byte) | Self::LineEnd(byte) => byte,
            Self::End => 0,
        }
    }
}

/// A pseudo terminal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Terminal {
    pub(super) settings: Termios,
    /// Rows, columns, and the size in pixels.
    pub(super) size: [u16; 4],
    /// Whether the slave cannot be opened.
    pub(super) is_locked: bool,
    /// The session whose controlling terminal it is, and its process group in the foreground; 0 for none.
    pub(super) session: u32,
    pub(super) foreground: u32,
    /// How often it was hung up. Slaves that were opened before are dead.
    pub(super) hangups: u64,
    /// What the master has written, before the line discipline.
    pub(super) unread: VecDeque<u8>,
    /// What a slave can read.
    pub(super) input: VecDeque<Key>,
    /// The number of keys that belong to complete lines. Those behind them can be erased.
    pub(super) complete: usize,
    /// What the master can read.
    pub(super) output: VecDeque<u8>,
    /// The column of the cursor, and the one at which the line that is typed begins.
    pub(super) column: u32,
    pub(super) line_column: u32,
    /// Whether output was stopped by `VSTOP`.
    pub(super) is_stopped: bool,
    /// Whether the next byte is no control character.
    pub(super) is_literal: bool,
    /// Whether erased bytes are being shown.
    pub(super) is_erasing: bool,
    /// Whether the slave has been open.
    pub(super) was_opened: bool,
    /// The numbers of open file descriptions of either end.
    pub(super) masters: u32,
    pub(super) slaves: u32,
}

impl Terminal {
    const fn new() -> Self {
        Self {
            settings: Termios::new(),
            size: [0; 4],
            is_locked: true,
            session: 0,
            foreground: 0,
            hangups: 0,
            unread: VecDeque::new(),
            input: VecDeque::new(),
            complete: 0,
            output: VecDeque::new(),
            column: 0,
            line_column: 0,
            is_stopped: false,
            is_literal: false,
            is_erasing: false,
            was_opened: false,
            masters: 0,
            slaves: 0,
        }
    }

    pub(super) const fn is_canonical(&self) -> bool {
        self.settings.has_local(ICANON)
    }

    /// Returns whether the last slave was closed.
    pub(super) const fn has_lost_slave(&self) -> bool {
        self.was_opened && self.slaves == 0
    }

    /// Returns the number of bytes that a slave can read at once.
    pub(super) fn readable(&self) -> usize {
        if self.is_canonical() {
            self.input.iter().take(self.complete).filter(|key| **key != Key::End).count()
        } else {
            self.input.len()
        }
    }

    /// Returns whether a slave can read: a line, or at least so many bytes if there are no lines.
    pub(super) fn has_input(&self, bytes: usize) -> bool {
        if self.is_canonical() { self.complete > 0 } else { self.input.len() >= bytes.max(1) }
    }

    /// Returns whether `poll` reports input.
    pub(super) fn is_readable(&self) -> bool {
        let [least, time] = [VMIN, VTIME].map(|at| self.settings.characters[at]);
        self.has_input(if time == 0 { least.into() } else { 1 })
    }

    /// Returns the room for output of slaves.
    pub(super) fn room(&self) -> usize {
        if self.is_stopped { 0 } else { TRANSIT_BYTES.saturating_sub(self.output.len()) }
    }

    /// Replaces the settings. As on Linux, what is there becomes one line when lines begin, and plain bytes when they end.
    pub(super) fn set(&mut self, settings: Termios) {
        let was_canonical = self.is_canonical();
        self.settings = settings;
        if was_canonical == self.is_canonical() {
            return;
        }
        self.input.iter_mut().for_each(|key| *key = Key::Byte(key.byte()));
        self.complete = 0;
        if !was_canonical && let Some(last) = self.input.back_mut() {
            *last = Key::LineEnd(last.byte());
            self.complete = self.input.len();
        }
        (self.is_literal, self.is_erasing) = (false, false);
    }

    /// Adds a byte to those that the master has written, if there is room.
    pub(super) fn type_byte(&mut self, byte: u8) {
        if self.unread.len() < TRANSIT_BYTES {
            self.unread.push_back(byte);
        }
    }

    /// Discards what slaves have not read.
    pub(super) fn flush_input(&mut self) {
        self.unread.clear();
        self.forget_input();
    }

    /// Discards what the line discipline has taken.
    pub(super) fn forget_input(&mut self) {
        self.input.clear();
        (self.complete, self.is_literal, self.is_erasing) = (0, false, false);
    }

    /// Returns the bytes of the next read of a slave, at most `bytes`, without consuming them.
    pub(super) fn peek(&self, bytes: usize) -> Vec<u8> {
        if !self.is_canonical() {
            return self.input.iter().take(bytes).map(|key| key.byte()).collect();
        }
        let mut line = Vec::new();
        for key in self.input.iter().take(self.complete.min(bytes)) {
            match key {
                Key::Byte(byte) => line.push(*byte),
                Key::LineEnd(byte) => {
                    line.push(*byte);
                    break;
                }
                Key::End => break,
            }
        }
        line
    }

    /// Consumes bytes that [`Terminal::peek`] returned, and the end of input behind them.
    pub(super) fn consume(&mut self, bytes: usize) {
        let last = self.input.drain(..bytes.min(self.input.len())).next_back();
        self.complete = self.complete.saturating_sub(bytes);
        let ends = self.is_canonical() && !matches!(last, Some(Key::LineEnd(_)));
        if ends && self.complete > 0 && self.input.front() == Some(&Key::End) {
            self.input.pop_front();
            self.complete -= 1;
        }
    }

    /// Returns whether buffers and counts are within their limits. A terminal from a file may break that.
    fn is_valid(&self) -> bool {
        self.unread.len() <= TRANSIT_BYTES
            && self.input.len() <= INPUT_BYTES
            && self.complete <= self.input.len()
            && self.output.len() <= 2 * TRANSIT_BYTES
    }
}

/// The pseudo terminals of a lane by number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Terminals(BTreeMap<u32, Terminal>);

impl Terminals {
    /// Returns the lowest unused number from `first` on; `None` if there are too many terminals.
    pub(super) fn free(&self, first: u32) -> Option<u32> {
        (first..).take(TERMINALS_MAX).find(|number| !self.0.contains_key(number))
    }

    pub(super) fn add(&mut self, number: u32) {
        self.0.insert(number, Terminal::new());
    }

    pub(super) fn get(&self, number: u32) -> Result<&Terminal, Errno> {
        self.0.get(&number).ok_or(EIO)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Result<&mut Terminal, Errno> {
        self.0.get_mut(&number).ok_or(EIO)
    }

    /// Counts an open file description less: of the master, or of a slave. Removes a terminal that has none left.
    pub(super) fn release(&mut self, number: u32, is_master: bool) {
        let Some(terminal) = self.0.get_mut(&number) else { return };
        let count = if is_master { &mut terminal.masters } else { &mut terminal.slaves };
        *count = count.saturating_sub(1);
        if terminal.masters + terminal.slaves == 0 {
            self.0.remove(&number);
        }
    }

    /// Returns the terminals by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Terminal)> {
        self.0.iter().map(|(number, terminal)| (*number, terminal))
    }

    pub(super) fn is_valid(&self) -> bool {
        self.0.len() <= TERMINALS_MAX && self.0.values().all(Terminal::is_valid)
    }
}
