//! Networks over tuples on a GPU, by themselves: what proves that a device computes them as the host does.

use std::ops::ControlFlow;

use kvrm_models::{TUPLES, TupleNetwork};

use crate::buffer::Buffer;
use crate::device::Device;
#[doc(hidden)]
pub use crate::dispatch::{Sharing, machine_logits};
use crate::error::Error;
use crate::kernels::shader;
use crate::pipeline::{Access, bind, storage_layout};

/// Invocations of a workgroup.
const WORKGROUP: u32 = 64;
/// Words of an invocation, one behind the other.
const EACH: u32 = 8;
/// Tuples or words of a dispatch.
const TUPLES_AT_ONCE: u32 = 1 << 18;
const WORDS_AT_ONCE: u32 = 1 << 20;

/// A network with `H` units in the second hidden layer and `C` outputs, on a device.
#[derive(Debug)]
pub struct DeviceNetwork<const H: usize, const C: usize> {
    device: Device,
    tuple_logits: wgpu::ComputePipeline,
    sweep_words: wgpu::ComputePipeline,
    range: Buffer,
    logits: Buffer,
    found: Buffer,
    group: wgpu::BindGroup,
}

/// What a sweep over words found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How many words the device evaluated.
    pub words: u64,
    /// How many of them got a wrong answer.
    pub wrong: u64,
    /// The least of these.
    pub first_wrong: Option<u32>,
}

#[derive(Clone, Copy, bytemuck::NoUninit)]
#[repr(C)]
struct Range {
    first: u32,
    count: u32,
    each: u32,
}

impl<const H: usize, const C: usize> DeviceNetwork<H, C> {
    /// Brings a network to a device, with the right answer for each of the 2^20 tuples.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn new(device: &Device, network: &TupleNetwork<H, C>, labels: &[u8]) -> Result<Self, Error> {
        let shader = shader(device, "networks::tuple_network", 1, &[])?;
        let accesses = [Access::Read, Access::Read, Access::Read, Access::ReadWrite, Access::ReadWrite];
        let layout = storage_layout(device, "network", &accesses)?;
        let constants =
            [("WORKGROUP_SIZE", f64::from(WORKGROUP)), ("UNITS", H as f64), ("OUTPUTS", C as f64)];
        let pipeline = |entry| shader.pipeline(entry, &[&layout], &constants);
        let range = Buffer::zeroed(device, "range", size_of::<Range>() as u64)?;
        let weights = Buffer::with_contents(device, "weights", network.flat())?;
        let labels = Buffer::with_contents(device, "labels", labels)?;
        let logits = Buffer::zeroed(device, "logits", 4 * C as u64 * u64::from(TUPLES_AT_ONCE))?;
        let found = Buffer::zeroed(device, "found", 12)?;
        let group = bind(device, "network", &layout, &[&range, &weights, &labels, &logits, &found])?;
        Ok(Self {
            device: device.clone(),
            tuple_logits: pipeline("tuple_logits")?,
            sweep_words: pipeline("sweep_words")?,
            range,
            logits,
            found,
            group,
        })
    }

    /// The logits of all tuples, in their order.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn logits(&self) -> Result<Vec<[f32; C]>, Error> {
        let mut all = Vec::with_capacity(TUPLES);
        for first in (0..TUPLES as u32).step_by(TUPLES_AT_ONCE as usize) {
            self.run(&self.tuple_logits, Range { first, count: TUPLES_AT_ONCE, each: 1 })?;
            let bytes = self.device.download(&[(&self.logits, 0..self.logits.bytes())])?.remove(0);
            let values: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
            all.extend_from_slice(values.as_chunks().0);
        }
        Ok(all)
    }

    /// Evaluates the network on words, each by itself, and compares the answers with the labels.
    ///
    /// `observe` hears of what was found so far; if it breaks, that is the result.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn sweep(
        &self,
        words: std::ops::Range<u64>,
        observe: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> Result<Found, Error> {
        let mut found = Found::default();
        let end = words.end.min(1 << 32);
        let mut first = words.start;
        while first < end {
            let count = (end - first).min(WORDS_AT_ONCE.into()) as u32;
            self.found.upload(0, &[0, 0, u32::MAX])?;
            self.run(&self.sweep_words, Range { first: first as u32, count, each: EACH })?;
            let bytes = self.device.download(&[(&self.found, 0..12)])?.remove(0);
            let [words, wrong, first_wrong]: [u32; 3] = bytemuck::pod_read_unaligned(&bytes);
            found.words += u64::from(words);
            found.wrong += u64::from(wrong);
            if wrong > 0 {
                found.first_wrong = found.first_wrong.or(Some(first_wrong));
            }
            first += u64::from(count);
            if observe(found).is_break() {
                break;
            }
        }
        Ok(found)
    }

    fn run(&self, pipeline: &wgpu::ComputePipeline, range: Range) -> Result<(), Error> {
        self.range.upload(0, &[range])?;
        let workgroups = range.count.div_ceil(WORKGROUP * range.each);
        let submission = self.device.submit("evaluating a network", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            pass.dispatch_workgroups(workgroups, 1, 1);
        })?;
        self.device.wait(&submission)
    }
}
