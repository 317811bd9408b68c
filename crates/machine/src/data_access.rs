//! Accesses of instructions to data.

use kvrm_arm64::Access;

/// An access of an instruction to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataAccess {
    /// Whether it reads or writes.
    pub access: Access,
    /// The address of the first byte.
    pub address: u64,
    /// The number of bytes.
    pub bytes: u8,
    /// The first 16 bytes that were read or written, as a little-endian number.
    pub value: u128,
}
