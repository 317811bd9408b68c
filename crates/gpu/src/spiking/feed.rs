//! The injections of chunks on their way to the device. The host packs those of a chunk while the device runs the chunk
//! before.

use std::ops::Range;

use kvrm_spiking::Injection;
use rayon::prelude::*;

use super::layout::SPIKE_BYTES;
use crate::device::Device;
use crate::device::error::Error;

/// The number of injections that a thread copies at a time.
const PORTION: usize = 1 << 9;
/// Their size, in bytes.
const PORTION_BYTES: usize = SPIKE_BYTES as usize * PORTION;
/// The minimum number of injections that a thread packs.
const PACKED_MIN: usize = 1 << 14;

/// A part of a run whose injections are uploaded together.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Its steps, counted from the beginning of the run.
    pub(super) steps: Range<u64>,
    /// The index of the first injection of each step, and the end of the last step's injections. Empty if there are none.
    pub(super) starts: Vec<u32>,
    /// The neuron and the amount of each injection.
    pub(super) injections: Vec<[u32; 2]>,
}

impl Chunk {
    /// Packs the injections of a chunk. Their steps count from the beginning of the run.
    pub(super) fn pack((steps, injections): (Range<u64>, &[Injection])) -> Self {
        if injections.is_empty() {
            return Self { steps, starts: Vec::new(), injections: Vec::new() };
        }
        let start = |step| injections.partition_point(|injection| injection.step < step) as u32;
        let starts = (steps.start..=steps.end).map(start).collect();
        let words = |injection: &Injection| [injection.neuron, injection.amount as u32];
        Self {
            steps,
            starts,
            injections: injections.par_iter().with_min_len(PACKED_MIN).map(words).collect(),
        }
    }
}

/// A buffer that the host fills and the device copies from. It is kept, as a new one would have to be allocated for each chunk.
#[derive(Debug, Default)]
pub(super) struct Staging(Option<wgpu::Buffer>);

impl Staging {
    /// Returns a buffer with these injections.
    pub(super) fn fill(&mut self, device: &Device, injections: &[[u32; 2]]) -> Result<wgpu::Buffer, Error> {
        const DOING: &str = "uploading injections";
        let bytes = size_of_val(injections);
        // The buffer is mapped as soon as the host has waited for a slice that follows the copy.
        let kept = self.0.take().filter(|buffer| buffer.size() >= bytes as u64);
        let kept =
            kept.and_then(|buffer| buffer.get_mapped_range_mut(..).ok().map(|mapped| (buffer, mapped)));
        let (buffer, mut mapped) = match kept {
            Some(kept) => kept,
            None => {
                let buffer = device.allocate(DOING, || {
                    device.raw().create_buffer(&wgpu::BufferDescriptor {
                        label: Some("injections of a chunk"),
                        size: (bytes as u64).next_power_of_two(),
                        usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                        mapped_at_creation: true,
                    })
                })?;
                let mapped = buffer.get_mapped_range_mut(..).map_err(|error| Error::Refused {
                    doing: DOING.to_owned(),
                    message: error.to_string(),
                })?;
                (buffer, mapped)
            }
        };
        let (portions, mut rest) = mapped.slice(..bytes).into_chunks::<PORTION_BYTES>();
        let whole = injections.chunks_exact(PORTION);
        rest.copy_from_slice(bytemuck::cast_slice(whole.remainder()));
        let portions: Vec<_> = portions.into_iter().zip(whole).collect();
        portions.into_par_iter().with_min_len(8).for_each(|(portion, injections)| {
            let pairs: [[u32; 2]; PORTION] = std::array::from_fn(|index| injections[index]);
            portion.write(bytemuck::cast(pairs));
        });
        drop(mapped);
        device.catch(DOING, || buffer.unmap())?;
        Ok(buffer)
    }

    /// Keeps a buffer after the copy from it was submitted.
    pub(super) fn keep(&mut self, device: &Device, buffer: wgpu::Buffer) -> Result<(), Error> {
        device.catch("uploading injections", || buffer.map_async(wgpu::MapMode::Write, .., |_| {}))?;
        self.0 = Some(buffer);
        Ok(())
    }
}
