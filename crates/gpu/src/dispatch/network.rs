//! A dispatch network on a device: its weights, its answers to all tuples, and what it decided.

use std::sync::{Arc, LazyLock};

use kvrm_arm64::Class;
use kvrm_machine::{ClassDecisions, Decisions};
use kvrm_models::{
    Architecture, DispatchNetwork, TUPLES, Tuple, Weights, dispatch_labels, dispatch_layout, sha256_of,
};
use kvrm_shaders::layout::{
    DECISION_ASKED, DECISION_FELL_BACK, DECISION_MISPREDICTED, DECISION_WORDS, DISPATCH_STOPS,
    DISPATCH_TABLE_DECIDES, PAGE_OPS,
};
use kvrm_shaders::{CHOICES, NETWORKS};

use super::{Dispatch, Mode};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::kernels::{WORKGROUP, shader};
use crate::pipeline::{Access, bind, storage_layout};

/// Bytes of what is noted beside a micro-op.
pub(crate) const WORD_BYTES: u64 = 8;
/// Bytes of the sums of the first layer.
const FOLDED_BYTES: u64 = 256 * 4 * (dispatch_layout::FC2_WEIGHTS - dispatch_layout::FC1_BIAS) as u64;
/// The fewest invocations of a subgroup that share an evaluation.
const TEAM: u32 = 8;
/// What kernels over all tuples declare with `override`.
const CONSTANTS: [(&str, f64); 1] = [("WORKGROUP_SIZE", WORKGROUP as f64)];
/// Loop iterations of an evaluation, and one of the step.
const LOOPS: u32 = 48;
/// What the network should say.
static LABELS: LazyLock<Vec<u8>> = LazyLock::new(dispatch_labels);

/// Which variants of kernels a machine with a network has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Chooser {
    /// The number of the module that chooses where words are lowered.
    choice: usize,
    /// The number of what is substituted for the network's modules, from 1.
    network: usize,
}

impl Chooser {
    fn new(device: &Device, mode: Mode, weights: &Weights, subgroups: bool) -> Self {
        let shares = subgroups && device.info().has_subgroups && device.info().subgroup_sizes.0 >= TEAM;
        Self {
            choice: match mode {
                Mode::MemoWord => 0,
                Mode::MemoDomain => 1,
                Mode::Table | Mode::Network | Mode::Hybrid => 2,
            },
            network: match weights.architecture() {
                Architecture::SmallDispatch => 2,
                _ => usize::from(shares),
            },
        }
    }

    /// What is substituted in kernels.
    pub(crate) fn substitutions(self) -> Vec<(&'static str, &'static str)> {
        [&[(kvrm_shaders::CHOICE, CHOICES[self.choice])], self.network()].concat()
    }

    /// What is substituted for the network's modules.
    fn network(self) -> &'static [(&'static str, &'static str)] {
        self.network.checked_sub(1).map_or(&[], |index| NETWORKS[index])
    }

    /// How many loop iterations a step takes, roughly, where that of the plain interpreter is one.
    pub(crate) const fn loops(self) -> u32 {
        if self.is_asked_in_steps() { LOOPS } else { 1 }
    }

    /// Whether the network is asked in each step.
    pub(crate) const fn is_asked_in_steps(self) -> bool {
        self.choice == 2
    }
}

/// A dispatch network on a device.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) chooser: Chooser,
    /// What becomes of wrong decisions, as kernels are told.
    pub(crate) flags: u32,
    mode: Mode,
    name: String,
    /// For how many tuples it is right.
    right: u32,
    pub(crate) weights: Buffer,
    pub(crate) folded: Buffer,
    pub(crate) decisions: Buffer,
    pub(crate) domain: Buffer,
    /// What is noted beside micro-ops.
    pub(crate) words: Buffer,
}

impl Network {
    /// Brings the network of `dispatch` to a device and tests it there, if there is one.
    pub(crate) fn new(device: &Device, dispatch: &Dispatch, subgroups: bool) -> Result<Option<Self>, Error> {
        if dispatch.mode == Mode::Table {
            return Ok(None);
        }
        let weights = match &dispatch.weights {
            Some(weights) => Arc::clone(weights),
            None => builtin()?,
        };
        let chooser = Chooser::new(device, dispatch.mode, &weights, subgroups);
        let loaded = Loaded::new(device, &weights, chooser)?;
        let domain = loaded.evaluate("fill_domain", 4, TUPLES as u64, &[])?;
        let answers = device.download(&[(&domain, 0..TUPLES as u64)])?.remove(0);
        let right = test(&answers, &weights)?;
        let stops = if dispatch.stops { DISPATCH_STOPS } else { 0 };
        let sha256 = sha256_of(weights.values());
        Ok(Some(Self {
            chooser,
            flags: if dispatch.mode == Mode::Hybrid { DISPATCH_TABLE_DECIDES } else { stops },
            mode: dispatch.mode,
            name: format!("{} {}", weights.architecture().name(), &sha256[..12]),
            right,
            weights: loaded.weights,
            folded: loaded.folded,
            decisions: Buffer::zeroed(
                device,
                "decisions",
                4 * u64::from(DECISION_WORDS) * Class::ALL.len() as u64,
            )?,
            domain,
            words: Buffer::zeroed(device, "words", WORD_BYTES * u64::from(PAGE_OPS))?,
        }))
    }

    /// What was decided since this was last asked.
    pub(crate) fn take_decisions(&self, device: &Device) -> Result<Decisions, Error> {
        let bytes = device.download(&[(&self.decisions, 0..self.decisions.bytes())])?.remove(0);
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        self.decisions.upload(0, &vec![0_u32; words.len()])?;
        let (counters, _) = words.as_chunks::<{ DECISION_WORDS as usize }>();
        let count = |words: &[u32], counter: u32| {
            let at = counter as usize;
            u64::from(words[at]) | u64::from(words[at + 1]) << 32
        };
        let classes = Class::ALL.iter().zip(counters).map(|(class, words)| ClassDecisions {
            class: class.name(),
            asked: count(words, DECISION_ASKED),
            mispredicted: count(words, DECISION_MISPREDICTED),
            fell_back: count(words, DECISION_FELL_BACK),
        });
        Ok(Decisions {
            mode: self.mode.name(),
            network: self.name.clone(),
            tuples: TUPLES as u32,
            tuples_right: self.right,
            classes: classes.collect(),
        })
    }
}

/// The weights that come with KVRM, read once.
fn builtin() -> Result<Arc<Weights>, Error> {
    static WEIGHTS: LazyLock<Result<Arc<Weights>, String>> = LazyLock::new(|| {
        let weights = Weights::builtin(Architecture::Dispatch).map_err(|error| error.to_string())?;
        let (weights, _) = weights.ok_or("they are missing")?;
        Ok(Arc::new(weights))
    });
    WEIGHTS.clone().map_err(|reason| Error::Weights { reason })
}

/// Weights on a device, ready to be evaluated.
struct Loaded<'a> {
    device: &'a Device,
    weights: Buffer,
    folded: Buffer,
    /// What is substituted for the network's modules.
    substitutions: &'static [(&'static str, &'static str)],
}

impl<'a> Loaded<'a> {
    /// Brings weights to a device and folds the first layer there.
    fn new(device: &'a Device, weights: &Weights, chooser: Chooser) -> Result<Self, Error> {
        let flat = Buffer::in_host_memory(device, "weights", weights.values())?;
        let folded = Buffer::zeroed(device, "folded weights", FOLDED_BYTES)?;
        if weights.architecture() == Architecture::Dispatch {
            let layout = storage_layout(device, "folding", &[Access::Read, Access::ReadWrite])?;
            let group = bind(device, "folding", &layout, &[&flat, &folded])?;
            let fold = shader(device, "networks::fold", 1, &[])?.pipeline("fold", &[&layout], &CONSTANTS)?;
            let workgroups = (FOLDED_BYTES / 4) as u32 / WORKGROUP;
            device.submit("folding a network", |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&fold);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(workgroups, 1, 1);
            })?;
        }
        Ok(Self { device, weights: flat, folded, substitutions: chooser.network() })
    }

    /// Evaluates the network on all tuples, so many by an invocation. What comes of them has `bytes` bytes.
    fn evaluate(
        &self,
        entry: &str,
        tuples: u32,
        bytes: u64,
        constants: &[(&str, f64)],
    ) -> Result<Buffer, Error> {
        let Self { device, weights, folded, substitutions } = self;
        let outputs = Buffer::zeroed(device, entry, bytes)?;
        let own_layout = storage_layout(device, "outputs", &[Access::ReadWrite])?;
        let network_layout = network_layout(device)?;
        let own = bind(device, "outputs", &own_layout, &[&outputs])?;
        let network = bind(device, "network", &network_layout, &[weights, folded])?;
        let layouts = [Some(&own_layout), None, Some(&network_layout)];
        let pipeline = shader(device, "networks::domain", 1, substitutions)?.pipeline_at(
            entry,
            &layouts,
            &[&CONSTANTS, constants].concat(),
        )?;
        let workgroups = TUPLES as u32 / tuples / WORKGROUP;
        let submission = device.submit("evaluating a network", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &own, &[]);
            pass.set_bind_group(2, &network, &[]);
            pass.dispatch_workgroups(workgroups, 1, 1);
        })?;
        device.wait(&submission)?;
        Ok(outputs)
    }
}

/// Whether invocations share evaluations.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Never.
    Never,
    /// In subgroups whose tuples are the same.
    Possibly,
    /// In all subgroups, as all have the same tuple.
    Always,
}

/// The logits of all tuples, as kernels of machines evaluate them: each invocation by itself; those of a subgroup, if
/// they have the same tuple; or so that they do have, for every 61st tuple.
///
/// # Errors
///
/// The device fails.
#[doc(hidden)]
pub fn machine_logits(device: &Device, weights: &Weights, sharing: Sharing) -> Result<Vec<[f32; 7]>, Error> {
    let subgroups = sharing != Sharing::Never;
    let loaded = Loaded::new(device, weights, Chooser::new(device, Mode::Network, weights, subgroups))?;
    let bytes = size_of::<[f32; 7]>() as u64 * TUPLES as u64;
    let always = [("SAME", f64::from(WORKGROUP)), ("STRIDE", 61.0)];
    let constants = if sharing == Sharing::Always { &always[..] } else { &[] };
    let logits = loaded.evaluate("domain_logits", 1, bytes, constants)?;
    Ok(bytemuck::pod_collect_to_vec(&device.download(&[(&logits, 0..bytes)])?.remove(0)))
}

/// Compares a device's answers with what they should be: those of the table, or, if the network is not right for all
/// tuples, those of the host, where arithmetic is exact. Returns for how many tuples the network is right.
fn test(answers: &[u8], weights: &Weights) -> Result<u32, Error> {
    let right = answers.iter().zip(&*LABELS).filter(|(answer, label)| answer == label).count();
    if right < TUPLES
        && weights.architecture() == Architecture::Dispatch
        && let Ok(network) = DispatchNetwork::from_flat(weights.values())
    {
        let expected = network.classes_of_all();
        let differing = answers.iter().zip(&expected).position(|(answer, expected)| answer != expected);
        if let Some(index) = differing.filter(|_| network.is_exact()) {
            let word = Tuple::new(index as u32).first_word();
            let (answer, expected) = (answers[index], expected[index]);
            let message = format!("the network gives {word:#010x} class {answer}, not {expected}");
            return Err(Error::WrongResult { message });
        }
    }
    Ok(right as u32)
}

/// Group 2 of kernels that evaluate a network.
pub(crate) fn network_layout(device: &Device) -> Result<wgpu::BindGroupLayout, Error> {
    storage_layout(device, "network", &[Access::Read, Access::Read])
}

/// Group 3 of kernels that choose by a network.
pub(crate) fn decisions_layout(device: &Device) -> Result<wgpu::BindGroupLayout, Error> {
    storage_layout(device, "decisions", &[Access::ReadWrite, Access::Read, Access::ReadWrite])
}
