//! The compiled kernels of the burst engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kvrm_shaders::{SYNAPSES, link};

use super::layout::MEMBERS;
use crate::device::Device;
use crate::error::Error;
use crate::pipeline::{Access, Shader, storage_layout};

/// Bindings in front of those of synapses.
const FIRST_BINDINGS: [Access; 18] = {
    use Access::{Read, ReadWrite, Uniform};
    [
        Uniform, ReadWrite, ReadWrite, ReadWrite, ReadWrite, ReadWrite, Read, Read, Read, Read, ReadWrite,
        ReadWrite, ReadWrite, Read, Read, ReadWrite, ReadWrite, ReadWrite,
    ]
};

/// The most bindings that synapses lie in.
pub(super) const BINDINGS_MAX: usize = SYNAPSES[SYNAPSES.len() - 1].0;

/// How spikes get to their targets. All ways have the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// The synapses of what fired are shared equally among invocations, which add to common sums.
    Events,
    /// The same in a single workgroup, which makes thousands of steps in one dispatch: for small networks.
    Single,
    /// Each workgroup sums for its share of the targets, in its own memory: for many events that take equally long.
    Partitions,
}

/// The kernels on a device, each compiled when it is first needed. Clones are the same.
#[derive(Clone, Debug)]
pub struct BurstKernels(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    /// By how many bindings synapses lie in.
    variants: Mutex<BTreeMap<usize, Arc<Pipelines>>>,
}

/// The kernels for a number of bindings.
#[derive(Debug)]
pub(super) struct Pipelines {
    device: Device,
    pub(super) layout: wgpu::BindGroupLayout,
    /// What takes the place of the module for synapses in one binding.
    synapses: &'static str,
    compiled: Mutex<BTreeMap<&'static str, wgpu::ComputePipeline>>,
}

impl BurstKernels {
    /// Kernels for a device.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self(Arc::new(Inner { device: device.clone(), variants: Mutex::default() }))
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The kernels for synapses in at least so many bindings, and how many these are.
    pub(super) fn pipelines(&self, bindings: usize) -> Result<(usize, Arc<Pipelines>), Error> {
        let variant = SYNAPSES.iter().find(|(count, _)| *count >= bindings);
        let (count, synapses) = *variant.unwrap_or(&SYNAPSES[SYNAPSES.len() - 1]);
        let mut variants = self.0.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipelines) = variants.get(&count) {
            return Ok((count, Arc::clone(pipelines)));
        }
        let accesses = [&FIRST_BINDINGS[..], &vec![Access::ReadWrite; count]].concat();
        let pipelines = Arc::new(Pipelines {
            device: self.0.device.clone(),
            layout: storage_layout(&self.0.device, "burst engine", &accesses)?,
            synapses,
            compiled: Mutex::default(),
        });
        variants.insert(count, Arc::clone(&pipelines));
        Ok((count, pipelines))
    }
}

impl Pipelines {
    /// The kernel of a name, which is that of its entry point.
    pub(super) fn get(&self, entry: &'static str) -> Result<wgpu::ComputePipeline, Error> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = compiled.get(entry) {
            return Ok(pipeline.clone());
        }
        let root = match entry {
            "divide" => "spiking::partitions".to_owned(),
            entry => format!("spiking::{entry}"),
        };
        let linked = link(&root, &[(SYNAPSES[0].1, self.synapses)])
            .map_err(|error| Error::Shader { location: None, message: error.to_string() })?;
        let locate = |line| {
            let place = linked.locate(line).map(|(path, line)| (path.to_owned(), line));
            place.unwrap_or_else(|| (root.clone(), line))
        };
        let size = [("WORKGROUP_SIZE", f64::from(workgroup_size(&self.device)))];
        let constants = if matches!(entry, "neurons" | "propagate") { &size[..0] } else { &size };
        let shader = Shader::compile(&self.device, &linked.source, &locate)?;
        let pipeline = shader.pipeline(entry, &[&self.layout], constants)?;
        compiled.insert(entry, pipeline.clone());
        Ok(pipeline)
    }
}

/// Invocations of the workgroups that should be large.
pub(super) fn workgroup_size(device: &Device) -> u32 {
    let limits = device.limits();
    let most = limits.workgroup_invocations.min(limits.workgroup_size).clamp(MEMBERS, 1024);
    1 << most.ilog2()
}
