//! What pages may be used for.

use std::fmt;

use kvrm_arm64::Access;

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

    /// Whether an access is permitted.
    #[must_use]
    pub const fn permit(self, access: Access) -> bool {
        match access {
            Access::Read => self.read,
            Access::Write => self.write,
            Access::Execute => self.execute,
        }
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (has, letter) in [(self.read, 'r'), (self.write, 'w'), (self.execute, 'x')] {
            write!(f, "{}", if has { letter } else { '-' })?;
        }
        Ok(())
    }
}
