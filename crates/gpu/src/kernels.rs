//! The compiled kernels of the machine, for a number of frame pools.

pub(crate) use kvrm_shaders::FRAMES as POOLS;
use kvrm_shaders::{Linked, link};

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::device::Device;
use crate::error::Error;
use crate::pipeline::{Access, Shader, storage_layout};

/// The invocations of a workgroup, and the most of the interpreter's.
pub(crate) const WORKGROUP: u32 = 64;

/// All kernels, and the layouts of what is bound to them.
#[derive(Debug)]
pub(crate) struct Kernels {
    /// The interpreter, by the lanes of a workgroup, as far as somebody has asked for it.
    run: Mutex<BTreeMap<u32, wgpu::ComputePipeline>>,
    pub(crate) decode: wgpu::ComputePipeline,
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
}

impl Kernels {
    /// Compiles the kernels for frames in `pools` bindings of `2^pool_shift` words each.
    pub(crate) fn compile(device: &Device, pools: usize, pool_shift: u32) -> Result<Self, Error> {
        use Access::{Read, ReadWrite};
        let mut accesses = vec![Read];
        accesses.extend([ReadWrite; 5]);
        accesses.extend(std::iter::repeat_n(ReadWrite, pools));
        let machine = storage_layout(device, "machine", &accesses)?;
        let decoding = storage_layout(device, "decoding", &[Read, Read, Read])?;
        let transfer = storage_layout(device, "transfer", &[ReadWrite, ReadWrite, Read, Read])?;

        let constants = constants(WORKGROUP, pools, pool_shift);
        let shader = |root| shader(device, root, pools);
        let transfers = shader("machine::transfer")?;
        let layouts = [&machine, &transfer];
        Ok(Self {
            run: Mutex::default(),
            decode: shader("machine::decode")?.pipeline("decode", &[&machine, &decoding], &constants)?,
            read: transfers.pipeline("read_pieces", &layouts, &constants)?,
            write: transfers.pipeline("write_pieces", &layouts, &constants)?,
            // The reset touches no frames.
            reset: transfers.pipeline("reset", &layouts, &constants)?,
            pools,
            pool_shift,
            machine,
            decoding,
            transfer,
        })
    }

    /// The interpreter for workgroups of so many lanes. A lane alone has one of its own.
    pub(crate) fn run(&self, device: &Device, workgroup: u32) -> Result<wgpu::ComputePipeline, Error> {
        let mut compiled = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = compiled.get(&workgroup) {
            return Ok(run.clone());
        }
        let root = if workgroup == 1 { "machine::interpreter_few" } else { "machine::interpreter" };
        let constants = constants(workgroup, self.pools, self.pool_shift);
        let shader = shader(device, root, self.pools)?;
        let run = shader.pipeline("run", &[&self.machine], &constants)?;
        compiled.insert(workgroup, run.clone());
        Ok(run)
    }
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
        let layout = storage_layout(device, "digests", &[Read, Read, Read, ReadWrite])?;
        let constants = [("WORKGROUP_SIZE", f64::from(WORKGROUP))];
        let shader = shader(device, "machine::digest", 1)?;
        Ok(Self { digest: shader.pipeline("digest", &[&kernels.machine, &layout], &constants)?, layout })
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

/// Compiles a module for frames in `pools` bindings.
pub(crate) fn shader(device: &Device, root: &str, pools: usize) -> Result<Shader, Error> {
    let linked = linked(root, pools)?;
    Shader::compile(device, &linked.source, &|line| {
        linked.locate(line).map_or_else(|| (root.to_owned(), line), |(path, line)| (path.to_owned(), line))
    })
}

/// Links a kernel for frames in `pools` bindings.
fn linked(root: &str, pools: usize) -> Result<Linked, Error> {
    let module = POOLS.iter().find(|(count, _)| *count == pools).map_or(POOLS[0].1, |(_, module)| module);
    link(root, &[(POOLS[0].1, module)])
        .map_err(|error| Error::Shader { location: None, message: error.to_string() })
}
