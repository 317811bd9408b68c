//! Segments: the initial memory of programs.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::pages::ADDRESS_BITS;
use crate::permissions::Permissions;

/// A range of memory that exists before the first step, with its initial contents and permissions.
///
/// ```
/// use kvrm_machine::{Permissions, Segment};
///
/// let segment = Segment { address: 0x1000, bytes: 16, data: vec![1, 2], permissions: Permissions::RW };
/// assert_eq!(segment.range(), 0x1000..0x1010);
/// assert!(segment.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The address of the first byte.
    pub address: u64,
    /// The size in bytes. Bytes beyond `data` are zero.
    pub bytes: u64,
    /// The first bytes, at most `bytes` of them.
    pub data: Vec<u8>,
    /// The permissions.
    pub permissions: Permissions,
}

impl Segment {
    /// Checks that the segment lies in the 48-bit address space and has room for its data.
    ///
    /// # Errors
    /// [`Error::Segment`] if it does not.
    pub fn check(&self) -> Result<(), Error> {
        let end = self.address.checked_add(self.bytes);
        if end.is_some_and(|end| end <= 1 << ADDRESS_BITS) && self.data.len() as u64 <= self.bytes {
            return Ok(());
        }
        Err(Error::Segment { address: self.address, bytes: self.bytes, data: self.data.len() })
    }

    /// Returns the addresses that the segment covers.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes)
    }
}
