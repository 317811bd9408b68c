//! Segments of programs.

use std::ops::Range;

use crate::error::Error;
use crate::pages::ADDRESS_BITS;
use crate::permissions::Permissions;

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
    /// Checks that it lies in the address space and has room for its data.
    ///
    /// # Errors
    /// [`Error::Segment`] if not.
    pub fn check(&self) -> Result<(), Error> {
        let end = self.address.checked_add(self.bytes);
        if end.is_some_and(|end| end <= 1 << ADDRESS_BITS) && self.data.len() as u64 <= self.bytes {
            return Ok(());
        }
        Err(Error::Segment { address: self.address, bytes: self.bytes, data: self.data.len() })
    }

    /// The addresses it covers.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes)
    }
}
