//! The permissions of pages.

use std::fmt;

use kvrm_arm64::Access;
use serde::{Deserialize, Serialize};

/// The accesses that a page permits. `Display` shows them as in `r-x`.
///
/// ```
/// use kvrm_machine::{Access, Permissions};
///
/// assert!(Permissions::RX.permit(Access::Execute) && !Permissions::RX.permit(Access::Write));
/// assert_eq!(Permissions::RX.to_string(), "r-x");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Permissions {
    /// Whether loads are permitted.
    pub read: bool,
    /// Whether stores are permitted.
    pub write: bool,
    /// Whether instruction fetches are permitted.
    pub execute: bool,
}

impl Permissions {
    /// Read only.
    pub const R: Self = Self { read: true, write: false, execute: false };
    /// Read and write.
    pub const RW: Self = Self { read: true, write: true, execute: false };
    /// Read and execute.
    pub const RX: Self = Self { read: true, write: false, execute: true };
    /// Read, write and execute.
    pub const RWX: Self = Self { read: true, write: true, execute: true };

    /// Returns whether an access is permitted.
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
