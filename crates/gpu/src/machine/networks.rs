//! Networks over tuples on a GPU without a machine, to verify that a device computes them as the host does.

use std::ops::ControlFlow;

use kvrm_models::{TUPLES, TupleNetwork};

use kvrm_shaders::interface::networks::{
    Range, SweepResult as DeviceSweepResult, TupleNetwork as TupleNetworkKernel, TupleNetworkGroup,
    TupleNetworkGroups, TupleNetworkOverrides,
};
use kvrm_shaders::kernel::Group as _;

use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::device::kernel::{Kernel, Layout};
#[doc(hidden)]
pub use crate::machine::class_selection::{Sharing, machine_logits};

/// The number of invocations of a workgroup.
const WORKGROUP: u32 = 64;
/// The number of consecutive words that an invocation evaluates.
const EACH: u32 = 8;
/// The number of tuples of a dispatch.
const TUPLES_AT_ONCE: u32 = 1 << 18;
/// The number of words of a dispatch.
const WORDS_AT_ONCE: u32 = 1 << 20;

/// A network with `H` units in the second hidden layer and `C` outputs, on a device.
///
/// ```no_run
/// use std::ops::ControlFlow;
///
/// use kvrm_gpu::GpuEngine;
/// use kvrm_gpu::networks::DeviceNetwork;
/// use kvrm_models::{Architecture, DispatchNetwork, Weights, dispatch_labels};
///
/// let (weights, _) = Weights::builtin(Architecture::Dispatch)?.expect("the weights come with KVRM");
/// let network = DispatchNetwork::from_flat(weights.values())?;
/// let engine = GpuEngine::open(None)?;
/// let network = DeviceNetwork::new(engine.device(), &network, &dispatch_labels())?;
/// let result = network.sweep(0..1 << 32, &mut |_| ControlFlow::Continue(()))?;
/// assert_eq!((result.words, result.wrong), (1 << 32, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DeviceNetwork<const H: usize, const C: usize> {
    device: Device,
    tuple_logits: wgpu::ComputePipeline,
    sweep_words: wgpu::ComputePipeline,
    range: Buffer,
    logits: Buffer,
    result: Buffer,
    group: wgpu::BindGroup,
}

/// The result of a sweep over words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepResult {
    /// The number of words that the device has evaluated.
    pub words: u64,
    /// The number of words that got a wrong answer.
    pub wrong: u64,
    /// The smallest word that got a wrong answer, if there is one.
    pub first_wrong: Option<u32>,
}

impl<const H: usize, const C: usize> DeviceNetwork<H, C> {
    /// Uploads a network to a device. `labels` has the right answer for each of the 2^20 tuples.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn new(device: &Device, network: &TupleNetwork<H, C>, labels: &[u8]) -> Result<Self, Error> {
        let kernel = Kernel::compile(device, TupleNetworkKernel)?;
        let layout = Layout::of::<TupleNetworkGroup<()>>(device, 0)?;
        let overrides =
            TupleNetworkOverrides { workgroup_size: WORKGROUP, units: H as u32, outputs: C as u32 };
        let pipeline =
            |entry| kernel.pipeline(entry, TupleNetworkGroups { tuple_network: &layout }, overrides);
        let range = Buffer::zeroed(device, "range", size_of::<Range>() as u64)?;
        let weights = Buffer::with_contents(device, "weights", network.flat())?;
        let labels = Buffer::with_contents(device, "labels", labels)?;
        let logits = Buffer::zeroed(device, "logits", 4 * C as u64 * u64::from(TUPLES_AT_ONCE))?;
        let result = Buffer::zeroed(device, "result", size_of::<DeviceSweepResult>() as u64)?;
        let buffers = TupleNetworkGroup {
            range: &range,
            weights: &weights,
            labels: &labels,
            logits: &logits,
            result: &result,
        };
        let group = layout.bind(device, buffers)?;
        Ok(Self {
            device: device.clone(),
            tuple_logits: pipeline(TupleNetworkKernel::TUPLE_LOGITS)?,
            sweep_words: pipeline(TupleNetworkKernel::SWEEP_WORDS)?,
            range,
            logits,
            result,
            group,
        })
    }

    /// Returns the logits of all 2^20 tuples, in order.
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

    /// Evaluates the network on each of `words` and compares the answers with the labels. Words end at 2^32.
    ///
    /// `observe` is called after each dispatch with the result so far. If it returns `Break`, the sweep ends with that
    /// result.
    ///
    /// # Errors
    ///
    /// The device fails.
    pub fn sweep(
        &self,
        words: std::ops::Range<u64>,
        observe: &mut dyn FnMut(SweepResult) -> ControlFlow<()>,
    ) -> Result<SweepResult, Error> {
        let mut result = SweepResult::default();
        let end = words.end.min(1 << 32);
        let mut first = words.start;
        while first < end {
            let count = (end - first).min(WORDS_AT_ONCE.into()) as u32;
            self.result
                .upload(0, &[DeviceSweepResult { first_wrong: u32::MAX, ..DeviceSweepResult::default() }])?;
            self.run(&self.sweep_words, Range { first: first as u32, count, each: EACH })?;
            let bytes = self.device.download(&[(&self.result, 0..self.result.bytes())])?.remove(0);
            let DeviceSweepResult { words, wrong, first_wrong } = bytemuck::pod_read_unaligned(&bytes);
            result.words += u64::from(words);
            result.wrong += u64::from(wrong);
            if wrong > 0 {
                result.first_wrong = result.first_wrong.or(Some(first_wrong));
            }
            first += u64::from(count);
            if observe(result).is_break() {
                break;
            }
        }
        Ok(result)
    }

    fn run(&self, pipeline: &wgpu::ComputePipeline, range: Range) -> Result<(), Error> {
        self.range.upload(0, &[range])?;
        let workgroups = range.count.div_ceil(WORKGROUP * range.each);
        let submission = self.device.submit("evaluating a network", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(TupleNetworkGroup::<()>::GROUP, &self.group, &[]);
            pass.dispatch_workgroups(workgroups, 1, 1);
        })?;
        self.device.wait(&submission)
    }
}
