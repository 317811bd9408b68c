//! The division of the neurons into blocks, each of which belongs to a workgroup of [`Kernel::Fused`](super::Kernel::Fused).

use kvrm_shaders::interface::spiking::Settings;
use kvrm_shaders::layout::spiking::{BATCH_MAX, BLOCK_MAX, MEMBERS};
use kvrm_shaders::variants::BlockParts;
use kvrm_spiking::Network;

use super::blocked::{self, BlockPacking};
use super::divisors::{Divisors, sums_of_neuron};
use super::explain::Unsuitable;
use super::kernels::{Kernel, workgroup_size};
use super::layout::{BlockMemory, PIECE_BYTES, block_size};
use super::options::Options;
use crate::device::Device;

/// The number of blocks that keeps a large GPU busy. A network that needs more has a multiple of it.
const ENOUGH: u32 = 128;
/// The minimum number of neurons of a block, unless [`Options::block`] sets another.
const NEURONS_MIN: u32 = 64;
/// The minimum workgroup memory, which WebGPU guarantees.
const WORKGROUP_BYTES_MIN: u32 = 16 << 10;
/// The maximum number of storage buffers of the kernel beside the synapses.
const BUFFERS: usize = 18;

/// The division of the neurons into blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    /// The number of blocks.
    pub(super) count: u32,
    /// The number of steps whose sums fit in the memory of a workgroup.
    pub(super) window: u32,
    /// The number of invocations of a workgroup.
    pub(super) invocations: u32,
    /// The divisors of weights, if a word counts the input of both ports of a neuron.
    pub(super) divisors: Option<Divisors>,
}

impl Blocks {
    /// Divides the neurons of a network into enough blocks to keep a large GPU busy. `divisors` are those of its weights, if
    /// they may be used.
    pub(super) fn new(
        device: &Device,
        network: &Network,
        options: &Options,
        divisors: Option<Divisors>,
    ) -> Self {
        let neurons = network.neurons();
        let each = sums_of_neuron(network, divisors);
        let BlockMemory { sums, .. } = BlockMemory::new(device.limits().workgroup_bytes);
        let count = count(neurons, (sums / each).min(BLOCK_MAX), options.block);
        let size = block_size(neurons, count);
        // Each invocation updates as many neurons of the block as the others, or one less.
        let most = workgroup_size(device);
        let rounds = size.div_ceil(most);
        let share = size.div_ceil(rounds);
        // A kernel is compiled for each number of invocations, so small blocks have few different ones.
        let share = if share < MEMBERS { share.next_power_of_two() } else { share };
        let invocations = options.invocations.unwrap_or(share).next_multiple_of(32);
        let invocations = invocations.clamp(32, most) / 32 * 32;
        let window = (sums / (each * size)).clamp(1, BATCH_MAX);
        Self { count, window, invocations, divisors }
    }

    /// Checks whether [`Kernel::Fused`](super::Kernel::Fused) can run batches of `batch` steps of a network whose synapses are
    /// in `parts` bindings: it has neither weights that learn nor neurons of FEAGI, and its buffers and workgroup memory are
    /// within the limits of the device.
    pub(super) fn check(
        self,
        device: &Device,
        network: &Network,
        batch: u32,
        parts: usize,
    ) -> Result<(), Unsuitable> {
        is_suitable(network)?;
        let limits = device.limits();
        let neurons = network.neurons();
        let fits = limits.workgroup_bytes >= WORKGROUP_BYTES_MIN
            && bindings(device) >= parts
            && PIECE_BYTES * self.listed(neurons, batch) <= limits.storage_bytes()
            && self.count <= limits.workgroups
            && blocked::table_bytes(neurons, self.count) <= limits.storage_bytes()
            && self.packing(network).is_some();
        if fits { Ok(()) } else { Err(Unsuitable::Limits) }
    }

    /// Returns the room for pieces in the lists of two batches of `batch` steps. Each neuron has one for each window in which
    /// it fires.
    pub(super) fn listed(self, neurons: u32, batch: u32) -> u64 {
        2 * u64::from(neurons) * u64::from(batch.div_ceil(self.window.max(1)))
    }

    /// Returns the packing of synapses, or `None` if not all fit in a word.
    pub(super) fn packing(self, network: &Network) -> Option<BlockPacking> {
        BlockPacking::new(network, self.count, self.divisors)
    }

    /// Sets the division in the settings of a network.
    pub(super) const fn set(self, settings: &mut Settings) {
        (settings.blocks, settings.window) = (self.count, self.window);
    }
}

/// Returns the divisors of the weights of a network, if [`Kernel::Fused`] may use them.
pub(super) fn divisors(network: &Network, options: &Options) -> Option<Divisors> {
    let is_wanted = options.kernel.is_none_or(|kernel| kernel == Kernel::Fused) && !options.wide_sums;
    if is_wanted && is_suitable(network).is_ok() { Divisors::of(network) } else { None }
}

/// Checks that a network has neither weights that learn nor neurons of FEAGI.
fn is_suitable(network: &Network) -> Result<(), Unsuitable> {
    if network.is_plastic() {
        Err(Unsuitable::Learning)
    } else if network.has_marks() {
        Err(Unsuitable::FeagiNeurons)
    } else {
        Ok(())
    }
}

/// Returns the maximum number of bindings of synapses that are sorted by block.
pub(super) fn bindings(device: &Device) -> usize {
    let left = (device.limits().storage_buffers as usize).saturating_sub(BUFFERS);
    BlockParts::ALL
        .iter()
        .map(|parts| parts.bindings())
        .take_while(|&count| count <= left)
        .last()
        .unwrap_or(0)
}

/// Returns the number of blocks of at most `most` neurons, or of about `wanted` if that is less.
fn count(neurons: u32, most: u32, wanted: Option<u32>) -> u32 {
    // Blocks have multiples of 32 neurons.
    let most = wanted.map_or(most, |wanted| wanted.clamp(32, most.max(32))) / 32 * 32;
    let needed = neurons.div_ceil(most.max(32)).max(1);
    if wanted.is_some() {
        return needed;
    }
    let enough = neurons.div_ceil(NEURONS_MIN).clamp(1, ENOUGH);
    if needed <= enough { enough } else { needed.next_multiple_of(ENOUGH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_many_as_needed_and_enough_for_a_large_gpu() {
        assert_eq!(count(10_000, 1024, None), 128, "for a large GPU");
        assert_eq!(count(1000, 1024, None), 16, "of at least 64 neurons");
        assert_eq!(count(1_000_000, 4608, None), 256, "twice as many as a large GPU runs at a time");
        assert_eq!(count(10_000, 47, None), 384, "of at most 32 neurons");
        assert_eq!(count(10_000, 1024, Some(1000)), 11, "of at most 992 neurons, as the options ask for");
        assert_eq!(count(10_000, 256, Some(1000)), 40, "of at most 256 neurons, as workgroups are small");
        assert_eq!(count(10_000, 1024, Some(1)), 313, "no smaller than a word of bits");
    }
}
