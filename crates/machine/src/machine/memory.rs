//! The memory of lanes, as the host reads, writes and maps it.

use std::ops::Range;

use super::Machine;
use crate::error::{Error, MapFailure};
use crate::page_map::Mapping;
use crate::pages::{PAGE_BYTES, PAGE_SHIFT};
use crate::permissions::Permissions;

/// Access by the host, between runs. It ignores permissions, and costs no steps.
impl Machine {
    /// Reads `out.len()` bytes of a lane's memory at `address`.
    ///
    /// A transfer from a GPU takes about as long for one lane as for all: [`Machine::read_all`] reads all lanes at once.
    ///
    /// # Errors
    /// [`Error::Memory`] if a byte is not mapped, [`Error::NoSuchLane`], or the engine fails.
    pub fn read(&mut self, lane: usize, address: u64, out: &mut [u8]) -> Result<(), Error> {
        let lane = self.check(lane)?;
        self.executor.read_memory(lane, address, out, None)?.map_err(|stop| Error::Memory { lane, stop })
    }

    /// Reads the same `bytes` bytes at `address` of every lane: those of lane 0, then those of lane 1, and so on.
    ///
    /// # Errors
    /// [`Error::Memory`] with the first lane in which a byte is not mapped, or the engine fails.
    pub fn read_all(&mut self, address: u64, bytes: usize) -> Result<Vec<u8>, Error> {
        let mut out = Vec::new();
        let read = self.executor.read_memory_of_all(address, bytes, &mut out)?;
        read.map_err(|(lane, stop)| Error::Memory { lane, stop })?;
        Ok(out)
    }

    /// Writes a lane's memory at `address`. Nothing is written after an error.
    ///
    /// # Errors
    /// [`Error::Memory`] if a byte is not mapped or the lane has no frame left for a page, [`Error::NoSuchLane`], or the engine
    /// fails.
    pub fn write(&mut self, lane: usize, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let lane = self.check(lane)?;
        self.executor.write_memory(lane, address, bytes, None)?.map_err(|stop| Error::Memory { lane, stop })
    }

    /// Maps pages of zeros in a lane, in place of whatever was there.
    ///
    /// A lane can map what the program maps, and what [`Builder::reserve`](super::Builder::reserve) has reserved. The addresses are
    /// multiples of 4096.
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
    /// [`Error::Map`] with the reason, [`Error::NoSuchLane`], or the engine fails.
    pub fn map(&mut self, lane: usize, addresses: Range<u64>, permissions: Permissions) -> Result<(), Error> {
        self.change_map(lane, addresses, Mapping::Zero(permissions))
    }

    /// Changes the permissions of mapped pages of a lane. Their contents stay.
    ///
    /// # Errors
    /// As [`Machine::map`].
    pub fn protect(
        &mut self,
        lane: usize,
        addresses: Range<u64>,
        permissions: Permissions,
    ) -> Result<(), Error> {
        self.change_map(lane, addresses, Mapping::Protect(permissions))
    }

    /// Unmaps pages of a lane. Their contents are lost; they can be mapped again.
    ///
    /// # Errors
    /// As [`Machine::map`].
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
