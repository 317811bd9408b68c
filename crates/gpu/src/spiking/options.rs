//! Tuning options of the burst engine.

use super::kernels::Kernel;

/// Tuning options of the burst engine on a GPU. They change the speed of a network, never its results.
///
/// ```
/// use kvrm_gpu::spiking::{Kernel, Options};
///
/// // Deliver spikes with one kernel instead of measuring which is fastest, at most 64 batches per submission.
/// let options = Options { kernel: Some(Kernel::Events), slice: Some(64), ..Options::default() };
/// assert_eq!(options.team, None, "chosen by the engine");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The kernel that delivers spikes. If it cannot run the network, [`Kernel::Events`] does. Default: the kernel that
    /// is measured to be fastest.
    pub kernel: Option<Kernel>,
    /// The maximum number of steps between two exchanges of spikes. Default: as many as the shortest delay allows.
    pub batch: Option<u32>,
    /// The maximum number of synapses in a piece, the unit of work of the delivery.
    pub piece: Option<u32>,
    /// The number of invocations that share a piece, a power of two up to 256.
    pub team: Option<u32>,
    /// The maximum number of workgroups that deliver spikes.
    pub workgroups: Option<u32>,
    /// The maximum number of neurons in a block, whose input a workgroup sums.
    pub block: Option<u32>,
    /// Whether [`Kernel::Fused`] keeps the synapses of each neuron to a block in a line of 64 bytes, or finds them in a table.
    /// Default: lines, if nearly all of them fit.
    pub lines: Option<bool>,
    /// Whether [`Kernel::Fused`] has sums of 32 bits for the input of neurons even if 16 bits are enough. Default: no.
    pub wide_sums: bool,
    /// The number of invocations of a workgroup that owns a block, which is rounded up to a multiple of 32. Default: as many
    /// as its neurons, or a part of them if that is more than a workgroup can have.
    pub invocations: Option<u32>,
    /// The maximum number of bytes of synapses in a buffer.
    pub binding_bytes: Option<u64>,
    /// The maximum number of batches in a submission.
    pub slice: Option<u32>,
}
