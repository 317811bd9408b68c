//! The buffers of a network in the memory of a GPU.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use kvrm_shaders::interface::spiking::{Settings, SpikingGroup, Time};
use kvrm_shaders::kernel::Group as _;
use kvrm_shaders::variants::{BlockParts, InputMarks, Models, Plasticity, Segments, SpikeRecording, Sums};
use kvrm_spiking::{Network, STATE_WORDS, bit_words};

use super::blocked::{self, SortedBlocks};
use super::blocks::{self, Blocks};
use super::explain::Unsuitable;
use super::kernels::{BurstKernels, EntryPoint, Kernel, Pipelines, Variant, workgroup_size};
use super::layout::{PIECE_BYTES, SPIKE_BYTES, tables};
use super::options::Options;
use super::plan::{FUSED_BATCH, KernelChecks, Plan, part_words};

use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The minimum size of a buffer, which has room for one element of any array.
const BYTES_MIN: u64 = 64;

/// The buffers of a network.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) device: Device,
    pipelines: Arc<Pipelines>,
    pub(super) settings: Settings,
    /// The kernels that have been used, each bound to the buffers. Cleared when a buffer is replaced.
    bound: BTreeMap<Variant, BoundKernel>,
    input_marks: InputMarks,
    plasticity: Plasticity,
    models: Models,
    /// The numbers of workgroups of `neurons` and of `propagate`.
    pub(super) workgroups: [u32; 2],
    pub(super) buffers: Buffers,
    /// The range of synapse words in each binding.
    pub(super) parts: Vec<Range<u64>>,
    /// All kernels, and whether each is used; see [`Plan`].
    pub(super) kernels: KernelChecks,
    /// The approximate time in which the synapses are sorted by block.
    pub(super) sorting: Duration,
    /// Whether a kernel has been compiled, or its buffers made, since this was last set to false.
    pub(super) has_prepared: bool,
    /// The division of the neurons into blocks for [`Kernel::Fused`].
    pub(super) blocks: Blocks,
    /// The synapses that have been sorted by block, as [`Kernel::Fused`] needs.
    pub(super) sorted: Option<SortedBlocks>,
}

/// A pipeline with the bind group of its buffers.
#[derive(Clone, Debug)]
pub(super) struct BoundKernel {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

impl BoundKernel {
    /// Records a dispatch over `columns` times `rows` workgroups.
    pub(super) fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, [columns, rows]: [u32; 2]) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(SpikingGroup::<()>::GROUP, &self.group, &[]);
        pass.dispatch_workgroups(columns, rows, 1);
    }
}

/// The buffers that the kernels are bound to.
pub(super) type Buffers = SpikingGroup<Buffer>;

impl Store {
    /// Uploads a network to a device, without its state.
    pub(super) fn new(kernels: &BurstKernels, network: &Network, options: &Options) -> Result<Self, Error> {
        let device = kernels.device();
        let parts = network.parts();
        let neurons = network.neurons() as usize;
        let Plan { settings, parts: ranges, pieces, workgroups, kernels: chosen, sorting, blocks, models } =
            Plan::new(device, network, options)?;
        let (bindings, pipelines) = kernels.pipelines(ranges.len())?;

        let zeroed = |label: &str, bytes: u64| Buffer::zeroed(device, label, bytes.max(BYTES_MIN));
        let words = |label: &str, words: usize| zeroed(label, 4 * words as u64);
        let filled = |label: &str, contents: &[u32]| {
            let buffer = words(label, contents.len())?;
            buffer.upload(0, contents)?;
            Ok::<_, Error>(buffer)
        };
        let mut synapses = Vec::with_capacity(bindings);
        for range in &ranges {
            synapses
                .push(filled("synapses", &parts.synapses.words[range.start as usize..range.end as usize])?);
        }
        while synapses.len() < bindings {
            synapses.push(zeroed("no synapses", 0)?);
        }
        let plastic = if network.is_plastic() { 1 } else { 0 };
        let buffers = Buffers {
            settings: Buffer::uniform(device, "settings", size_of::<Settings>() as u64)?,
            time: zeroed("time", size_of::<Time>() as u64)?,
            columns: words("state", STATE_WORDS * neurons)?,
            ring: words("ring", network.slots() * parts.ports as usize * neurons)?,
            marks: words(
                "marks",
                if network.has_marks() { network.slots() * bit_words(neurons) } else { 0 },
            )?,
            record_of: filled("record numbers", &parts.record_of)?,
            records: zeroed("records", size_of_val(&parts.records[..]) as u64)?,
            tables: filled("tables", &tables(network))?,
            rows: zeroed("rows", SpikingGroup::<()>::ROWS_STRIDE * neurons as u64)?,
            pieces: zeroed("pieces", PIECE_BYTES * pieces)?,
            fired: words("fired", bit_words(neurons))?,
            recording: zeroed("recording", 0)?,
            injection_starts: zeroed("injections by step", 0)?,
            injections: zeroed("injections", 0)?,
            histories: zeroed(
                "histories",
                SpikingGroup::<()>::HISTORIES_STRIDE * (plastic * neurons) as u64,
            )?,
            piece_sources: words("sources of pieces", plastic * pieces as usize)?,
            segments: zeroed("segments of blocks", 0)?,
            turns: zeroed("turns of workgroups", 0)?,
            blocks_a: zeroed("synapses by block", 0)?,
            blocks_b: zeroed("synapses by block", 0)?,
            blocks_c: zeroed("synapses by block", 0)?,
            blocks_d: zeroed("synapses by block", 0)?,
            blocks_e: zeroed("synapses by block", 0)?,
            blocks_f: zeroed("synapses by block", 0)?,
            blocks_g: zeroed("synapses by block", 0)?,
            blocks_h: zeroed("synapses by block", 0)?,
            synapses,
        };
        let store = Self {
            device: device.clone(),
            pipelines,
            bound: BTreeMap::new(),
            input_marks: if network.has_marks() { InputMarks::Present } else { InputMarks::Absent },
            plasticity: if network.is_plastic() { Plasticity::On } else { Plasticity::Off },
            models,
            settings,
            workgroups,
            buffers,
            parts: ranges,
            kernels: chosen,
            sorting,
            has_prepared: false,
            blocks,
            sorted: None,
        };
        let all: Vec<u32> = (0..network.neurons()).collect();
        store.upload_places(&parts.synapses, &all)?;
        Ok(store)
    }

    /// Returns whether [`Kernel::Fused`] may be tried at once, although its synapses have to be sorted.
    pub(super) const fn is_fused_tried_at_once(&self) -> bool {
        self.settings.batch >= FUSED_BATCH
    }

    /// Returns the kernels to choose from.
    pub(super) fn used_kernels(&self) -> Vec<Kernel> {
        self.kernels.iter().filter(|(_, checked)| checked.is_ok()).map(|(kernel, _)| *kernel).collect()
    }

    /// Notes that a kernel cannot be used after all, and that [`Kernel::Events`] is.
    pub(super) fn replace_by_events(&mut self, unsuitable: Kernel) {
        for (kernel, checked) in &mut self.kernels {
            if *kernel == unsuitable {
                *checked = Err(Unsuitable::Limits);
            } else if *kernel == Kernel::Events {
                *checked = Ok(());
            }
        }
    }

    /// Replaces the plan after the network was changed and the buffers were grown for it.
    pub(super) fn adopt(&mut self, plan: Plan) {
        (self.settings, self.parts, self.workgroups) = (plan.settings, plan.parts, plan.workgroups);
        (self.kernels, self.sorting) = (plan.kernels, plan.sorting);
        (self.blocks, self.sorted, self.models) = (plan.blocks, None, plan.models);
        self.bound.clear();
    }

    /// Returns the kernel of an entry point, bound to the buffers. If `records`, the entry points that update neurons record
    /// spikes.
    pub(super) fn kernel(&mut self, entry_point: EntryPoint, records: bool) -> Result<BoundKernel, Error> {
        let Self { input_marks, plasticity, models, .. } = *self;
        let sorted = self.sorted.filter(|_| entry_point == EntryPoint::Fused);
        let lists = matches!(entry_point, EntryPoint::Neurons | EntryPoint::Single | EntryPoint::Fused);
        let variant = Variant {
            entry_point,
            input_marks,
            plasticity,
            models: if lists { models } else { Models::Any },
            spike_recording: if lists && records { SpikeRecording::On } else { SpikeRecording::Off },
            block_parts: sorted.map_or(BlockParts::One, |sorted| sorted.parts),
            segments: sorted.map_or(Segments::Table, |sorted| sorted.segments),
            sums: sorted.map_or(Sums::Wide, |sorted| sorted.packing.format()),
            invocations: match entry_point {
                EntryPoint::Fused => self.blocks.invocations,
                _ => workgroup_size(&self.device),
            },
        };
        if let Some(bound) = self.bound.get(&variant) {
            return Ok(bound.clone());
        }
        self.has_prepared = true;
        let kernel = self.pipelines.get(variant)?;
        let group = kernel.layout.bind(&self.device, self.buffers.as_ref())?;
        let bound = BoundKernel { pipeline: kernel.pipeline, group };
        self.bound.insert(variant, bound.clone());
        Ok(bound)
    }

    /// Makes the buffers for [`Kernel::Fused`] and sorts the synapses by block, unless that has been done. Returns false if
    /// the synapses do not fit in its bindings, or a segment does not fit in the table.
    pub(super) fn prepare_blocks(&mut self, network: &Network, options: &Options) -> Result<bool, Error> {
        if self.sorted.is_some() {
            return Ok(true);
        }
        let Some(packing) = self.blocks.packing(network) else { return Ok(false) };
        self.has_prepared = true;
        // Before buffers grow, as a later one may find the memory full.
        self.bound.clear();
        let Settings { neurons, batch, blocks, .. } = self.settings;
        self.buffers.pieces.grow(PIECE_BYTES * self.blocks.listed(neurons, batch))?;
        self.buffers.turns.grow(SpikingGroup::<()>::TURNS_STRIDE * u64::from(blocks))?;
        let room = blocked::Room {
            bindings: blocks::bindings(&self.device),
            bytes: 4 * part_words(&self.device, options),
            lines: options.lines,
        };
        let synapses = network.synapses();
        self.sorted = blocked::upload(&self.device, synapses, (packing, blocks), room, &mut self.buffers)?;
        Ok(self.sorted.is_some())
    }

    /// Reserves room for the injections of a chunk with this many steps.
    pub(super) fn reserve_injections(&mut self, steps: u64, injections: u64) -> Result<(), Error> {
        let starts = self.buffers.injection_starts.grow((4 * (steps + 1)).next_power_of_two())?;
        if self.buffers.injections.grow((SPIKE_BYTES * injections).next_power_of_two())? || starts {
            self.bound.clear();
        }
        Ok(())
    }

    /// Reserves room for this many recorded spikes.
    pub(super) fn reserve_recording(&mut self, spikes: u64) -> Result<(), Error> {
        if self.buffers.recording.grow(SPIKE_BYTES * spikes)? {
            self.bound.clear();
        }
        Ok(())
    }
}
