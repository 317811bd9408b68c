//! Programs: what is mapped before the first step, and where it starts.

use std::fmt;
use std::ops::Range;


/// What a page may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permissions {
    /// Loads.
    pub read: bool,
    /// Stores.
    pub write: bool,
    /// Instruction fetches.
    pub execute: bool,
}

impl Permissions {
    /// Read only.
    pub const R: Self = Self { read: true, write: false, execute: false };
    /// Read and write.
    pub const RW: Self = Self { read: true, write: true, execute: false };
    /// Read and execute.
    pub const RX: Self = Self { read: true, write: false, execute: true };
    /// Everything.
    pub const RWX: Self = Self { read: true, write: true, execute: true };
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (has, letter) in [(self.read, 'r'), (self.write, 'w'), (self.execute, 'x')] {
            write!(f, "{}", if has { letter } else { '-' })?;
        }
        Ok(())
    }
}

/// A stretch of memory that exists before the first step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where it begins.
    pub address: u64,
    /// How long it is; what `data` does not cover is zero.
    pub bytes: u64,
    /// Its first bytes, at most `bytes`.
    pub data: Vec<u8>,
    /// What it may be used for.
    pub permissions: Permissions,
}

impl Segment {
    /// The addresses it covers.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.address..self.address + self.bytes
    }
}
