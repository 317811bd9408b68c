//! The compiled kernels of the burst engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kvrm_shaders::{SYNAPSES, link};

use crate::device::Device;
use crate::error::Error;
use crate::pipeline::{Access, Shader, storage_layout};

/// Bindings in front of those of synapses.
const FIRST_BINDINGS: [Access; 17] = {
    use Access::{Read, ReadWrite, Uniform};
    [
        Uniform, ReadWrite, ReadWrite, ReadWrite, ReadWrite, ReadWrite, Read, Read, Read, Read, ReadWrite,
        ReadWrite, ReadWrite, Read, Read, ReadWrite, ReadWrite,
    ]
};

/// The most bindings that synapses lie in.
pub(super) const BINDINGS_MAX: usize = SYNAPSES[SYNAPSES.len() - 1].0;

/// The kernels on a device, each compiled when it is first needed. Clones are the same.
#[derive(Clone, Debug)]
pub struct BurstKernels(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    device: Device,
    /// By how many bindings synapses lie in.
    compiled: Mutex<BTreeMap<usize, Arc<Pipelines>>>,
}

/// The kernels for a number of bindings.
#[derive(Debug)]
pub(super) struct Pipelines {
    pub(super) layout: wgpu::BindGroupLayout,
    pub(super) neurons: wgpu::ComputePipeline,
    pub(super) propagate: wgpu::ComputePipeline,
}

impl BurstKernels {
    /// Kernels for a device.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self(Arc::new(Inner { device: device.clone(), compiled: Mutex::default() }))
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// The kernels for synapses in at least so many bindings, and how many these are.
    pub(super) fn pipelines(&self, bindings: usize) -> Result<(usize, Arc<Pipelines>), Error> {
        let variant = SYNAPSES.iter().find(|(count, _)| *count >= bindings);
        let (count, module) = *variant.unwrap_or(&SYNAPSES[SYNAPSES.len() - 1]);
        let mut compiled = self.0.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipelines) = compiled.get(&count) {
            return Ok((count, Arc::clone(pipelines)));
        }
        let pipelines = Arc::new(Pipelines::compile(&self.0.device, count, module)?);
        compiled.insert(count, Arc::clone(&pipelines));
        Ok((count, pipelines))
    }
}

impl Pipelines {
    fn compile(device: &Device, bindings: usize, synapses: &'static str) -> Result<Self, Error> {
        let accesses = [&FIRST_BINDINGS[..], &vec![Access::ReadWrite; bindings]].concat();
        let layout = storage_layout(device, "burst engine", &accesses)?;
        let pipeline = |root, entry| {
            let linked = link(root, &[(SYNAPSES[0].1, synapses)])
                .map_err(|error| Error::Shader { location: None, message: error.to_string() })?;
            let locate = |line| {
                let place = linked.locate(line).map(|(path, line)| (path.to_owned(), line));
                place.unwrap_or_else(|| (root.to_owned(), line))
            };
            Shader::compile(device, &linked.source, &locate)?.pipeline(entry, &[&layout], &[])
        };
        Ok(Self {
            neurons: pipeline("spiking::neurons", "neurons")?,
            propagate: pipeline("spiking::propagate", "propagate")?,
            layout,
        })
    }
}
