//! The compiled kernels of the burst engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use kvrm_shaders::interface::spiking::{
    Fused, FusedGroups, FusedOverrides, Neurons, NeuronsGroups, Propagate, PropagateGroups, Settle,
    SettleGroups, Single, SingleGroups, SingleOverrides, SpikingGroup,
};
use kvrm_shaders::kernel::{Entry, Root};
use kvrm_shaders::layout::spiking::MEMBERS;
use kvrm_shaders::variants::{
    BlockParts, InputMarks, Models, Plasticity, Segments, SpikeRecording, Sums, SynapseParts,
};

use super::layout::BlockMemory;
use crate::device::Device;
use crate::device::error::Error;
use crate::device::kernel::{Kernel as DeviceKernel, Layout};
use crate::device::lock::lock;
use crate::device::registry::reopen;

/// The maximum number of bindings for synapses.
pub(super) const BINDINGS_MAX: usize = SynapseParts::Eight.bindings();

/// The way in which spikes are delivered to their targets. All ways have the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// Invocations share the synapses of the neurons that fired equally, and add their weights to the ring with
    /// atomics. It can run any network.
    Events,
    /// A single workgroup does the same for thousands of steps in one dispatch. For small networks.
    Single,
    /// Each workgroup owns a block of the neurons, sums their input in workgroup memory and updates them, for all steps
    /// of a batch in one dispatch. For networks whose weights are constant, without neurons of FEAGI. It needs memory and
    /// time for a second copy of the synapses.
    Fused,
}

impl Kernel {
    /// All ways to deliver spikes.
    pub const ALL: [Self; 3] = [Self::Events, Self::Single, Self::Fused];

    /// Returns the name of the kernel in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Single => Single::SINGLE.name,
            Self::Fused => Fused::FUSED.name,
        }
    }
}

/// The kernels of the burst engine on a device. Each is compiled when it is first needed. Clones share the compiled
/// kernels, and so do all executors that are built from them.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use kvrm_gpu::Device;
/// use kvrm_gpu::spiking::{BurstExecutor, BurstKernels, Options};
/// use kvrm_spiking::{Executor, Input, networks};
///
/// let kernels = BurstKernels::new(&Device::open(None)?);
/// let network = Arc::new(networks::feagi(10_000, 64, 1)?);
/// let mut executor = BurstExecutor::new(&kernels, network, Options::default())?;
/// executor.run(1000, &Input::default(), None)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BurstKernels(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    variants: Mutex<BTreeMap<SynapseParts, Arc<Pipelines>>>,
    /// The kernels that replaced these after their device was lost.
    successor: Mutex<Option<BurstKernels>>,
}

/// The kernels for a network whose synapses lie in a certain number of bindings.
#[derive(Debug)]
pub(super) struct Pipelines {
    device: Device,
    parts: SynapseParts,
    compiled: Mutex<BTreeMap<Variant, CompiledKernel>>,
}

/// A compute entry point of the burst engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EntryPoint {
    Neurons,
    Propagate,
    Single,
    BeginTurns,
    Fused,
    Settle,
}

/// An entry point with the features it is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Variant {
    pub(super) entry_point: EntryPoint,
    pub(super) input_marks: InputMarks,
    pub(super) plasticity: Plasticity,
    pub(super) models: Models,
    pub(super) spike_recording: SpikeRecording,
    pub(super) block_parts: BlockParts,
    pub(super) segments: Segments,
    pub(super) sums: Sums,
    /// The number of invocations of a workgroup, for kernels that do not have a fixed one.
    pub(super) invocations: u32,
}

/// A pipeline and the layout of its bind group. The layout has only the bindings that the pipeline uses, as each
/// writable buffer costs time between two dispatches.
#[derive(Clone, Debug)]
pub(super) struct CompiledKernel {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: Layout,
}

impl BurstKernels {
    /// Returns the kernels for a device. Compiles nothing yet.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        let (variants, successor) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { device: device.clone(), variants, successor }))
    }

    /// Returns these kernels, or, if their device is lost, kernels for the same adapter opened again. All clones get
    /// the same ones, so each kernel is compiled only once after a loss.
    pub(super) fn working(&self) -> Result<Self, Error> {
        let mut successor = lock(&self.0.successor);
        let working = match &*successor {
            Some(next) => next.working()?,
            None if !matches!(self.0.device.check("using a GPU again"), Err(Error::DeviceLost { .. })) => {
                return Ok(self.clone());
            }
            None => Self::new(&reopen(&self.0.device)?),
        };
        *successor = Some(working.clone());
        Ok(working)
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Returns the kernels for synapses in at least `bindings` bindings, and their actual number of bindings.
    pub(super) fn pipelines(&self, bindings: usize) -> Result<(usize, Arc<Pipelines>), Error> {
        let parts = SynapseParts::of(bindings);
        let mut variants = lock(&self.0.variants);
        let pipelines = variants.entry(parts).or_insert_with(|| {
            Arc::new(Pipelines { device: self.0.device.clone(), parts, compiled: Mutex::default() })
        });
        Ok((parts.bindings(), Arc::clone(pipelines)))
    }
}

impl Pipelines {
    /// Returns a kernel, and compiles it if it is new.
    pub(super) fn get(&self, variant: Variant) -> Result<CompiledKernel, Error> {
        let mut compiled = lock(&self.compiled);
        if let Some(kernel) = compiled.get(&variant) {
            return Ok(kernel.clone());
        }
        let kernel = self.compile(variant)?;
        compiled.insert(variant, kernel.clone());
        Ok(kernel)
    }

    fn compile(&self, variant: Variant) -> Result<CompiledKernel, Error> {
        let Variant { entry_point, input_marks, plasticity, models, spike_recording, .. } = variant;
        let Variant { block_parts, segments, sums, invocations: workgroup_size, .. } = variant;
        let synapse_parts = self.parts;
        let memory = BlockMemory::new(self.device.limits().workgroup_bytes);
        match entry_point {
            EntryPoint::Neurons => self.pipeline(
                Neurons { synapse_parts, input_marks, plasticity, models, spike_recording },
                Neurons::NEURONS,
                (),
                |spiking| NeuronsGroups { spiking },
            ),
            EntryPoint::Propagate => self.pipeline(
                Propagate { synapse_parts, input_marks, plasticity },
                Propagate::PROPAGATE,
                (),
                |spiking| PropagateGroups { spiking },
            ),
            EntryPoint::Single => self.pipeline(
                Single { synapse_parts, input_marks, plasticity, models, spike_recording },
                Single::SINGLE,
                SingleOverrides { workgroup_size },
                |spiking| SingleGroups { spiking },
            ),
            EntryPoint::BeginTurns | EntryPoint::Settle => self.pipeline(
                Settle { synapse_parts, input_marks, plasticity },
                if entry_point == EntryPoint::Settle { Settle::SETTLE } else { Settle::BEGIN_TURNS },
                (),
                |spiking| SettleGroups { spiking },
            ),
            EntryPoint::Fused => self.pipeline(
                Fused {
                    synapse_parts,
                    block_parts,
                    segments,
                    sums,
                    input_marks,
                    plasticity,
                    models,
                    spike_recording,
                },
                Fused::FUSED,
                FusedOverrides { workgroup_size, block_sums: memory.sums, stage: memory.stage },
                |spiking| FusedGroups { spiking },
            ),
        }
    }

    fn pipeline<R: Root>(
        &self,
        root: R,
        entry: Entry<R>,
        overrides: R::Overrides,
        groups: impl for<'a> FnOnce(&'a Layout) -> R::Groups<&'a Layout>,
    ) -> Result<CompiledKernel, Error> {
        let device = &self.device;
        let kernel = DeviceKernel::compile(device, root)?.without_zeroes();
        let bindings = kernel.bindings_used::<SpikingGroup<()>>(self.parts.bindings());
        let layout = Layout::new(device, entry.name, bindings)?;
        let pipeline = kernel.pipeline(entry, groups(&layout), overrides)?;
        Ok(CompiledKernel { pipeline, layout })
    }
}

/// Returns the number of invocations in a workgroup, for kernels whose workgroups should be as large as possible.
pub(super) fn workgroup_size(device: &Device) -> u32 {
    let limits = device.limits();
    let most = limits.workgroup_invocations.min(limits.workgroup_size).clamp(MEMBERS, 1024);
    1 << most.ilog2()
}
