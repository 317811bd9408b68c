//! The compiled kernels of the machine, for a number of frame pools.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use kvrm_shaders::interface::machine::{
    DecisionsGroup, Decode, DecodeGroup, DecodeGroups, DecodeOverrides, Digest, DigestGroup, DigestGroups,
    DigestOverrides, Interpreter, InterpreterFew, InterpreterFewGroups, InterpreterFewOverrides,
    InterpreterGroups, InterpreterNetwork, InterpreterNetworkFew, InterpreterNetworkFewGroups,
    InterpreterNetworkFewOverrides, InterpreterNetworkGroups, InterpreterNetworkOverrides,
    InterpreterOverrides, MachineGroup, Transfer, TransferGroup, TransferGroups, TransferOverrides,
};
use kvrm_shaders::interface::networks::{
    Domain, DomainGroup, DomainGroups, DomainOverrides, DomainTogether, DomainTogetherGroup,
    DomainTogetherGroups, Fold, FoldGroup, FoldGroups, FoldOverrides, NetworksGroup,
};
use kvrm_shaders::kernel::{Entry, Root};
use kvrm_shaders::variants::{Choice, ClassNetwork, FramePools, LinuxCalls, SimdUnit};

use crate::device::Device;
use crate::device::error::Error;
use crate::device::kernel::{Kernel, Layout};
use crate::device::lock::lock;

/// The invocations of a workgroup, and the most of the interpreter's.
pub(crate) const WORKGROUP: u32 = 64;

/// A network that chooses the classes of words, and when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Chooser {
    /// When it is asked.
    pub(crate) choice: Choice,
    /// Which network it is.
    pub(crate) network: ClassNetwork,
}

impl Chooser {
    /// Whether the network is asked in each step.
    pub(crate) fn is_asked_in_steps(self) -> bool {
        self.choice == Choice::ByStep
    }
}

/// Which interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Variant {
    /// How many lanes share a workgroup.
    pub(crate) workgroup: u32,
    /// Its instructions on SIMD registers.
    pub(crate) simd_unit: SimdUnit,
    /// Whether it serves frequent calls of Linux programs.
    pub(crate) linux_calls: LinuxCalls,
    /// The network that chooses classes, if one does.
    pub(crate) chooser: Option<Chooser>,
    /// Whether it counts loop iterations, as the driver limits them.
    pub(crate) limits_loops: bool,
}

/// What evaluates a network on many tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evaluation {
    /// The classes of all tuples.
    Classes,
    /// The logits of all tuples, each by an invocation.
    Logits,
    /// The logits of tuples that the invocations of a workgroup have in common.
    SharedLogits,
    /// Class and logits of tuples that workgroups evaluate together.
    Together,
}

/// All kernels, and the layouts of what is bound to them.
#[derive(Debug)]
pub(crate) struct Kernels {
    /// The interpreter, as far as somebody has asked for it.
    run: Compiled<Variant, StepKernel>,
    /// What lowers words, by what chooses their class.
    decode: Compiled<Option<Chooser>>,
    pub(crate) read: wgpu::ComputePipeline,
    pub(crate) write: wgpu::ComputePipeline,
    pub(crate) reset: wgpu::ComputePipeline,
    digest: Compiled<()>,
    fold: Compiled<()>,
    domain: Compiled<(Evaluation, ClassNetwork)>,
    pools: FramePools,
    pool_shift: u32,
    pub(crate) layouts: Layouts,
}

/// The layouts of bind groups.
#[derive(Debug)]
pub(crate) struct Layouts {
    pub(crate) machine: Layout,
    pub(crate) decode: Layout,
    pub(crate) transfer: Layout,
    pub(crate) digest: Layout,
    pub(crate) networks: Layout,
    pub(crate) decisions: Layout,
    pub(crate) fold: Layout,
    pub(crate) domain: Layout,
    pub(crate) domain_together: Layout,
}

impl Layouts {
    fn new(device: &Device, pools: FramePools) -> Result<Self, Error> {
        Ok(Self {
            machine: Layout::of::<MachineGroup<()>>(device, pools.bindings())?,
            decode: Layout::of::<DecodeGroup<()>>(device, 0)?,
            transfer: Layout::of::<TransferGroup<()>>(device, 0)?,
            digest: Layout::of::<DigestGroup<()>>(device, 0)?,
            networks: Layout::of::<NetworksGroup<()>>(device, 0)?,
            decisions: Layout::of::<DecisionsGroup<()>>(device, 0)?,
            fold: Layout::of::<FoldGroup<()>>(device, 0)?,
            domain: Layout::of::<DomainGroup<()>>(device, 0)?,
            domain_together: Layout::of::<DomainTogetherGroup<()>>(device, 0)?,
        })
    }
}

/// Pipelines that are compiled when they are first asked for.
type Compiled<K, P = wgpu::ComputePipeline> = Mutex<BTreeMap<K, P>>;

/// An interpreter.
#[derive(Clone, Debug)]
pub(crate) struct StepKernel {
    pub(crate) pipeline: wgpu::ComputePipeline,
    /// How many loops its code has. Drivers that limit iterations count at least one of each loop in every step.
    pub(crate) loops: u32,
}

impl StepKernel {
    fn compile<R: Root>(
        device: &Device,
        root: R,
        entry: Entry<R>,
        layouts: R::Groups<&Layout>,
        overrides: R::Overrides,
    ) -> Result<Self, Error> {
        let kernel = Kernel::compile(device, root)?;
        Ok(Self { loops: kernel.loops(entry), pipeline: kernel.pipeline(entry, layouts, overrides)? })
    }
}

/// The kernels of a device, by the number of pools and the binary logarithm of the words of one.
#[derive(Debug, Default)]
struct OfDevice(Mutex<HashMap<(usize, u32), Arc<Kernels>>>);

impl Kernels {
    /// The kernels for frames in so many bindings of `2^pool_shift` words each, compiled once a device.
    pub(crate) fn of(device: &Device, pools: FramePools, pool_shift: u32) -> Result<Arc<Self>, Error> {
        // A single pool may have any size.
        let key = if pools == FramePools::One { (1, 0) } else { (pools.bindings(), pool_shift) };
        let of_device = device.extension::<OfDevice>();
        let mut compiled = lock(&of_device.0);
        if let Some(kernels) = compiled.get(&key) {
            return Ok(Arc::clone(kernels));
        }
        let kernels = Arc::new(Self::compile(device, pools, pool_shift)?);
        compiled.insert(key, Arc::clone(&kernels));
        Ok(kernels)
    }

    fn compile(device: &Device, frame_pools: FramePools, pool_shift: u32) -> Result<Self, Error> {
        let layouts = Layouts::new(device, frame_pools)?;
        let transfer = Kernel::compile(device, Transfer { frame_pools })?;
        let pipeline = |entry| {
            let groups = TransferGroups { machine: &layouts.machine, transfer: &layouts.transfer };
            transfer.pipeline(entry, groups, TransferOverrides { pool_shift, workgroup_size: WORKGROUP })
        };
        Ok(Self {
            run: Mutex::default(),
            decode: Mutex::default(),
            read: pipeline(Transfer::READ_PIECES)?,
            write: pipeline(Transfer::WRITE_PIECES)?,
            reset: pipeline(Transfer::RESET)?,
            digest: Mutex::default(),
            fold: Mutex::default(),
            domain: Mutex::default(),
            pools: frame_pools,
            pool_shift,
            layouts,
        })
    }

    /// The interpreter. Lanes that are a workgroup each have one of their own.
    pub(crate) fn run(&self, device: &Device, variant: Variant) -> Result<StepKernel, Error> {
        let Variant { workgroup, simd_unit, linux_calls, chooser, limits_loops } = variant;
        let limits_loops = limits_loops.into();
        let asked = chooser.filter(|chooser| chooser.is_asked_in_steps());
        let Self { pools: frame_pools, pool_shift, .. } = *self;
        let Layouts { machine, networks, decisions, .. } = &self.layouts;
        compiled(&self.run, Variant { chooser: asked, ..variant }, || match (asked, workgroup) {
            (None, 1) => StepKernel::compile(
                device,
                InterpreterFew { frame_pools, simd_unit, linux_calls },
                InterpreterFew::RUN,
                InterpreterFewGroups { machine },
                InterpreterFewOverrides { limits_loops, pool_shift, workgroup_size: workgroup },
            ),
            (None, _) => StepKernel::compile(
                device,
                Interpreter { frame_pools, simd_unit, linux_calls },
                Interpreter::RUN,
                InterpreterGroups { machine },
                InterpreterOverrides { limits_loops, pool_shift, workgroup_size: workgroup },
            ),
            // All invocations of a workgroup are one lane's.
            (Some(Chooser { network: class_network, .. }), 1) => StepKernel::compile(
                device,
                InterpreterNetworkFew { frame_pools, class_network, simd_unit, linux_calls },
                InterpreterNetworkFew::RUN,
                InterpreterNetworkFewGroups { machine, networks, decisions },
                InterpreterNetworkFewOverrides { limits_loops, pool_shift },
            ),
            (Some(Chooser { network: class_network, .. }), _) => StepKernel::compile(
                device,
                InterpreterNetwork { frame_pools, class_network, simd_unit, linux_calls },
                InterpreterNetwork::RUN,
                InterpreterNetworkGroups { machine, networks, decisions },
                InterpreterNetworkOverrides { limits_loops, pool_shift, workgroup_size: workgroup },
            ),
        })
    }

    /// What lowers the words of pages.
    pub(crate) fn decode(
        &self,
        device: &Device,
        chooser: Option<Chooser>,
    ) -> Result<wgpu::ComputePipeline, Error> {
        compiled(&self.decode, chooser, || {
            let root = Decode {
                frame_pools: self.pools,
                choice: chooser.map_or(Choice::Table, |chooser| chooser.choice),
                class_network: chooser.map_or(ClassNetwork::Alone, |chooser| chooser.network),
            };
            let groups = DecodeGroups {
                machine: &self.layouts.machine,
                decode: &self.layouts.decode,
                networks: chooser.map(|_| &self.layouts.networks),
                decisions: chooser.map(|_| &self.layouts.decisions),
            };
            let overrides = DecodeOverrides { pool_shift: self.pool_shift, workgroup_size: WORKGROUP };
            Kernel::compile(device, root)?.pipeline(Decode::DECODE, groups, overrides)
        })
    }

    /// What makes digests of micro-ops. Machines have no use for it.
    pub(crate) fn digest(&self, device: &Device) -> Result<wgpu::ComputePipeline, Error> {
        compiled(&self.digest, (), || {
            let groups = DigestGroups { machine: &self.layouts.machine, digest: &self.layouts.digest };
            let overrides = DigestOverrides { workgroup_size: WORKGROUP };
            Kernel::compile(device, Digest)?.pipeline(Digest::DIGEST, groups, overrides)
        })
    }

    /// What folds a network.
    pub(crate) fn fold(&self, device: &Device) -> Result<wgpu::ComputePipeline, Error> {
        compiled(&self.fold, (), || {
            let groups = FoldGroups { fold: &self.layouts.fold };
            Kernel::compile(device, Fold)?.pipeline(
                Fold::FOLD,
                groups,
                FoldOverrides { workgroup_size: WORKGROUP },
            )
        })
    }

    /// What evaluates a network on many tuples.
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
                return compiled(&self.domain, (evaluation, class_network), || {
                    let groups = DomainTogetherGroups { domain_together, networks };
                    Kernel::compile(device, DomainTogether { class_network })?.pipeline(
                        DomainTogether::ASK_TOGETHER,
                        groups,
                        (),
                    )
                });
            }
        };
        compiled(&self.domain, (evaluation, class_network), || {
            let groups = DomainGroups { domain, networks };
            let overrides = DomainOverrides { workgroup_size: WORKGROUP };
            Kernel::compile(device, Domain { class_network })?.pipeline(entry, groups, overrides)
        })
    }
}

/// A pipeline that may have been compiled already.
fn compiled<K: Copy + Ord, P: Clone>(
    known: &Compiled<K, P>,
    key: K,
    compile: impl FnOnce() -> Result<P, Error>,
) -> Result<P, Error> {
    let mut known = lock(known);
    if let Some(pipeline) = known.get(&key) {
        return Ok(pipeline.clone());
    }
    let pipeline = compile()?;
    known.insert(key, pipeline.clone());
    Ok(pipeline)
}
