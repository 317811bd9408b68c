//! Structures in the guest's memory.

/// A structure in the guest's memory, as little-endian bytes.
pub(super) struct Fields<const N: usize>(pub(super) [u8; N]);

impl<const N: usize> Fields<N> {
    pub(super) fn u64(&mut self, at: usize, value: u64) {
        self.0[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }

    pub(super) fn u32(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// Returns the little-endian word of 32 bits at an offset of a structure.
///
/// # Panics
/// The structure is shorter.
pub(super) fn u32_at(raw: &[u8], at: usize) -> u32 {
    raw[at..at + 4].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// The same for 64 bits.
///
/// # Panics
/// The structure is shorter.
pub(super) fn u64_at(raw: &[u8], at: usize) -> u64 {
    raw[at..at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}
