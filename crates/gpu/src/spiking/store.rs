//! A network in the memory of a GPU.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use kvrm_spiking::{Network, Record, STATE_WORDS, State, Synapses, bit_words};

use super::kernels::{BINDINGS_MAX, BurstKernels, Kernel, Pipelines, Variant, workgroup_size};
use super::layout::{
    MEMBERS, PARTITION_BYTES, PIECE_BYTES, SINGLE_MAX, SPIKE_BYTES, SUMS, Settings, Time, tables,
};
use crate::adapter::Kind;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;

/// No buffer is smaller: each has room for an element of whatever it is an array of.
const BYTES_MIN: u64 = 64;
/// The most workgroups that deliver spikes, on a GPU and where the CPU is one.
const WORKGROUPS: u32 = 1056;
const SOFTWARE_WORKGROUPS: u32 = 16;

/// How a network is run. Whatever is chosen, results are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How spikes get to their targets; what is measured to be fastest without. Where that is not possible, as
    /// [`Kernel::Events`].
    pub kernel: Option<Kernel>,
    /// The most steps between two exchanges of spikes; as many as the shortest delay allows without.
    pub batch: Option<u32>,
    /// The most synapses of a piece of work.
    pub piece: Option<u32>,
    /// How many invocations share a piece, a power of two up to 256.
    pub team: Option<u32>,
    /// The most workgroups that deliver spikes.
    pub workgroups: Option<u32>,
    /// The most bytes of synapses in a buffer.
    pub binding_bytes: Option<u64>,
    /// The most batches that are submitted at once.
    pub slice: Option<u32>,
}

/// The buffers of a network.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) device: Device,
    pipelines: Arc<Pipelines>,
    pub(super) settings: Settings,
    /// The kernels that have been used, bound to the buffers.
    bound: BTreeMap<Variant, Bound>,
    /// Whether there are neurons that need marks, and weights that change.
    has: [bool; 2],
    /// Workgroups of the two kernels.
    pub(super) workgroups: [u32; 2],
    pub(super) buffers: Buffers,
    /// Which words of synapses each binding has.
    parts: Vec<Range<u64>>,
    /// What can be chosen for this network on this device, [`Kernel::Events`] first.
    pub(super) kernels: Vec<Kernel>,
    /// Whether rows have been divided into segments.
    is_divided: bool,
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
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(columns, rows, 1);
    }
}

/// In the order of bindings.
#[derive(Debug)]
pub(super) struct Buffers {
    pub(super) settings: Buffer,
    pub(super) time: Buffer,
    pub(super) columns: Buffer,
    pub(super) ring: Buffer,
    pub(super) marks: Buffer,
    pub(super) record_of: Buffer,
    pub(super) records: Buffer,
    pub(super) tables: Buffer,
    pub(super) rows: Buffer,
    pub(super) pieces: Buffer,
    pub(super) fired: Buffer,
    pub(super) recording: Buffer,
    pub(super) injection_starts: Buffer,
    pub(super) injections: Buffer,
    pub(super) histories: Buffer,
    pub(super) piece_sources: Buffer,
    pub(super) segments: Buffer,
    pub(super) synapses: Vec<Buffer>,
}

impl Buffers {
    /// All, by their bindings.
    fn all(&self) -> Vec<&Buffer> {
        let mut all = vec![
            &self.settings,
            &self.time,
            &self.columns,
            &self.ring,
            &self.marks,
            &self.record_of,
            &self.records,
            &self.tables,
            &self.rows,
            &self.pieces,
            &self.fired,
            &self.recording,
            &self.injection_starts,
            &self.injections,
            &self.histories,
            &self.piece_sources,
            &self.segments,
        ];
        all.extend(&self.synapses);
        all
    }
}

impl Store {
    /// Brings a network to a device; its state has to follow.
    pub(super) fn new(kernels: &BurstKernels, network: &Network, options: &Options) -> Result<Self, Error> {
        let device = kernels.device();
        let parts = network.parts();
        let neurons = network.neurons() as usize;
        let is_software = device.info().kind == Kind::Software;

        let max = device.limits().storage_bytes();
        let part_words = options.binding_bytes.map_or(max, |bytes| bytes.min(max)) / 4;
        let ranges = split(&parts.synapses, part_words).map_err(|row_words| Error::TooLarge {
            label: "synapses of a neuron".to_owned(),
            bytes: 4 * row_words,
            max: 4 * part_words,
        })?;
        if ranges.len() > BINDINGS_MAX {
            return Err(Error::TooLarge {
                label: "synapses".to_owned(),
                bytes: 4 * parts.synapses.words.len() as u64,
                max: 4 * part_words * BINDINGS_MAX as u64,
            });
        }
        let (bindings, pipelines) = kernels.pipelines(ranges.len())?;

        let mut settings = Settings::new(network);
        settings.batch = settings.batch.min(options.batch.unwrap_or(settings.batch)).max(1);
        settings.partitions = partitions(network);
        let team = options.team.unwrap_or(32).clamp(1, MEMBERS);
        settings.team_bits = team.ilog2();
        settings.piece = options.piece.unwrap_or(4 * team).max(1);
        let mut pieces = pieces(&parts.synapses, settings.piece);
        while pieces * PIECE_BYTES > max {
            settings.piece *= 2;
            pieces = self::pieces(&parts.synapses, settings.piece);
        }

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
            rows: zeroed("rows", 8 * neurons as u64)?,
            pieces: zeroed("pieces", PIECE_BYTES * pieces)?,
            fired: words("fired", bit_words(neurons))?,
            recording: zeroed("recording", 0)?,
            injection_starts: zeroed("injections by step", 0)?,
            injections: zeroed("injections", 0)?,
            histories: words("histories", plastic * 2 * neurons)?,
            piece_sources: words("sources of pieces", plastic * pieces as usize)?,
            segments: zeroed("segments of rows", 0)?,
            synapses,
        };
        let most = if is_software { SOFTWARE_WORKGROUPS } else { WORKGROUPS };
        let wanted = (pieces << settings.team_bits).div_ceil(MEMBERS.into());
        let deliver = wanted.clamp(1, options.workgroups.unwrap_or(most).max(1).into()) as u32;
        let store = Self {
            device: device.clone(),
            pipelines,
            bound: BTreeMap::new(),
            has: [network.has_marks(), network.is_plastic()],
            settings,
            workgroups: [network.neurons().div_ceil(MEMBERS).max(1), deliver],
            buffers,
            parts: ranges,
            kernels: kernels_for(device, network, &settings, options.kernel)?,
            is_divided: false,
        };
        let all: Vec<u32> = (0..network.neurons()).collect();
        store.upload_rows(&parts.synapses, &all)?;
        Ok(store)
    }

    /// Brings the places and lengths of rows to the device, of neurons in order.
    fn upload_rows(&self, synapses: &Synapses, neurons: &[u32]) -> Result<(), Error> {
        // Which part the row of a neuron is in: neighbours mostly lie in the same.
        let binding_bits = self.buffers.synapses.len().ilog2();
        for run in neurons.chunk_by(|a, b| a + 1 == *b) {
            let rows: Vec<[u32; 2]> = run
                .iter()
                .map(|&neuron| {
                    let start = synapses.starts[neuron as usize];
                    let length = synapses.lengths[neuron as usize];
                    let part = self.parts.iter().rposition(|part| part.start <= start).unwrap_or(0);
                    let first = self.parts.get(part).map_or(0, |part| part.start);
                    // A row without synapses may be anywhere.
                    let place = if length == 0 { 0 } else { (start - first) as u32 };
                    let number = (part as u32).checked_shl(32 - binding_bits).unwrap_or(0);
                    [number | place, length]
                })
                .collect();
            self.buffers.rows.upload(8 * u64::from(run[0]), &rows)?;
        }
        Ok(())
    }

    /// Brings records to the device, with the drives of their populations, from a number on.
    pub(super) fn upload_records(
        &self,
        first: usize,
        records: &[Record],
        drives: &[i32],
    ) -> Result<(), Error> {
        let driven = records.iter().map(|record| {
            let mut record = *record;
            record.words[Record::DRIVE] = drives[record.words[Record::POPULATION] as usize] as u32;
            record
        });
        self.buffers.records.upload((first * size_of::<Record>()) as u64, &driven.collect::<Vec<_>>())
    }

    /// Brings a state to the device, whose ring then begins with its first slot.
    pub(super) fn upload_state(&self, network: &Network, state: &State) -> Result<(), Error> {
        let buffers = &self.buffers;
        buffers.columns.upload(0, &state.columns)?;
        buffers.ring.upload(0, &state.ring)?;
        buffers.marks.upload(0, &state.marks)?;
        buffers.fired.upload(0, &state.fired)?;
        buffers.histories.upload(0, &state.history)?;
        if network.is_plastic() {
            for (part, buffer) in self.parts.iter().zip(&buffers.synapses) {
                buffer.upload(0, &state.weights[part.start as usize..part.end as usize])?;
            }
        }
        self.upload_records(0, &network.parts().records, &state.drives)
    }

    /// The state on the device, whose ring begins with some slot. Step and drives are not there.
    pub(super) fn download_state(&self, network: &Network) -> Result<State, Error> {
        let mut state = State::initial(network);
        let buffers = &self.buffers;
        let mut ranges = vec![
            (&buffers.columns, 0..size_of_val(&state.columns[..]) as u64),
            (&buffers.ring, 0..size_of_val(&state.ring[..]) as u64),
            (&buffers.marks, 0..size_of_val(&state.marks[..]) as u64),
            (&buffers.fired, 0..size_of_val(&state.fired[..]) as u64),
            (&buffers.histories, 0..size_of_val(&state.history[..]) as u64),
        ];
        if network.is_plastic() {
            let bytes = self.parts.iter().map(|part| 0..4 * (part.end - part.start));
            ranges.extend(buffers.synapses.iter().zip(bytes));
        }
        let mut taken = 0;
        let mut parts = self.parts.iter();
        self.device.download_each(&ranges, &mut |bytes| {
            let to: &mut [u8] = match taken {
                0 => bytemuck::cast_slice_mut(&mut state.columns),
                1 => bytemuck::cast_slice_mut(&mut state.ring),
                2 => bytemuck::cast_slice_mut(&mut state.marks),
                3 => bytemuck::cast_slice_mut(&mut state.fired),
                4 => bytemuck::cast_slice_mut(&mut state.history),
                _ => {
                    let part = parts.next().map_or(0..0, |part| part.start as usize..part.end as usize);
                    bytemuck::cast_slice_mut(&mut state.weights[part])
                }
            };
            to.copy_from_slice(bytes);
            taken += 1;
        })?;
        Ok(state)
    }

    /// A kernel, bound to the buffers. Those that list what fired can record spikes, and the sources of pieces.
    pub(super) fn kernel(
        &mut self,
        entry: &'static str,
        records: bool,
        has_sources: bool,
    ) -> Result<Bound, Error> {
        let [marks, learns] = self.has;
        let lists = matches!(entry, "neurons" | "single");
        let has = [marks, learns, lists && records, lists && (learns || has_sources)];
        let variant = Variant { entry, has };
        if let Some(bound) = self.bound.get(&variant) {
            return Ok(bound.clone());
        }
        let kernel = self.pipelines.get(variant)?;
        let group = kernel.bind(&self.device, &self.buffers.all())?;
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
        let kernel = self.kernel("divide", false, false)?;
        let workgroups = neurons.div_ceil(workgroup_size(&self.device));
        self.device.submit("dividing rows", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            kernel.dispatch(&mut pass, [workgroups, partitions + 1]);
        })?;
        self.is_divided = true;
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

/// How many partitions the targets have: as many as there must be for their sums to fit, but enough for a large GPU.
fn partitions(network: &Network) -> u32 {
    const ENOUGH: u32 = 128;
    const NEURONS_MIN: u32 = 64;
    let needed = network.neurons().div_ceil(SUMS / network.parts().ports);
    needed.max(network.neurons().div_ceil(NEURONS_MIN).min(ENOUGH)).max(1)
}

/// Bytes of all segments.
fn segment_bytes(neurons: u32, partitions: u32) -> u64 {
    4 * u64::from(neurons) * (u64::from(partitions) + 1)
}

/// The kernels that can run a network on a device: all that can if one of them is wanted, else those that might be
/// faster than the first.
fn kernels_for(
    device: &Device,
    network: &Network,
    settings: &Settings,
    wanted: Option<Kernel>,
) -> Result<Vec<Kernel>, Error> {
    let limits = device.limits();
    let neurons = network.neurons();
    let mut kernels = vec![Kernel::Events];
    // Old drivers end loops that are long.
    if neurons <= SINGLE_MAX && device.loop_limit()?.is_none() {
        kernels.push(Kernel::Single);
    }
    let packing = network.synapses().packing;
    let can_divide = packing.delay_bits == 0
        && !network.is_plastic()
        && limits.workgroup_bytes >= PARTITION_BYTES
        && neurons.div_ceil(MEMBERS) <= limits.workgroups
        && settings.partitions < limits.workgroups
        && segment_bytes(neurons, settings.partitions) <= limits.storage_bytes();
    // Short segments cost more than they save.
    let synapses = network.synapses().count();
    let is_worth = synapses >= 8 * u64::from(neurons) * u64::from(settings.partitions);
    if can_divide && (is_worth || wanted.is_some()) {
        kernels.push(Kernel::Partitions);
    }
    if let Some(wanted) = wanted {
        let is_there = kernels.contains(&wanted);
        kernels = vec![if is_there { wanted } else { Kernel::Events }];
    }
    Ok(kernels)
}

/// How many pieces all rows have.
fn pieces(synapses: &Synapses, piece: u32) -> u64 {
    synapses.lengths.iter().map(|&length| u64::from(length.div_ceil(piece))).sum()
}

/// Which words of synapses lie in which binding of at most `max` words: no row lies in two. If one is larger, the error
/// is its size.
fn split(synapses: &Synapses, max: u64) -> Result<Vec<Range<u64>>, u64> {
    let rows = synapses.starts.iter().zip(&synapses.lengths).filter(|(_, length)| **length != 0);
    let words = u64::from(synapses.packing.words);
    let mut rows: Vec<Range<u64>> =
        rows.map(|(&start, &length)| start..start + u64::from(length) * words).collect();
    if !rows.is_sorted_by_key(|row| row.start) {
        rows.sort_unstable_by_key(|row| row.start);
    }
    let mut parts: Vec<Range<u64>> = Vec::new();
    for row in rows {
        if row.end - row.start > max {
            return Err(row.end - row.start);
        }
        match parts.last_mut() {
            Some(part) if row.end - part.start <= max => part.end = row.end,
            _ => parts.push(row),
        }
    }
    Ok(parts)
}
