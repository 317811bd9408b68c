//! What comes back from the device while it goes on: spikes, and how far it came.

use kvrm_spiking::Recorder;
use rayon::prelude::*;

use super::layout::{SPIKE_BYTES, Time};
use super::store::Store;
use crate::device::Device;
use crate::error::Error;

/// Bytes in front of the spikes.
const HEAD_BYTES: u64 = size_of::<Time>() as u64;

/// Bytes of a report of so many spikes.
pub(super) fn report_bytes(spikes: u32) -> u64 {
    HEAD_BYTES + SPIKE_BYTES * u64::from(spikes)
}

/// A buffer for reports that the host can read.
pub(super) fn report(device: &Device, bytes: u64) -> Result<wgpu::Buffer, Error> {
    device.catch("making a buffer for spikes", || {
        device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some("spikes"),
            size: bytes,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    })
}

/// Records the copy of what is to be reported.
pub(super) fn copy(encoder: &mut wgpu::CommandEncoder, store: &Store, report: &wgpu::Buffer) {
    let buffers = &store.buffers;
    encoder.copy_buffer_to_buffer(buffers.time.raw(), 0, report, 0, HEAD_BYTES);
    let spikes = report.size() - HEAD_BYTES;
    if spikes != 0 {
        encoder.copy_buffer_to_buffer(buffers.recording.raw(), 0, report, HEAD_BYTES, spikes);
    }
}

/// What a slice that has ended reports.
#[derive(Debug)]
pub(super) struct Reported {
    /// How many steps are left.
    pub(super) steps_left: u32,
    /// How many pieces its last batch listed.
    pub(super) pieces: u32,
}

/// Takes a report, and records its spikes, whose steps count from `first`.
pub(super) fn take(
    device: &Device,
    report: &wgpu::Buffer,
    first: u64,
    recorder: Option<&mut Recorder>,
) -> Result<Reported, Error> {
    let mapped = report
        .get_mapped_range(..)
        .map_err(|error| Error::Refused { doing: "reading spikes".to_owned(), message: error.to_string() })?;
    let (head, spikes) = mapped.split_at(HEAD_BYTES as usize);
    let head: Time = bytemuck::pod_read_unaligned(head);
    let [even, odd, recorded, _] = head.counts;
    if let Some(recorder) = recorder {
        let recorded = &spikes[..recorded as usize * SPIKE_BYTES as usize];
        let pairs: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(recorded);
        // Workgroups record in any order.
        let key = |[step, neuron]: &[u32; 2]| u64::from(*step) << 32 | u64::from(*neuron);
        let mut spikes: Vec<u64> = pairs.iter().map(key).collect();
        spikes.par_sort_unstable();
        for step in spikes.chunk_by(|a, b| a >> 32 == b >> 32) {
            recorder.record(first + (step[0] >> 32), step.iter().map(|spike| *spike as u32));
        }
    }
    drop(mapped);
    device.catch("reading spikes", || report.unmap())?;
    let pieces = if head.before.parity == 0 { odd } else { even };
    Ok(Reported { steps_left: head.before.remaining, pieces })
}
