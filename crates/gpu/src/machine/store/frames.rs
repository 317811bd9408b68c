//! The frame pools of a machine: elements of an array of buffers, or with a binding each.

use std::ops::Range;

use kvrm_machine::PAGE_BYTES;
use kvrm_shaders::interface::machine::{
    DecisionsGroup, DecodeGroup, DigestGroup, HooksGroup, MachineGroup, MovesGroup, TransferGroup,
};
use kvrm_shaders::interface::networks::NetworksGroup;
use kvrm_shaders::kernel::Group;
use kvrm_shaders::layout::{ENTRY_FRAME, FRAME_WORDS};
use kvrm_shaders::variants::{FramePlaces, FramePools};

use super::limits::{INFO_BYTES, is_full, sizes};
use super::resident::Store;
use crate::device::adapter::BUFFER_ARRAY_ELEMENTS;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::machine::kernels::Kernels;

/// Returns the number of bindings of a group, without pools.
const fn bindings<G: Group>() -> u32 {
    G::BINDINGS.len() as u32
}

/// Returns the larger number. `Ord::max` is not `const`.
const fn larger(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}

/// The largest number of buffers of a kernel that are not pools: those of the machine, and those of the kernel's own
/// group.
const OTHER_BUFFERS: u32 = bindings::<MachineGroup<()>>()
    + larger(
        bindings::<TransferGroup<()>>(),
        larger(
            bindings::<HooksGroup<()>>(),
            larger(
                bindings::<DecodeGroup<()>>(),
                larger(bindings::<DigestGroup<()>>(), bindings::<MovesGroup<()>>()),
            ),
        ),
    );
/// The largest number of buffers of a kernel that are not pools in a machine with a network. The kernel that lowers
/// words has the most.
const OTHER_BUFFERS_WITH_NETWORK: u32 = larger(
    OTHER_BUFFERS,
    bindings::<MachineGroup<()>>()
        + bindings::<DecodeGroup<()>>()
        + bindings::<NetworksGroup<()>>()
        + bindings::<DecisionsGroup<()>>(),
);

/// The number of Metal's 31 buffers that wgpu leaves for bindings.
const METAL_BUFFERS: u32 = 29;
const _: () = assert!(
    OTHER_BUFFERS + FramePools::Sixteen.pools() as u32 <= METAL_BUFFERS
        && OTHER_BUFFERS_WITH_NETWORK + FramePools::Eight.pools() as u32 <= METAL_BUFFERS,
    "there is room for sixteen pools, and for eight with a network"
);

const _: () = assert!(
    FramePools::Array.pools() as u32 <= BUFFER_ARRAY_ELEMENTS,
    "devices with arrays of buffers have arrays of this size"
);

impl Store {
    pub(crate) fn upload_frames(&self, words: &[[u64; FRAME_WORDS as usize]]) -> Result<(), Error> {
        let per_pool = self.frames_of_pool() as usize;
        for (pool, frames) in self.pools.iter().zip(words.chunks(per_pool)) {
            pool.upload(0, frames.as_flattened())?;
        }
        Ok(())
    }

    /// Returns the buffers and byte ranges of frames, in pieces of at most 64 MiB, which bounds the size of a transfer.
    pub(crate) fn frame_places(&self, frames: &Range<u32>) -> Vec<(&Buffer, Range<u64>)> {
        const PIECE: u32 = 1 << 14;
        let per_pool = self.frames_of_pool();
        let (mut first, mut places) = (frames.start, Vec::new());
        while first < frames.end {
            let (pool, at) = (first / per_pool, first % per_pool);
            let count = (frames.end - first).min(per_pool - at).min(PIECE);
            let byte = |frame: u32| u64::from(frame) * PAGE_BYTES as u64;
            places.push((&self.pools[pool as usize], byte(at)..byte(at + count)));
            first += count;
        }
        places
    }

    /// Returns the byte range of the information about frames in its buffer.
    pub(crate) fn info_places(&self, frames: &Range<u32>) -> Range<u64> {
        u64::from(frames.start) * INFO_BYTES..u64::from(frames.end) * INFO_BYTES
    }

    /// Returns the largest number of pools that can have a binding each.
    fn bound_pools_max(&self) -> usize {
        let others = if self.network.is_some() { OTHER_BUFFERS_WITH_NETWORK } else { OTHER_BUFFERS };
        let bindings = self.device.limits().storage_buffers.saturating_sub(others).max(1);
        FramePools::SixtyFour.pools().min(1 << bindings.ilog2())
    }

    /// Returns the number of pools from which on they are elements of an array.
    fn array_min(&self) -> usize {
        self.array_min.map_or(usize::MAX, |min| min.min(self.bound_pools_max() + 1))
    }

    /// Returns the largest number of frames that the bindings of the device allow.
    pub(crate) fn frames_max(&self) -> u32 {
        let has_arrays = self.array_min.is_some();
        let most = if has_arrays { FramePools::Array.pools() } else { self.bound_pools_max() };
        // In tests there may be fewer.
        let most = 1_u64 << most.min(self.pools_max).max(1).ilog2();
        let in_pools = most * u64::from(self.frames_of_pool());
        let frames = match &self.places {
            Some(places) => in_pools.min(places.max.into()) + places.host.max() as u64,
            None => in_pools,
        };
        frames.min(1 << (32 - ENTRY_FRAME)) as u32
    }

    /// Makes room for `wanted` frames, or for as many as possible. Returns the number of frames that there is room for.
    ///
    /// # Errors
    ///
    /// The device fails. Full memory is not a failure.
    pub(crate) fn grow_frames(&mut self, wanted: u32) -> Result<u32, Error> {
        let wanted = wanted.min(self.frames_max());
        for frames in sizes(self.capacity.into(), wanted.into()) {
            let grown = self.try_grow_frames(frames as u32);
            // Even a growth that failed may have replaced some buffers.
            self.bind()?;
            match grown {
                Ok(()) => break,
                Err(error) if is_full(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.capacity)
    }

    fn try_grow_frames(&mut self, frames: u32) -> Result<(), Error> {
        match &self.places {
            None => self.try_grow_pools(frames)?,
            Some(places) => {
                let bytes = Self::places_bytes(places.max, frames);
                self.places_buffer.grow(bytes)?;
            }
        }
        self.info.grow(u64::from(frames) * INFO_BYTES)?;
        self.capacity = frames;
        Ok(())
    }

    /// Makes room in the pools, in which there is room for `there` frames, for `wanted`, or for as many as possible. Returns the number
    /// of frames that there is room for.
    pub(super) fn grow_pools(&mut self, there: u32, wanted: u32) -> Result<u32, Error> {
        for frames in sizes(there.into(), wanted.into()) {
            let grown = self.try_grow_pools(frames as u32);
            self.bind()?;
            match grown {
                Ok(()) => return Ok(frames as u32),
                Err(error) if is_full(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(there)
    }

    fn try_grow_pools(&mut self, frames: u32) -> Result<(), Error> {
        let per_pool = self.frames_of_pool();
        let pools = frames.div_ceil(per_pool);
        let variant = FramePools::of(pools as usize, self.array_min()).max(self.variant);
        if variant != self.variant {
            self.kernels = Kernels::of(&self.device, variant, self.places_variant(), self.pool_shift)?;
            self.variant = variant;
            // TLBs have handles of frames, which depend on the pools.
            self.columns.forget_pages();
        }
        // All pools but the last are full.
        for pool in 0..pools {
            let bytes = u64::from((frames - pool * per_pool).min(per_pool)) * PAGE_BYTES as u64;
            match self.pools.get_mut(pool as usize) {
                Some(buffer) => drop(buffer.grow(bytes)?),
                None => self.pools.push(Buffer::zeroed(&self.device, "frames", bytes)?),
            }
        }
        Ok(())
    }

    /// Returns the variant of kernels for the places of frames.
    pub(super) const fn places_variant(&self) -> FramePlaces {
        if self.places.is_some() { FramePlaces::Moving } else { FramePlaces::Fixed }
    }

    /// Returns the number of frames of a full pool.
    pub(crate) const fn frames_of_pool(&self) -> u32 {
        1 << (self.pool_shift - FRAME_WORDS.trailing_zeros())
    }

    /// Returns the number of frames that there is room for.
    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }
}
