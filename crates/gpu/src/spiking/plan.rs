//! How a network lies on a device, and how it is run there: all that is decided before buffers are made.

use std::ops::Range;

use kvrm_shaders::interface::spiking::{Settings, SpikingGroup};
use kvrm_shaders::layout::spiking::{MEMBERS, SINGLE_MAX, SUMS};
use kvrm_spiking::{Network, Synapses};

use super::kernels::{BINDINGS_MAX, Kernel};
use super::layout::{PARTITION_BYTES, PIECE_BYTES, settings};
use crate::device::Device;
use crate::device::adapter::Kind;
use crate::device::error::Error;

/// How spikes are delivered on a GPU and where the CPU is one: the most workgroups, the most invocations that share a
/// piece, and how many synapses of it each of these has at most. Measured with the networks of
/// `kvrm_spiking::networks` on an H200 and on two cores.
const DELIVERY: [u32; 3] = [528, 128, 1];
const SOFTWARE_DELIVERY: [u32; 3] = [16, 32, 4];
/// The fewest invocations that share a piece.
const TEAM_MIN: u32 = 8;

/// How a network is run. Whatever is chosen, results are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How spikes get to their targets; what is measured to be fastest without. Where that is not possible, as
    /// [`Kernel::Events`].
    pub kernel: Option<Kernel>,
    /// The most steps between two exchanges of spikes; as many as the shortest delay allows without.
    pub batch: Option<u32>,
    /// The most synapses of a piece of work.
    pub piece: Option<u32>,
    /// How many invocations share a piece, a power of two up to 256.
    pub team: Option<u32>,
    /// The most workgroups that deliver spikes.
    pub workgroups: Option<u32>,
    /// The most bytes of synapses in a buffer.
    pub binding_bytes: Option<u64>,
    /// The most batches that are submitted at once.
    pub slice: Option<u32>,
}

/// What is decided.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) settings: Settings,
    /// Which words of synapses lie in which binding.
    pub(super) parts: Vec<Range<u64>>,
    /// How many pieces all rows have.
    pub(super) pieces: u64,
    /// Workgroups of `neurons` and of `propagate`.
    pub(super) workgroups: [u32; 2],
    /// What can be chosen for this network on this device, [`Kernel::Events`] first.
    pub(super) kernels: Vec<Kernel>,
    /// Whether [`Kernel::Pull`] can be added, which takes room and time to prepare for.
    pub(super) can_pull: bool,
}

/// The most words of synapses in a binding.
pub(super) fn part_words(device: &Device, options: &Options) -> u64 {
    let max = device.limits().storage_bytes();
    options.binding_bytes.map_or(max, |bytes| bytes.min(max)) / 4
}

impl Plan {
    /// For a network as it is built.
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
        Self::of_parts(device, network, options, parts)
    }

    /// For a network whose synapses lie in these parts.
    pub(super) fn of_parts(
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
        settings.partitions = partitions(network);
        let segment = row.div_ceil(settings.partitions.into()).clamp(1, team_max.into()) as u32;
        settings.segment_team_bits =
            options.team.unwrap_or(segment.next_power_of_two()).clamp(1, MEMBERS).ilog2();
        // In a larger team, many would have nothing to do.
        let team = row.clamp(TEAM_MIN.into(), team_max.into()).next_power_of_two() as u32;
        let team = options.team.unwrap_or(team).clamp(1, MEMBERS);
        settings.team_bits = team.ilog2();
        settings.piece = options.piece.unwrap_or(each * team).max(1);
        let mut pieces = pieces_of(synapses, settings.piece);
        let max = device.limits().storage_bytes();
        while pieces * PIECE_BYTES > max {
            // A row has one piece at least, and there may be too many rows.
            let larger = settings.piece.checked_mul(2);
            settings.piece = larger.ok_or_else(|| {
                let label = "pieces of rows".to_owned();
                Error::TooLarge { label, bytes: pieces * PIECE_BYTES, max }
            })?;
            pieces = pieces_of(synapses, settings.piece);
        }
        let most = options.workgroups.unwrap_or(most).clamp(1, device.limits().workgroups);
        let deliver = (pieces << settings.team_bits).div_ceil(MEMBERS.into()).clamp(1, most.into());
        Ok(Self {
            kernels: kernels_for(device, network, &settings, options.kernel)?,
            can_pull: options.kernel.is_none() && can_pull(device, network),
            settings,
            parts,
            pieces,
            workgroups: [network.neurons().div_ceil(MEMBERS).max(1), deliver as u32],
        })
    }
}

/// How many partitions the targets have: as many as there must be for their sums to fit, but enough for a large GPU.
fn partitions(network: &Network) -> u32 {
    const ENOUGH: u32 = 128;
    const NEURONS_MIN: u32 = 64;
    let needed = network.neurons().div_ceil(SUMS / network.parts().ports);
    needed.max(network.neurons().div_ceil(NEURONS_MIN).min(ENOUGH)).max(1)
}

/// Bytes of all segments.
pub(super) fn segment_bytes(neurons: u32, partitions: u32) -> u64 {
    SpikingGroup::<()>::SEGMENTS_STRIDE * u64::from(neurons) * (u64::from(partitions) + 1)
}

/// The kernels that can run a network on a device: all that can if one of them is wanted, else those that might be
/// faster than the first.
fn kernels_for(
    device: &Device,
    network: &Network,
    settings: &Settings,
    wanted: Option<Kernel>,
) -> Result<Vec<Kernel>, Error> {
    let limits = device.limits();
    let neurons = network.neurons();
    let mut kernels = vec![Kernel::Events];
    // Old drivers end loops that are long.
    if neurons <= SINGLE_MAX && device.loop_limit()?.is_none() {
        kernels.push(Kernel::Single);
    }
    let can_divide = has_one_delay(network)
        && limits.workgroup_bytes >= PARTITION_BYTES
        && neurons.div_ceil(MEMBERS) <= limits.workgroups
        && settings.partitions < limits.workgroups
        && segment_bytes(neurons, settings.partitions) <= limits.storage_bytes();
    // Short segments cost more than they save.
    let synapses = network.synapses().count();
    let is_worth = synapses >= 8 * u64::from(neurons) * u64::from(settings.partitions);
    if can_divide && (is_worth || wanted.is_some()) {
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

/// Whether all synapses take equally long, and stay as they are.
fn has_one_delay(network: &Network) -> bool {
    network.synapses().packing.delay_bits == 0 && !network.is_plastic()
}

/// Whether there is room for all synapses by target.
fn can_pull(device: &Device, network: &Network) -> bool {
    let synapses = network.synapses().count();
    has_one_delay(network) && synapses <= (device.limits().storage_bytes() / 8).min(u32::MAX.into())
}

/// How many pieces all rows have.
fn pieces_of(synapses: &Synapses, piece: u32) -> u64 {
    synapses.lengths.iter().map(|&length| u64::from(length.div_ceil(piece))).sum()
}

/// Which words of synapses lie in which binding of at most `max` words: no row lies in two. If one is larger, the error
/// is its size.
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
