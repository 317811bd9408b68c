//! The injections of chunks on their way to the device. The host packs those of a chunk, into memory from which the device
//! copies, while the device runs the chunk before.

use std::ops::Range;

use kvrm_spiking::Injection;
use rayon::prelude::*;

use super::layout::SPIKE_BYTES;
use crate::device::Device;
use crate::device::error::Error;

/// The number of injections that are packed together.
const PORTION: usize = 1 << 9;
/// Their size, in bytes.
const PORTION_BYTES: usize = SPIKE_BYTES as usize * PORTION;
/// The minimum number of portions that a thread packs.
const PORTIONS_MIN: usize = 8;

/// What this module does, for errors.
const DOING: &str = "uploading injections";

/// A part of a run whose injections are uploaded together.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Its steps, counted from the beginning of the run.
    pub(super) steps: Range<u64>,
    /// The index of the first injection of each step, and the end of the last step's injections. Empty if there are none.
    pub(super) starts: Vec<u32>,
    /// The number of injections.
    pub(super) injections: usize,
    /// A mapped buffer with the neuron and the amount of each injection, or `None` if there are none.
    pub(super) staged: Option<wgpu::Buffer>,
}

impl Chunk {
    /// Packs the injections of a chunk into `buffer`, which is `None` if there are none. Their steps count from the beginning of
    /// the run.
    pub(super) fn pack(steps: Range<u64>, injections: &[Injection], buffer: Option<MappedBuffer>) -> Self {
        let start = |step| injections.partition_point(|injection| injection.step < step) as u32;
        let starts = buffer.iter().flat_map(|_| (steps.start..=steps.end).map(start)).collect();
        Self {
            steps,
            starts,
            injections: injections.len(),
            staged: buffer.map(|buffer| buffer.fill(injections)),
        }
    }
}

/// Mapped buffers, which the host fills and the device copies from. They are kept, as new ones would have to be allocated for
/// each chunk.
#[derive(Debug, Default)]
pub(super) struct Staging(Vec<wgpu::Buffer>);

/// A mapped buffer, and its memory.
pub(super) struct MappedBuffer {
    buffer: wgpu::Buffer,
    mapped: wgpu::BufferViewMut,
}

impl Staging {
    /// Returns a buffer for this many injections, or `None` if there are none.
    pub(super) fn buffer_for(
        &mut self,
        device: &Device,
        injections: usize,
    ) -> Result<Option<MappedBuffer>, Error> {
        let bytes = SPIKE_BYTES * injections as u64;
        if bytes == 0 {
            return Ok(None);
        }
        // A buffer is mapped again as soon as the host has waited for a slice that follows the copy.
        while let Some(buffer) = self.0.pop() {
            if buffer.size() >= bytes
                && let Ok(mapped) = buffer.get_mapped_range_mut(..)
            {
                return Ok(Some(MappedBuffer { buffer, mapped }));
            }
        }
        let buffer = device.allocate(DOING, || {
            device.raw().create_buffer(&wgpu::BufferDescriptor {
                label: Some("injections of a chunk"),
                size: bytes.next_power_of_two(),
                usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            })
        })?;
        let refused = |error: wgpu::MapRangeError| Error::Refused {
            doing: DOING.to_owned(),
            message: error.to_string(),
        };
        let mapped = buffer.get_mapped_range_mut(..).map_err(refused)?;
        Ok(Some(MappedBuffer { buffer, mapped }))
    }

    /// Unmaps a buffer, so that the device can copy from it.
    pub(super) fn unmap(device: &Device, buffer: &wgpu::Buffer) -> Result<(), Error> {
        device.catch(DOING, || buffer.unmap())
    }

    /// Keeps a buffer after the copy from it was submitted.
    pub(super) fn keep(&mut self, device: &Device, buffer: wgpu::Buffer) -> Result<(), Error> {
        device.catch(DOING, || buffer.map_async(wgpu::MapMode::Write, .., |_| {}))?;
        self.0.push(buffer);
        Ok(())
    }
}

impl MappedBuffer {
    /// Fills the buffer with injections, and leaves it mapped.
    fn fill(mut self, injections: &[Injection]) -> wgpu::Buffer {
        let words = |injection: &Injection| [injection.neuron, injection.amount as u32];
        let bytes = SPIKE_BYTES as usize * injections.len();
        let (portions, mut rest) = self.mapped.slice(..bytes).into_chunks::<PORTION_BYTES>();
        let whole = injections.chunks_exact(PORTION);
        let remainder: Vec<[u32; 2]> = whole.remainder().iter().map(words).collect();
        rest.copy_from_slice(bytemuck::cast_slice(&remainder));
        let portions: Vec<_> = portions.into_iter().zip(whole).collect();
        portions.into_par_iter().with_min_len(PORTIONS_MIN).for_each(|(portion, injections)| {
            let pairs: [[u32; 2]; PORTION] = std::array::from_fn(|index| words(&injections[index]));
            portion.write(bytemuck::cast(pairs));
        });
        self.buffer
    }
}
