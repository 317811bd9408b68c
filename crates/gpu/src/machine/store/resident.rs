//! The state, frames, code and counters of a machine on the device, and the kernels that they are bound to.

use std::iter::repeat_n;
use std::sync::Arc;

use kvrm_arm64::lowering::decode_table;
use kvrm_arm64::{Class, Features};
use kvrm_machine::{ADDRESS_BITS, Decisions, HookKind, Hooks, PAGE_BYTES, Plan};
use kvrm_shaders::interface::machine::{
    DecisionsGroup, DecodeGroup, DigestGroup, HooksGroup, MachineGroup, Parameters, TransferGroup,
};
use kvrm_shaders::interface::networks::NetworksGroup;
use kvrm_shaders::kernel::Group as _;
use kvrm_shaders::layout::{
    ACCESS_EXECUTE, ACCESS_READ, ACCESS_WRITE, CLASSES, COUNTER_FRAMES, COUNTERS, HOOK_CALL, HOOK_KIND,
    MARK_PREFETCHED,
};
use kvrm_shaders::variants::{self, FramePlaces, FramePools, LinuxCalls, SimdUnit, StageOrder};

use super::host_frames::HostFrames;
use super::kept::KeptBuffers;
use super::limits::{
    CODE_PAGE_BYTES, INFO_BYTES, VOTES_MIN, array_min, code_pages_max, code_tlb_sets, console_bytes,
    pool_shift, stages_min, tlb_bytes, tlb_sets,
};
use super::parameters::{self, Launch, feature_bits};
use super::places::Places;
use super::rows::row_words;
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::{ClassSelection, Network};
use crate::machine::columns::Columns;
use crate::machine::kernels::{InterpreterVariant, Kernels, NetworkVariant, StepKernel};
use crate::machine::memory_limits::MemoryLimits;
use crate::machine::pages::Frames;

/// The number of the bind group that each kernel has for itself.
const OWN_GROUP: u32 = TransferGroup::<()>::GROUP;
const _: () = assert!(
    DecodeGroup::<()>::GROUP == OWN_GROUP
        && DigestGroup::<()>::GROUP == OWN_GROUP
        && HooksGroup::<()>::GROUP == OWN_GROUP,
    "kernels have one group for themselves"
);

/// The number of frames per lane that a machine begins with room for. More are added on demand.
const FRAMES_A_LANE: u64 = 4;
const _: () = assert!(Class::ALL.len() == CLASSES as usize, "shaders have as many classes");
const _: () = assert!(
    HookKind::Read as u32 == ACCESS_READ
        && HookKind::Write as u32 == ACCESS_WRITE
        && HookKind::Execute as u32 == ACCESS_EXECUTE
        && HookKind::Call as u32 == HOOK_CALL
        && ADDRESS_BITS == HOOK_KIND,
    "shaders have the same keys of hooks"
);

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) device: Device,
    pub(crate) kernels: Arc<Kernels>,
    pub(crate) columns: Columns,
    pub(crate) lanes: usize,
    pub(super) parameters: Parameters,
    pub(super) parameters_buffer: Buffer,
    pub(crate) info: Buffer,
    pub(super) micro_ops: Buffer,
    pub(super) counters: Buffer,
    /// Console output, in columns of one word per lane.
    pub(crate) console: Buffer,
    /// The TLBs of lanes.
    pub(super) kept_pages: Buffer,
    /// The places of frames, if they move.
    pub(crate) places: Option<Places>,
    /// The ring of free places, and the uses of frames.
    pub(super) places_buffer: Buffer,
    /// The frame pools, with `2^pool_shift` words each.
    pub(super) pools: Vec<Buffer>,
    /// Takes the place of pools that do not exist yet and are never used: each binding and each element of an array needs
    /// a buffer.
    no_pool: Buffer,
    pub(crate) pool_shift: u32,
    /// The number of pools that the kernels are compiled for.
    pub(super) variant: FramePools,
    /// The bind group of all kernels, if its buffers have not been replaced since it was created.
    pub(super) group: Option<wgpu::BindGroup>,
    /// The network that chooses classes, if one does.
    pub(super) network: Option<BoundNetwork>,
    /// The bind group of the hooks, if there are any.
    pub(crate) hooks: Option<wgpu::BindGroup>,
    pub(super) decode_table: Buffer,
    /// The buffers of iterations of loops, and of passes, that are executed at once.
    pub(super) loop_buffers: KeptBuffers,
    pub(super) pass_buffers: KeptBuffers,
    /// The buffers of views of pictures.
    pub(super) view_buffers: KeptBuffers,
    /// The number of frames that there is room for.
    pub(super) capacity: u32,
    /// The frame of each code page.
    pub(super) code_pages: Vec<u32>,
    /// The largest number of code pages.
    pub(super) code_pages_max: usize,
    /// The number of pools from which on they are elements of an array of buffers, if the device has such arrays.
    pub(super) array_min: Option<usize>,
    /// The least number of lanes in a workgroup whose lanes execute several micro-ops in each step.
    stages_min: u32,
    /// Whether lanes can vote on stages.
    can_vote: bool,
    /// Whether lanes vote on stages unless the tuner decides.
    votes: bool,
    /// The largest number of pools.
    pub(super) pools_max: usize,
    /// The code page that is displaced next if there is no room for more.
    pub(super) next_victim: usize,
    /// The frame that was lowered last.
    pub(super) last_lowered: u32,
    /// The SIMD unit of the interpreter: the largest that lanes have asked for.
    pub(crate) simd_unit: SimdUnit,
    /// Whether the interpreter serves frequent system calls.
    pub(super) linux_calls: LinuxCalls,
    /// Whether code pages may have changed since markers were set last.
    pub(super) marks_are_old: bool,
    /// The number of dispatches so far.
    pub(crate) dispatches: u64,
    /// The number of turns so far, by which frames age.
    turn: u32,
}

/// The properties of the machine that a store is created for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreConfig<'a> {
    /// The frames of the images.
    pub(crate) frames: &'a Frames,
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) features: Features,
    pub(crate) selection: &'a ClassSelection,
    /// The number of lanes in a workgroup of the interpreter.
    pub(crate) workgroup: u32,
    pub(crate) bounds: &'a Bounds,
}

impl Store {
    pub(crate) fn new(device: &Device, contents: &StoreConfig<'_>) -> Result<Self, Error> {
        let StoreConfig { frames, plan, features, selection, workgroup, bounds } = *contents;
        let lanes = plan.lanes;
        let columns = Columns::new(device, lanes)?;
        let pool_shift = bounds.pool_shift.unwrap_or_else(|| pool_shift(device));
        let wanted = frames.words.len() as u64 + FRAMES_A_LANE * lanes as u64 + 16;
        let (rows, starts) = decode_table();
        let rows: Vec<u32> = starts.into_iter().chain(rows.iter().flat_map(row_words)).collect();
        let info = Buffer::zeroed(device, "frame information", INFO_BYTES)?;
        let console_bytes = bounds.console_bytes.unwrap_or_else(|| console_bytes(device, lanes));
        let sets = bounds.tlb_sets.unwrap_or_else(|| tlb_sets(device, lanes));
        // A snapshot is a second copy of the columns.
        let state = 2 * columns.buffer.bytes() + tlb_bytes(lanes, sets);
        let away = bounds.frames_away();
        let create_places = |memory: MemoryLimits| {
            let max = bounds.places.unwrap_or(memory.places(state, away).min(u32::MAX.into()) as u32);
            Ok::<_, Error>(Places::new(max, HostFrames::with_limits(memory, bounds)?))
        };
        let places = bounds.memory.map(create_places).transpose()?;
        let frame_places = if places.is_some() { FramePlaces::Moving } else { FramePlaces::Fixed };
        let kernels = Kernels::of(device, FramePools::One, frame_places, pool_shift)?;
        let can_vote = bounds.subgroups && device.info().has_subgroups;
        let network = Network::new(device, &kernels, selection, workgroup == 1, bounds.subgroups)?
            .map(|network| BoundNetwork::new(device, &kernels, network))
            .transpose()?;
        let parameters = Parameters {
            tlb_sets: sets,
            code_tlb_sets: code_tlb_sets(sets),
            lanes: lanes as u32,
            features: feature_bits(features),
            console: console_bytes,
            selection: network.as_ref().map_or(0, |bound| bound.network.flags),
            ..parameters::of_calls(plan.calls)
        };
        let mut store = Self {
            device: device.clone(),
            kernels,
            columns,
            lanes,
            parameters_buffer: Buffer::with_contents(device, "parameters", &[parameters])?,
            parameters,
            group: None,
            network,
            hooks: None,
            info,
            micro_ops: Buffer::zeroed(device, "micro-ops", CODE_PAGE_BYTES)?,
            counters: Buffer::zeroed(device, "counters", 4 * u64::from(COUNTERS))?,
            kept_pages: Buffer::zeroed(device, "TLBs", tlb_bytes(lanes, sets))?,
            console: Buffer::zeroed(device, "console", u64::from(console_bytes) * lanes as u64)?,
            places,
            places_buffer: Buffer::zeroed(device, "places of frames", 4)?,
            pools: vec![Buffer::zeroed(device, "frames", PAGE_BYTES as u64)?],
            no_pool: Buffer::zeroed(device, "no frames", 8)?,
            pool_shift,
            variant: FramePools::One,
            decode_table: Buffer::with_contents(device, "decode table", &rows)?,
            capacity: 1,
            code_pages: Vec::new(),
            stages_min: bounds.stages_min.unwrap_or_else(|| stages_min(device)),
            can_vote,
            votes: bounds.votes && can_vote,
            array_min: (bounds.buffer_arrays && device.info().has_buffer_arrays)
                .then(|| array_min(workgroup)),
            pools_max: bounds.pools.unwrap_or(usize::MAX),
            code_pages_max: bounds.code_pages.unwrap_or(usize::MAX).min(code_pages_max(device)).max(1),
            loop_buffers: KeptBuffers::default(),
            pass_buffers: KeptBuffers::default(),
            view_buffers: KeptBuffers::default(),
            next_victim: 0,
            last_lowered: 0,
            simd_unit: SimdUnit::None,
            linux_calls: if plan.calls.is_some() { LinuxCalls::Served } else { LinuxCalls::Host },
            marks_are_old: true,
            dispatches: 0,
            turn: 0,
        };
        let needed = frames.words.len();
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        let mut capacity = store.grow_frames(wanted)? as usize;
        store.grow_places(wanted)?;
        if let Some(places) = &mut store.places {
            capacity = capacity.min(places.count as usize);
            // The frames of the images stay.
            places.take(needed as u32);
        }
        if let Some(memory) = bounds.memory.filter(|_| capacity < needed) {
            let images = (needed * PAGE_BYTES) as u64;
            let (limit, others) = (memory.device, MemoryLimits::others(state, away));
            return Err(Error::MemoryLimit { limit, others, images });
        }
        if capacity < needed {
            let max = (lanes as u64 * capacity as u64 / needed as u64) as usize;
            return Err(Error::TooManyLanes { lanes, max });
        }
        store.upload_frames(&frames.words)?;
        store.set_counters(frames.words.len() as u32)?;
        let jobs: Vec<(u32, u32)> = frames.executable.iter().map(|&frame| (frame, 0)).collect();
        store.decode(&jobs)?;
        Ok(store)
    }

    /// Creates the bind groups again after buffers were replaced.
    pub(super) fn bind(&mut self) -> Result<(), Error> {
        // If this fails, the next dispatch tries again: the old groups have buffers that were replaced.
        self.group = None;
        let group = self.kernels.layouts.machine.bind(&self.device, self.machine_group())?;
        if let Some(bound) = &mut self.network {
            bound.bind(&self.device, &self.kernels)?;
        }
        self.group = Some(group);
        Ok(())
    }

    /// Returns the buffers of the bind group of all kernels.
    pub(crate) fn machine_group(&self) -> MachineGroup<&Buffer> {
        let missing = self.variant.pools() - self.pools.len();
        MachineGroup {
            parameters: &self.parameters_buffer,
            state: &self.columns.buffer,
            frame_info: &self.info,
            micro_ops: &self.micro_ops,
            counters: &self.counters,
            console: &self.console,
            kept_pages: &self.kept_pages,
            places: &self.places_buffer,
            pool: self.pools.iter().chain(repeat_n(&self.no_pool, missing)).collect(),
        }
    }

    /// Returns the size of each lane's buffer for console output, in bytes.
    pub(crate) const fn console_room(&self) -> u32 {
        self.parameters.console
    }

    /// Returns the counters after the last dispatch, and fetches columns in the same transfer, and the answer to
    /// [`Store::ask_used`] if it was asked.
    pub(crate) fn counters_and(
        &mut self,
        columns: impl IntoIterator<Item = u32>,
    ) -> Result<[u32; COUNTERS as usize], Error> {
        let asked = self.places.as_mut().and_then(|places| places.asked.take());
        let mut ranges = vec![(&self.counters, 0..4 * u64::from(COUNTERS))];
        ranges.extend(asked.as_ref().map(|(answer, bytes)| (answer, 0..*bytes)));
        let fetched = self.columns.fetch_with(columns, &ranges)?;
        if let (Some(places), [_, uses]) = (&mut self.places, &fetched[..]) {
            places.uses = bytemuck::pod_collect_to_vec(uses);
        }
        Ok(bytemuck::pod_read_unaligned(&fetched[0]))
    }

    /// Sets the counter of frames to `frames` and all others to 0.
    pub(crate) fn set_counters(&self, frames: u32) -> Result<(), Error> {
        let mut counters = [0; COUNTERS as usize];
        counters[COUNTER_FRAMES as usize] = frames;
        self.counters.upload(0, &counters)
    }

    /// Dispatches a kernel over a grid of workgroups, with its own bind group if it has one.
    pub(crate) fn dispatch(
        &mut self,
        pipeline: &wgpu::ComputePipeline,
        launch: Launch,
        group: Option<&wgpu::BindGroup>,
        grid: (u32, u32, u32),
    ) -> Result<wgpu::SubmissionIndex, Error> {
        self.dispatch_each(&[(pipeline, grid)], launch, group)
    }

    /// Dispatches kernels as [`Store::dispatch`] does, one after the other, in one submission.
    pub(crate) fn dispatch_each(
        &mut self,
        kernels: &[(&wgpu::ComputePipeline, (u32, u32, u32))],
        launch: Launch,
        group: Option<&wgpu::BindGroup>,
    ) -> Result<wgpu::SubmissionIndex, Error> {
        if self.group.is_none() {
            self.bind()?;
        }
        self.set_launch(launch)?;
        self.dispatches += kernels.len() as u64;
        self.device.submit("running a kernel", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            if let Some(machine) = &self.group {
                pass.set_bind_group(MachineGroup::<()>::GROUP, machine, &[]);
            }
            if let Some(group) = group {
                pass.set_bind_group(OWN_GROUP, group, &[]);
            }
            if let Some(bound) = &self.network {
                pass.set_bind_group(NetworksGroup::<()>::GROUP, &bound.weights, &[]);
                pass.set_bind_group(DecisionsGroup::<()>::GROUP, &bound.decisions, &[]);
            }
            for (pipeline, (x, y, z)) in kernels {
                pass.set_pipeline(pipeline);
                pass.dispatch_workgroups(*x, *y, *z);
            }
        })
    }

    /// Sets the parameters of the next dispatch.
    pub(crate) fn set_launch(&mut self, launch: Launch) -> Result<(), Error> {
        let Launch { steps, fuel, work_steps, sharers, break_pages, jobs, quantum } = launch;
        let frames = self.capacity;
        let (places, first_free, free_places) =
            self.places.as_ref().map_or((0, 0, 0), |places| (places.max, places.first_free, places.free));
        self.parameters = Parameters {
            steps,
            fuel,
            work_steps,
            sharers,
            break_pages,
            jobs,
            quantum,
            frames,
            places,
            first_free,
            free_places,
            turn: self.turn & (MARK_PREFETCHED - 1),
            ..self.parameters
        };
        parameters::upload_launch(&self.parameters_buffer, &self.parameters)
    }

    /// Begins a turn: frames that were used before are a turn older.
    pub(crate) const fn begin_turn(&mut self) {
        self.turn = self.turn.wrapping_add(1);
    }

    /// Returns the interpreter for workgroups of `workgroup` lanes.
    pub(crate) fn interpreter(&self, workgroup: u32, limits_loops: bool) -> Result<StepKernel, Error> {
        self.kernels.run(&self.device, self.interpreter_variant(workgroup, limits_loops))
    }

    /// Returns the properties with which the interpreter is compiled.
    pub(crate) fn interpreter_variant(&self, workgroup: u32, limits_loops: bool) -> InterpreterVariant {
        let Self { simd_unit, linux_calls, votes, .. } = *self;
        let stages = self.stages(workgroup, votes);
        let hooks = if self.hooks.is_some() { variants::Hooks::Present } else { variants::Hooks::Absent };
        let network = self.network_variant().filter(|network| network.is_asked_in_steps());
        InterpreterVariant { workgroup, stages, simd_unit, linux_calls, hooks, network, limits_loops }
    }

    /// Returns the order of stages in workgroups of `workgroup` lanes, if they have stages.
    pub(crate) fn stages(&self, workgroup: u32, votes: bool) -> Option<StageOrder> {
        let order = if votes { StageOrder::Votes } else { StageOrder::Fixed };
        (workgroup >= self.stages_min).then_some(order)
    }

    /// Whether votes on the stages may be faster in workgroups of `workgroup` lanes.
    pub(crate) fn may_vote(&self, workgroup: u32) -> bool {
        self.can_vote && workgroup >= VOTES_MIN.max(self.stages_min)
    }

    /// Returns the number of pools that kernels are compiled for.
    pub(crate) const fn frame_pools(&self) -> FramePools {
        self.variant
    }

    /// Replaces the hooks of all lanes.
    pub(crate) fn set_hooks(&mut self, hooks: &Hooks) -> Result<(), Error> {
        // Pages with hooks stay out of the TLBs.
        self.columns.forget_pages();
        if hooks.is_empty() {
            self.hooks = None;
            return Ok(());
        }
        // The last range is above all keys, so that each search ends at a range.
        let ranges: Vec<[u64; 2]> =
            hooks.keys().map(|range| [range.start, range.end]).chain([[u64::MAX; 2]]).collect();
        let hooks = &Buffer::with_contents(&self.device, "hooks", ranges.as_flattened())?;
        self.hooks = Some(self.kernels.layouts.hooks.bind(&self.device, HooksGroup { hooks })?);
        Ok(())
    }

    /// Returns the network that chooses classes, if there is one.
    pub(crate) fn network_variant(&self) -> Option<NetworkVariant> {
        self.network.as_ref().map(|bound| bound.network.variant)
    }

    /// Returns the decisions of the network since the last call, if there is a network.
    pub(crate) fn take_decisions(&self) -> Result<Option<Decisions>, Error> {
        self.network.as_ref().map(|bound| bound.network.take_decisions(&self.device)).transpose()
    }
}

/// A network that chooses classes, and its bind groups for kernels that ask it.
#[derive(Debug)]
pub(super) struct BoundNetwork {
    pub(super) network: Network,
    weights: wgpu::BindGroup,
    decisions: wgpu::BindGroup,
}

impl BoundNetwork {
    fn new(device: &Device, kernels: &Kernels, network: Network) -> Result<Self, Error> {
        let (weights, decisions) = Self::groups(device, kernels, &network)?;
        Ok(Self { network, weights, decisions })
    }

    /// Creates the bind groups again after buffers were replaced.
    fn bind(&mut self, device: &Device, kernels: &Kernels) -> Result<(), Error> {
        (self.weights, self.decisions) = Self::groups(device, kernels, &self.network)?;
        Ok(())
    }

    fn groups(
        device: &Device,
        kernels: &Kernels,
        network: &Network,
    ) -> Result<(wgpu::BindGroup, wgpu::BindGroup), Error> {
        let Network { folded, near, decisions, domain, words, .. } = network;
        let weights = kernels.layouts.networks.bind(device, NetworksGroup { folded, near })?;
        let decisions =
            kernels.layouts.decisions.bind(device, DecisionsGroup { decisions, domain, words })?;
        Ok((weights, decisions))
    }
}
