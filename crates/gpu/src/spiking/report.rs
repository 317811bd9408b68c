//! Reports of slices: the clock, the neurons that fired, and the recorded spikes. The host reads a report while the
//! device runs the next slices.

use kvrm_shaders::interface::spiking::{Clock, Time};
use kvrm_spiking::{Recorder, bit_words};
use rayon::prelude::*;

use super::digest::digest;
use super::layout::SPIKE_BYTES;
use super::store::Store;
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The size of the first part of a report, the [`Time`].
const TIME_BYTES: u64 = size_of::<Time>() as u64;
/// The maximum size of the second part: one bit for each neuron, set if it fired in the last step.
const FIRED_BYTES: u64 = 4096;

/// Returns the size of a report before the spikes, in bytes.
fn head_bytes(neurons: u32) -> u64 {
    TIME_BYTES + FIRED_BYTES.min(4 * bit_words(neurons as usize) as u64)
}

/// Returns the size of a report in bytes, for a network of `neurons` neurons and at most `spikes` recorded spikes.
pub(super) fn report_bytes(neurons: u32, spikes: u32) -> u64 {
    head_bytes(neurons) + SPIKE_BYTES * u64::from(spikes)
}

/// Makes a buffer for a report, which the host can map.
pub(super) fn report_buffer(device: &Device, bytes: u64) -> Result<wgpu::Buffer, Error> {
    device.allocate("making a buffer for spikes", || {
        device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some("spikes"),
            size: bytes,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    })
}

/// Records the commands that copy the buffers of the network into a report, with at most `spikes` spikes.
pub(super) fn copy_report(
    encoder: &mut wgpu::CommandEncoder,
    store: &Store,
    report: &wgpu::Buffer,
    spikes: u32,
) {
    let (buffers, neurons) = (&store.buffers, store.settings.neurons);
    let (head, end) = (head_bytes(neurons), report_bytes(neurons, spikes));
    let mut copy = |from: &Buffer, at: u64, end: u64| {
        if at != end {
            encoder.copy_buffer_to_buffer(from.raw(), 0, report, at, end - at);
        }
    };
    copy(&buffers.time, 0, TIME_BYTES);
    copy(&buffers.fired, TIME_BYTES, head);
    copy(&buffers.recording, head, end);
}

/// The destination of the spikes of a report.
#[derive(Debug)]
pub(super) struct SpikeSink<'a> {
    pub(super) recorder: &'a mut Recorder,
    /// The first step of the chunk, from which the steps of the recorded spikes count.
    pub(super) first: u64,
}

/// Reads the report of a network with `neurons` neurons. If `check` accepts its clock, records its spikes. Returns a digest
/// of the neurons that fired in the last step of the slice, among the first 32,768 neurons.
pub(super) fn read_report(
    device: &Device,
    report: &wgpu::Buffer,
    neurons: u32,
    check: &mut dyn FnMut(&Clock) -> Result<(), Error>,
    sink: Option<SpikeSink<'_>>,
) -> Result<u64, Error> {
    let mapped = report
        .get_mapped_range(..)
        .map_err(|error| Error::Refused { doing: "reading spikes".to_owned(), message: error.to_string() })?;
    let (head, spikes) = mapped.split_at(head_bytes(neurons) as usize);
    let (time, fired) = head.split_at(TIME_BYTES as usize);
    let time: Time = bytemuck::pod_read_unaligned(time);
    check(&time.before)?;
    let Time { recorded: count, .. } = time;
    if let Some(SpikeSink { recorder, first }) = sink {
        let Some(recorded) = spikes.get(..count as usize * SPIKE_BYTES as usize) else {
            let room = spikes.len() as u64 / SPIKE_BYTES;
            let message = format!("it recorded {count} spikes in a buffer with room for {room}");
            return Err(Error::WrongResult { message });
        };
        let pairs: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(recorded);
        // Workgroups record their spikes in any order.
        let key = |[step, neuron]: &[u32; 2]| u64::from(*step) << 32 | u64::from(*neuron);
        let mut spikes: Vec<u64> = pairs.iter().map(key).collect();
        spikes.par_sort_unstable();
        for step in spikes.chunk_by(|a, b| a >> 32 == b >> 32) {
            recorder.record(first + (step[0] >> 32), step.iter().map(|spike| *spike as u32));
        }
    }
    let fired = digest(
        0,
        fired.chunks(4).map(|word| u64::from(u32::from_le_bytes(word.try_into().unwrap_or_default()))),
    );
    drop(mapped);
    device.catch("reading spikes", || report.unmap())?;
    Ok(fired)
}
