//! The memory of the lane whose call is served. What cannot be accessed is `EFAULT`, whatever is wrong with it.

use std::ops::Range;

use kvrm_arm64::{Access, Stop};

use super::errno::{EFAULT, EINVAL, ENAMETOOLONG, Errno};
use super::failure::Failure;
use crate::executor::LaneAccess;
use crate::page_map::{Mapping, PageMap};
use crate::pages::PAGE_BYTES;

/// A lane moves at most this much in one call; more is done in part, as the interface allows.
pub(super) const TRANSFER_BYTES_MAX: u64 = 16 << 20;
/// The longest path, with the zero at its end.
const PATH_BYTES_MAX: usize = 4096;
/// How many buffers a call may name.
const VECTORS_MAX: u64 = 1024;

/// The memory of a lane.
pub(super) struct Guest<'a> {
    pub(super) lane: &'a mut dyn LaneAccess,
}

/// A buffer of the guest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) address: u64,
    pub(super) bytes: u64,
}

impl Guest<'_> {
    pub(super) fn read(&mut self, address: u64, bytes: u64) -> Result<Vec<u8>, Failure> {
        let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes as u64 <= TRANSFER_BYTES_MAX);
        // Before there is room for it: whatever is not mapped needs none.
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

    pub(super) fn word(&mut self, address: u64) -> Result<u64, Failure> {
        self.array(address).map(u64::from_le_bytes)
    }

    pub(super) fn half(&mut self, address: u64) -> Result<u32, Failure> {
        self.array(address).map(u32::from_le_bytes)
    }

    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Failure> {
        match self.lane.write_memory(address, bytes, Some(Access::Write))? {
            Ok(()) => Ok(()),
            Err(Stop::OutOfFrames) => Err(Failure::Stop(Stop::OutOfFrames)),
            Err(_) => Err(EFAULT.into()),
        }
    }

    /// Writes an answer that the guest need not want.
    pub(super) fn write_if_wanted(&mut self, address: u64, bytes: &[u8]) -> Result<(), Failure> {
        if address == 0 { Ok(()) } else { self.write(address, bytes) }
    }

    /// How many bytes from an address on may be written, up to `bytes`.
    pub(super) fn writable(&mut self, address: u64, bytes: u64) -> Result<u64, Failure> {
        match self.lane.check(address, bytes, Access::Write)? {
            Ok(()) => Ok(bytes),
            Err(fault) if fault.address > address => Ok(fault.address - address),
            Err(_) => Err(EFAULT.into()),
        }
    }

    /// A path, without the zero at its end.
    pub(super) fn path(&mut self, address: u64) -> Result<Vec<u8>, Failure> {
        let mut path = Vec::new();
        while path.len() < PATH_BYTES_MAX {
            // Most paths are short, and reading up to the end of a page cannot fault behind the path.
            let at = address.wrapping_add(path.len() as u64);
            let piece = (PAGE_BYTES as u64 - at % PAGE_BYTES as u64).min(64);
            let piece = self.read(at, piece)?;
            match piece.iter().position(|&byte| byte == 0) {
                Some(end) => {
                    path.extend_from_slice(&piece[..end]);
                    return if path.len() < PATH_BYTES_MAX { Ok(path) } else { Err(ENAMETOOLONG.into()) };
                }
                None => path.extend_from_slice(&piece),
            }
        }
        Err(ENAMETOOLONG.into())
    }

    /// The buffers of `readv` and its kin, together of at most the size that is moved at once.
    pub(super) fn vectors(&mut self, address: u64, count: u64) -> Result<Vec<Buffer>, Failure> {
        if count > VECTORS_MAX {
            return Err(EINVAL.into());
        }
        let mut left = TRANSFER_BYTES_MAX;
        let mut buffers = Vec::new();
        for fields in self.read(address, 16 * count)?.chunks_exact(16) {
            let word = |at: usize| {
                fields[at..at + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
            };
            let (address, bytes) = (word(0), word(8));
            if bytes > i64::MAX as u64 {
                return Err(EINVAL.into());
            }
            let now = bytes.min(left);
            left -= now;
            buffers.push(Buffer { address, bytes: now });
        }
        Ok(buffers)
    }

    /// Reads all of some buffers.
    pub(super) fn gather(&mut self, buffers: &[Buffer]) -> Result<Vec<u8>, Failure> {
        let mut data = Vec::new();
        for buffer in buffers {
            data.extend(self.read(buffer.address, buffer.bytes)?);
        }
        Ok(data)
    }

    /// Writes `data` to buffers, as far as it goes. All of it has to fit.
    pub(super) fn scatter(&mut self, buffers: &[Buffer], mut data: &[u8]) -> Result<(), Failure> {
        for buffer in buffers {
            let (now, later) = data.split_at(data.len().min(buffer.bytes as usize));
            self.write(buffer.address, now)?;
            data = later;
        }
        Ok(())
    }

    /// How many bytes of buffers a read may fill: up to the first that may not be written.
    pub(super) fn room(&mut self, buffers: &[Buffer]) -> Result<u64, Failure> {
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

    /// Changes pages, or fails with `otherwise` if that is not possible.
    pub(super) fn map(
        &mut self,
        pages: Range<u64>,
        mapping: Mapping,
        otherwise: Errno,
    ) -> Result<(), Failure> {
        if self.lane.map(pages, mapping)? { Ok(()) } else { Err(otherwise.into()) }
    }
}
