//! What comes back from the device while it goes on: spikes, and how far it came.

use kvrm_spiking::Recorder;

use super::layout::{SPIKE_BYTES, Time};
use super::store::Store;
use crate::device::Device;
use crate::error::Error;

/// Bytes in front of the spikes.
const HEAD_BYTES: u64 = size_of::<Time>() as u64;

/// A buffer that the host can read, for so many spikes.
pub(super) fn report(device: &Device, spikes: u64) -> Result<wgpu::Buffer, Error> {
    device.catch("making a buffer for spikes", || {
        device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some("spikes"),
            size: HEAD_BYTES + SPIKE_BYTES * spikes,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    })
}

/// Records the copy of what has been recorded.
pub(super) fn copy(encoder: &mut wgpu::CommandEncoder, store: &Store, report: &wgpu::Buffer) {
    let buffers = &store.buffers;
    encoder.copy_buffer_to_buffer(buffers.time.raw(), 0, report, 0, HEAD_BYTES);
    let spikes = report.size() - HEAD_BYTES;
    encoder.copy_buffer_to_buffer(buffers.recording.raw(), 0, report, HEAD_BYTES, spikes);
}

/// Records what a slice that has ended reports, whose steps count from `first`, and says how many steps are left.
pub(super) fn take(
    device: &Device,
    report: &wgpu::Buffer,
    first: u64,
    recorder: &mut Recorder,
) -> Result<u32, Error> {
    let mapped = report
        .get_mapped_range(..)
        .map_err(|error| Error::Refused { doing: "reading spikes".to_owned(), message: error.to_string() })?;
    let (head, spikes) = mapped.split_at(HEAD_BYTES as usize);
    let head: Time = bytemuck::pod_read_unaligned(head);
    let count = head.counts[2] as usize;
    let mut spikes: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(&spikes[..count * SPIKE_BYTES as usize]);
    drop(mapped);
    device.catch("reading spikes", || report.unmap())?;
    // Workgroups record in any order.
    spikes.sort_unstable();
    for step in spikes.chunk_by(|a, b| a[0] == b[0]) {
        recorder.record(first + u64::from(step[0][0]), step.iter().map(|spike| spike[1]));
    }
    Ok(head.before.remaining)
}
