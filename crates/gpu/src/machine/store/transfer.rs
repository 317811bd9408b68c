//! Dispatches that read, write and map guest memory for the host, and that reset lanes.

use kvrm_machine::PAGE_BYTES;
pub(crate) use kvrm_shaders::interface::machine::Piece;
use kvrm_shaders::interface::machine::TransferGroup;
use kvrm_shaders::layout::{
    COLUMN_BASE, COLUMN_HEAD, COLUMN_ROOT, COLUMN_STOP_ADDRESS, COLUMN_TAIL, COLUMN_TLB, DISPATCH_ROW,
    STOP_NEED_AWAY, STOP_NEED_TIME, STOP_NONE,
};

use super::loops::Counters;
use super::parameters::Launch;
use super::resident::Store;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::machine::kernels::WORKGROUP;

/// The columns that [`Store::write`] changes on the device.
pub(crate) const WRITE_COLUMNS: [u32; 6] =
    [COLUMN_BASE, COLUMN_ROOT, COLUMN_TAIL, COLUMN_HEAD, COLUMN_TLB, COLUMN_STOP_ADDRESS];

/// The host's functions of pieces, which are parts of pages to read or write, or pages to map.
pub(crate) trait HostPiece {
    /// Marks the piece as not done.
    fn undone(self) -> Self;
    /// Returns the work that is left: the number of pages to map, or 1 for a write.
    fn left(&self) -> u64;
    /// Returns the guest address.
    fn address(&self) -> u64;
    /// Creates a piece of `bytes` bytes within one page. Its data begins at word `data` of the data buffer.
    fn new(lane: usize, address: u64, bytes: usize, data: u32) -> Self;
    /// Creates a piece that maps `pages` pages with the flags `map`.
    fn mapping(lane: usize, address: u64, pages: u32, map: u32) -> Self;
}

impl HostPiece for Piece {
    fn undone(self) -> Self {
        Self { stop: STOP_NEED_TIME, ..self }
    }

    fn left(&self) -> u64 {
        if self.map == 0 { 1 } else { self.bytes.into() }
    }

    fn address(&self) -> u64 {
        u64::from(self.address) | u64::from(self.address_high) << 32
    }

    fn new(lane: usize, address: u64, bytes: usize, data: u32) -> Self {
        let (address, address_high) = (address as u32, (address >> 32) as u32);
        Self { lane: lane as u32, bytes: bytes as u32, address, address_high, data, ..Self::default() }
    }

    fn mapping(lane: usize, address: u64, pages: u32, map: u32) -> Self {
        Self { map, ..Self::new(lane, address, pages as usize, 0) }
    }
}

impl Store {
    /// Reads pieces of the same size that begin at a word. Returns the pieces with their results, and their bytes one
    /// after the other.
    pub(crate) fn read(&mut self, pieces: &[Piece]) -> Result<(Vec<Piece>, Vec<u8>), Error> {
        let words = pieces.iter().map(|piece| u64::from(piece.bytes.div_ceil(8))).sum::<u64>();
        let longest = pieces.iter().map(|piece| piece.bytes.div_ceil(8)).max().unwrap_or(0);
        self.columns.flush()?;
        let list = Buffer::with_contents(&self.device, "pieces", pieces)?;
        let data = Buffer::zeroed(&self.device, "data of pieces", 8 * words)?;
        let none = Buffer::zeroed(&self.device, "no jobs", 8)?;
        let buffers = TransferGroup { pieces: &list, data: &data, jobs: &none, snapshot: &none };
        let group = self.kernels.layouts.transfer.bind(&self.device, buffers)?;
        let jobs = pieces.len() as u32;
        let workgroups = (longest.div_ceil(WORKGROUP), jobs.min(DISPATCH_ROW), jobs.div_ceil(DISPATCH_ROW));
        let read = self.kernels.read.clone();
        self.dispatch(&read, Launch { jobs, ..Launch::default() }, Some(&group), workgroups)?;
        let mut contents = self.device.download(&[(&list, 0..list.bytes()), (&data, 0..8 * words)])?;
        let mut bytes = contents.pop().unwrap_or_default();
        let mut pieces: Vec<Piece> = bytemuck::pod_collect_to_vec(&contents[0]);
        let away = pieces.iter_mut().filter(|piece| piece.stop == STOP_NEED_AWAY).collect();
        self.read_away(away, &mut bytes)?;
        Ok((pieces, bytes))
    }

    /// Writes and maps pieces, those of each lane in order. `firsts` has the index of the first piece of each lane, and
    /// the number of pieces. Returns the pieces with their results, and the counters.
    pub(crate) fn write(
        &mut self,
        pieces: &[Piece],
        data: &[u64],
        firsts: &[u32],
        launch: Launch,
    ) -> Result<(Vec<Piece>, Counters), Error> {
        let list = Buffer::with_contents(&self.device, "pieces", pieces)?;
        let data = Buffer::with_contents(&self.device, "data of pieces", data)?;
        let firsts = Buffer::with_contents(&self.device, "lanes to write", firsts)?;
        let none = Buffer::zeroed(&self.device, "no snapshot", 8)?;
        let buffers = TransferGroup { pieces: &list, data: &data, jobs: &firsts, snapshot: &none };
        let group = self.kernels.layouts.transfer.bind(&self.device, buffers)?;
        let workgroups = (launch.jobs.div_ceil(WORKGROUP), 1, 1);
        // A write to a page with code makes its markers invalid.
        self.marks_are_old = true;
        let write = self.kernels.write.clone();
        self.dispatch(&write, launch, Some(&group), workgroups)?;
        let counters = (&self.counters, 0..self.counters.bytes());
        let contents = self.device.download(&[(&list, 0..list.bytes()), counters])?;
        Ok((bytemuck::pod_collect_to_vec(&contents[0]), bytemuck::pod_read_unaligned(&contents[1])))
    }

    /// Completes the results of pieces to read whose frames are away.
    fn read_away(&self, mut pieces: Vec<&mut Piece>, bytes: &mut [u8]) -> Result<(), Error> {
        let Some(places) = &self.places else { return Ok(()) };
        pieces.retain(|piece| places.host.has(piece.fresh));
        let frames: Vec<u32> = pieces.iter().map(|piece| piece.fresh).collect();
        for (piece, words) in pieces.into_iter().zip(places.host.contents(&frames)?) {
            let from = piece.address as usize % PAGE_BYTES;
            let length = (piece.bytes as usize).next_multiple_of(8);
            let to = &mut bytes[8 * piece.data as usize..][..length];
            to.copy_from_slice(&bytemuck::cast_slice(&words)[from..from + length]);
            // Only pages that the lane has written leave the device.
            (piece.stop, piece.fresh) = (STOP_NONE, 0);
        }
        Ok(())
    }

    /// Resets lanes to the state in `snapshot`.
    pub(crate) fn reset(&mut self, lanes: &[u32], snapshot: &Buffer) -> Result<(), Error> {
        if lanes.is_empty() {
            return Ok(());
        }
        let none = |label| Buffer::zeroed(&self.device, label, 32);
        let (pieces, data) = (none("no pieces")?, none("no data")?);
        let jobs = Buffer::with_contents(&self.device, "lanes to reset", lanes)?;
        let buffers = TransferGroup { pieces: &pieces, data: &data, jobs: &jobs, snapshot };
        let group = self.kernels.layouts.transfer.bind(&self.device, buffers)?;
        let launch = Launch { jobs: lanes.len() as u32, ..Launch::default() };
        let reset = self.kernels.reset.clone();
        self.dispatch(&reset, launch, Some(&group), (launch.jobs.div_ceil(WORKGROUP), 1, 1))?;
        Ok(())
    }
}
