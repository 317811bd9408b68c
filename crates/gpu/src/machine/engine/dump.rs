//! Copies of all that a slice needs, for tools that run it elsewhere.

use kvrm_shaders::interface::machine::{InterpreterOverrides, MachineGroup};
use kvrm_shaders::kernel::{Group as _, Overrides as _, bindings};
use kvrm_shaders::layout::{COLUMN_LIMIT, COLUMN_STOP, STOP_BUDGET, STOP_NONE};

use super::lanes::GpuExecutor;
use super::words::{halves, word};
use crate::device::error::Error;
use crate::machine::store::Launch;

/// A slice: its kernel, and the contents of all buffers before it.
#[derive(Debug)]
pub struct SliceDump {
    /// The name of the interpreter's module.
    pub module: &'static str,
    /// The linked WGSL of the interpreter.
    pub source: String,
    /// The values of overrides.
    pub overrides: Vec<(&'static str, f64)>,
    /// The number of lanes.
    pub lanes: usize,
    /// The number of lanes in a workgroup.
    pub workgroup: u32,
    /// The number of steps of each lane in the slice.
    pub steps: u32,
    /// The buffers of bind group 0, by binding.
    pub buffers: Vec<BufferDump>,
}

/// A buffer of a [`SliceDump`].
#[derive(Debug)]
pub struct BufferDump {
    /// The number of the binding.
    pub binding: u32,
    /// The name of the variable in WGSL.
    pub name: String,
    /// The contents.
    pub contents: Vec<u8>,
}

impl GpuExecutor {
    /// Copies all that the next slice needs. Each lane takes `steps` steps in it, in workgroups of `workgroup` lanes. The
    /// slice has neither hooks nor a network nor translated regions, and its loops are not limited.
    ///
    /// # Errors
    ///
    /// The device fails, or memory is full.
    #[doc(hidden)]
    pub fn dump_slice(&mut self, steps: u32, workgroup: u32) -> Result<SliceDump, Error> {
        self.flush_memory()?;
        self.remove_markers()?;
        self.store.columns.get_mut(COLUMN_LIMIT)?.fill(u64::MAX);
        // A run marks lanes that have used up its budget, and the next one lets them go on.
        for stop in self.store.columns.get_mut(COLUMN_STOP)? {
            if halves(*stop).0 == STOP_BUDGET {
                *stop = word(STOP_NONE, 0);
            }
        }
        self.store.columns.flush()?;
        self.prepare_counters()?;
        let launch = Launch { steps, fuel: u32::MAX, ..self.slices.launch(0) };
        self.store.set_launch(launch)?;

        let variant = self.store.interpreter_variant(workgroup, false);
        let (module, linked) = self
            .store
            .kernels
            .interpreter_text(variant)
            .map_err(|error| Error::Shader { location: None, message: error.to_string() })?;
        let pool_shift = self.store.pool_shift;
        let mut overrides =
            InterpreterOverrides { keeps_pages: 1, limits_loops: 0, pool_shift, workgroup_size: workgroup }
                .values();
        overrides.retain(|(name, _)| linked.has_override(name));

        let buffers = self.store.machine_group().buffers();
        let pools = buffers.len() - MachineGroup::<()>::BINDINGS.len();
        let ranges: Vec<_> = buffers.iter().map(|buffer| (*buffer, 0..buffer.bytes())).collect();
        let contents = self.store.device.download(&ranges)?;
        let buffers = bindings::<MachineGroup<()>>(pools).into_iter().zip(contents);
        let name = |binding: u32, name: &str| match MachineGroup::<()>::NUMBERED {
            Some(first) if name == first.name => format!("{name}_{}", binding - first.binding),
            _ => name.to_owned(),
        };
        Ok(SliceDump {
            module,
            source: linked.source,
            overrides,
            lanes: self.store.lanes,
            workgroup,
            steps,
            buffers: buffers
                .map(|(of, contents)| BufferDump {
                    binding: of.binding,
                    name: name(of.binding, of.name),
                    contents,
                })
                .collect(),
        })
    }
}
