//! The layout of a network on a device and the kernels that can run it. A plan is made before any buffer.

use std::ops::Range;

use kvrm_shaders::interface::spiking::{Settings, SpikingGroup};
use kvrm_shaders::layout::spiking::{BATCH_MAX, BLOCK_MAX, MEMBERS, SINGLE_MAX, SUMS, TEAM_BITS_MAX};
use kvrm_spiking::{Network, Synapses};

use super::blocked::{self, BlockPacking};
use super::kernels::{BINDINGS_MAX, Kernel, workgroup_size};
use super::layout::{PARTITION_BYTES, PIECE_BYTES, block_sums, partition_size, settings};
use crate::device::Device;
use crate::device::adapter::Kind;
use crate::device::error::Error;

/// Limits for the delivery of spikes on a GPU: the maximum number of workgroups, of invocations in a team that shares a
/// piece, and of synapses of the piece per invocation. Measured with the networks of `kvrm_spiking::networks` on an
/// H200.
const DELIVERY: [u32; 3] = [528, 128, 1];
/// Limits as in [`DELIVERY`] for software adapters, measured on two CPU cores.
const SOFTWARE_DELIVERY: [u32; 3] = [16, 32, 4];
/// The minimum number of invocations in a team, unless [`Options::team`] sets another.
const TEAM_MIN: u32 = 8;

/// The minimum average number of synapses in a segment for [`Kernel::Partitions`]: fewer cost more than they save.
const PARTITIONS_SEGMENT_MIN: u64 = 8;
/// The minimum average number of synapses in a segment for [`Kernel::Fused`], which saves dispatches, too. With fewer,
/// most segments that it looks up are empty.
const FUSED_SEGMENT_MIN: u64 = 1;
/// The minimum number of steps of a batch for which [`Kernel::Fused`] is tried, because it sorts all synapses and stores
/// them twice. On an H200 it is slower than [`Kernel::Events`] if batches have one or two steps.
const FUSED_BATCH_MIN: u32 = 4;
/// The minimum workgroup memory for [`Kernel::Fused`], which WebGPU guarantees.
const BLOCK_BYTES_MIN: u32 = 16 << 10;
/// The number of storage buffers of [`Kernel::Fused`].
const FUSED_BUFFERS: u32 = 18;

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
    /// The maximum number of neurons in a partition or block, whose input a workgroup sums.
    pub block: Option<u32>,
    /// The number of invocations of a workgroup that owns a block, which is rounded up to a multiple of 32. Default: as many
    /// as its neurons, or a part of them if that is more than a workgroup can have.
    pub invocations: Option<u32>,
    /// The maximum number of bytes of synapses in a buffer.
    pub binding_bytes: Option<u64>,
    /// The maximum number of batches in a submission.
    pub slice: Option<u32>,
}

/// The layout and the kernels of a network on a device.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) settings: Settings,
    /// The range of synapse words in each binding.
    pub(super) parts: Vec<Range<u64>>,
    /// The number of pieces of all rows together.
    pub(super) pieces: u64,
    /// The numbers of workgroups of `neurons` and of `propagate`.
    pub(super) workgroups: [u32; 2],
    /// The kernels that can run this network on this device. [`Kernel::Events`] is the first one, unless the options
    /// name another kernel.
    pub(super) kernels: Vec<Kernel>,
    /// The division of the neurons into blocks for [`Kernel::Fused`].
    pub(super) blocks: Division,
    /// Whether [`Kernel::Pull`] may be added later. It needs memory and time for a second copy of the synapses.
    pub(super) can_pull: bool,
}

/// A division of the neurons into partitions, each of which belongs to a workgroup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Division {
    /// The number of partitions.
    pub(super) partitions: u32,
    /// The binary logarithm of the number of invocations that share the segment of a row for a partition.
    team_bits: u32,
    /// The number of steps whose sums fit in the memory of a workgroup.
    pub(super) window: u32,
    /// The number of invocations of a workgroup.
    pub(super) invocations: u32,
    /// The packing of the words of blocks. `None` for partitions, or if [`Kernel::Fused`] cannot or need not run the
    /// network.
    pub(super) packing: Option<BlockPacking>,
}

impl Division {
    /// Divides the neurons of a network into enough partitions to keep a large GPU busy, of at most `most` neurons.
    fn new(network: &Network, most: u32, team_max: u32, options: &Options) -> Self {
        const ENOUGH: u32 = 128;
        const NEURONS_MIN: u32 = 64;
        // Partitions have multiples of 32 neurons.
        let most = options.block.map_or(most, |block| block.clamp(32, most)) / 32 * 32;
        let neurons = network.neurons();
        let wanted = options.block.map_or(neurons.div_ceil(NEURONS_MIN).min(ENOUGH), |_| 1);
        let partitions = neurons.div_ceil(most.max(32)).max(wanted).max(1);
        let row = network.synapses().count() / u64::from(neurons.max(1));
        let segment = row.div_ceil(partitions.into()).clamp(1, team_max.into()) as u32;
        let team = options.team.unwrap_or(segment.next_power_of_two()).clamp(1, MEMBERS);
        Self { partitions, team_bits: team.ilog2(), window: 1, invocations: MEMBERS, packing: None }
    }

    /// Divides the neurons of a network into blocks for [`Kernel::Fused`], whose batches have `batch` steps.
    fn into_blocks(
        device: &Device,
        network: &Network,
        (team_max, batch): (u32, u32),
        options: &Options,
    ) -> Self {
        let ports = network.parts().ports;
        let sums = block_sums(device.limits().workgroup_bytes);
        let divided = Self::new(network, (sums / ports).min(BLOCK_MAX), team_max, options);
        let size = partition_size(network.neurons(), divided.partitions);
        // Each invocation updates as many neurons of the block as the others, or one less.
        let most = workgroup_size(device);
        let rounds = size.div_ceil(most);
        let share = size.div_ceil(rounds);
        // A kernel is compiled for each number of invocations, so small blocks have few different ones.
        let share = if share < MEMBERS { share.next_power_of_two() } else { share };
        let invocations = options.invocations.unwrap_or(share).next_multiple_of(32);
        let window = (sums / (ports * size)).clamp(1, BATCH_MAX);
        let invocations = invocations.clamp(32, most) / 32 * 32;
        // An invocation has about four synapses of a segment.
        let team_bits =
            options.team.map_or_else(|| divided.team_bits.saturating_sub(2), |team| team.max(1).ilog2());
        let can_run = !network.is_plastic() && !network.has_marks();
        // Packing may look at all weights.
        let is_wanted = options.kernel.map_or(batch >= FUSED_BATCH_MIN, |kernel| kernel == Kernel::Fused);
        let packing =
            (can_run && is_wanted).then(|| BlockPacking::new(network, divided.partitions)).flatten();
        Self { team_bits: team_bits.min(TEAM_BITS_MAX), window, invocations, packing, ..divided }
    }

    /// Returns the number of pieces that a batch of `batch` steps lists at most: each neuron has one for each window in
    /// which it fires.
    pub(super) fn listed(self, neurons: u32, batch: u32) -> u64 {
        u64::from(neurons) * u64::from(batch.div_ceil(self.window.max(1)))
    }

    /// Sets the division in the settings of a slice.
    pub(super) const fn set(self, settings: &mut Settings) {
        (settings.partitions, settings.segment_team_bits) = (self.partitions, self.team_bits);
        settings.window = self.window;
        if let Some(packing) = self.packing {
            settings.block_weight_shift = packing.weight_shift();
            settings.block_delay_shift = packing.weight_bits;
            settings.block_index_shift = packing.index_shift();
        }
    }
}

/// Returns the maximum number of synapse words in a binding.
pub(super) fn part_words(device: &Device, options: &Options) -> u64 {
    let max = device.limits().storage_bytes();
    options.binding_bytes.map_or(max, |bytes| bytes.min(max)) / 4
}

impl Plan {
    /// Makes the plan of a new network.
    pub(super) fn new(device: &Device, network: &Network, options: &Options) -> Result<Self, Error> {
        let max = part_words(device, options);
        let too_large = |label: &str, words: u64, max: u64| {
            let label = label.to_owned();
            Error::TooLarge { label, bytes: 4 * words, max: 4 * max }
        };
        let synapses = network.synapses();
        let parts = split(synapses, max).map_err(|words| too_large("synapses of a neuron", words, max))?;
        if parts.len() > BINDINGS_MAX {
            return Err(too_large("synapses", synapses.words.len() as u64, max * BINDINGS_MAX as u64));
        }
        Self::with_parts(device, network, options, parts)
    }

    /// Makes the plan of a network whose synapse words are divided into `parts`.
    pub(super) fn with_parts(
        device: &Device,
        network: &Network,
        options: &Options,
        parts: Vec<Range<u64>>,
    ) -> Result<Self, Error> {
        let synapses = network.synapses();
        let mut settings = settings(network);
        settings.batch = settings.batch.min(options.batch.unwrap_or(settings.batch)).max(1);
        let is_software = device.info().kind == Kind::Software;
        let [most, team_max, each] = if is_software { SOFTWARE_DELIVERY } else { DELIVERY };
        let row = synapses.count() / u64::from(network.neurons().max(1));
        let ports = settings.ports.max(1);
        Division::new(network, SUMS / ports, team_max, options).set(&mut settings);
        let blocks = Division::into_blocks(device, network, (team_max, settings.batch), options);
        // In a team larger than a row, some invocations would have no synapse.
        let team = row.clamp(TEAM_MIN.into(), team_max.into()).next_power_of_two() as u32;
        let team = options.team.unwrap_or(team).clamp(1, MEMBERS);
        settings.team_bits = team.ilog2();
        settings.piece = options.piece.unwrap_or(each * team).max(1);
        let mut pieces = pieces_of(synapses, settings.piece);
        let max = device.limits().storage_bytes();
        while pieces * PIECE_BYTES > max {
            // Every row that is not empty has at least one piece, so larger pieces do not help if there are too many
            // rows.
            let larger = settings.piece.checked_mul(2);
            settings.piece = larger.ok_or_else(|| {
                let label = "pieces of rows".to_owned();
                Error::TooLarge { label, bytes: pieces * PIECE_BYTES, max }
            })?;
            pieces = pieces_of(synapses, settings.piece);
        }
        let most = options.workgroups.unwrap_or(most).clamp(1, device.limits().workgroups);
        let deliver = (pieces << settings.team_bits).div_ceil(MEMBERS.into()).clamp(1, most.into());
        let fusible = can_fuse(device, network, blocks, settings.batch).then_some(blocks.partitions);
        Ok(Self {
            kernels: kernels_for(device, network, (settings.partitions, fusible), options.kernel)?,
            blocks,
            can_pull: options.kernel.is_none() && can_pull(device, network),
            settings,
            parts,
            pieces,
            workgroups: [network.neurons().div_ceil(MEMBERS).max(1), deliver as u32],
        })
    }
}

/// Returns the size of the table of segments, in bytes.
pub(super) fn segment_bytes(neurons: u32, partitions: u32) -> u64 {
    SpikingGroup::<()>::SEGMENTS_STRIDE * u64::from(neurons) * (u64::from(partitions) + 1)
}

/// Returns the kernels to choose from. If a kernel is wanted, that is the only one, or [`Kernel::Events`] where the
/// wanted kernel cannot run the network. Otherwise these are [`Kernel::Events`] and the kernels that may be faster.
fn kernels_for(
    device: &Device,
    network: &Network,
    (partitions, blocks): (u32, Option<u32>),
    wanted: Option<Kernel>,
) -> Result<Vec<Kernel>, Error> {
    let limits = device.limits();
    let neurons = network.neurons();
    let mut kernels = vec![Kernel::Events];
    // Some old drivers end long loops, and this kernel loops over all steps of a slice.
    if neurons <= SINGLE_MAX && device.loop_limit()?.is_none() {
        kernels.push(Kernel::Single);
    }
    // Whether segments have at least `least` synapses on average.
    let is_worth = |partitions: u32, least: u64| {
        wanted.is_some() || network.synapses().count() >= least * u64::from(neurons) * u64::from(partitions)
    };
    let fused = blocks.filter(|&blocks| is_worth(blocks, FUSED_SEGMENT_MIN));
    if fused.is_some() {
        kernels.push(Kernel::Fused);
    }
    // Both kernels use the table of segments, which would be made again whenever one of them follows the other.
    let is_table_taken = wanted.is_none() && fused.is_some();
    let can_partition = has_one_delay(network)
        && limits.workgroup_bytes >= PARTITION_BYTES
        && can_divide(device, network, partitions);
    if can_partition && is_worth(partitions, PARTITIONS_SEGMENT_MIN) && !is_table_taken {
        kernels.push(Kernel::Partitions);
    }
    if wanted == Some(Kernel::Pull) && can_pull(device, network) {
        kernels.push(Kernel::Pull);
    }
    if let Some(wanted) = wanted {
        let is_there = kernels.contains(&wanted);
        kernels = vec![if is_there { wanted } else { Kernel::Events }];
    }
    Ok(kernels)
}

/// Returns whether the rows of a network can be divided into segments, one for each of `partitions` partitions.
fn can_divide(device: &Device, network: &Network, partitions: u32) -> bool {
    let (limits, neurons) = (device.limits(), network.neurons());
    neurons.div_ceil(MEMBERS) <= limits.workgroups
        && partitions < limits.workgroups
        && segment_bytes(neurons, partitions) <= limits.storage_bytes()
}

/// Returns whether [`Kernel::Fused`] can run batches of `batch` steps of a network that is divided into `blocks`: its
/// synapses can be packed, and its buffers and workgroup memory are within the limits of the device.
fn can_fuse(device: &Device, network: &Network, blocks: Division, batch: u32) -> bool {
    let limits = device.limits();
    let listed = blocks.listed(network.neurons(), batch);
    blocks.packing.is_some()
        && limits.workgroup_bytes >= BLOCK_BYTES_MIN
        && FUSED_BUFFERS <= limits.storage_buffers
        && 2 * PIECE_BYTES * listed <= limits.storage_bytes()
        && blocks.partitions <= limits.workgroups
        && blocked::segment_bytes(network.neurons(), blocks.partitions) <= limits.storage_bytes()
}

/// Returns whether all synapses have the same delay and constant weights.
fn has_one_delay(network: &Network) -> bool {
    network.synapses().packing.delay_bits == 0 && !network.is_plastic()
}

/// Returns whether [`Kernel::Pull`] can run a network: all delays are the same, and a list of all synapses by target
/// fits in a buffer.
fn can_pull(device: &Device, network: &Network) -> bool {
    let synapses = network.synapses().count();
    has_one_delay(network) && synapses <= (device.limits().storage_bytes() / 8).min(u32::MAX.into())
}

/// Returns the number of pieces of all rows if a piece has at most `piece` synapses.
fn pieces_of(synapses: &Synapses, piece: u32) -> u64 {
    synapses.lengths.iter().map(|&length| u64::from(length.div_ceil(piece))).sum()
}

/// Divides the synapse words into bindings of at most `max` words so that no row lies in two bindings. If a row is
/// larger than that, the error is its number of words.
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

#[cfg(test)]
mod tests {
    use kvrm_spiking::networks::feagi;

    use super::*;

    #[test]
    fn partitions_are_as_many_as_needed_and_enough_for_a_large_gpu() {
        let network = feagi(10_000, 100, 1).expect("a small network");
        let divided = |most, block| {
            let options = Options { block, ..Options::default() };
            let Division { partitions, team_bits, .. } = Division::new(&network, most, 128, &options);
            (partitions, 1 << team_bits)
        };
        assert_eq!(divided(1024, None), (128, 1), "for a large GPU");
        assert_eq!(divided(47, None), (313, 1), "of at most 32 neurons");
        assert_eq!(divided(1024, Some(1000)), (11, 16), "of at most 992 neurons, as the options ask for");
        assert_eq!(divided(256, Some(1000)), (40, 4), "of at most 256 neurons, as workgroups are small");
        assert_eq!(divided(1024, Some(1)), (313, 1), "no smaller than a word of bits");
    }
}
