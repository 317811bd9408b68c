//! Access to the memory of the lane whose call is served. Every failed access is `EFAULT`, whatever its cause.

use std::collections::BTreeSet;
use std::ops::Range;

use kvrm_arm64::{Access, Stop};

use super::errno::{EFAULT, EINVAL, ENAMETOOLONG, Errno};
use super::failure::Failure;
use super::fields::u64_at;
use crate::executor::LaneAccess;
use crate::page_map::{Mapping, PageMap};
use crate::pages::{PAGE_BYTES, page_of};

/// The limit on bytes that one call transfers. Longer transfers are cut short, as Linux permits.
pub(super) const TRANSFER_BYTES_MAX: u64 = 16 << 20;
/// The length of the longest path, including the terminating NUL.
const PATH_BYTES_MAX: usize = 4096;
/// The limit on buffers of one `readv` or `writev`, as on Linux (`UIO_MAXIOV`).
const IOVECS_MAX: u64 = 1024;

/// The memory of the lane, accessed with the guest's permissions.
pub(super) struct Guest<'a> {
    pub(super) lane: &'a mut dyn LaneAccess,
}

/// A buffer in the guest's memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) address: u64,
    pub(super) bytes: u64,
}

impl Guest<'_> {
    pub(super) fn read(&mut self, address: u64, bytes: u64) -> Result<Vec<u8>, Failure> {
        let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes as u64 <= TRANSFER_BYTES_MAX);
        // Check before allocating, so that unmapped memory costs the host nothing.
        let Some(bytes) = bytes else { return Err(EINVAL.into()) };
        self.lane.check(address, bytes as u64, Access::Read)?.map_err(|_| EFAULT)?;
        let mut data = vec![0; bytes];
        let read = self.lane.read_memory(address, &mut data, Some(Access::Read))?;
        read.map(|()| data).map_err(|_| EFAULT.into())
    }

    pub(super) fn array<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Failure> {
        let mut data = [0; N];
        let read = self.lane.read_memory(address, &mut data, Some(Access::Read))?;
        read.map(|()| data).map_err(|_| EFAULT.into())
    }

    pub(super) fn read_u64(&mut self, address: u64) -> Result<u64, Failure> {
        self.array(address).map(u64::from_le_bytes)
    }

    pub(super) fn read_u32(&mut self, address: u64) -> Result<u32, Failure> {
        self.array(address).map(u32::from_le_bytes)
    }

    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Failure> {
        match self.lane.write_memory(address, bytes, Some(Access::Write))? {
            Ok(()) => Ok(()),
            Err(Stop::OutOfFrames) => Err(Failure::Stop(Stop::OutOfFrames)),
            Err(_) => Err(EFAULT.into()),
        }
    }

    /// Writes an optional result: an address of 0 means that the guest does not ask for it.
    pub(super) fn write_optional(&mut self, address: u64, bytes: &[u8]) -> Result<(), Failure> {
        if address == 0 { Ok(()) } else { self.write(address, bytes) }
    }

    /// Returns how many of the `bytes` bytes at an address are writable. A fault at the first byte is `EFAULT`.
    pub(super) fn writable(&mut self, address: u64, bytes: u64) -> Result<u64, Failure> {
        match self.lane.check(address, bytes, Access::Write)? {
            Ok(()) => Ok(bytes),
            Err(fault) if fault.address > address => Ok(fault.address - address),
            Err(_) => Err(EFAULT.into()),
        }
    }

    /// Reads a path and returns it without the terminating NUL.
    pub(super) fn path(&mut self, address: u64) -> Result<Vec<u8>, Failure> {
        Ok(self.text(address, PATH_BYTES_MAX)?.ok_or(ENAMETOOLONG)?)
    }

    /// Reads a string and returns it without the terminating NUL; `None` if it has more than `max` bytes with the NUL.
    pub(super) fn text(&mut self, address: u64, max: usize) -> Result<Option<Vec<u8>>, Failure> {
        let mut text = Vec::new();
        while text.len() < max {
            // Most strings are short. A read that ends with the page cannot fault in memory after the string.
            let at = address.wrapping_add(text.len() as u64);
            let piece = (PAGE_BYTES as u64 - at % PAGE_BYTES as u64).min(64);
            let piece = self.read(at, piece)?;
            match piece.iter().position(|&byte| byte == 0) {
                Some(end) => {
                    text.extend_from_slice(&piece[..end]);
                    return Ok((text.len() < max).then_some(text));
                }
                None => text.extend_from_slice(&piece),
            }
        }
        Ok(None)
    }

    /// Reads an array of `count` `struct iovec`. The buffers are cut to [`TRANSFER_BYTES_MAX`] bytes in total.
    pub(super) fn iovecs(&mut self, address: u64, count: u64) -> Result<Vec<Buffer>, Failure> {
        if count > IOVECS_MAX {
            return Err(EINVAL.into());
        }
        let mut left = TRANSFER_BYTES_MAX;
        let mut buffers = Vec::new();
        for fields in self.read(address, 16 * count)?.chunks_exact(16) {
            let (address, bytes) = (u64_at(fields, 0), u64_at(fields, 8));
            if bytes > i64::MAX as u64 {
                return Err(EINVAL.into());
            }
            let now = bytes.min(left);
            left -= now;
            buffers.push(Buffer { address, bytes: now });
        }
        Ok(buffers)
    }

    /// Reads all buffers and concatenates their contents.
    pub(super) fn gather(&mut self, buffers: &[Buffer]) -> Result<Vec<u8>, Failure> {
        let mut data = Vec::new();
        for buffer in buffers {
            data.extend(self.read(buffer.address, buffer.bytes)?);
        }
        Ok(data)
    }

    /// Writes `data` to the buffers, which have to hold all of it.
    pub(super) fn scatter(&mut self, buffers: &[Buffer], mut data: &[u8]) -> Result<(), Failure> {
        for buffer in buffers {
            let (now, later) = data.split_at(data.len().min(buffer.bytes as usize));
            self.write(buffer.address, now)?;
            data = later;
        }
        Ok(())
    }

    /// Returns how many bytes of the buffers are writable. A fault at the first byte is `EFAULT`.
    pub(super) fn writable_total(&mut self, buffers: &[Buffer]) -> Result<u64, Failure> {
        let mut room = 0;
        for buffer in buffers.iter().filter(|buffer| buffer.bytes > 0) {
            match self.writable(buffer.address, buffer.bytes) {
                Ok(bytes) => room += bytes,
                Err(error) if room == 0 => return Err(error),
                Err(_) => break,
            }
            if self.writable(buffer.address, buffer.bytes)? < buffer.bytes {
                break;
            }
        }
        Ok(room)
    }

    pub(super) fn page_map(&mut self) -> Result<PageMap, Failure> {
        Ok(self.lane.page_map()?)
    }

    /// Returns those of the pages that are mapped and may have other contents than zeros. A mapping may be huge, but only
    /// few of its pages were written.
    pub(super) fn filled_pages(&mut self, pages: &Range<u64>) -> Result<BTreeSet<u64>, Failure> {
        let map = self.page_map()?;
        let written = self.lane.private_pages()?.into_iter().map(page_of);
        let written = written.filter(|page| pages.contains(page) && map.region(*page).is_some());
        Ok(written.chain(map.framed(pages.clone())).collect())
    }

    /// Changes the mapping of pages, or fails with `otherwise` if the page map refuses.
    pub(super) fn map(
        &mut self,
        pages: Range<u64>,
        mapping: Mapping,
        otherwise: Errno,
    ) -> Result<(), Failure> {
        if self.lane.map(pages, mapping)? { Ok(()) } else { Err(otherwise.into()) }
    }
}
