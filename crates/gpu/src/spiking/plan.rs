//! The layout of a network on a device and the kernels that can run it. A plan is made before any buffer.

use std::ops::Range;
use std::time::Duration;

use kvrm_shaders::interface::spiking::Settings;
use kvrm_shaders::layout::spiking::{MEMBERS, SINGLE_MAX};
use kvrm_shaders::variants::{Models, SynapseParts};
use kvrm_spiking::{Kind, Network, Synapses};

use super::blocks::{self, Blocks};
use super::divisors::Divisors;
use super::explain::Unsuitable;
use super::kernels::{BINDINGS_MAX, Kernel};
use super::layout::{PIECE_BYTES, settings};
use super::options::Options;
use crate::device::Device;
use crate::device::error::Error;

/// Limits for the delivery of spikes on a GPU: the maximum number of workgroups, of invocations in a team that shares a
/// piece, and of synapses of the piece per invocation. Measured with the networks of `kvrm_spiking::networks` on an
/// H200.
const DELIVERY: [u32; 3] = [528, 128, 1];
/// Limits as in [`DELIVERY`] for software adapters, measured on two CPU cores.
const SOFTWARE_DELIVERY: [u32; 3] = [16, 32, 4];
/// The number of bits of the place of a synapse word: the number of its binding, and its index there.
const PLACE_BITS: u32 = u32::BITS;
/// The minimum number of invocations in a team, unless [`Options::team`] sets another.
const TEAM_MIN: u32 = 8;

/// The minimum average number of synapses in a segment for [`Kernel::Fused`], which saves dispatches, too. With fewer,
/// most segments that it looks up are empty.
const FUSED_SEGMENT_MIN: u64 = 1;
/// The number of steps of a batch from which [`Kernel::Fused`] is tried at once, as it can be much faster. If batches have
/// fewer steps, it is tried when the network has run for as long as sorting the synapses takes.
pub(super) const FUSED_BATCH: u32 = 4;
/// The approximate time in which a thread sorts a synapse by block, in nanoseconds.
const SORT_NANOSECONDS: u64 = 64;

/// All kernels, in the order of [`Kernel::ALL`], and whether each is used for a network.
pub(super) type KernelChecks = Vec<(Kernel, Result<(), Unsuitable>)>;

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
    /// All kernels, and whether each is used for this network on this device.
    pub(super) kernels: KernelChecks,
    /// The approximate time in which the synapses are sorted by block.
    pub(super) sorting: Duration,
    /// The division of the neurons into blocks for [`Kernel::Fused`].
    pub(super) blocks: Blocks,
    pub(super) models: Models,
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
        Self::with_parts(device, network, options, (parts, blocks::divisors(network, options)))
    }

    /// Makes the plan of a network whose synapse words are divided into `parts`, with divisors of its weights.
    pub(super) fn with_parts(
        device: &Device,
        network: &Network,
        options: &Options,
        (parts, divisors): (Vec<Range<u64>>, Option<Divisors>),
    ) -> Result<Self, Error> {
        let synapses = network.synapses();
        if !are_addressable(&parts) {
            let bytes = 4 * synapses.words.len() as u64;
            return Err(Error::TooLarge { label: "synapses".to_owned(), bytes, max: 4 << PLACE_BITS });
        }
        let mut settings = settings(network);
        settings.batch = settings.batch.min(options.batch.unwrap_or(settings.batch)).max(1);
        let is_software = device.info().is_software();
        let [most, team_max, each] = if is_software { SOFTWARE_DELIVERY } else { DELIVERY };
        let row = synapses.count() / u64::from(network.neurons().max(1));
        let blocks = Blocks::new(device, network, options, divisors);
        blocks.set(&mut settings);
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
        let is_lif = network.parts().records.iter().all(|record| record.kind == Kind::Lif as u32);
        Ok(Self {
            models: if is_lif { Models::Lif } else { Models::Any },
            kernels: kernels_for(device, network, (blocks, settings.batch, parts.len()), options.kernel)?,
            sorting: sorting_time(synapses),
            blocks,
            settings,
            parts,
            pieces,
            workgroups: [network.neurons().div_ceil(MEMBERS).max(1), deliver as u32],
        })
    }
}

/// Checks whether a kernel can run a network that is divided into `blocks`, with batches of `batch` steps and synapses in
/// `bindings` bindings, and may be the fastest. A kernel that is wanted need not be fast.
fn check(
    kernel: Kernel,
    device: &Device,
    network: &Network,
    (blocks, batch, bindings): (Blocks, u32, usize),
    wanted: Option<Kernel>,
) -> Result<Result<(), Unsuitable>, Error> {
    let neurons = network.neurons();
    Ok(match kernel {
        Kernel::Events => Ok(()),
        Kernel::Single if neurons > SINGLE_MAX => Err(Unsuitable::TooManyNeurons { max: SINGLE_MAX }),
        // This kernel loops over all steps of a slice.
        Kernel::Single if device.loop_limit()?.is_some() => Err(Unsuitable::ShortLoops),
        Kernel::Single => Ok(()),
        Kernel::Fused => {
            let least = FUSED_SEGMENT_MIN * u64::from(neurons) * u64::from(blocks.count);
            let is_software = device.info().is_software();
            match blocks.check(device, network, batch, bindings) {
                Ok(()) if wanted.is_some() => Ok(()),
                Ok(()) if network.synapses().count() < least => Err(Unsuitable::FewSynapses),
                Ok(()) if batch < FUSED_BATCH && is_software => Err(Unsuitable::Software),
                checked => checked,
            }
        }
    })
}

/// Returns for each kernel whether it is used. [`Kernel::Events`] is, unless the options name another kernel that can run the
/// network.
fn kernels_for(
    device: &Device,
    network: &Network,
    division: (Blocks, u32, usize),
    wanted: Option<Kernel>,
) -> Result<KernelChecks, Error> {
    let is_other = |kernel| wanted.is_some_and(|wanted| wanted != kernel && kernel != Kernel::Events);
    let mut kernels = Vec::new();
    for kernel in Kernel::ALL {
        // A check may look at all weights.
        let checked = if is_other(kernel) {
            Err(Unsuitable::NotWanted)
        } else {
            check(kernel, device, network, division, wanted)?
        };
        kernels.push((kernel, checked));
    }
    let is_used = |wanted| wanted != Kernel::Events && kernels.contains(&(wanted, Ok(())));
    if wanted.is_some_and(is_used) {
        kernels[0].1 = Err(Unsuitable::NotWanted);
    }
    Ok(kernels)
}

/// Returns the approximate time in which the synapses of a network are sorted by block.
fn sorting_time(synapses: &Synapses) -> Duration {
    let threads = rayon::current_num_threads().max(1) as u64;
    Duration::from_nanos(SORT_NANOSECONDS * synapses.count() / threads)
}

/// Returns the number of pieces of all rows if a piece has at most `piece` synapses.
fn pieces_of(synapses: &Synapses, piece: u32) -> u64 {
    synapses.lengths.iter().map(|&length| u64::from(length.div_ceil(piece))).sum()
}

/// Returns whether the place of every word has enough bits: those that do not number the binding are its index there.
fn are_addressable(parts: &[Range<u64>]) -> bool {
    let words = 1_u64 << (PLACE_BITS - SynapseParts::of(parts.len()).bindings().ilog2());
    parts.iter().all(|part| part.end - part.start <= words)
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
    use super::*;

    #[test]
    fn each_word_of_the_synapses_has_a_place_of_32_bits() {
        let parts = |count: u64, words: u64| -> Vec<Range<u64>> {
            (0..count).map(|number| number * words..(number + 1) * words).collect()
        };
        for (count, words, fits) in [
            (0, 0, true),
            (1, 1 << 32, true),
            (1, (1 << 32) + 1, false),
            (4, 1 << 30, true),
            (5, 1 << 30, false),
            (8, 1 << 29, true),
        ] {
            assert_eq!(are_addressable(&parts(count, words)), fits, "{count} bindings of {words} words");
        }
    }
}
