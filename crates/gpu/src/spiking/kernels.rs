//! The compiled kernels of the burst engine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kvrm_shaders::{Linked, SYNAPSES, WITHOUT, link};

use super::layout::MEMBERS;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::pipeline::Shader;

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
    /// Targets look which of their sources have fired: where a good part of all does, and all delays are the same.
    Pull,
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
    /// What takes the place of the module for synapses in one binding.
    synapses: &'static str,
    compiled: Mutex<BTreeMap<Variant, Compiled>>,
}

/// A kernel and what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Variant {
    /// Its entry point.
    pub(super) entry: &'static str,
    /// Whether it has what the modules of [`WITHOUT`] are for, in their order.
    pub(super) has: [bool; WITHOUT.len()],
}

/// A pipeline, and what it is bound to: no more than it needs, as each buffer that is written to costs time between two
/// dispatches.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    bindings: Vec<u32>,
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
        let device = self.0.device.clone();
        let pipelines = Arc::new(Pipelines { device, synapses, compiled: Mutex::default() });
        variants.insert(count, Arc::clone(&pipelines));
        Ok((count, pipelines))
    }
}

impl Pipelines {
    /// A kernel.
    pub(super) fn get(&self, variant: Variant) -> Result<Compiled, Error> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = compiled.get(&variant) {
            return Ok(kernel.clone());
        }
        let kernel = self.compile(variant)?;
        compiled.insert(variant, kernel.clone());
        Ok(kernel)
    }

    fn compile(&self, Variant { entry, has }: Variant) -> Result<Compiled, Error> {
        let device = &self.device;
        let root = match entry {
            "divide" => "spiking::partitions".to_owned(),
            entry => format!("spiking::{entry}"),
        };
        let mut substitutions = vec![(SYNAPSES[0].1, self.synapses)];
        substitutions.extend(WITHOUT.iter().zip(has).filter(|(_, has)| !has).map(|(without, _)| *without));
        let linked = link(&root, &substitutions)
            .map_err(|error| Error::Shader { location: None, message: error.to_string() })?;
        let locate = |line| {
            let place = linked.locate(line).map(|(path, line)| (path.to_owned(), line));
            place.unwrap_or_else(|| (root.clone(), line))
        };
        let entries = entries(&linked);
        let most = device.limits().storage_buffers as usize;
        if entries.len() > most {
            let message = format!("it needs {} buffers, and this GPU has room for {most}", entries.len());
            return Err(Error::Pipeline { entry: entry.to_owned(), message });
        }
        let layout = device.catch("laying out a bind group", || {
            device.raw().create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(entry),
                entries: &entries,
            })
        })?;
        let size = [("WORKGROUP_SIZE", f64::from(workgroup_size(device)))];
        let constants = if matches!(entry, "neurons" | "propagate" | "pull") { &size[..0] } else { &size };
        let shader = Shader::compile(device, &linked.source, &locate)?.without_zeroes();
        let pipeline = shader.pipeline(entry, &[&layout], constants)?;
        Ok(Compiled { pipeline, layout, bindings: entries.iter().map(|entry| entry.binding).collect() })
    }
}

impl Compiled {
    /// Binds those of all buffers that it needs.
    pub(super) fn bind(&self, device: &Device, buffers: &[&Buffer]) -> Result<wgpu::BindGroup, Error> {
        let entry = |&binding: &u32| {
            let resource = buffers[binding as usize].raw().as_entire_binding();
            wgpu::BindGroupEntry { binding, resource }
        };
        let entries: Vec<_> = self.bindings.iter().map(entry).collect();
        device.catch("binding buffers", || {
            device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("burst engine"),
                layout: &self.layout,
                entries: &entries,
            })
        })
    }
}

/// The bindings that a kernel needs: those of all it declares whose names it also uses.
fn entries(linked: &Linked) -> Vec<wgpu::BindGroupLayoutEntry> {
    let code = |line: &&str| !line.starts_with("//") && !line.starts_with('@');
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: std::collections::HashSet<&str> =
        linked.source.lines().filter(code).flat_map(|line| line.split(|c| !is_part(c))).collect();
    let declarations = linked.source.lines().filter_map(|line| {
        let (binding, rest) = line.strip_prefix("@group(0) @binding(")?.split_once(") var<")?;
        let (space, rest) = rest.split_once("> ")?;
        let (name, _) = rest.split_once(':')?;
        let ty = match space {
            "uniform" => wgpu::BufferBindingType::Uniform,
            space => wgpu::BufferBindingType::Storage { read_only: space == "storage, read" },
        };
        Some((binding.parse().ok()?, name, ty)).filter(|(_, name, _)| words.contains(name))
    });
    let entry = |(binding, _, ty)| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    declarations.map(entry).collect()
}

/// Invocations of the workgroups that should be large.
pub(super) fn workgroup_size(device: &Device) -> u32 {
    let limits = device.limits();
    let most = limits.workgroup_invocations.min(limits.workgroup_size).clamp(MEMBERS, 1024);
    1 << most.ilog2()
}
