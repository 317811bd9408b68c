//! What a machine has on the device: state, frames, code, counters, and the kernels bound to them.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use kvrm_arm64::Feature;
use kvrm_arm64::lowering::{Row, decode_table};
use kvrm_arm64::micro_op::MicroOp;
use kvrm_arm64::{Class, Features};
use kvrm_machine::linux::{Answer, Frequent};
use kvrm_machine::{Decisions, PAGE_BYTES, Plan};
use kvrm_shaders::layout::{
    CALL_ANSWER, CALL_BREAK, CALL_CLOCK, CALL_EXIT, CALL_HOST, CALL_LIMIT, CALL_NAME, CALL_RANDOM,
    CALL_ROBUST_LIST, CALL_VALUE, CALL_WRITE, CALLS, CLASSES, COUNTER_FRAMES, COUNTERS, FRAME_WORDS, LIMITS,
    PAGE_OPS, ROW_WORDS, STOP_NEED_FRAME,
};

use crate::buffer::Buffer;
use crate::columns::Columns;
use crate::device::Device;
use crate::dispatch::{Chooser, Dispatch, Network, WORD_BYTES};
use crate::error::Error;
use crate::kernels::{Kernels, POOLS, Variant, WORKGROUP};
use crate::pages::Frames;
use crate::pipeline::bind;

/// Bytes of a micro-op.
const OP_BYTES: u64 = 16;
/// Bytes that are known of each frame.
pub(crate) const INFO_BYTES: u64 = 16;
/// Frames a lane is expected to need at first; more are added on demand.
const FRAMES_A_LANE: u64 = 4;

/// What a dispatch is told; `Parameters` of `machine/bindings.wgsl`.
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Parameters {
    pub(crate) lanes: u32,
    pub(crate) steps: u32,
    pub(crate) fuel: u32,
    pub(crate) frames: u32,
    pub(crate) jobs: u32,
    pub(crate) features: u32,
    pub(crate) console: u32,
    pub(crate) dispatch: u32,
}

const PARAMETERS_BYTES: u64 = size_of::<Parameters>() as u64;

/// What lies behind them: how frequent system calls are served.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Calls {
    heap_start: u64,
    heap_end: u64,
    epoch: u64,
    seed: u64,
    limits: [u64; LIMITS as usize],
    calls: [u32; CALLS as usize],
}

impl Calls {
    fn new(frequent: &Frequent) -> Self {
        let mut calls = [CALL_HOST; CALLS as usize];
        for (number, answer) in frequent.answers() {
            let call = match answer {
                Answer::Value(value) => {
                    let call = (value as u32) << CALL_VALUE | CALL_ANSWER;
                    // Others than small ones are the host's.
                    if i64::from(call as i32 >> CALL_VALUE) as u64 == value { call } else { CALL_HOST }
                }
                Answer::Exit => CALL_EXIT,
                Answer::Break => CALL_BREAK,
                Answer::Clock => CALL_CLOCK,
                Answer::Write => CALL_WRITE,
                Answer::RobustList => CALL_ROBUST_LIST,
                Answer::Limit => CALL_LIMIT,
                Answer::Name => CALL_NAME,
                Answer::Random => CALL_RANDOM,
            };
            if let Some(entry) = calls.get_mut(number as usize) {
                *entry = call;
            }
        }
        let Frequent { heap, epoch, seed, limits } = frequent;
        let epoch = epoch.unwrap_or(0);
        Self { heap_start: heap.start, heap_end: heap.end, epoch, seed: *seed, limits: *limits, calls }
    }
}

/// Bytes of the micro-ops of a page.
const CODE_PAGE_BYTES: u64 = PAGE_OPS as u64 * OP_BYTES;
/// Buffers of a kernel that are not pools: the machine's, and the most that come with a kernel, which is one that
/// transfers.
const OTHER_BUFFERS: u32 = 6 + 4;
/// The same of machines with a network: the most come with the kernel that lowers words.
const OTHER_BUFFERS_WITH_NETWORK: u32 = 6 + 2 + 2 + 3;
/// The most bytes of console output that wait for the host, of all lanes together.
const CONSOLE_BYTES: u64 = 64 << 20;
/// The fewest and the most bytes of a lane.
const CONSOLE_BYTES_OF_LANE: (u64, u64) = (64, 64 << 10);

/// Limits below those of the device, for tests.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The binary logarithm of the words of a pool, 9 at least.
    pub pool_shift: Option<u32>,
    /// The most pools.
    pub pools: Option<usize>,
    /// The most pages of lowered code.
    pub code_pages: Option<usize>,
    /// The most steps of a slice.
    pub slice_steps: Option<u32>,
    /// How many loop iterations an invocation may take, as if the driver cut off longer ones.
    pub loop_limit: Option<u32>,
    /// How many lanes share a workgroup of the interpreter.
    pub workgroup: Option<u32>,
    /// The most bytes of console output of a lane that wait for the host, a multiple of 8 and not 0.
    pub console_bytes: Option<u32>,
    /// How many bytes a journal may have before the state is copied in its place.
    pub journal_bytes: Option<u64>,
    /// Whether invocations of a subgroup share work.
    pub subgroups: bool,
}

impl Bounds {
    /// What the device allows.
    pub const NONE: Self = Self {
        pool_shift: None,
        pools: None,
        code_pages: None,
        slice_steps: None,
        loop_limit: None,
        workgroup: None,
        console_bytes: None,
        journal_bytes: None,
        subgroups: true,
    };
}

#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) device: Device,
    pub(crate) kernels: Arc<Kernels>,
    pub(crate) columns: Columns,
    pub(crate) lanes: usize,
    parameters: Buffer,
    pub(crate) info: Buffer,
    micro_ops: Buffer,
    counters: Buffer,
    /// Console output, in columns of one word a lane.
    pub(crate) console: Buffer,
    /// Bytes of it there is room for, a lane.
    console_bytes: u32,
    /// Frames, in pools of `2^pool_shift` words.
    pools: Vec<Buffer>,
    pool_shift: u32,
    /// How many pools the kernels are compiled for.
    variant: usize,
    group: wgpu::BindGroup,
    /// The network that chooses classes, if one does, and groups 2 and 3 of kernels that ask it.
    network: Option<(Network, [wgpu::BindGroup; 2])>,
    decode_table: Buffer,
    /// How many frames there are room for.
    capacity: u32,
    /// Code that was lowered: which frame each code page holds.
    code_pages: Vec<u32>,
    /// How many there may be.
    code_pages_max: usize,
    /// The most pools there may be.
    pools_max: usize,
    /// The code page that is the next to lose its code if there is no room for more.
    next_victim: usize,
    /// The last frame that was lowered.
    last_lowered: u32,
    features: u32,
    /// Which of the units of SIMD registers the interpreter has: as much as lanes have asked for.
    pub(crate) simd_unit: usize,
    /// Whether it serves frequent system calls.
    serves_calls: bool,
    pub(crate) dispatches: u64,
}

impl Store {
    pub(crate) fn new(
        device: &Device,
        frames: &Frames,
        plan: &Plan<'_>,
        features: Features,
        dispatch: &Dispatch,
        workgroup: u32,
        bounds: Bounds,
    ) -> Result<Self, Error> {
        let lanes = plan.lanes;
        let columns = Columns::new(device, lanes)?;
        let pool_shift = bounds.pool_shift.unwrap_or_else(|| pool_shift(device));
        let wanted = frames.words.len() as u64 + FRAMES_A_LANE * lanes as u64 + 16;
        let (rows, starts) = decode_table();
        let rows: Vec<u32> = starts.into_iter().chain(rows.iter().flat_map(row_words)).collect();
        let info = Buffer::zeroed(device, "frame information", INFO_BYTES)?;
        let console_bytes = bounds.console_bytes.unwrap_or_else(|| console_bytes(device, lanes));
        let nothing =
            bind(device, "nothing yet", &crate::pipeline::storage_layout(device, "empty", &[])?, &[])?;
        let kernels = device.kernels(1, pool_shift)?;
        let network = Network::new(device, &kernels, dispatch, workgroup == 1, bounds.subgroups)?
            .map(|network| (network, [nothing.clone(), nothing.clone()]));
        let mut store = Self {
            device: device.clone(),
            kernels,
            columns,
            lanes,
            parameters: Buffer::zeroed(device, "parameters", PARAMETERS_BYTES + size_of::<Calls>() as u64)?,
            group: nothing,
            network,
            info,
            micro_ops: Buffer::zeroed(device, "micro-ops", CODE_PAGE_BYTES)?,
            counters: Buffer::zeroed(device, "counters", 4 * u64::from(COUNTERS))?,
            console: Buffer::zeroed(device, "console", u64::from(console_bytes) * lanes as u64)?,
            console_bytes,
            pools: vec![Buffer::zeroed(device, "frames", PAGE_BYTES as u64)?],
            pool_shift,
            variant: 1,
            decode_table: Buffer::with_contents(device, "decode table", &rows)?,
            capacity: 1,
            code_pages: Vec::new(),
            pools_max: bounds.pools.unwrap_or(usize::MAX),
            code_pages_max: bounds.code_pages.unwrap_or(usize::MAX).min(code_pages_max(device)).max(1),
            next_victim: 0,
            last_lowered: 0,
            features: feature_bits(features),
            simd_unit: 0,
            serves_calls: plan.frequent.is_some(),
            dispatches: 0,
        };
        if let Some(frequent) = plan.frequent {
            store.parameters.upload(PARAMETERS_BYTES, &[Calls::new(frequent)])?;
        }
        let needed = frames.words.len();
        let capacity = store.grow_frames(u32::try_from(wanted).unwrap_or(u32::MAX))? as usize;
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

    pub(crate) fn upload_frames(&self, words: &[[u64; FRAME_WORDS as usize]]) -> Result<(), Error> {
        let per_pool = 1 << (self.pool_shift - FRAME_WORDS.trailing_zeros());
        for (pool, frames) in self.pools.iter().zip(words.chunks(per_pool)) {
            pool.upload(0, frames.as_flattened())?;
        }
        Ok(())
    }

    /// Where frames lie, in pieces that are no burden to transfer.
    pub(crate) fn frame_places(&self, frames: &Range<u32>) -> Vec<(&Buffer, Range<u64>)> {
        const PIECE: u32 = 1 << 14;
        let per_pool = 1 << (self.pool_shift - FRAME_WORDS.trailing_zeros());
        let (mut first, mut places) = (frames.start, Vec::new());
        while first < frames.end {
            let (pool, at) = (first / per_pool, first % per_pool);
            let count = (frames.end - first).min(per_pool - at).min(PIECE);
            let byte = |frame: u32| u64::from(frame) * PAGE_BYTES as u64;
            places.push((&self.pools[pool as usize], byte(at)..byte(at + count)));
            first += count;
        }
        places
    }

    /// Where the information about frames lies.
    pub(crate) fn info_places(&self, frames: &Range<u32>) -> Range<u64> {
        u64::from(frames.start) * INFO_BYTES..u64::from(frames.end) * INFO_BYTES
    }

    /// How many frames the device could hold at most.
    pub(crate) fn frames_max(&self) -> u32 {
        let others = if self.network.is_some() { OTHER_BUFFERS_WITH_NETWORK } else { OTHER_BUFFERS };
        let bindings = self.device.limits().storage_buffers.saturating_sub(others) as usize;
        let bindings = bindings.min(self.pools_max);
        let most =
            POOLS.iter().map(|(pools, _)| *pools).filter(|pools| *pools <= bindings).max().unwrap_or(1);
        // The number of a word must fit 32 bits, that of a frame 24.
        let pools = most.min(1 << (32 - self.pool_shift));
        let frames = (pools as u64) << (self.pool_shift - FRAME_WORDS.trailing_zeros());
        frames.min(1 << 24) as u32
    }

    /// Makes room for `wanted` frames, or as many as there can be; says how much room there is.
    ///
    /// # Errors
    ///
    /// The device fails. That its memory is full is no failure.
    pub(crate) fn grow_frames(&mut self, wanted: u32) -> Result<u32, Error> {
        let wanted = wanted.min(self.frames_max());
        for frames in sizes(self.capacity.into(), wanted.into()) {
            let grown = self.try_grow_frames(frames as u32);
            // Even of a growth that failed, some buffers may be others now.
            self.bind()?;
            match grown {
                Ok(()) => break,
                Err(error) if is_full(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.capacity)
    }

    fn try_grow_frames(&mut self, frames: u32) -> Result<(), Error> {
        let per_pool = 1 << (self.pool_shift - FRAME_WORDS.trailing_zeros());
        let pools = frames.div_ceil(per_pool);
        let variant = POOLS.iter().map(|(count, _)| *count).find(|count| *count >= pools as usize);
        let variant = variant.unwrap_or(POOLS[POOLS.len() - 1].0).max(self.variant);
        if variant != self.variant {
            self.kernels = self.device.kernels(variant, self.pool_shift)?;
            self.variant = variant;
        }
        self.info.grow(u64::from(frames) * INFO_BYTES)?;
        // All pools but the last are full.
        for pool in 0..pools {
            let bytes = u64::from((frames - pool * per_pool).min(per_pool)) * PAGE_BYTES as u64;
            match self.pools.get_mut(pool as usize) {
                Some(buffer) => drop(buffer.grow(bytes)?),
                None => self.pools.push(Buffer::zeroed(&self.device, "frames", bytes)?),
            }
        }
        self.capacity = frames;
        Ok(())
    }

    fn bind(&mut self) -> Result<(), Error> {
        let mut buffers = vec![
            &self.parameters,
            &self.columns.buffer,
            &self.info,
            &self.micro_ops,
            &self.counters,
            &self.console,
        ];
        buffers.extend(&self.pools);
        // Pools that do not exist yet are never used; something must be bound all the same.
        let empty: Vec<Buffer> = (self.pools.len()..self.variant)
            .map(|_| Buffer::zeroed(&self.device, "no frames", 8))
            .collect::<Result<_, _>>()?;
        buffers.extend(&empty);
        self.group = bind(&self.device, "machine", &self.kernels.machine, &buffers)?;
        if let Some((network, groups)) = &mut self.network {
            let Network { folded, near, decisions, domain, words, .. } = &*network;
            let bind = |label, layout, buffers: &[_]| bind(&self.device, label, layout, buffers);
            *groups = [
                bind("network", &self.kernels.network, &[folded, near])?,
                bind("decisions", &self.kernels.decisions, &[decisions, domain, words])?,
            ];
        }
        Ok(())
    }

    /// The micro-ops of the first `pages` code pages.
    pub(crate) fn micro_ops(&self, pages: usize) -> Result<Vec<MicroOp>, Error> {
        let bytes = pages as u64 * u64::from(PAGE_OPS) * OP_BYTES;
        let contents = self.device.download(&[(&self.micro_ops, 0..bytes)])?;
        Ok(bytemuck::pod_collect_to_vec(&contents[0]).into_iter().map(MicroOp::from_words).collect())
    }

    /// How many frames can be given out.
    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// The counters after the last dispatch.
    pub(crate) fn counters(&self) -> Result<[u32; COUNTERS as usize], Error> {
        let bytes = self.device.download(&[(&self.counters, 0..4 * u64::from(COUNTERS))])?;
        Ok(bytemuck::pod_read_unaligned(&bytes[0]))
    }

    /// Sets all counters to 0 but that of the frames.
    pub(crate) fn set_counters(&self, frames: u32) -> Result<(), Error> {
        let mut counters = [0; COUNTERS as usize];
        counters[COUNTER_FRAMES as usize] = frames;
        self.counters.upload(0, &counters)
    }

    /// Runs a kernel over some workgroups.
    pub(crate) fn dispatch(
        &mut self,
        pipeline: fn(&Kernels) -> &wgpu::ComputePipeline,
        parameters: Parameters,
        group: Option<&wgpu::BindGroup>,
        workgroups: (u32, u32, u32),
    ) -> Result<wgpu::SubmissionIndex, Error> {
        let kernels = Arc::clone(&self.kernels);
        self.dispatch_pipeline(pipeline(&kernels), parameters, group, workgroups)
    }

    /// Runs a pipeline over some workgroups.
    pub(crate) fn dispatch_pipeline(
        &mut self,
        pipeline: &wgpu::ComputePipeline,
        parameters: Parameters,
        group: Option<&wgpu::BindGroup>,
        workgroups: (u32, u32, u32),
    ) -> Result<wgpu::SubmissionIndex, Error> {
        let parameters = Parameters {
            lanes: self.lanes as u32,
            frames: self.capacity,
            features: self.features,
            console: self.console_bytes,
            dispatch: self.network.as_ref().map_or(0, |(network, _)| network.flags),
            ..parameters
        };
        self.parameters.upload(0, &[parameters])?;
        self.dispatches += 1;
        let (x, y, z) = workgroups;
        self.device.submit("running a kernel", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &self.group, &[]);
            if let Some(group) = group {
                pass.set_bind_group(1, group, &[]);
            }
            if let Some((_, [network, decisions])) = &self.network {
                pass.set_bind_group(2, network, &[]);
                pass.set_bind_group(3, decisions, &[]);
            }
            pass.dispatch_workgroups(x, y, z);
        })
    }

    /// The interpreter for workgroups of so many lanes.
    pub(crate) fn interpreter(&self, workgroup: u32) -> Result<wgpu::ComputePipeline, Error> {
        let Self { simd_unit, serves_calls, .. } = *self;
        let variant = Variant { workgroup, simd_unit, serves_calls, chooser: self.chooser() };
        self.kernels.run(&self.device, variant)
    }

    /// Which variants of kernels there are.
    pub(crate) fn chooser(&self) -> Option<Chooser> {
        self.network.as_ref().map(|(network, _)| network.chooser)
    }

    /// What the network has decided since this was last asked.
    pub(crate) fn take_decisions(&self) -> Result<Option<Decisions>, Error> {
        self.network.as_ref().map(|(network, _)| network.take_decisions(&self.device)).transpose()
    }

    /// Lowers frames. A job is a frame and its code page plus one, or 0 if it has none yet; a frame of 0 with a
    /// code page means the frame that page holds.
    ///
    /// If there is no room for more pages, others lose their code, and lanes that fetch from those will ask
    /// again. If there is no room for all jobs, some are left out, and not always the same.
    pub(crate) fn decode(&mut self, jobs: &[(u32, u32)]) -> Result<(), Error> {
        let mut wanted: BTreeMap<u32, Option<u32>> = BTreeMap::new();
        for &(frame, code) in jobs {
            let page = code.checked_sub(1);
            let held = page.filter(|_| frame == 0).map_or(frame, |page| self.code_pages[page as usize]);
            wanted.insert(held, page);
        }
        let new = wanted.values().filter(|page| page.is_none()).count();
        let room = self.room_for_code(self.code_pages.len() + new)?;
        // Begin behind where the last ones were.
        let behind = wanted.range(self.last_lowered.saturating_add(1)..);
        let served: Vec<(u32, Option<u32>)> = behind
            .chain(wanted.range(..=self.last_lowered))
            .take(room)
            .map(|(frame, page)| (*frame, *page))
            .collect();
        let kept: HashSet<u32> = served.iter().filter_map(|(_, page)| *page).collect();
        let there = self.code_pages.len() as u32;
        let (old, victim) = (0..there, self.next_victim as u32);
        let mut free = (there..room as u32)
            .chain(old.map(|page| (page + victim) % there).filter(|page| !kept.contains(page)));
        // The frame, its page, and the frame that loses that page, or the same frame again.
        let mut pages: Vec<[u32; 4]> = Vec::with_capacity(served.len());
        let mut next_victim = self.next_victim;
        for &(frame, page) in &served {
            let Some(page) = page.or_else(|| free.next()) else { break };
            let held = self.code_pages.get(page as usize).copied();
            if held.is_some_and(|held| held != frame) {
                next_victim = page as usize + 1;
            }
            pages.push([frame, page, held.unwrap_or(frame), 0]);
        }
        // A dispatch has a limited number of workgroups in its second dimension.
        for pages in pages.chunks(32_768) {
            let list = Buffer::with_contents(&self.device, "pages to decode", pages.as_flattened())?;
            let group = bind(&self.device, "decoding", &self.kernels.decoding, &[&self.decode_table, &list])?;
            let parameters = Parameters { jobs: pages.len() as u32, ..Parameters::default() };
            let workgroups = (PAGE_OPS / WORKGROUP, pages.len() as u32, 1);
            let decode = self.kernels.decode(&self.device, self.chooser())?;
            self.dispatch_pipeline(&decode, parameters, Some(&group), workgroups)?;
        }
        let used = pages.iter().map(|[_, page, ..]| *page as usize + 1).max().unwrap_or(0);
        self.code_pages.resize(used.max(self.code_pages.len()), 0);
        for [frame, page, ..] in pages {
            self.code_pages[page as usize] = frame;
            self.last_lowered = frame;
        }
        self.next_victim = next_victim;
        Ok(())
    }

    /// Makes room for so many pages of code, or as many as there can be; says for how many there is.
    fn room_for_code(&mut self, wanted: usize) -> Result<usize, Error> {
        let there = self.micro_ops.bytes() / CODE_PAGE_BYTES;
        let max = self.code_pages_max as u64;
        let wanted = (wanted as u64).min(max);
        if wanted > there {
            // Twice as many, so that growing takes few rounds.
            let ample = wanted.next_power_of_two().min(max);
            for pages in std::iter::once(ample).chain(sizes(there, wanted)) {
                match self.try_grow_code(pages) {
                    Ok(()) => break,
                    Err(error) if is_full(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            self.bind()?;
        }
        Ok((self.micro_ops.bytes() / CODE_PAGE_BYTES).min(max) as usize)
    }

    fn try_grow_code(&mut self, pages: u64) -> Result<(), Error> {
        // What is beside micro-ops first, so that there is always enough of it.
        if let Some((network, _)) = &mut self.network
            && network.chooser.is_asked_in_steps()
        {
            network.words.grow(pages * u64::from(PAGE_OPS) * WORD_BYTES)?;
        }
        self.micro_ops.grow(pages * CODE_PAGE_BYTES).map(drop)
    }

    /// Lowers blocks of consecutive words for their digests; `machine/digest.wgsl` says how.
    pub(crate) fn digests(
        &mut self,
        kernel: &wgpu::ComputePipeline,
        layout: &wgpu::BindGroupLayout,
        blocks: &[u32],
    ) -> Result<Vec<u64>, Error> {
        let list = Buffer::with_contents(&self.device, "blocks", blocks)?;
        let digests = Buffer::zeroed(&self.device, "digests", 8 * blocks.len() as u64)?;
        let group = bind(&self.device, "digests", layout, &[&self.decode_table, &list, &digests])?;
        let jobs = blocks.len() as u32;
        let parameters = Parameters { jobs, ..Parameters::default() };
        let workgroups = (jobs.min(65_535), jobs.div_ceil(65_535), 1);
        self.dispatch_pipeline(kernel, parameters, Some(&group), workgroups)?;
        let contents = self.device.download(&[(&digests, 0..8 * blocks.len() as u64)])?;
        Ok(bytemuck::pod_collect_to_vec(&contents[0]))
    }
}

/// Whether there is no room for a buffer, in the device's memory or by its limits.
const fn is_full(error: &Error) -> bool {
    matches!(error, Error::OutOfMemory { .. } | Error::TooLarge { .. })
}

/// The sizes to try if something of size `there` should become `wanted`, and there may not be room for that.
fn sizes(there: u64, wanted: u64) -> impl Iterator<Item = u64> {
    let more = wanted.saturating_sub(there);
    std::iter::successors(Some(more), |more| Some(more / 2))
        .take_while(|more| *more > 0)
        .map(move |more| there + more)
}

/// How many pages of lowered code a binding of the device can hold.
pub(crate) fn code_pages_max(device: &Device) -> usize {
    (device.limits().storage_bytes() / CODE_PAGE_BYTES) as usize
}

/// How much console output of a lane may wait for the host.
fn console_bytes(device: &Device, lanes: usize) -> u32 {
    let (least, most) = CONSOLE_BYTES_OF_LANE;
    let share = CONSOLE_BYTES.min(device.limits().storage_bytes()) / lanes.max(1) as u64;
    1 << share.clamp(least, most).ilog2()
}

/// The features of a machine, a bit each.
fn feature_bits(features: Features) -> u32 {
    Feature::ALL
        .into_iter()
        .filter(|feature| features.has(*feature))
        .fold(0, |bits, feature| bits | 1 << feature as u32)
}

/// A row of the decode table as `machine/decode.wgsl` reads it.
fn row_words(row: &Row) -> [u32; ROW_WORDS as usize] {
    let base = row.template.base;
    [
        row.mask,
        row.value,
        row.holes,
        row.feature as u32,
        row.template.shape as u32,
        base.control,
        base.parameters,
        0,
    ]
}

const _: () = assert!(Class::ALL.len() == CLASSES as usize, "shaders have as many classes");
/// What wgpu leaves of Metal's 31 buffers.
const METAL_BUFFERS: u32 = 29;
const _: () = assert!(
    OTHER_BUFFERS_WITH_NETWORK + 16 <= METAL_BUFFERS,
    "there is room for all pools, with a network too"
);

/// The largest power of two of words that a binding can have.
fn pool_shift(device: &Device) -> u32 {
    (device.limits().storage_bytes() / 8).max(1).ilog2().min(28)
}

/// A piece of a page of a lane; `Piece` of `machine/transfer.wgsl`.
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Piece {
    pub(crate) lane: u32,
    pub(crate) bytes: u32,
    address: [u32; 2],
    pub(crate) data: u32,
    /// The result: a stop.
    pub(crate) stop: u32,
    /// The result: 1 if the lane has not written the page yet.
    pub(crate) fresh: u32,
    /// What to map the pages as, and how; 0 if this is to be read or written.
    map: u32,
}

impl Piece {
    /// One that is still to be done.
    pub(crate) fn undone(self) -> Self {
        Self { stop: STOP_NEED_FRAME, ..self }
    }

    /// One whose data comes behind so many words.
    pub(crate) fn behind(self, words: u32) -> Self {
        Self { data: words + self.data, ..self }
    }

    /// `bytes` bytes of one page, whose data begins at word `data`.
    pub(crate) fn new(lane: usize, address: u64, bytes: usize, data: u32) -> Self {
        let address = [address as u32, (address >> 32) as u32];
        Self { lane: lane as u32, bytes: bytes as u32, address, data, ..Self::default() }
    }

    /// `pages` pages to be mapped as the flags `map` say.
    pub(crate) fn mapping(lane: usize, address: u64, pages: u32, map: u32) -> Self {
        Self { map, ..Self::new(lane, address, pages as usize, 0) }
    }
}

impl Store {
    /// Reads pieces of the same size that begin at a word; their data one behind the other.
    pub(crate) fn read(&mut self, pieces: &[Piece]) -> Result<(Vec<Piece>, Vec<u8>), Error> {
        let words = pieces.iter().map(|piece| u64::from(piece.bytes.div_ceil(8))).sum::<u64>();
        let longest = pieces.iter().map(|piece| piece.bytes.div_ceil(8)).max().unwrap_or(0);
        self.columns.flush()?;
        let list = Buffer::with_contents(&self.device, "pieces", pieces)?;
        let data = Buffer::zeroed(&self.device, "data of pieces", 8 * words)?;
        let none = Buffer::zeroed(&self.device, "no jobs", 8)?;
        let group = bind(&self.device, "reading", &self.kernels.transfer, &[&list, &data, &none, &none])?;
        let jobs = pieces.len() as u32;
        let workgroups = (longest.div_ceil(WORKGROUP), jobs.min(65_535), jobs.div_ceil(65_535));
        let parameters = Parameters { jobs, ..Parameters::default() };
        self.dispatch(|kernels| &kernels.read, parameters, Some(&group), workgroups)?;
        let mut contents = self.device.download(&[(&list, 0..list.bytes()), (&data, 0..8 * words)])?;
        let bytes = contents.pop().unwrap_or_default();
        Ok((bytemuck::pod_collect_to_vec(&contents[0]), bytes))
    }

    /// Writes pieces, each lane's in order; returns them with their results.
    pub(crate) fn write(
        &mut self,
        pieces: &[Piece],
        data: &[u64],
        firsts: &[u32],
        parameters: Parameters,
    ) -> Result<Vec<Piece>, Error> {
        let list = Buffer::with_contents(&self.device, "pieces", pieces)?;
        let data = Buffer::with_contents(&self.device, "data of pieces", data)?;
        let firsts = Buffer::with_contents(&self.device, "lanes to write", firsts)?;
        let none = Buffer::zeroed(&self.device, "no snapshot", 8)?;
        let group = bind(&self.device, "writing", &self.kernels.transfer, &[&list, &data, &firsts, &none])?;
        let workgroups = (parameters.jobs.div_ceil(WORKGROUP), 1, 1);
        self.dispatch(|kernels| &kernels.write, parameters, Some(&group), workgroups)?;
        let contents = self.device.download(&[(&list, 0..list.bytes())])?;
        Ok(bytemuck::pod_collect_to_vec(&contents[0]))
    }

    /// Takes lanes back to the state in `snapshot`.
    pub(crate) fn reset(&mut self, lanes: &[u32], snapshot: &Buffer) -> Result<(), Error> {
        if lanes.is_empty() {
            return Ok(());
        }
        let none = |label| Buffer::zeroed(&self.device, label, 32);
        let (pieces, data) = (none("no pieces")?, none("no data")?);
        let jobs = Buffer::with_contents(&self.device, "lanes to reset", lanes)?;
        let group =
            bind(&self.device, "resetting", &self.kernels.transfer, &[&pieces, &data, &jobs, snapshot])?;
        let parameters = Parameters { jobs: lanes.len() as u32, ..Parameters::default() };
        let workgroups = (parameters.jobs.div_ceil(WORKGROUP), 1, 1);
        self.dispatch(|kernels| &kernels.reset, parameters, Some(&group), workgroups)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ever_less_is_tried_until_there_is_nothing_to_gain() {
        assert_eq!(sizes(100, 200).collect::<Vec<_>>(), [200, 150, 125, 112, 106, 103, 101], "halves");
        assert_eq!(sizes(100, 100).count() + sizes(100, 50).count(), 0, "there is room already");
    }
}
