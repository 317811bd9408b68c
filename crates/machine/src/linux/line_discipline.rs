//! The line discipline of terminals: what becomes of a byte that is typed, and of one that is written.

use super::signals::{SIGINT, SIGQUIT, SIGTSTP};
use super::terminals::{INPUT_BYTES, Key, TRANSIT_BYTES, Terminal};
use super::termios::{
    ECHO, ECHOCTL, ECHOE, ECHOK, ECHOKE, ECHONL, ECHOPRT, ICRNL, IEXTEN, IGNCR, IMAXBEL, INLCR, ISIG, ISTRIP,
    IUCLC, IUTF8, IXANY, IXON, NOFLSH, OCRNL, OLCUC, ONLCR, ONLRET, ONOCR, OPOST, VEOF, VEOL, VEOL2, VERASE,
    VINTR, VKILL, VLNEXT, VQUIT, VREPRINT, VSTART, VSTOP, VSUSP, VWERASE, XTABS,
};

const BELL: u8 = 7;
const BACKSPACE: u8 = 8;

/// Returns whether a byte counts as a letter or digit, in Latin-1 as in Linux.
const fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0xc0 && byte != 0xd7 && byte != 0xf7
}

/// What is erased.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Erased {
    Character,
    Word,
    Line,
}

impl Terminal {
    /// Takes what the master has written, as far as there is room. Returns the signals for the process group in the foreground.
    pub(super) fn take_unread(&mut self) -> Vec<u64> {
        let mut signals = Vec::new();
        let start = (self.output.len(), self.column);
        while self.input.len() + 1 < INPUT_BYTES || self.is_canonical() && self.complete == 0 {
            let Some(byte) = self.unread.pop_front() else { break };
            signals.extend(self.receive(byte, start));
        }
        signals
    }

    /// Takes a byte that was typed. Returns the signal that it sends. `start` is the end of the output and the column before those
    /// bytes that are taken with it.
    fn receive(&mut self, byte: u8, start: (usize, u32)) -> Option<u64> {
        let settings = &self.settings;
        let mut byte = if settings.has_input(ISTRIP) { byte & 0x7f } else { byte };
        if settings.has_input(IUCLC) && settings.has_local(IEXTEN) {
            byte = byte.to_ascii_lowercase();
        }
        if std::mem::take(&mut self.is_literal) {
            self.receive_plain(byte);
            return None;
        }
        if settings.has_input(IXON) && (settings.is(byte, VSTART) || settings.is(byte, VSTOP)) {
            self.is_stopped = !settings.is(byte, VSTART);
            return None;
        }
        let signals = [(VINTR, SIGINT), (VQUIT, SIGQUIT), (VSUSP, SIGTSTP)];
        let signal = signals.into_iter().find(|(character, _)| settings.is(byte, *character));
        if let Some((_, signal)) = signal.filter(|_| settings.has_local(ISIG)) {
            self.interrupt(byte, start);
            return Some(signal);
        }
        if self.is_stopped && settings.has_input(IXON) && settings.has_input(IXANY) {
            self.is_stopped = false;
        }
        let settings = &self.settings;
        match byte {
            b'\r' if settings.has_input(IGNCR) => return None,
            b'\r' if settings.has_input(ICRNL) => byte = b'\n',
            b'\n' if settings.has_input(INLCR) => byte = b'\r',
            _ => {}
        }
        if !(self.is_canonical() && self.edit(byte)) {
            self.receive_plain(byte);
        }
        None
    }

    /// Does what a character does that sends a signal, except the signal.
    fn interrupt(&mut self, byte: u8, start: (usize, u32)) {
        if !self.settings.has_local(NOFLSH) {
            // What comes after the character stays, and so do echoes that the master could have read before.
            self.forget_input();
            self.output.truncate(start.0);
            self.column = start.1;
        }
        if self.settings.has_input(IXON) {
            self.is_stopped = false;
        }
        if self.settings.has_local(ECHO) {
            self.echo(byte);
        }
    }

    /// Edits the line that is typed. Returns whether the byte does that or ends the line.
    fn edit(&mut self, byte: u8) -> bool {
        let settings = &self.settings;
        let (extends, echoes) = (settings.has_local(IEXTEN), settings.has_local(ECHO));
        if settings.is(byte, VERASE) {
            self.erase(Erased::Character);
        } else if settings.is(byte, VKILL) {
            self.erase(Erased::Line);
        } else if extends && settings.is(byte, VWERASE) {
            self.erase(Erased::Word);
        } else if extends && settings.is(byte, VLNEXT) {
            self.is_literal = true;
            if echoes {
                self.finish_erasing();
                if self.settings.has_local(ECHOCTL) {
                    self.put(b'^');
                    self.put(BACKSPACE);
                }
            }
        } else if extends && echoes && settings.is(byte, VREPRINT) {
            self.finish_erasing();
            self.echo(byte);
            self.put(b'\n');
            let typed: Vec<u8> = self.input.range(self.complete..).map(|key| key.byte()).collect();
            typed.into_iter().for_each(|byte| self.echo(byte));
        } else if byte == b'\n' {
            if echoes || settings.has_local(ECHONL) {
                self.put(byte);
            }
            self.end_line(Key::LineEnd(byte));
        } else if settings.is(byte, VEOF) {
            self.end_line(Key::End);
        } else if settings.is(byte, VEOL) || extends && settings.is(byte, VEOL2) {
            if echoes {
                self.begin_echo();
                self.echo(byte);
            }
            self.end_line(Key::LineEnd(byte));
        } else {
            return false;
        }
        true
    }

    fn end_line(&mut self, key: Key) {
        // A line that is too long ends nevertheless.
        if self.input.len() >= INPUT_BYTES {
            self.input.pop_back();
        }
        self.input.push_back(key);
        self.complete = self.input.len();
    }

    /// Takes a byte that is no control character.
    fn receive_plain(&mut self, byte: u8) {
        if self.input.len() + 1 >= INPUT_BYTES {
            if self.settings.has_input(IMAXBEL) {
                self.put(BELL);
            }
            return;
        }
        if self.settings.has_local(ECHO) {
            self.finish_erasing();
            self.begin_echo();
            if byte == b'\n' { self.put(byte) } else { self.echo(byte) }
        }
        self.input.push_back(Key::Byte(byte));
    }

    /// Notes the column at which the line begins that is typed, if this is its first byte.
    fn begin_echo(&mut self) {
        if self.input.len() == self.complete {
            self.line_column = self.column;
        }
    }

    /// Shows a byte that was typed.
    fn echo(&mut self, byte: u8) {
        if self.settings.has_local(ECHOCTL) && byte.is_ascii_control() && byte != b'\t' {
            self.show(&[b'^', byte ^ 0o100]);
            self.column += 2;
        } else {
            self.put(byte);
        }
    }

    fn finish_erasing(&mut self) {
        if std::mem::take(&mut self.is_erasing) {
            self.put(b'/');
        }
    }

    /// Returns whether a byte is the continuation of a character.
    const fn is_continuation(&self, byte: u8) -> bool {
        self.settings.has_input(IUTF8) && byte & 0xc0 == 0x80
    }

    fn erase(&mut self, what: Erased) {
        if self.input.len() == self.complete {
            return;
        }
        let (echoes, settings) = (self.settings.has_local(ECHO), self.settings.clone());
        let shows_erasing = [ECHOK, ECHOKE, ECHOE].iter().all(|flag| settings.has_local(*flag));
        if what == Erased::Line && (!echoes || !shows_erasing) {
            self.input.truncate(self.complete);
            if echoes {
                self.finish_erasing();
                self.echo(settings.characters[VKILL]);
                if settings.has_local(ECHOK) {
                    self.put(b'\n');
                }
            }
            return;
        }
        let mut in_word = false;
        while self.input.len() > self.complete {
            let mut head = self.input.len() - 1;
            while head > self.complete && self.is_continuation(self.input[head].byte()) {
                head -= 1;
            }
            let byte = self.input[head].byte();
            if self.is_continuation(byte) {
                break;
            }
            if what == Erased::Word {
                if is_alphanumeric(byte) || byte == b'_' {
                    in_word = true;
                } else if in_word {
                    break;
                }
            }
            let erased: Vec<u8> = self.input.drain(head..).map(Key::byte).collect();
            if echoes {
                self.show_erasing(what, &erased);
            }
            if what == Erased::Character {
                break;
            }
        }
        if self.input.len() == self.complete && echoes {
            self.finish_erasing();
        }
    }

    /// Shows that a character was erased.
    fn show_erasing(&mut self, what: Erased, erased: &[u8]) {
        let (byte, controls) = (erased[0], self.settings.has_local(ECHOCTL));
        if self.settings.has_local(ECHOPRT) {
            if !std::mem::replace(&mut self.is_erasing, true) {
                self.put(b'\\');
            }
            self.echo(byte);
            erased[1..].iter().for_each(|byte| self.put(*byte));
        } else if what == Erased::Character && !self.settings.has_local(ECHOE) {
            self.echo(self.settings.characters[VERASE]);
        } else if byte == b'\t' {
            self.erase_tab();
        } else {
            let is_control = byte.is_ascii_control();
            let width = if !is_control {
                1
            } else if controls {
                2
            } else {
                0
            };
            for _ in 0..width {
                [BACKSPACE, b' ', BACKSPACE].into_iter().for_each(|byte| self.put(byte));
            }
        }
    }

    /// Moves the cursor back over a tab that was erased.
    fn erase_tab(&mut self) {
        let controls = self.settings.has_local(ECHOCTL);
        let typed: Vec<u8> = self.input.range(self.complete..).map(|key| key.byte()).collect();
        let after_tab = typed.iter().rposition(|byte| *byte == b'\t').map(|at| at + 1);
        let width = |byte: &u8| match byte.is_ascii_control() {
            true => {
                if controls {
                    2
                } else {
                    0
                }
            }
            false => u32::from(!self.is_continuation(*byte)),
        };
        let columns: u32 = typed[after_tab.unwrap_or(0)..].iter().map(width).sum();
        let start = if after_tab.is_some() { 0 } else { self.line_column };
        for _ in 0..8 - (columns + start) % 8 {
            self.show(&[BACKSPACE]);
            self.column = self.column.saturating_sub(1);
        }
    }

    /// Writes a byte as a slave does.
    pub(super) fn put(&mut self, byte: u8) {
        let output = self.settings.output;
        let has = |flag: u32| output & flag != 0;
        if !has(OPOST) {
            self.show(&[byte]);
            return;
        }
        let mut shown = byte;
        match byte {
            b'\n' => {
                if has(ONLRET) {
                    self.column = 0;
                }
                if has(ONLCR) {
                    (self.column, self.line_column) = (0, 0);
                    self.show(b"\r\n");
                    return;
                }
                self.line_column = self.column;
            }
            b'\r' if has(ONOCR) && self.column == 0 => return,
            b'\r' if has(OCRNL) => {
                shown = b'\n';
                if has(ONLRET) {
                    (self.column, self.line_column) = (0, 0);
                }
            }
            b'\r' => (self.column, self.line_column) = (0, 0),
            b'\t' => {
                let spaces = 8 - self.column % 8;
                self.column += spaces;
                if output & XTABS == XTABS {
                    self.show(&b"        "[..spaces as usize]);
                    return;
                }
            }
            BACKSPACE => self.column = self.column.saturating_sub(1),
            byte if !byte.is_ascii_control() => {
                if has(OLCUC) {
                    shown = byte.to_ascii_uppercase();
                }
                self.column = self.column.wrapping_add(u32::from(!self.is_continuation(byte)));
            }
            _ => {}
        }
        self.show(&[shown]);
    }

    /// Gives bytes to the master. Echoes that a master does not read are lost at some point.
    fn show(&mut self, bytes: &[u8]) {
        if self.output.len() + bytes.len() <= 2 * TRANSIT_BYTES {
            self.output.extend(bytes);
        }
    }
}
