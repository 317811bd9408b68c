//! The explanation of a plan: which kernels can run a network, how fast they are, and which one is chosen.

use std::fmt;

use super::kernels::Kernel;

/// The plan of a network on a GPU, with the measured times of its kernels.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BurstPlan {
    /// The number of steps of a batch, between which neurons exchange no spikes.
    pub batch: u32,
    /// The number of blocks of neurons of [`Kernel::Fused`].
    pub blocks: u32,
    /// The number of neurons of a block. The last blocks may have fewer.
    pub block_neurons: u32,
    /// The maximum number of steps of a window, whose sums are in workgroup memory at the same time.
    pub window: u32,
    /// All kernels.
    pub kernels: Vec<KernelPlan>,
}

/// What the plan says about a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelPlan {
    /// The kernel.
    pub kernel: Kernel,
    /// The time of a step in seconds, as measured, or the reason why the kernel is not used. `None` if it has not been
    /// measured yet.
    pub step: Option<Result<f64, Unsuitable>>,
}

impl BurstPlan {
    /// Returns the fastest of the kernels that have been measured.
    #[must_use]
    pub fn fastest(&self) -> Option<Kernel> {
        let measured = self.kernels.iter().filter_map(|plan| Some((plan.kernel, plan.step?.ok()?)));
        measured.min_by(|(_, left), (_, right)| left.total_cmp(right)).map(|(kernel, _)| kernel)
    }

    /// Returns whether all kernels that can run the network have been measured.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.kernels.iter().all(|plan| plan.step.is_some())
    }
}

/// The reason why a kernel is not used for a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsuitable {
    /// [`Options::kernel`](super::Options::kernel) names another kernel.
    NotWanted,
    /// The network has too many neurons.
    TooManyNeurons {
        /// The maximum number of neurons.
        max: u32,
    },
    /// The driver ends long loops.
    ShortLoops,
    /// The weights of the network learn.
    Learning,
    /// The network has neurons of FEAGI.
    FeagiNeurons,
    /// Most rows have less than one synapse to each block.
    FewSynapses,
    /// The CPU runs the shaders, and batches are short.
    Software,
    /// Buffers or workgroup memory would exceed the limits of the device, or synapses the bits of a word.
    Limits,
}

/// Explains the reason in a few words.
impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWanted => write!(f, "another kernel was asked for"),
            Self::TooManyNeurons { max } => write!(f, "only for networks of at most {max} neurons"),
            Self::ShortLoops => write!(f, "the driver ends long loops"),
            Self::Learning => write!(f, "not for weights that learn"),
            Self::FeagiNeurons => write!(f, "not for neurons of FEAGI"),
            Self::FewSynapses => write!(f, "most rows have less than one synapse to each block"),
            Self::Software => write!(f, "the CPU runs the shaders, and batches are short"),
            Self::Limits => write!(f, "the network exceeds the limits of the device or of packed synapses"),
        }
    }
}
