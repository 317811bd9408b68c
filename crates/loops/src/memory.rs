//! The memory that iterations read and write.

/// The memory of a lane.
pub trait Memory {
    /// Returns the byte at an address and some bytes behind it, if the lane may read them. There is at least one.
    fn readable(&self, address: u64) -> Option<&[u8]>;

    /// Writes bytes that the lane may write.
    fn write(&mut self, address: u64, bytes: &[u8]);

    /// Fills some bytes that the lane may write with copies of others, of which there are at most 16.
    fn fill(&mut self, address: u64, bytes: u64, with: &[u8]);

    /// Copies bytes that the lane may read to where it may write. Both do not overlap.
    fn copy(&mut self, to: u64, from: u64, bytes: u64);
}

/// Reads bytes. Returns whether the lane may read all of them.
pub(crate) fn read(memory: &impl Memory, address: u64, bytes: &mut [u8]) -> bool {
    let mut done = 0;
    while done < bytes.len() {
        let Some(piece) = memory.readable(address.wrapping_add(done as u64)) else { return false };
        let count = piece.len().min(bytes.len() - done);
        bytes[done..done + count].copy_from_slice(&piece[..count]);
        done += count;
    }
    true
}
