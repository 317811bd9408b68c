//! The compiled kernels of machines, for each number of frame pools.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use kvrm_shaders::interface::machine::{
    DecisionsGroup, Decode, DecodeGroup, DecodeGroups, DecodeOverrides, Digest, DigestGroup, DigestGroups,
    DigestOverrides, HooksGroup, Interpreter, InterpreterFew, InterpreterFewGroups, InterpreterFewOverrides,
    InterpreterGroups, InterpreterMany, InterpreterManyGroups, InterpreterManyOverrides, InterpreterNetwork,
    InterpreterNetworkFew, InterpreterNetworkFewGroups, InterpreterNetworkFewOverrides,
    InterpreterNetworkGroups, InterpreterNetworkOverrides, InterpreterOverrides, LoopJobs, LoopJobsGroup,
    LoopJobsGroups, LoopJobsOverrides, MachineGroup, Mark, MarkGroup, MarkGroups, MarkOverrides, Moves,
    MovesGroup, MovesGroups, MovesOverrides, PassJobs, PassJobsGroup, PassJobsGroups, PassJobsOverrides,
    Transfer, TransferGroup, TransferGroups, TransferOverrides, Views, ViewsGroup, ViewsGroups,
    ViewsOverrides,
};
use kvrm_shaders::interface::networks::{
    Domain, DomainGroup, DomainGroups, DomainOverrides, DomainTogether, DomainTogetherGroup,
    DomainTogetherGroups, Fold, FoldGroup, FoldGroups, FoldOverrides, NetworksGroup,
};
use kvrm_shaders::kernel::{Entry, Root};
use kvrm_shaders::variants::{
    ClassNetwork, ClassSource, FramePlaces, FramePools, Hooks, LinuxCalls, Regions, SimdUnit, StageOrder,
};
use kvrm_shaders::{LinkError, Linked};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::kernel::{Kernel, Layout};
use crate::device::lock::lock;

/// The number of invocations of a workgroup, and the largest number of lanes in a workgroup of the interpreter.
pub(crate) const WORKGROUP: u32 = 64;

/// The variant of kernels that ask a network for classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NetworkVariant {
    /// When kernels ask the network.
    pub(crate) class_source: ClassSource,
    /// The network, and how invocations share its evaluation.
    pub(crate) network: ClassNetwork,
}

impl NetworkVariant {
    /// Returns whether the network is asked in each step.
    pub(crate) fn is_asked_in_steps(self) -> bool {
        self.class_source == ClassSource::ByStep
    }
}

/// The properties with which an interpreter is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InterpreterVariant {
    /// The number of lanes in a workgroup.
    pub(crate) workgroup: u32,
    /// The order of stages, if lanes execute several micro-ops in each step.
    pub(crate) stages: Option<StageOrder>,
    /// The SIMD instructions that it has.
    pub(crate) simd_unit: SimdUnit,
    /// Whether it serves frequent system calls of Linux programs.
    pub(crate) linux_calls: LinuxCalls,
    /// Whether lanes stop at hooks.
    pub(crate) hooks: Hooks,
    /// The network that is asked in each step, if there is one.
    pub(crate) network: Option<NetworkVariant>,
    /// Whether it counts loop iterations, because the driver limits them.
    pub(crate) limits_loops: bool,
}

/// The kinds of evaluation of a network on many tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evaluation {
    /// The classes of all tuples.
    Classes,
    /// The logits of all tuples, each by one invocation.
    Logits,
    /// The logits of tuples that are the same for all invocations of a workgroup.
    SharedLogits,
    /// The class and the logits of tuples, each by a workgroup together.
    Together,
}

/// The kernels of machines with a number of frame pools, and the layouts of their bind groups.
#[derive(Debug)]
pub(crate) struct Kernels {
    /// The interpreters.
    run: PipelineCache<InterpreterVariant, StepKernel>,
    /// The kernels that lower words, by the network that chooses classes.
    decode: PipelineCache<Option<NetworkVariant>>,
    pub(crate) read: wgpu::ComputePipeline,
    pub(crate) write: wgpu::ComputePipeline,
    pub(crate) reset: wgpu::ComputePipeline,
    /// The interpreters with translated regions, the newest last.
    translated: Mutex<VecDeque<TranslatedKernel>>,
    mark: PipelineCache<bool>,
    moves: PipelineCache<(), MoveKernels>,
    loops: PipelineCache<(), LoopKernels>,
    passes: PipelineCache<(), LoopKernels>,
    views: PipelineCache<()>,
    digest: PipelineCache<()>,
    fold: PipelineCache<()>,
    domain: PipelineCache<(Evaluation, ClassNetwork)>,
    pools: FramePools,
    frame_places: FramePlaces,
    pool_shift: u32,
    pub(crate) layouts: Layouts,
}

/// The kernels that execute iterations of loops at once, in the order in which they run.
pub(crate) type LoopKernels = [wgpu::ComputePipeline; 6];

/// The kernels that move frames.
#[derive(Clone, Debug)]
pub(crate) struct MoveKernels {
    pub(crate) tally: wgpu::ComputePipeline,
    pub(crate) choose: wgpu::ComputePipeline,
    pub(crate) evict: wgpu::ComputePipeline,
    pub(crate) fetch: wgpu::ComputePipeline,
    pub(crate) locate: wgpu::ComputePipeline,
    pub(crate) find_used: wgpu::ComputePipeline,
}

/// The layouts of the bind groups.
#[derive(Debug)]
pub(crate) struct Layouts {
    pub(crate) machine: Layout,
    pub(crate) decode: Layout,
    pub(crate) transfer: Layout,
    pub(crate) digest: Layout,
    pub(crate) hooks: Layout,
    pub(crate) mark: Layout,
    pub(crate) moves: Layout,
    pub(crate) loop_jobs: Layout,
    pub(crate) pass_jobs: Layout,
    pub(crate) views: Layout,
    pub(crate) networks: Layout,
    pub(crate) decisions: Layout,
    pub(crate) fold: Layout,
    pub(crate) domain: Layout,
    pub(crate) domain_together: Layout,
}

impl Layouts {
    fn new(device: &Device, pools: FramePools) -> Result<Self, Error> {
        Ok(Self {
            machine: match (pools, NonZeroU32::new(pools.pools() as u32)) {
                (FramePools::Array, Some(pools)) => Layout::of_array::<MachineGroup<()>>(device, pools)?,
                _ => Layout::of::<MachineGroup<()>>(device, pools.pools())?,
            },
            decode: Layout::of::<DecodeGroup<()>>(device, 0)?,
            transfer: Layout::of::<TransferGroup<()>>(device, 0)?,
            digest: Layout::of::<DigestGroup<()>>(device, 0)?,
            hooks: Layout::of::<HooksGroup<()>>(device, 0)?,
            mark: Layout::of::<MarkGroup<()>>(device, 0)?,
            moves: Layout::of::<MovesGroup<()>>(device, 0)?,
            loop_jobs: Layout::of::<LoopJobsGroup<()>>(device, 0)?,
            pass_jobs: Layout::of::<PassJobsGroup<()>>(device, 0)?,
            views: Layout::of::<ViewsGroup<()>>(device, 0)?,
            networks: Layout::of::<NetworksGroup<()>>(device, 0)?,
            decisions: Layout::of::<DecisionsGroup<()>>(device, 0)?,
            fold: Layout::of::<FoldGroup<()>>(device, 0)?,
            domain: Layout::of::<DomainGroup<()>>(device, 0)?,
            domain_together: Layout::of::<DomainTogetherGroup<()>>(device, 0)?,
        })
    }
}

/// A cache of pipelines, which are compiled on first use.
type PipelineCache<K, P = wgpu::ComputePipeline> = Mutex<BTreeMap<K, P>>;

/// A compiled interpreter.
#[derive(Clone, Debug)]
pub(crate) struct StepKernel {
    pub(crate) pipeline: wgpu::ComputePipeline,
    /// The number of loops in its code. Drivers that limit iterations count at least one of each loop in every step.
    pub(crate) loops: u32,
}

impl StepKernel {
    fn of<R: Root>(
        kernel: &Kernel<R>,
        entry: Entry<R>,
        layouts: R::Groups<&Layout>,
        overrides: R::Overrides,
    ) -> Result<Self, Error> {
        Ok(Self { loops: kernel.loops(entry), pipeline: kernel.pipeline(entry, layouts, overrides)? })
    }
}

/// Compiles a kernel, with the text of translated regions if there is one.
fn compile<R: Root>(device: &Device, root: R, translated: Option<&str>) -> Result<Kernel<R>, Error> {
    match translated {
        Some(text) => Kernel::compile_translated(device, root, text),
        None => Kernel::compile(device, root),
    }
}

/// Links a kernel. Returns the name of its module, too.
fn text<R: Root>(root: R) -> Result<(&'static str, Linked), LinkError> {
    Ok((R::MODULE, root.link()?))
}

/// An interpreter with translated regions.
#[derive(Debug)]
struct TranslatedKernel {
    variant: InterpreterVariant,
    /// The text of the regions.
    regions: Box<str>,
    kernel: StepKernel,
}

/// The number of interpreters with translated regions that are kept for machines to come.
const TRANSLATED_MAX: usize = 32;

/// The kernels of a device, by the variants for pools and places and the binary logarithm of the number of words of a pool.
#[derive(Debug, Default)]
struct DeviceKernels(Mutex<HashMap<(FramePools, FramePlaces, u32), Arc<Kernels>>>);

impl Kernels {
    /// Returns the kernels for `pools` pools of `2^pool_shift` words each. They are compiled once per device.
    pub(crate) fn of(
        device: &Device,
        pools: FramePools,
        places: FramePlaces,
        pool_shift: u32,
    ) -> Result<Arc<Self>, Error> {
        // A single pool may have any size.
        let key = (pools, places, if pools == FramePools::One { 0 } else { pool_shift });
        let device_kernels = device.extension::<DeviceKernels>();
        let mut compiled = lock(&device_kernels.0);
        if let Some(kernels) = compiled.get(&key) {
            return Ok(Arc::clone(kernels));
        }
        let kernels = Arc::new(Self::compile(device, pools, places, pool_shift)?);
        compiled.insert(key, Arc::clone(&kernels));
        Ok(kernels)
    }

    fn compile(
        device: &Device,
        frame_pools: FramePools,
        frame_places: FramePlaces,
        pool_shift: u32,
    ) -> Result<Self, Error> {
        let layouts = Layouts::new(device, frame_pools)?;
        let transfer = Kernel::compile(device, Transfer { frame_pools, frame_places })?;
        let pipeline = |entry| {
            let groups = TransferGroups { machine: &layouts.machine, transfer: &layouts.transfer };
            transfer.pipeline(
                entry,
                groups,
                TransferOverrides { keeps_pages: 0, pool_shift, workgroup_size: WORKGROUP },
            )
        };
        Ok(Self {
            run: Mutex::default(),
            decode: Mutex::default(),
            read: pipeline(Transfer::READ_PIECES)?,
            write: pipeline(Transfer::WRITE_PIECES)?,
            reset: pipeline(Transfer::RESET)?,
            translated: Mutex::default(),
            mark: Mutex::default(),
            moves: Mutex::default(),
            loops: Mutex::default(),
            passes: Mutex::default(),
            views: Mutex::default(),
            digest: Mutex::default(),
            fold: Mutex::default(),
            domain: Mutex::default(),
            pools: frame_pools,
            frame_places,
            pool_shift,
            layouts,
        })
    }

    /// Returns an interpreter. Workgroups of one lane have interpreters of their own.
    pub(crate) fn run(&self, device: &Device, variant: InterpreterVariant) -> Result<StepKernel, Error> {
        get_or_compile(&self.run, variant, || self.compile_interpreter(device, variant, None))
    }

    /// Returns an interpreter as [`Self::run`] does. Nothing waits while it is compiled.
    pub(crate) fn run_unlocked(
        &self,
        device: &Device,
        variant: InterpreterVariant,
    ) -> Result<StepKernel, Error> {
        if let Some(found) = lock(&self.run).get(&variant) {
            return Ok(found.clone());
        }
        let kernel = self.compile_interpreter(device, variant, None)?;
        Ok(lock(&self.run).entry(variant).or_insert(kernel).clone())
    }

    /// Returns an interpreter with translated regions, whose text is `regions`. Nothing waits while it is compiled.
    pub(crate) fn run_translated(
        &self,
        device: &Device,
        variant: InterpreterVariant,
        regions: &str,
    ) -> Result<StepKernel, Error> {
        let is_this = |of: &TranslatedKernel| of.variant == variant && *of.regions == *regions;
        if let Some(found) = lock(&self.translated).iter().find(|of| is_this(of)) {
            return Ok(found.kernel.clone());
        }
        let kernel = self.compile_interpreter(device, variant, Some(regions))?;
        let mut translated = lock(&self.translated);
        if translated.len() == TRANSLATED_MAX {
            translated.pop_front();
        }
        translated.push_back(TranslatedKernel { variant, regions: regions.into(), kernel: kernel.clone() });
        Ok(kernel)
    }

    /// Compiles an interpreter, with the text of translated regions if there is one. Those that ask a network in each step
    /// have no regions.
    fn compile_interpreter(
        &self,
        device: &Device,
        variant: InterpreterVariant,
        translated: Option<&str>,
    ) -> Result<StepKernel, Error> {
        let InterpreterVariant { workgroup, stages, simd_unit, linux_calls, hooks, network, limits_loops } =
            variant;
        let limits_loops = limits_loops.into();
        let Self { pools: frame_pools, frame_places, pool_shift, .. } = *self;
        let Layouts { machine, networks, decisions, .. } = &self.layouts;
        let regions = if translated.is_some() { Regions::Present } else { Regions::Absent };
        let hooks_layout = (hooks == Hooks::Present).then_some(&self.layouts.hooks);
        match (network, workgroup, stages) {
            (None, 1, _) => StepKernel::of(
                &compile(
                    device,
                    InterpreterFew { frame_pools, frame_places, simd_unit, linux_calls, hooks, regions },
                    translated,
                )?,
                InterpreterFew::RUN,
                InterpreterFewGroups { machine, hooks: hooks_layout },
                InterpreterFewOverrides {
                    keeps_pages: 1,
                    limits_loops,
                    pool_shift,
                    workgroup_size: workgroup,
                },
            ),
            (None, _, Some(stage_order)) => StepKernel::of(
                &compile(
                    device,
                    InterpreterMany {
                        frame_pools,
                        frame_places,
                        stage_order,
                        simd_unit,
                        linux_calls,
                        hooks,
                        regions,
                    },
                    translated,
                )?,
                InterpreterMany::RUN,
                InterpreterManyGroups { machine, hooks: hooks_layout },
                InterpreterManyOverrides {
                    keeps_pages: 1,
                    limits_loops,
                    pool_shift,
                    workgroup_size: workgroup,
                },
            ),
            (None, _, None) => StepKernel::of(
                &compile(
                    device,
                    Interpreter { frame_pools, frame_places, simd_unit, linux_calls, hooks, regions },
                    translated,
                )?,
                Interpreter::RUN,
                InterpreterGroups { machine, hooks: hooks_layout },
                InterpreterOverrides { keeps_pages: 1, limits_loops, pool_shift, workgroup_size: workgroup },
            ),
            // All invocations of a workgroup work for one lane.
            (Some(NetworkVariant { network: class_network, .. }), 1, _) => StepKernel::of(
                &Kernel::compile(
                    device,
                    InterpreterNetworkFew {
                        frame_pools,
                        frame_places,
                        class_network,
                        simd_unit,
                        linux_calls,
                        hooks,
                        regions,
                    },
                )?,
                InterpreterNetworkFew::RUN,
                InterpreterNetworkFewGroups { machine, hooks: hooks_layout, networks, decisions },
                InterpreterNetworkFewOverrides { keeps_pages: 1, limits_loops, pool_shift },
            ),
            (Some(NetworkVariant { network: class_network, .. }), _, _) => StepKernel::of(
                &Kernel::compile(
                    device,
                    InterpreterNetwork {
                        frame_pools,
                        frame_places,
                        class_network,
                        simd_unit,
                        linux_calls,
                        hooks,
                        regions,
                    },
                )?,
                InterpreterNetwork::RUN,
                InterpreterNetworkGroups { machine, hooks: hooks_layout, networks, decisions },
                InterpreterNetworkOverrides {
                    keeps_pages: 1,
                    limits_loops,
                    pool_shift,
                    workgroup_size: workgroup,
                },
            ),
        }
    }

    /// Returns the linked text of an interpreter that asks no network, and the name of its module.
    pub(crate) fn interpreter_text(
        &self,
        variant: InterpreterVariant,
    ) -> Result<(&'static str, Linked), LinkError> {
        let InterpreterVariant { workgroup, stages, simd_unit, linux_calls, hooks, .. } = variant;
        let (frame_pools, frame_places, regions) = (self.pools, self.frame_places, Regions::Absent);
        if workgroup == 1 {
            text(InterpreterFew { frame_pools, frame_places, simd_unit, linux_calls, hooks, regions })
        } else if let Some(stage_order) = stages {
            text(InterpreterMany {
                frame_pools,
                frame_places,
                stage_order,
                simd_unit,
                linux_calls,
                hooks,
                regions,
            })
        } else {
            text(Interpreter { frame_pools, frame_places, simd_unit, linux_calls, hooks, regions })
        }
    }

    /// Returns the kernel that sets the markers of regions, or the one that removes them.
    pub(crate) fn mark(&self, device: &Device, sets: bool) -> Result<wgpu::ComputePipeline, Error> {
        get_or_compile(&self.mark, sets, || {
            let groups = MarkGroups { machine: &self.layouts.machine, mark: &self.layouts.mark };
            let entry = if sets { Mark::MARK } else { Mark::UNMARK };
            let overrides = MarkOverrides { workgroup_size: WORKGROUP };
            Kernel::compile(device, Mark)?.pipeline(entry, groups, overrides)
        })
    }

    /// Returns the kernels that move frames.
    pub(crate) fn moves(&self, device: &Device) -> Result<MoveKernels, Error> {
        get_or_compile(&self.moves, (), || {
            let root = Moves { frame_pools: self.pools, frame_places: self.frame_places };
            let kernel = Kernel::compile(device, root)?;
            let pipeline = |entry| {
                let groups = MovesGroups { machine: &self.layouts.machine, moves: &self.layouts.moves };
                let overrides = MovesOverrides { pool_shift: self.pool_shift, workgroup_size: WORKGROUP };
                kernel.pipeline(entry, groups, overrides)
            };
            Ok(MoveKernels {
                tally: pipeline(Moves::TALLY)?,
                choose: pipeline(Moves::CHOOSE)?,
                evict: pipeline(Moves::EVICT)?,
                fetch: pipeline(Moves::FETCH)?,
                locate: pipeline(Moves::LOCATE)?,
                find_used: pipeline(Moves::FIND_USED)?,
            })
        })
    }

    /// Returns the kernels that execute iterations of loops at once.
    pub(crate) fn loops(&self, device: &Device) -> Result<LoopKernels, Error> {
        get_or_compile(&self.loops, (), || {
            let kernel = Kernel::compile(
                device,
                LoopJobs { frame_pools: self.pools, frame_places: self.frame_places },
            )?;
            let pipeline = |entry| {
                let groups =
                    LoopJobsGroups { machine: &self.layouts.machine, loop_jobs: &self.layouts.loop_jobs };
                kernel.pipeline(
                    entry,
                    groups,
                    LoopJobsOverrides { keeps_pages: 0, pool_shift: self.pool_shift },
                )
            };
            Ok([
                pipeline(LoopJobs::CHECK)?,
                pipeline(LoopJobs::PROBE)?,
                pipeline(LoopJobs::PREPARE)?,
                pipeline(LoopJobs::COMMIT_EVEN)?,
                pipeline(LoopJobs::COMMIT_ODD)?,
                pipeline(LoopJobs::FINISH)?,
            ])
        })
    }

    /// Returns the kernels that execute iterations of passes of a bubble sort at once.
    pub(crate) fn passes(&self, device: &Device) -> Result<LoopKernels, Error> {
        get_or_compile(&self.passes, (), || {
            let kernel = Kernel::compile(
                device,
                PassJobs { frame_pools: self.pools, frame_places: self.frame_places },
            )?;
            let pipeline = |entry| {
                let groups =
                    PassJobsGroups { machine: &self.layouts.machine, pass_jobs: &self.layouts.pass_jobs };
                kernel.pipeline(
                    entry,
                    groups,
                    PassJobsOverrides { keeps_pages: 0, pool_shift: self.pool_shift },
                )
            };
            Ok([
                pipeline(PassJobs::GREATEST)?,
                pipeline(PassJobs::CARRY)?,
                pipeline(PassJobs::COUNT)?,
                pipeline(PassJobs::PREPARE)?,
                pipeline(PassJobs::EXCHANGE)?,
                pipeline(PassJobs::FINISH)?,
            ])
        })
    }

    /// Returns the kernel that computes views of pictures.
    pub(crate) fn views(&self, device: &Device) -> Result<wgpu::ComputePipeline, Error> {
        get_or_compile(&self.views, (), || {
            let groups = ViewsGroups { machine: &self.layouts.machine, views: &self.layouts.views };
            let overrides =
                ViewsOverrides { keeps_pages: 0, pool_shift: self.pool_shift, workgroup_size: WORKGROUP };
            let kernel =
                Kernel::compile(device, Views { frame_pools: self.pools, frame_places: self.frame_places })?;
            kernel.pipeline(Views::COMPUTE_VIEWS, groups, overrides)
        })
    }

    /// Returns the kernel that lowers the words of pages.
    pub(crate) fn decode(
        &self,
        device: &Device,
        network: Option<NetworkVariant>,
    ) -> Result<wgpu::ComputePipeline, Error> {
        get_or_compile(&self.decode, network, || {
            let root = Decode {
                frame_pools: self.pools,
                frame_places: self.frame_places,
                class_source: network.map_or(ClassSource::Table, |network| network.class_source),
                class_network: network.map_or(ClassNetwork::Alone, |network| network.network),
            };
            let groups = DecodeGroups {
                machine: &self.layouts.machine,
                decode: &self.layouts.decode,
                networks: network.map(|_| &self.layouts.networks),
                decisions: network.map(|_| &self.layouts.decisions),
            };
            let overrides = DecodeOverrides { pool_shift: self.pool_shift, workgroup_size: WORKGROUP };
            Kernel::compile(device, root)?.pipeline(Decode::DECODE, groups, overrides)
        })
    }

    /// Returns the kernel that computes digests of micro-ops. Machines do not use it.
    pub(crate) fn digest(&self, device: &Device) -> Result<wgpu::ComputePipeline, Error> {
        get_or_compile(&self.digest, (), || {
            let groups = DigestGroups { machine: &self.layouts.machine, digest: &self.layouts.digest };
            let overrides = DigestOverrides { workgroup_size: WORKGROUP };
            Kernel::compile(device, Digest)?.pipeline(Digest::DIGEST, groups, overrides)
        })
    }

    /// Returns the kernel that folds the first layer of a network.
    pub(crate) fn fold(&self, device: &Device) -> Result<wgpu::ComputePipeline, Error> {
        get_or_compile(&self.fold, (), || {
            let groups = FoldGroups { fold: &self.layouts.fold };
            Kernel::compile(device, Fold)?.pipeline(
                Fold::FOLD,
                groups,
                FoldOverrides { workgroup_size: WORKGROUP },
            )
        })
    }

    /// Returns the kernel that evaluates a network on many tuples.
    pub(crate) fn domain(
        &self,
        device: &Device,
        evaluation: Evaluation,
        class_network: ClassNetwork,
    ) -> Result<wgpu::ComputePipeline, Error> {
        let Layouts { domain, domain_together, networks, .. } = &self.layouts;
        let entry = match evaluation {
            Evaluation::Classes => Domain::FILL_DOMAIN,
            Evaluation::Logits => Domain::DOMAIN_LOGITS,
            Evaluation::SharedLogits => Domain::SHARED_LOGITS,
            Evaluation::Together => {
                return get_or_compile(&self.domain, (evaluation, class_network), || {
                    let groups = DomainTogetherGroups { domain_together, networks };
                    Kernel::compile(device, DomainTogether { class_network })?.pipeline(
                        DomainTogether::ASK_TOGETHER,
                        groups,
                        (),
                    )
                });
            }
        };
        get_or_compile(&self.domain, (evaluation, class_network), || {
            let groups = DomainGroups { domain, networks };
            let overrides = DomainOverrides { workgroup_size: WORKGROUP };
            Kernel::compile(device, Domain { class_network })?.pipeline(entry, groups, overrides)
        })
    }
}

/// Returns a pipeline from a cache. Compiles it if it is not there.
fn get_or_compile<K: Copy + Ord, P: Clone>(
    cache: &PipelineCache<K, P>,
    key: K,
    compile: impl FnOnce() -> Result<P, Error>,
) -> Result<P, Error> {
    let mut pipelines = lock(cache);
    if let Some(pipeline) = pipelines.get(&key) {
        return Ok(pipeline.clone());
    }
    let pipeline = compile()?;
    pipelines.insert(key, pipeline.clone());
    Ok(pipeline)
}
