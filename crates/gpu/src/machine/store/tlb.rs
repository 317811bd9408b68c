//! The TLBs that lanes keep from slice to slice.
//!
//! They are valid as long as nothing but the interpreter changes the page tables of lanes, their frames, and code. Whatever
//! else does so makes lanes empty them: [`Columns::forget_pages`] those of all lanes, the kernels that write and reset those
//! of the lanes that they change.
//!
//! [`Columns::forget_pages`]: crate::machine::columns::Columns::forget_pages

use kvrm_shaders::variants::FramePools;

use super::limits::TLB_SET_BYTES;
use super::resident::Store;
use crate::device::error::Error;

/// An entry of a TLB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptEntry {
    /// For data, the handle of the frame with the permissions `TLB_*`; for code, the number of the code page plus one. 0:
    /// there is no entry.
    pub(crate) first: u32,
    /// The number of the page.
    pub(crate) page: u32,
    /// For data, the place of the frame.
    pub(crate) frame: u32,
}

impl Store {
    /// Returns the TLBs for data and those for code, as rows of one set per lane.
    pub(crate) fn kept_entries(&self) -> Result<[Vec<[KeptEntry; 2]>; 2], Error> {
        let data_end = u64::from(self.parameters.tlb_sets) * self.lanes as u64 * TLB_SET_BYTES;
        let ranges = [0..data_end, data_end..self.kept_pages.bytes()].map(|range| (&self.kept_pages, range));
        let contents = self.device.download(&ranges)?;
        let sets = |bytes: &Vec<u8>| {
            let sets = bytemuck::pod_collect_to_vec::<u8, [[u32; 2]; 2]>(bytes).into_iter();
            sets.map(|set| {
                set.map(|[first, page]| KeptEntry { first, page, frame: self.frame_number(first) })
            })
            .collect()
        };
        Ok([sets(&contents[0]), sets(&contents[1])])
    }

    /// Replaces an entry of a lane's TLBs, for tests. Returns the previous entry.
    pub(crate) fn exchange_kept_page(
        &self,
        lane: usize,
        set: u32,
        entry: u32,
        value: u64,
    ) -> Result<u64, Error> {
        let at = (u64::from(set) * self.lanes as u64 + lane as u64) * TLB_SET_BYTES + 8 * u64::from(entry);
        let before = self.device.download(&[(&self.kept_pages, at..at + 8)])?;
        self.kept_pages.upload(at, &[value])?;
        Ok(bytemuck::pod_read_unaligned(&before[0]))
    }

    /// Returns the number of the frame with a handle, as `frame_number` does in shaders.
    fn frame_number(&self, handle: u32) -> u32 {
        match self.variant {
            FramePools::One => handle >> 9,
            _ => handle >> 9 | (handle >> 2 & 127) << (self.pool_shift - 9),
        }
    }
}
