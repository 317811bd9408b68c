//! A network for class selection on a device: its weights, its answers to all tuples, and its decisions.

use std::sync::{Arc, LazyLock};

use kvrm_arm64::Class;
use kvrm_machine::{ClassDecisions, Decisions};
use kvrm_models::{
    Architecture, DispatchNetwork, TUPLES, Tuple, Weights, dispatch_labels, dispatch_layout, sha256_of,
};
use kvrm_shaders::interface::machine::DecisionsGroup;
use kvrm_shaders::interface::networks::{DomainGroup, DomainTogetherGroup, FoldGroup, NetworksGroup};
use kvrm_shaders::kernel::Group as _;
use kvrm_shaders::layout::{
    DECISION_ASKED, DECISION_FELL_BACK, DECISION_MISPREDICTED, DECISION_WORDS, NEAR_VECTORS, PAGE_OPS,
    SELECTION_STOPS, SELECTION_TABLE_DECIDES, SHARED_STRIDE, TOGETHER_WORDS,
};
use kvrm_shaders::variants::{ClassNetwork, ClassSource, FramePlaces, FramePools};

use super::{ClassSelection, SelectionMode};
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::machine::kernels::{Evaluation, Kernels, NetworkVariant, WORKGROUP};

/// The size of the sums of the first layer in bytes.
const FOLDED_BYTES: u64 = 256 * 4 * (dispatch_layout::FC2_WEIGHTS - dispatch_layout::FC1_BIAS) as u64;
/// The size of the other weights in bytes.
const NEAR_BYTES: u64 = NEAR_VECTORS as u64 * 16;
/// The distance between tuples that invocations evaluate together for comparison.
const STRIDE: usize = SHARED_STRIDE as usize;
/// The number of these tuples.
const STRIDES: usize = TUPLES.div_ceil(STRIDE);
/// The class and the logits of a tuple that a workgroup has evaluated together.
type WorkgroupAnswer = [u32; TOGETHER_WORDS as usize];
/// The number of loop iterations of an evaluation by a workgroup together, which takes the most: 12 for features, 16
/// for inputs of the second layer, 16 for inputs of the third.
const LOOPS: u32 = 44;
/// The right class of each tuple.
static LABELS: LazyLock<Vec<u8>> = LazyLock::new(dispatch_labels);

/// Returns the variant of the kernels of a machine with a network.
fn network_variant(mode: SelectionMode, weights: &Weights, shares: bool) -> NetworkVariant {
    NetworkVariant {
        class_source: match mode {
            SelectionMode::MemoWord => ClassSource::ByWord,
            SelectionMode::MemoDomain => ClassSource::ByDomain,
            SelectionMode::Table | SelectionMode::Network | SelectionMode::Hybrid => ClassSource::ByStep,
        },
        network: match weights.architecture() {
            Architecture::SmallDispatch => ClassNetwork::Small,
            _ if shares => ClassNetwork::Subgroups,
            _ => ClassNetwork::Alone,
        },
    }
}

/// Returns the number of loop iterations that a network takes in a step.
pub(crate) fn loops_of(variant: Option<NetworkVariant>) -> u32 {
    if variant.is_some_and(NetworkVariant::is_asked_in_steps) { LOOPS } else { 0 }
}

/// A network for class selection on a device.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) variant: NetworkVariant,
    /// The flags, `SELECTION_*`, that tell kernels how to treat wrong answers.
    pub(crate) flags: u32,
    mode: SelectionMode,
    name: String,
    /// The number of tuples for which the network is right.
    right: u32,
    /// The sums of the first layer for each top byte of a word.
    pub(crate) folded: Buffer,
    /// The weights that are not folded into sums.
    pub(crate) near: Buffer,
    /// The counters of decisions.
    pub(crate) decisions: Buffer,
    /// The class of each tuple.
    pub(crate) domain: Buffer,
    /// The code words of micro-ops with their correct classes, for kernels that ask the network in each step.
    pub(crate) words: Buffer,
}

impl Network {
    /// Uploads the network of a class selection to a device, if it has one, and tests it there. If `together`, it is
    /// also tested with evaluations by a workgroup together, as lanes will ask it.
    pub(crate) fn new(
        device: &Device,
        kernels: &Kernels,
        selection: &ClassSelection,
        together: bool,
        subgroups: bool,
    ) -> Result<Option<Self>, Error> {
        if selection.mode == SelectionMode::Table {
            return Ok(None);
        }
        // The weights that come with KVRM are proved to be exact.
        let (weights, is_exact) = match &selection.weights {
            Some(weights) => (Arc::clone(weights), is_exact(weights)),
            None => (builtin()?, true),
        };
        // With inexact weights the class would depend on how many invocations share the work.
        let shares = subgroups && is_exact && device.info().has_subgroups;
        let variant = network_variant(selection.mode, &weights, shares);
        let loaded = LoadedWeights::new(device, kernels, &weights, variant)?;
        let domain = loaded.evaluate(Evaluation::Classes, TUPLES / 4 / WORKGROUP as usize, TUPLES)?;
        let answers = device.download(&[(&domain, 0..TUPLES as u64)])?.remove(0);
        let right = answers.iter().zip(&*LABELS).filter(|(answer, label)| answer == label).count();
        if is_exact {
            if right < TUPLES {
                let network = DispatchNetwork::from_flat(weights.values());
                let network = network.map_err(|error| Error::Weights { reason: error.to_string() })?;
                compare(&answers, &network.classes_of_all())?;
            }
            if together && variant.is_asked_in_steps() {
                let together: Vec<u8> = loaded.together()?.iter().map(|words| words[0] as u8).collect();
                let apart: Vec<u8> = answers.iter().step_by(STRIDE).copied().collect();
                compare(&together, &apart)?;
            }
        }
        let decisions = Class::ALL.len() * DECISION_WORDS as usize;
        Ok(Some(Self {
            variant,
            flags: match selection.mode {
                SelectionMode::Hybrid => SELECTION_TABLE_DECIDES,
                _ if selection.stops_on_misprediction() => SELECTION_STOPS,
                _ => 0,
            },
            mode: selection.mode,
            name: format!("{} {}", weights.architecture().name(), &sha256_of(weights.values())[..12]),
            right: right as u32,
            decisions: Buffer::zeroed(device, "decisions", 4 * decisions as u64)?,
            words: Buffer::zeroed(device, "words", DecisionsGroup::<()>::WORDS_STRIDE * u64::from(PAGE_OPS))?,
            folded: loaded.folded,
            near: loaded.near,
            domain,
        }))
    }

    /// Returns the decisions since the last call.
    pub(crate) fn take_decisions(&self, device: &Device) -> Result<Decisions, Error> {
        let bytes = device.download(&[(&self.decisions, 0..self.decisions.bytes())])?.remove(0);
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        self.decisions.upload(0, &vec![0_u32; words.len()])?;
        let (counters, _) = words.as_chunks::<{ DECISION_WORDS as usize }>();
        let count = |words: &[u32], counter: u32| {
            let at = counter as usize;
            u64::from(words[at]) | u64::from(words[at + 1]) << 32
        };
        let classes = Class::ALL.iter().zip(counters).map(|(class, words)| {
            let of = |counter| count(words, counter);
            ClassDecisions::new(*class, of(DECISION_ASKED), of(DECISION_MISPREDICTED), of(DECISION_FELL_BACK))
        });
        let (mode, name) = (self.mode.name(), self.name.clone());
        Ok(Decisions::new(mode, name, TUPLES as u32, self.right, classes.collect()))
    }
}

/// Returns the weights that come with KVRM. They are read once.
fn builtin() -> Result<Arc<Weights>, Error> {
    static WEIGHTS: LazyLock<Result<Arc<Weights>, String>> = LazyLock::new(|| {
        let weights = Weights::builtin(Architecture::Dispatch).map_err(|error| error.to_string())?;
        let (weights, _) = weights.ok_or("they are missing")?;
        Ok(Arc::new(weights))
    });
    WEIGHTS.clone().map_err(|reason| Error::Weights { reason })
}

/// Returns whether classes from these weights are the same on every device, however invocations share work.
fn is_exact(weights: &Weights) -> bool {
    // The small network divides.
    weights.architecture() == Architecture::Dispatch
        && DispatchNetwork::from_flat(weights.values()).is_ok_and(|network| network.is_exact())
}

/// Compares the classes from a device with the expected ones. Both are those of every tuple, or of every `STRIDE`th.
fn compare(found: &[u8], expected: &[u8]) -> Result<(), Error> {
    let stride = TUPLES.div_ceil(found.len().max(1));
    match found.iter().zip(expected).position(|(found, expected)| found != expected) {
        None => Ok(()),
        Some(index) => {
            let word = Tuple::new((index * stride) as u32).first_word();
            let (found, expected) = (found[index], expected[index]);
            let message = format!("the network gives {word:#010x} class {found}, not {expected}");
            Err(Error::WrongResult { message })
        }
    }
}

/// Weights on a device, ready for evaluation.
struct LoadedWeights<'a> {
    device: &'a Device,
    kernels: &'a Kernels,
    folded: Buffer,
    near: Buffer,
    variant: NetworkVariant,
}

impl<'a> LoadedWeights<'a> {
    /// Uploads weights to a device and folds the first layer there.
    fn new(
        device: &'a Device,
        kernels: &'a Kernels,
        weights: &Weights,
        variant: NetworkVariant,
    ) -> Result<Self, Error> {
        let folded = Buffer::zeroed(device, "folded weights", FOLDED_BYTES)?;
        let near = Buffer::uniform(device, "weights", NEAR_BYTES)?;
        if weights.architecture() == Architecture::SmallDispatch {
            near.upload(0, weights.values())?;
        } else {
            let flat = Buffer::in_host_memory(device, "flat weights", weights.values())?;
            let buffers = FoldGroup { unfolded: &flat, sums: &folded, others: &near };
            let group = kernels.layouts.fold.bind(device, buffers)?;
            let fold = kernels.fold(device)?;
            let workgroups = (FOLDED_BYTES / 4) as u32 / WORKGROUP;
            device.submit("folding a network", |encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&fold);
                pass.set_bind_group(FoldGroup::<()>::GROUP, &group, &[]);
                pass.dispatch_workgroups(workgroups, 1, 1);
            })?;
        }
        Ok(Self { device, kernels, folded, near, variant })
    }

    /// Evaluates the network with `workgroups` workgroups. Returns their outputs, which have `bytes` bytes.
    fn evaluate(&self, evaluation: Evaluation, workgroups: usize, bytes: usize) -> Result<Buffer, Error> {
        let Self { device, kernels, folded, near, variant } = self;
        let outputs = Buffer::zeroed(device, "answers of a network", bytes as u64)?;
        let layouts = &kernels.layouts;
        let group = match evaluation {
            Evaluation::Together => {
                layouts.domain_together.bind(device, DomainTogetherGroup { answers_together: &outputs })?
            }
            _ => layouts.domain.bind(device, DomainGroup { answers: &outputs })?,
        };
        let network = layouts.networks.bind(device, NetworksGroup { folded, near })?;
        let pipeline = kernels.domain(device, evaluation, variant.network)?;
        let submission = device.submit("evaluating a network", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(DomainGroup::<()>::GROUP, &group, &[]);
            pass.set_bind_group(NetworksGroup::<()>::GROUP, &network, &[]);
            pass.dispatch_workgroups(workgroups as u32, 1, 1);
        })?;
        device.wait(&submission)?;
        Ok(outputs)
    }

    /// Returns the class and the logits of every `STRIDE`th tuple, each evaluated by a workgroup together.
    fn together(&self) -> Result<Vec<WorkgroupAnswer>, Error> {
        let bytes = STRIDES * size_of::<WorkgroupAnswer>();
        let outputs = self.evaluate(Evaluation::Together, STRIDES, bytes)?;
        Ok(bytemuck::pod_collect_to_vec(&self.device.download(&[(&outputs, 0..bytes as u64)])?.remove(0)))
    }
}

/// The invocations that evaluate a tuple.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// One invocation each. All tuples are evaluated.
    Never,
    /// One invocation each, in kernels that would share the work in subgroups if the tuples were the same. All tuples
    /// are evaluated.
    Possibly,
    /// Subgroups whose tuples are the same. Every 61st tuple is evaluated.
    Subgroups,
    /// Workgroups together. Every 61st tuple is evaluated.
    Workgroups,
}

/// Returns tuples and their logits, evaluated as in the kernels of machines.
///
/// # Errors
///
/// The device fails.
#[doc(hidden)]
pub fn machine_logits(
    device: &Device,
    weights: &Weights,
    sharing: Sharing,
) -> Result<Vec<(Tuple, [f32; 7])>, Error> {
    let shares = matches!(sharing, Sharing::Possibly | Sharing::Subgroups) && device.info().has_subgroups;
    let variant = network_variant(SelectionMode::Network, weights, shares);
    let kernels = Kernels::of(device, FramePools::One, FramePlaces::Fixed, 0)?;
    let loaded = LoadedWeights::new(device, &kernels, weights, variant)?;
    let tuple = |index: usize| Tuple::new(index as u32);
    if sharing == Sharing::Workgroups {
        let logits = |words: WorkgroupAnswer| std::array::from_fn(|class| f32::from_bits(words[1 + class]));
        let strided = loaded.together()?.into_iter().enumerate();
        return Ok(strided.map(|(index, words)| (tuple(index * STRIDE), logits(words))).collect());
    }
    let (evaluation, workgroups, stride) = match sharing {
        Sharing::Subgroups => (Evaluation::SharedLogits, STRIDES, STRIDE),
        _ => (Evaluation::Logits, TUPLES / WORKGROUP as usize, 1),
    };
    let bytes = size_of::<[f32; 7]>() * TUPLES;
    let logits = loaded.evaluate(evaluation, workgroups, bytes)?;
    let bytes = device.download(&[(&logits, 0..bytes as u64)])?.remove(0);
    let logits: Vec<[f32; 7]> = bytemuck::pod_collect_to_vec(&bytes);
    Ok(logits.into_iter().enumerate().step_by(stride).map(|(index, logits)| (tuple(index), logits)).collect())
}
