//! The injections of chunks on their way to the device. The host prepares those of a chunk while the device runs the chunk
//! before.

use std::ops::Range;

use kvrm_spiking::Injection;
use rayon::prelude::*;

use super::layout::SPIKE_BYTES;
use crate::device::Device;
use crate::device::error::Error;

/// The number of injections that are written at a time.
const PIECE: usize = 1 << 9;
/// Their size, in bytes.
const PIECE_BYTES: usize = SPIKE_BYTES as usize * PIECE;
/// The maximum number of buffers that are kept: the device copies one while the host fills the other.
const KEPT: usize = 2;

/// A chunk whose injections the device can copy.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Its steps, counted from the beginning of the run.
    pub(super) steps: Range<u64>,
    /// The index of the first injection of each step, and the end of the last step's injections.
    pub(super) starts: Vec<u32>,
    /// The buffer with the injections. `None` if there are none.
    pub(super) staging: Option<wgpu::Buffer>,
}

impl Chunk {
    /// Returns the number of its injections.
    pub(super) fn injections(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }
}

/// Returns the words of an injection on the device.
const fn pair(injection: &Injection) -> [u32; 2] {
    [injection.neuron, injection.amount as u32]
}

/// Buffers that the host writes and the device copies from. They are mapped while nobody uses them, as new ones would have to
/// be allocated for each chunk.
#[derive(Debug, Default)]
pub(super) struct Feed {
    free: Vec<wgpu::Buffer>,
}

impl Feed {
    /// Prepares the chunk with these steps. `injections` are those of the chunk; their steps count from the beginning of the
    /// run.
    pub(super) fn prepare(
        &mut self,
        device: &Device,
        steps: Range<u64>,
        injections: &[Injection],
    ) -> Result<Chunk, Error> {
        if injections.is_empty() {
            return Ok(Chunk { steps, starts: Vec::new(), staging: None });
        }
        let start = |step| injections.partition_point(|injection| injection.step < step) as u32;
        let starts = (steps.start..=steps.end).map(start).collect();
        let bytes = SPIKE_BYTES * injections.len() as u64;
        let (staging, mut mapped) = self.mapped(device, bytes)?;
        let (pieces, mut rest) = mapped.slice(..bytes as usize).into_chunks::<PIECE_BYTES>();
        let whole = injections.chunks_exact(PIECE);
        let last: Vec<[u32; 2]> = whole.remainder().iter().map(pair).collect();
        let pieces: Vec<_> = pieces.into_iter().zip(whole).collect();
        pieces.into_par_iter().with_min_len(8).for_each(|(piece, injections)| {
            let pairs: [[u32; 2]; PIECE] = std::array::from_fn(|index| pair(&injections[index]));
            piece.write(bytemuck::cast(pairs));
        });
        rest.copy_from_slice(bytemuck::cast_slice(&last));
        drop(mapped);
        device.catch("uploading injections", || staging.unmap())?;
        Ok(Chunk { steps, starts, staging: Some(staging) })
    }

    /// Returns a mapped buffer of at least `bytes` bytes.
    fn mapped(&mut self, device: &Device, bytes: u64) -> Result<(wgpu::Buffer, wgpu::BufferViewMut), Error> {
        while let Some(buffer) = self.free.pop() {
            // A buffer that is too small, or not mapped yet, is dropped.
            if buffer.size() >= bytes
                && let Ok(mapped) = buffer.get_mapped_range_mut(..)
            {
                return Ok((buffer, mapped));
            }
        }
        const DOING: &str = "making a buffer for injections";
        let buffer = device.allocate(DOING, || {
            device.raw().create_buffer(&wgpu::BufferDescriptor {
                label: Some("injections of a chunk"),
                size: bytes.next_power_of_two(),
                usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            })
        })?;
        let mapped = buffer.get_mapped_range_mut(..);
        let mapped =
            mapped.map_err(|error| Error::Refused { doing: DOING.to_owned(), message: error.to_string() })?;
        Ok((buffer, mapped))
    }

    /// Takes the buffer of a chunk back after the copy was submitted.
    pub(super) fn recycle(&mut self, device: &Device, staging: wgpu::Buffer) -> Result<(), Error> {
        device.catch("uploading injections", || staging.map_async(wgpu::MapMode::Write, .., |_| {}))?;
        self.free.insert(0, staging);
        self.free.truncate(KEPT);
        Ok(())
    }
}
