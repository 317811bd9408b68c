//! The compiled kernels of the burst engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use kvrm_shaders::interface::spiking::{
    Neurons, NeuronsGroups, Partitions, PartitionsGroups, PartitionsOverrides, Propagate, PropagateGroups,
    Pull, PullGroups, Single, SingleGroups, SingleOverrides, SpikingGroup,
};
use kvrm_shaders::kernel::{Entry, Root};
use kvrm_shaders::layout::spiking::MEMBERS;
use kvrm_shaders::variants::{
    InputMarks, PieceSources, Plasticity, SpikeRecording, SynapseParts, VisibleSpikes,
};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::kernel::{Kernel as DeviceKernel, Layout};
use crate::device::lock::lock;
use crate::device::registry::reopen;

/// The most bindings that synapses lie in.
pub(super) const BINDINGS_MAX: usize = SynapseParts::Eight.bindings();

/// How spikes get to their targets. All ways have the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// The synapses of what fired are shared equally among invocations, which add to common sums.
    Events,
    /// The same in a single workgroup, which makes thousands of steps in one dispatch: for small networks.
    Single,
    /// Each workgroup sums for its share of the targets, in its own memory: for many events that take equally long.
    Partitions,
    /// Targets look which of their sources have fired: where a good part of all does, and all delays are the same.
    Pull,
}

/// The kernels on a device, each compiled when it is first needed. Clones are the same.
#[derive(Clone, Debug)]
pub struct BurstKernels(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    variants: Mutex<BTreeMap<SynapseParts, Arc<Pipelines>>>,
    /// The kernels that took the place of these when their device was lost.
    successor: Mutex<Option<BurstKernels>>,
}

/// The kernels for synapses in a number of bindings.
#[derive(Debug)]
pub(super) struct Pipelines {
    device: Device,
    parts: SynapseParts,
    compiled: Mutex<BTreeMap<Variant, Compiled>>,
}

/// What runs on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Burst {
    Neurons,
    Propagate,
    Single,
    Partitions,
    Divide,
    Pull,
}

/// A kernel and what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Variant {
    pub(super) burst: Burst,
    pub(super) input_marks: InputMarks,
    pub(super) plasticity: Plasticity,
    pub(super) spike_recording: SpikeRecording,
    pub(super) piece_sources: PieceSources,
    pub(super) visible_spikes: VisibleSpikes,
}

/// A pipeline, and what it is bound to: no more than it needs, as each buffer that is written to costs time between two
/// dispatches.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: Layout,
}

impl BurstKernels {
    /// Kernels for a device.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        let (variants, successor) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { device: device.clone(), variants, successor }))
    }

    /// These kernels, or, if their device is lost, those for the same adapter opened again. They are the same for all who
    /// ask, so each kernel is compiled once after a loss.
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

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The kernels for synapses in at least so many bindings, and how many these are.
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
    /// A kernel.
    pub(super) fn get(&self, variant: Variant) -> Result<Compiled, Error> {
        let mut compiled = lock(&self.compiled);
        if let Some(kernel) = compiled.get(&variant) {
            return Ok(kernel.clone());
        }
        let kernel = self.compile(variant)?;
        compiled.insert(variant, kernel.clone());
        Ok(kernel)
    }

    fn compile(&self, variant: Variant) -> Result<Compiled, Error> {
        let Variant { burst, input_marks, plasticity, spike_recording, piece_sources, visible_spikes } =
            variant;
        let synapse_parts = self.parts;
        let workgroup_size = workgroup_size(&self.device);
        match burst {
            Burst::Neurons => self.pipeline(
                Neurons {
                    synapse_parts,
                    input_marks,
                    plasticity,
                    spike_recording,
                    piece_sources,
                    visible_spikes,
                },
                Neurons::NEURONS,
                (),
                |spiking| NeuronsGroups { spiking },
            ),
            Burst::Propagate => self.pipeline(
                Propagate { synapse_parts, input_marks, plasticity },
                Propagate::PROPAGATE,
                (),
                |spiking| PropagateGroups { spiking },
            ),
            Burst::Single => self.pipeline(
                Single { synapse_parts, input_marks, plasticity, spike_recording, piece_sources },
                Single::SINGLE,
                SingleOverrides { workgroup_size },
                |spiking| SingleGroups { spiking },
            ),
            Burst::Partitions | Burst::Divide => self.pipeline(
                Partitions { synapse_parts, input_marks, plasticity },
                if burst == Burst::Divide { Partitions::DIVIDE } else { Partitions::PARTITIONS },
                PartitionsOverrides { workgroup_size },
                |spiking| PartitionsGroups { spiking },
            ),
            Burst::Pull => {
                self.pipeline(Pull { synapse_parts, input_marks, plasticity }, Pull::PULL, (), |spiking| {
                    PullGroups { spiking }
                })
            }
        }
    }

    fn pipeline<R: Root>(
        &self,
        root: R,
        entry: Entry<R>,
        overrides: R::Overrides,
        groups: impl for<'a> FnOnce(&'a Layout) -> R::Groups<&'a Layout>,
    ) -> Result<Compiled, Error> {
        let device = &self.device;
        let kernel = DeviceKernel::compile(device, root)?.without_zeroes();
        let bindings = kernel.bindings_used::<SpikingGroup<()>>(self.parts.bindings());
        let layout = Layout::new(device, entry.name, bindings)?;
        let pipeline = kernel.pipeline(entry, groups(&layout), overrides)?;
        Ok(Compiled { pipeline, layout })
    }
}

/// Invocations of the workgroups that should be large.
pub(super) fn workgroup_size(device: &Device) -> u32 {
    let limits = device.limits();
    let most = limits.workgroup_invocations.min(limits.workgroup_size).clamp(MEMBERS, 1024);
    1 << most.ilog2()
}
