//! Access of the host to the memory of lanes: reading, writing and mapping.

use std::ops::Range;

use super::{LaneSet, Machine};
use crate::error::{Error, MapFailure};
use crate::page_map::Mapping;
use crate::pages::{PAGE_BYTES, PAGE_SHIFT};
use crate::permissions::Permissions;
use crate::picture::View;

/// Access of the host to memory, between runs. It ignores permissions, and takes no steps of the lane.
impl Machine {
    /// Reads `out.len()` bytes of a lane's memory at `address`.
    ///
    /// A transfer from a GPU takes about as long for one lane as for all; [`Machine::read_all`] reads all lanes at
    /// once.
    ///
    /// # Errors
    /// - [`Error::Memory`]: a byte is not mapped.
    /// - [`Error::NoSuchLane`]
    /// - The engine fails.
    pub fn read(&mut self, lane: usize, address: u64, out: &mut [u8]) -> Result<(), Error> {
        let lane = self.check(lane)?;
        self.executor.read_memory(lane, address, out, None)?.map_err(|stop| Error::Memory { lane, stop })
    }

    /// Reads `bytes` bytes at `address` in every lane. Returns those of lane 0, then those of lane 1, and so on.
    ///
    /// # Errors
    /// - [`Error::Memory`] with the first lane in which a byte is not mapped.
    /// - The engine fails.
    pub fn read_all(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>, Error> {
        self.read_rows(.., address, bytes)
    }

    /// Reads `bytes` bytes at `address` in one or several lanes. Returns those of the first lane of the set, then those of
    /// the second, and so on.
    ///
    /// ```
    /// # use kvrm_machine::{Machine, Program};
    /// # let program = Program::from_code(0x1000, &[0xd440_0000])?;
    /// # let mut machine = Machine::builder(program).lanes(3).build()?;
    /// machine.write_rows(.., 0x1800, b"abcdef")?;
    /// assert_eq!(machine.read_rows(&[2, 0], 0x1800, 2)?, b"efab");
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Memory`] with the first lane in which a byte is not mapped.
    /// - [`Error::NoSuchLane`] and [`Error::Mask`]: the machine has no such lanes.
    /// - The engine fails.
    pub fn read_rows<'a>(
        &mut self,
        lanes: impl Into<LaneSet<'a>>,
        address: u64,
        bytes: usize,
    ) -> Result<Vec<u8>, Error> {
        let lanes = self.lane_numbers(lanes)?;
        let mut out = Vec::new();
        let read = self.executor.read_memory_of_each(address, bytes, &lanes, &mut out)?;
        read.map_err(|(lane, stop)| Error::Memory { lane, stop })?;
        Ok(out)
    }

    /// Replaces the contents of `out` by the view of a picture in one or several lanes: `view.bytes()` bytes
    /// of the first lane of the set, then those of the second, and so on.
    ///
    /// A GPU computes the views, so only their bytes are transferred.
    ///
    /// ```
    /// use kvrm_machine::{Machine, Picture, PictureFormat, Program, View, ViewFormat};
    ///
    /// # let program = Program::from_code(0x1000, &[0xd440_0000])?;
    /// let mut machine = Machine::builder(program).lanes(2).build()?;
    /// machine.write_rows(.., 0x1800, &[10, 20, 30, 40, 1, 2, 3, 5])?;
    /// // A picture of 2x2 pixels, seen as one.
    /// let picture =
    ///     Picture { address: 0x1800, width: 2, height: 2, stride: 2, format: PictureFormat::Grey };
    /// let mut out = Vec::new();
    /// machine.read_views(.., &View::new(picture, 0..2, 0..2, 1, ViewFormat::Grey)?, &mut out)?;
    /// assert_eq!(out, [25, 3]);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Memory`] with the first lane in which a byte of the picture or of its palette is not mapped
    ///   ([`View::check`]). The contents of `out` are then undefined.
    /// - [`Error::NoSuchLane`] and [`Error::Mask`]: the machine has no such lanes.
    /// - The engine fails.
    pub fn read_views<'a>(
        &mut self,
        lanes: impl Into<LaneSet<'a>>,
        view: &View,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let lanes = self.lane_numbers(lanes)?;
        // A view of memory that is not mapped may be larger than all memory of the host.
        for &lane in &*lanes {
            if let Err(fault) = view.check(&self.executor.page_map(lane)?) {
                return Err(Error::Memory { lane, stop: fault.into() });
            }
        }
        out.resize(lanes.len() * view.bytes(), 0);
        self.read_views_into(&*lanes, view, out)
    }

    /// Writes the view of a picture in some lanes to `out`, as [`Machine::read_views`] does, without memory of its own.
    ///
    /// # Errors
    /// - [`Error::Views`]: `out` has not as many bytes as the views.
    /// - The errors of [`Machine::read_views`].
    pub fn read_views_into<'a>(
        &mut self,
        lanes: impl Into<LaneSet<'a>>,
        view: &View,
        out: &mut [u8],
    ) -> Result<(), Error> {
        let lanes = self.lane_numbers(lanes)?;
        let (lanes_count, bytes) = (lanes.len(), view.bytes());
        if out.len() != lanes_count * bytes {
            return Err(Error::Views { room: out.len(), lanes: lanes_count, bytes });
        }
        let read = self.executor.read_views(view, &lanes, out)?;
        read.map_err(|(lane, stop)| Error::Memory { lane, stop })
    }

    /// Writes `bytes` to the memory of one or several lanes at `address`. If there is an error, nothing is written.
    ///
    /// ```
    /// # use kvrm_machine::{Machine, Program};
    /// # let program = Program::from_code(0x1000, &[0xd440_0000])?;
    /// # let mut machine = Machine::builder(program).lanes(3).build()?;
    /// machine.write(2, 0x1800, &[7])?; // in lane 2
    /// machine.write(.., 0x1801, &[8, 9])?; // in every lane
    /// assert_eq!(machine.read_all(0x1800, 3)?, [0, 8, 9, 0, 8, 9, 7, 8, 9]);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Memory`] with the first lane in which a byte is not mapped, or which has no frame left for a page.
    /// - [`Error::NoSuchLane`] and [`Error::Mask`]: the machine has no such lanes.
    /// - The engine fails.
    pub fn write<'a>(
        &mut self,
        lanes: impl Into<LaneSet<'a>>,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let lanes = self.lane_numbers(lanes)?;
        self.write_each(address, &lanes.iter().map(|lane| (*lane, bytes)).collect::<Vec<_>>())
    }

    /// Writes other bytes in each of several lanes, all at `address`. `rows` has the bytes of the first lane of the set,
    /// then those of the second, and so on: the same number for each lane. If there is an error, nothing is written.
    ///
    /// On a GPU, the rows of all lanes are sent together, by the next call that needs them there.
    ///
    /// ```
    /// # use kvrm_machine::{Machine, Program};
    /// # let program = Program::from_code(0x1000, &[0xd440_0000])?;
    /// # let mut machine = Machine::builder(program).lanes(3).build()?;
    /// machine.write_rows(.., 0x1800, b"abcdef")?;
    /// machine.write_rows(&[2, 0], 0x1801, b"XY")?;
    /// assert_eq!(machine.read_all(0x1800, 2)?, b"aYcdeX");
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Rows`]: the lanes cannot have the same number of bytes.
    /// - The errors of [`Machine::write`].
    pub fn write_rows<'a>(
        &mut self,
        lanes: impl Into<LaneSet<'a>>,
        address: u64,
        rows: &[u8],
    ) -> Result<(), Error> {
        let lanes = self.lane_numbers(lanes)?;
        let bytes = rows.len().checked_div(lanes.len()).unwrap_or(0);
        if bytes * lanes.len() != rows.len() {
            return Err(Error::Rows { bytes: rows.len(), lanes: lanes.len() });
        }
        if bytes == 0 {
            return Ok(());
        }
        let rows: Vec<_> = lanes.iter().copied().zip(rows.chunks_exact(bytes)).collect();
        self.write_each(address, &rows)
    }

    fn write_each(&mut self, address: u64, rows: &[(usize, &[u8])]) -> Result<(), Error> {
        let written = self.executor.write_memory_of_each(address, rows)?;
        written.map_err(|(lane, stop)| Error::Memory { lane, stop })
    }

    /// Maps pages of zeros in a lane, in place of pages that are mapped there already.
    ///
    /// The addresses are multiples of 4096. They must be mapped by the program, or reserved by
    /// [`Builder::reserve`](super::Builder::reserve).
    ///
    /// ```
    /// use kvrm_machine::{Machine, Permissions, Program};
    ///
    /// let program = Program::from_code(0x1000, &[0xf940_0001, 0xd440_0000])?; // ldr x1, [x0]; hlt #0
    /// let mut machine = Machine::builder(program)
    ///     .reserve(0x10_0000..0x20_0000)
    ///     .prepare(|lane| lane.set_x(0, 0x18_0000))
    ///     .build()?;
    /// machine.map(0, 0x18_0000..0x18_1000, Permissions::RW)?;
    /// machine.write(0, 0x18_0000, &7_u64.to_le_bytes())?;
    /// machine.run(10)?;
    /// assert_eq!(machine.cpu(0)?.x(1), 7);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Map`] with a [`MapFailure`] that says why.
    /// - [`Error::NoSuchLane`]
    /// - The engine fails.
    pub fn map(&mut self, lane: usize, addresses: Range<u64>, permissions: Permissions) -> Result<(), Error> {
        self.change_map(lane, addresses, Mapping::Zero(permissions))
    }

    /// Changes the permissions of mapped pages of a lane. Their contents stay.
    ///
    /// # Errors
    /// The errors of [`Machine::map`].
    pub fn protect(
        &mut self,
        lane: usize,
        addresses: Range<u64>,
        permissions: Permissions,
    ) -> Result<(), Error> {
        self.change_map(lane, addresses, Mapping::Protect(permissions))
    }

    /// Unmaps pages of a lane. Their contents are lost. They can be mapped again, as pages of zeros.
    ///
    /// # Errors
    /// The errors of [`Machine::map`].
    pub fn unmap(&mut self, lane: usize, addresses: Range<u64>) -> Result<(), Error> {
        self.change_map(lane, addresses, Mapping::Unmap)
    }

    fn change_map(&mut self, lane: usize, addresses: Range<u64>, mapping: Mapping) -> Result<(), Error> {
        let lane = self.check(lane)?;
        let fail = |addresses, reason| Err(Error::Map { lane, addresses, reason });
        let is_aligned = [addresses.start, addresses.end].iter().all(|end| end % PAGE_BYTES as u64 == 0);
        if !is_aligned || addresses.is_empty() {
            return fail(addresses, MapFailure::Range);
        }
        let pages = addresses.start >> PAGE_SHIFT..addresses.end >> PAGE_SHIFT;
        if self.executor.map(lane, pages.clone(), mapping)? {
            return Ok(());
        }
        let map = self.executor.page_map(lane)?;
        let reason = if !map.has_room(&pages) {
            MapFailure::NotReserved
        } else if matches!(mapping, Mapping::Protect(_)) && !map.covers(pages) {
            MapFailure::NotMapped
        } else {
            MapFailure::TooManyRegions
        };
        fail(addresses, reason)
    }
}
