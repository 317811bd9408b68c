//! A network in the memory of a GPU.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use kvrm_shaders::interface::spiking::{Settings, SpikingGroup, Time};
use kvrm_shaders::kernel::Group as _;
use kvrm_shaders::variants::{InputMarks, PieceSources, Plasticity, SpikeRecording, VisibleSpikes};
use kvrm_spiking::{Network, STATE_WORDS, Synapses, bit_words};

use super::kernels::{Burst, BurstKernels, Kernel, Pipelines, Variant, workgroup_size};
use super::layout::{PIECE_BYTES, SPIKE_BYTES, tables};
use super::plan::{Options, Plan, segment_bytes};

use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// No buffer is smaller: each has room for an element of whatever it is an array of.
const BYTES_MIN: u64 = 64;

/// The buffers of a network.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) device: Device,
    pipelines: Arc<Pipelines>,
    pub(super) settings: Settings,
    /// The kernels that have been used, bound to the buffers.
    bound: BTreeMap<Variant, Bound>,
    input_marks: InputMarks,
    plasticity: Plasticity,
    /// Workgroups of the two kernels.
    pub(super) workgroups: [u32; 2],
    pub(super) buffers: Buffers,
    /// Which words of synapses each binding has.
    pub(super) parts: Vec<Range<u64>>,
    /// What can be chosen for this network on this device, [`Kernel::Events`] first.
    pub(super) kernels: Vec<Kernel>,
    /// Whether [`Kernel::Pull`] can be chosen, too.
    pub(super) can_pull: bool,
    /// How many pieces all rows have.
    pub(super) pieces: u64,
    /// Whether rows have been divided into segments.
    is_divided: bool,
    /// Whether synapses are there by target.
    is_turned: bool,
}

/// A kernel and its buffers.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

impl Bound {
    /// Records a dispatch.
    pub(super) fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, [columns, rows]: [u32; 2]) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(SpikingGroup::<()>::GROUP, &self.group, &[]);
        pass.dispatch_workgroups(columns, rows, 1);
    }
}

/// All buffers.
pub(super) type Buffers = SpikingGroup<Buffer>;

impl Store {
    /// Brings a network to a device; its state has to follow.
    pub(super) fn new(kernels: &BurstKernels, network: &Network, options: &Options) -> Result<Self, Error> {
        let device = kernels.device();
        let parts = network.parts();
        let neurons = network.neurons() as usize;
        let Plan { settings, parts: ranges, pieces, workgroups, kernels: chosen, can_pull } =
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
            histories: words("histories", plastic * 2 * neurons)?,
            piece_sources: words("sources of pieces", plastic * pieces as usize)?,
            segments: zeroed("segments of rows", 0)?,
            incoming_starts: zeroed("incoming synapses by neuron", 0)?,
            incoming: zeroed("incoming synapses", 0)?,
            spiked: zeroed("visible spikes", 0)?,
            synapses,
        };
        let store = Self {
            device: device.clone(),
            pipelines,
            bound: BTreeMap::new(),
            input_marks: if network.has_marks() { InputMarks::Present } else { InputMarks::Absent },
            plasticity: if network.is_plastic() { Plasticity::On } else { Plasticity::Off },
            settings,
            workgroups,
            buffers,
            parts: ranges,
            kernels: chosen,
            can_pull,
            pieces,
            is_divided: false,
            is_turned: false,
        };
        let all: Vec<u32> = (0..network.neurons()).collect();
        store.upload_places(&parts.synapses, &all)?;
        Ok(store)
    }

    /// Takes over a plan for buffers that have grown.
    pub(super) fn take(&mut self, plan: Plan) {
        (self.settings, self.parts, self.workgroups) = (plan.settings, plan.parts, plan.workgroups);
        (self.kernels, self.can_pull, self.pieces) = (plan.kernels, plan.can_pull, plan.pieces);
        (self.is_divided, self.is_turned) = (false, false);
        self.bound.clear();
    }

    /// A kernel, bound to the buffers, for slices by `way`. Those that list what fired may record spikes.
    pub(super) fn kernel(&mut self, burst: Burst, way: Kernel, records: bool) -> Result<Bound, Error> {
        let Self { input_marks, plasticity, .. } = *self;
        let lists = matches!(burst, Burst::Neurons | Burst::Single);
        let has_sources = plasticity == Plasticity::On || way == Kernel::Partitions;
        let variant = Variant {
            burst,
            input_marks,
            plasticity,
            spike_recording: if lists && records { SpikeRecording::On } else { SpikeRecording::Off },
            piece_sources: if lists && has_sources { PieceSources::Known } else { PieceSources::Unknown },
            visible_spikes: if lists && way == Kernel::Pull {
                VisibleSpikes::Seen
            } else {
                VisibleSpikes::Unseen
            },
        };
        if let Some(bound) = self.bound.get(&variant) {
            return Ok(bound.clone());
        }
        let kernel = self.pipelines.get(variant)?;
        let group = kernel.layout.bind(&self.device, self.buffers.as_ref())?;
        let bound = Bound { pipeline: kernel.pipeline, group };
        self.bound.insert(variant, bound.clone());
        Ok(bound)
    }

    /// Divides rows into segments, one for each partition of the targets, unless that has been done.
    pub(super) fn divide(&mut self) -> Result<(), Error> {
        if self.is_divided {
            return Ok(());
        }
        let (neurons, partitions) = (self.settings.neurons, self.settings.partitions);
        self.buffers.segments.grow(segment_bytes(neurons, partitions))?;
        self.buffers.piece_sources.grow(4 * u64::from(neurons))?;
        self.bound.clear();
        self.buffers.settings.upload(0, &[self.settings])?;
        let kernel = self.kernel(Burst::Divide, Kernel::Partitions, false)?;
        let workgroups = neurons.div_ceil(workgroup_size(&self.device));
        self.device.submit("dividing rows", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            kernel.dispatch(&mut pass, [workgroups, partitions + 1]);
        })?;
        self.is_divided = true;
        Ok(())
    }

    /// Brings the synapses by target to the device, unless that has been done.
    pub(super) fn turn_round(&mut self, synapses: &Synapses) -> Result<(), Error> {
        if self.is_turned {
            return Ok(());
        }
        let (starts, incoming) = incoming(synapses);
        self.buffers.incoming_starts.grow(size_of_val(&starts[..]) as u64)?;
        self.buffers.incoming.grow(size_of_val(&incoming[..]) as u64)?;
        self.buffers.spiked.grow(SpikingGroup::<()>::SPIKED_STRIDE * u64::from(self.settings.neurons))?;
        self.buffers.incoming_starts.upload(0, &starts)?;
        self.buffers.incoming.upload(0, &incoming)?;
        self.bound.clear();
        self.is_turned = true;
        Ok(())
    }

    /// Makes room for injections and their steps.
    pub(super) fn reserve_injections(&mut self, steps: u64, injections: u64) -> Result<(), Error> {
        let starts = self.buffers.injection_starts.grow((4 * (steps + 1)).next_power_of_two())?;
        if self.buffers.injections.grow((SPIKE_BYTES * injections).next_power_of_two())? || starts {
            self.bound.clear();
        }
        Ok(())
    }

    /// Makes room for so many recorded spikes.
    pub(super) fn reserve_recording(&mut self, spikes: u64) -> Result<(), Error> {
        if self.buffers.recording.grow(SPIKE_BYTES * spikes)? {
            self.bound.clear();
        }
        Ok(())
    }
}

/// Where the synapses of each target begin, and their end; and all of these, each its source and its weight.
fn incoming(synapses: &Synapses) -> (Vec<u32>, Vec<[u32; 2]>) {
    let sources = 0..synapses.lengths.len() as u32;
    let mut starts = vec![0; synapses.lengths.len() + 1];
    for synapse in sources.clone().flat_map(|source| synapses.row(source)) {
        starts[synapse.target as usize + 1] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut next = starts.clone();
    let mut incoming = vec![[0; 2]; sum as usize];
    for source in sources {
        for synapse in synapses.row(source) {
            let place = &mut next[synapse.target as usize];
            incoming[*place as usize] = [source, synapse.weight as u32];
            *place += 1;
        }
    }
    (starts, incoming)
}
