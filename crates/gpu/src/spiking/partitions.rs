//! How neurons are divided among workgroups that bring them their input and update them in one dispatch.

use kvrm_spiking::Network;

use super::kernels::workgroup_size;
use super::layout::{EACH, MEMBERS, PARTITION_BYTES, PARTITION_MAX, Settings};
use super::plan::Options;
use crate::device::Device;

/// The fewest synapses of a segment of a row, on average: shorter ones cost more than they save.
const SEGMENT_MIN: u64 = 4;
/// The fewest neurons of a partition that has sums: steps of a batch are fewer before it has fewer.
const PARTITION_MIN: u32 = 768;
/// The most invocations that share a segment.
const TEAM_MAX: u64 = 32;

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Partitions {
    /// How many neurons each has, but for the last.
    pub(super) size: u32,
    /// How many there are.
    pub(super) count: u32,
    /// The most steps of a batch.
    pub(super) batch: u32,
    /// Binary logarithm of the invocations that share a segment of a row.
    pub(super) team_bits: u32,
    /// Invocations of a workgroup.
    pub(super) workgroup: u32,
    /// Sums that a workgroup has room for; without, it uses those of the ring.
    pub(super) sums: Option<u32>,
}

impl Partitions {
    /// For a network, if it can have any: all weights have to stay as they are.
    pub(super) fn new(
        device: &Device,
        network: &Network,
        settings: &Settings,
        options: &Options,
    ) -> Option<Self> {
        let limits = device.limits();
        let neurons = network.neurons();
        // Sums are kept for one delay.
        let memory = limits.workgroup_bytes.saturating_sub(PARTITION_BYTES);
        let room = (8 * u64::from(memory) / (32 + 1)) as u32;
        let has_sums = network.synapses().packing.delay_bits == 0;
        let workgroup = if has_sums { workgroup_size(device) } else { MEMBERS };
        let most = PARTITION_MAX.min(EACH * workgroup);
        let mut batch = settings.batch;
        let size = if has_sums {
            let fitting = |batch: u32| (room / (settings.ports * batch)).min(most) / 32 * 32;
            while batch > 1 && fitting(batch) < PARTITION_MIN {
                batch -= 1;
            }
            fitting(batch)
        } else {
            MEMBERS
        };
        let size = options.partition.map_or(size, |wanted| wanted.clamp(1, if has_sums { size } else { most }).next_multiple_of(32).min(if has_sums { size } else { most }));
        if size == 0 || network.is_plastic() {
            return None;
        }
        let count = neurons.div_ceil(size).max(1);
        let segment = network.synapses().count() / (u64::from(neurons.max(1)) * u64::from(count));
        let team = options.gather.unwrap_or_else(|| segment.clamp(1, TEAM_MAX) as u32);
        let fits = count < limits.workgroups
            && segment_bytes(neurons, count) <= limits.storage_bytes()
            && limits.workgroup_bytes >= PARTITION_BYTES;
        // Whoever wants them in spite of short segments gets them.
        let is_worth = segment >= SEGMENT_MIN || options.kernel.is_some();
        let sums = has_sums.then_some(room);
        let team_bits = team.clamp(1, workgroup).next_power_of_two().ilog2();
        (fits && is_worth).then_some(Self { size, count, batch, team_bits, workgroup, sums })
    }
}

/// Bytes of all segments.
pub(super) fn segment_bytes(neurons: u32, partitions: u32) -> u64 {
    4 * u64::from(neurons) * (u64::from(partitions) + 1)
}
