//! The compiled kernels of the machine, for a number of frame pools.

pub(crate) use kvrm_shaders::FRAMES as POOLS;
use kvrm_shaders::{LINUX_CALLS, Linked, SIMD_UNITS, Substitutions, link};

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::device::Device;
use crate::dispatch::Chooser;
use crate::error::Error;
use crate::pipeline::{Access, Shader, storage_layout};

/// The invocations of a workgroup, and the most of the interpreter's.
pub(crate) const WORKGROUP: u32 = 64;

/// Which interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Variant {
    /// How many lanes share a workgroup.
    pub(crate) workgroup: u32,
    /// Which of [`SIMD_UNITS`] it has.
    pub(crate) simd_unit: usize,
    /// Whether it serves frequent calls of Linux programs.
    pub(crate) serves_calls: bool,
    /// The network that chooses classes, if one does.
    pub(crate) chooser: Option<Chooser>,
}

/// All kernels, and the layouts of what is bound to them.
#[derive(Debug)]
pub(crate) struct Kernels {
    /// The interpreter, as far as somebody has asked for it.
    run: Compiled<Variant>,
    /// What lowers words, by what chooses their class.
    decode: Compiled<Option<Chooser>>,
    pub(crate) read: wgpu::ComputePipeline,
    pub(crate) write: wgpu::ComputePipeline,
    pub(crate) reset: wgpu::ComputePipeline,
    pools: usize,
    pool_shift: u32,
    /// Group 0 of all kernels: the machine.
    pub(crate) machine: wgpu::BindGroupLayout,
    /// Group 1 of `decode`: the decode table and the pages.
    pub(crate) decoding: wgpu::BindGroupLayout,
    /// Group 1 of `read`, `write` and `reset`: pieces, data, jobs, snapshot.
    pub(crate) transfer: wgpu::BindGroupLayout,
    /// What folds a network.
    fold: Compiled<()>,
    /// What evaluates networks on many tuples, by the entry point and by what is substituted for the network.
    domain: Compiled<(&'static str, Substitutions)>,
    /// Group 2 of what asks a network: its weights.
    pub(crate) network: wgpu::BindGroupLayout,
    /// Group 3 of what asks a network: its decisions, its answers to all tuples, words.
    pub(crate) decisions: wgpu::BindGroupLayout,
}

/// What kernels declare with `override` that have nothing to do with frames.
const WORKGROUPS: [(&str, f64); 1] = [("WORKGROUP_SIZE", WORKGROUP as f64)];

/// Pipelines that are compiled when they are first asked for.
type Compiled<K> = Mutex<BTreeMap<K, wgpu::ComputePipeline>>;

impl Kernels {
    /// Compiles the kernels for frames in `pools` bindings of `2^pool_shift` words each.
    pub(crate) fn compile(device: &Device, pools: usize, pool_shift: u32) -> Result<Self, Error> {
        use Access::{Read, ReadWrite};
        let mut accesses = vec![Read];
        accesses.extend([ReadWrite; 5]);
        accesses.extend(std::iter::repeat_n(ReadWrite, pools));
        let machine = storage_layout(device, "machine", &accesses)?;
        let decoding = storage_layout(device, "decoding", &[Read, Read])?;
        let transfer = storage_layout(device, "transfer", &[ReadWrite, ReadWrite, Read, Read])?;

        let constants = constants(WORKGROUP, pools, pool_shift);
        let shader = |root| shader(device, root, pools, &[]);
        let transfers = shader("machine::transfer")?;
        let layouts = [&machine, &transfer];
        Ok(Self {
            run: Mutex::default(),
            decode: Mutex::default(),
            read: transfers.pipeline("read_pieces", &layouts, &constants)?,
            write: transfers.pipeline("write_pieces", &layouts, &constants)?,
            // The reset touches no frames.
            reset: transfers.pipeline("reset", &layouts, &constants)?,
            pools,
            pool_shift,
            machine,
            decoding,
            transfer,
            fold: Mutex::default(),
            domain: Mutex::default(),
            network: storage_layout(device, "network", &[Read, Access::Uniform])?,
            decisions: storage_layout(device, "decisions", &[ReadWrite, Read, ReadWrite])?,
        })
    }

    /// The interpreter. Lanes that are a workgroup each have one of their own.
    pub(crate) fn run(&self, device: &Device, variant: Variant) -> Result<wgpu::ComputePipeline, Error> {
        let Variant { workgroup, simd_unit, serves_calls, chooser } = variant;
        let asked = chooser.filter(|chooser| chooser.is_asked_in_steps());
        compiled(&self.run, Variant { chooser: asked, ..variant }, || {
            let is_few = workgroup == 1;
            let root = match asked {
                Some(_) if is_few => "machine::interpreter_network_few",
                Some(_) => "machine::interpreter_network",
                None if is_few => "machine::interpreter_few",
                None => "machine::interpreter",
            };
            let mut constants = constants(workgroup, self.pools, self.pool_shift);
            if asked.is_some() && is_few {
                // All invocations of a workgroup are one lane's.
                constants.retain(|(name, _)| *name != "WORKGROUP_SIZE");
            }
            let network = asked.map_or_else(Vec::new, Chooser::substitutions);
            let calls = if serves_calls { LINUX_CALLS } else { &[] };
            let substitutions = [SIMD_UNITS[simd_unit], calls, &network].concat();
            shader(device, root, self.pools, &substitutions)?.pipeline_at(
                "run",
                &self.layouts(None, asked),
                &constants,
            )
        })
    }

    /// What lowers the words of pages.
    pub(crate) fn decode(
        &self,
        device: &Device,
        chooser: Option<Chooser>,
    ) -> Result<wgpu::ComputePipeline, Error> {
        compiled(&self.decode, chooser, || {
            let constants = constants(WORKGROUP, self.pools, self.pool_shift);
            let layouts = self.layouts(Some(&self.decoding), chooser);
            self.shader(device, "machine::decode", chooser)?.pipeline_at("decode", &layouts, &constants)
        })
    }

    /// What folds a network, with all it is bound to as group 0.
    pub(crate) fn fold(
        &self,
        device: &Device,
        bound: &wgpu::BindGroupLayout,
    ) -> Result<wgpu::ComputePipeline, Error> {
        compiled(&self.fold, (), || {
            shader(device, "networks::fold", 1, &[])?.pipeline("fold", &[bound], &WORKGROUPS)
        })
    }

    /// What evaluates a network on many tuples, with its outputs as group 0.
    pub(crate) fn domain(
        &self,
        device: &Device,
        entry: &'static str,
        network: Substitutions,
        outputs: &wgpu::BindGroupLayout,
    ) -> Result<wgpu::ComputePipeline, Error> {
        compiled(&self.domain, (entry, network), || {
            // The size of a workgroup that evaluates together is fixed.
            let (root, constants) = match entry {
                "ask_together" => ("networks::domain_together", &[][..]),
                _ => ("networks::domain", &WORKGROUPS[..]),
            };
            let layouts = [Some(outputs), None, Some(&self.network)];
            shader(device, root, 1, network)?.pipeline_at(entry, &layouts, constants)
        })
    }

    fn shader(&self, device: &Device, root: &str, chooser: Option<Chooser>) -> Result<Shader, Error> {
        shader(device, root, self.pools, &chooser.map_or_else(Vec::new, Chooser::substitutions))
    }

    /// The layouts of a kernel with `own` as its group 1.
    fn layouts<'a>(
        &'a self,
        own: Option<&'a wgpu::BindGroupLayout>,
        chooser: Option<Chooser>,
    ) -> Vec<Option<&'a wgpu::BindGroupLayout>> {
        let machine = Some(&self.machine);
        match (chooser, own) {
            (Some(_), _) => vec![machine, own, Some(&self.network), Some(&self.decisions)],
            (None, Some(_)) => vec![machine, own],
            (None, None) => vec![machine],
        }
    }
}

/// A pipeline that may have been compiled already.
fn compiled<K: Copy + Ord>(
    known: &Compiled<K>,
    key: K,
    compile: impl FnOnce() -> Result<wgpu::ComputePipeline, Error>,
) -> Result<wgpu::ComputePipeline, Error> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pipeline) = known.get(&key) {
        return Ok(pipeline.clone());
    }
    let pipeline = compile()?;
    known.insert(key, pipeline.clone());
    Ok(pipeline)
}

/// The kernel that makes digests of micro-ops. Machines have no use for it.
#[derive(Debug)]
pub(crate) struct DigestKernel {
    pub(crate) digest: wgpu::ComputePipeline,
    /// Group 1: the decode table, blocks, digests.
    pub(crate) layout: wgpu::BindGroupLayout,
}

impl DigestKernel {
    /// Compiles it for a machine with `kernels`, whose group 0 it has.
    pub(crate) fn compile(device: &Device, kernels: &Kernels) -> Result<Self, Error> {
        use Access::{Read, ReadWrite};
        let layout = storage_layout(device, "digests", &[Read, Read, ReadWrite])?;
        let shader = shader(device, "machine::digest", 1, &[])?;
        Ok(Self { digest: shader.pipeline("digest", &[&kernels.machine, &layout], &WORKGROUPS)?, layout })
    }
}

/// Values of what kernels declare with `override`.
fn constants(workgroup: u32, pools: usize, pool_shift: u32) -> Vec<(&'static str, f64)> {
    let mut constants = vec![("WORKGROUP_SIZE", f64::from(workgroup))];
    if pools > 1 {
        constants.push(("POOL_SHIFT", f64::from(pool_shift)));
    }
    constants
}

/// Compiles a module for frames in `pools` bindings, with other modules in place of some.
pub(crate) fn shader(
    device: &Device,
    root: &str,
    pools: usize,
    substitutions: &[(&'static str, &'static str)],
) -> Result<Shader, Error> {
    let linked = linked(root, pools, substitutions)?;
    Shader::compile(device, &linked.source, &|line| {
        linked.locate(line).map_or_else(|| (root.to_owned(), line), |(path, line)| (path.to_owned(), line))
    })
}

/// Links a kernel.
fn linked(root: &str, pools: usize, substitutions: &[(&'static str, &'static str)]) -> Result<Linked, Error> {
    let module = POOLS.iter().find(|(count, _)| *count == pools).map_or(POOLS[0].1, |(_, module)| module);
    link(root, &[&[(POOLS[0].1, module)], substitutions].concat())
        .map_err(|error| Error::Shader { location: None, message: error.to_string() })
}
