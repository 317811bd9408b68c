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
