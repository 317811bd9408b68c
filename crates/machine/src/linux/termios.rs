//! The settings of a terminal: Linux's `struct termios`.

use serde::{Deserialize, Serialize};

use super::fields::{Fields, u32_at};

/// The size of `struct termios`.
pub(super) const TERMIOS_BYTES: usize = 36;

/// Flags of input.
pub(super) const ISTRIP: u32 = 0o40;
pub(super) const INLCR: u32 = 0o100;
pub(super) const IGNCR: u32 = 0o200;
pub(super) const ICRNL: u32 = 0o400;
pub(super) const IUCLC: u32 = 0o1000;
pub(super) const IXON: u32 = 0o2000;
pub(super) const IXANY: u32 = 0o4000;
pub(super) const IMAXBEL: u32 = 0o20_000;
pub(super) const IUTF8: u32 = 0o40_000;

/// Flags of output.
pub(super) const OPOST: u32 = 1;
pub(super) const OLCUC: u32 = 2;
pub(super) const ONLCR: u32 = 4;
pub(super) const OCRNL: u32 = 0o10;
pub(super) const ONOCR: u32 = 0o20;
pub(super) const ONLRET: u32 = 0o40;
/// Tabs become spaces, if all bits are set.
pub(super) const XTABS: u32 = 0o14_000;

/// Local flags.
pub(super) const ISIG: u32 = 1;
pub(super) const ICANON: u32 = 2;
pub(super) const ECHO: u32 = 0o10;
pub(super) const ECHOE: u32 = 0o20;
pub(super) const ECHOK: u32 = 0o40;
pub(super) const ECHONL: u32 = 0o100;
pub(super) const NOFLSH: u32 = 0o200;
pub(super) const TOSTOP: u32 = 0o400;
pub(super) const ECHOCTL: u32 = 0o1000;
pub(super) const ECHOPRT: u32 = 0o2000;
pub(super) const ECHOKE: u32 = 0o4000;
pub(super) const IEXTEN: u32 = 0o100_000;

/// The control characters, by their place in `c_cc`.
pub(super) const VINTR: usize = 0;
pub(super) const VQUIT: usize = 1;
pub(super) const VERASE: usize = 2;
pub(super) const VKILL: usize = 3;
pub(super) const VEOF: usize = 4;
pub(super) const VTIME: usize = 5;
pub(super) const VMIN: usize = 6;
pub(super) const VSTART: usize = 8;
pub(super) const VSTOP: usize = 9;
pub(super) const VSUSP: usize = 10;
pub(super) const VEOL: usize = 11;
pub(super) const VREPRINT: usize = 12;
pub(super) const VWERASE: usize = 14;
pub(super) const VLNEXT: usize = 15;
pub(super) const VEOL2: usize = 16;

/// The settings of a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Termios {
    pub(super) input: u32,
    pub(super) output: u32,
    pub(super) control: u32,
    pub(super) local: u32,
    pub(super) discipline: u8,
    pub(super) characters: [u8; 19],
}

impl Termios {
    /// Returns the settings of a new terminal.
    pub(super) const fn new() -> Self {
        const B38400_CS8_CREAD: u32 = 0o277;
        Self {
            input: ICRNL | IXON,
            output: OPOST | ONLCR,
            control: B38400_CS8_CREAD,
            local: ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
            discipline: 0,
            characters: [3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22, 0, 0, 0],
        }
    }

    /// Returns the structure as the guest reads it.
    pub(super) fn bytes(&self) -> [u8; TERMIOS_BYTES] {
        let mut out = Fields([0; TERMIOS_BYTES]);
        let flags = [self.input, self.output, self.control, self.local];
        (0..).step_by(4).zip(flags).for_each(|(at, word)| out.u32(at, word));
        out.0[16] = self.discipline;
        out.0[17..].copy_from_slice(&self.characters);
        out.0
    }

    /// Returns the settings in a structure that the guest has written.
    pub(super) fn of(raw: &[u8; TERMIOS_BYTES]) -> Self {
        let mut characters = [0; 19];
        characters.copy_from_slice(&raw[17..]);
        let [input, output, control, local] = [0, 4, 8, 12].map(|at| u32_at(raw, at));
        Self { input, output, control, local, discipline: raw[16], characters }
    }

    /// Returns whether a byte is a control character. One whose byte is 0 is disabled.
    pub(super) const fn is(&self, byte: u8, character: usize) -> bool {
        byte != 0 && self.characters[character] == byte
    }

    pub(super) const fn has_local(&self, flag: u32) -> bool {
        self.local & flag != 0
    }

    pub(super) const fn has_input(&self, flag: u32) -> bool {
        self.input & flag != 0
    }
}
