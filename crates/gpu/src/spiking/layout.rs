//! Conversion of a network to the settings and tables that the kernels read.

use std::mem::offset_of;

use kvrm_shaders::interface::spiking::{Piece, Record as DeviceRecord, Settings, SpikingGroup, Time, Turn};
use kvrm_shaders::layout::spiking::{
    BATCH_MAX, BLOCK_MAX, QUEUE, RULE_HIGH, RULE_LESS, RULE_LOW, RULE_MORE, RULE_STEPS, RULE_TARGET,
    RULE_TARGET_END, RULE_WORDS, RULES_WORDS,
};
use kvrm_spiking::random::{Purpose, base};
use kvrm_spiking::{Network, PlasticityRule, Record};

/// The most workgroup memory for a block, in bytes. It is all that NVIDIA's driver gives a workgroup; more was not tried.
const BLOCK_BYTES_MAX: u32 = 48 << 10;
/// The maximum number of staged segments.
pub(super) const STAGE_MAX: u32 = 1024;
/// The size of a staged segment, in bytes.
const STAGED_BYTES: u32 = 12;
/// The workgroup memory for a block beside its sums and staged segments, in bytes: 8 for each queued neuron, a bit for each
/// neuron, the turn, the numbers of pieces of lists and windows, and two pairs of counters, which count as 16 bytes each.
const BLOCK_OTHER_BYTES: u32 =
    8 * QUEUE + BLOCK_MAX / 8 + (size_of::<Turn>() as u32).next_multiple_of(16) + 2 * 4 * BATCH_MAX + 2 * 16;

/// The arrays of a block in workgroup memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockMemory {
    /// The number of sums.
    pub(super) sums: u32,
    /// The number of staged segments, which take a quarter of the memory or less.
    pub(super) stage: u32,
}

impl BlockMemory {
    /// Divides workgroup memory of `bytes` bytes.
    pub(super) fn new(bytes: u32) -> Self {
        let bytes = bytes.min(BLOCK_BYTES_MAX);
        let stage = (1 << (bytes / 4 / STAGED_BYTES).max(1).ilog2()).min(STAGE_MAX);
        let sums = bytes.saturating_sub(BLOCK_OTHER_BYTES + STAGED_BYTES * stage) / 4;
        Self { sums, stage }
    }
}

/// Returns the number of neurons of a block, as `block_size.wgsl` does.
pub(super) fn block_size(neurons: u32, blocks: u32) -> u32 {
    neurons.div_ceil(blocks.max(1)).next_multiple_of(32).max(32)
}

/// The size of a recorded spike and of an injection, in bytes.
pub(super) const SPIKE_BYTES: u64 = SpikingGroup::<()>::RECORDING_STRIDE;
/// The size of a piece of a row, in bytes.
pub(super) const PIECE_BYTES: u64 = size_of::<Piece>() as u64;

const _: () = assert!(
    size_of::<Time>() - offset_of!(Time, batch_pieces) == 4 * 3 * BATCH_MAX as usize,
    "each of three batches has a list for each window"
);
const _: () = assert!(
    size_of::<Record>() == size_of::<DeviceRecord>()
        && offset_of!(Record, kind) == offset_of!(DeviceRecord, kind)
        && offset_of!(Record, words) == offset_of!(DeviceRecord, words),
    "records have the same layout in `kvrm_spiking` and in WGSL"
);

/// Returns the settings of a network, without those that its plan and each run set.
pub(super) fn settings(network: &Network) -> Settings {
    let parts = network.parts();
    let packing = parts.synapses.packing;
    let mask = |bits| ((1_u64 << bits) - 1) as u32;
    // A field of no bits may begin behind the last bit, and WGSL has no shift by that many. Its mask is zero, so any
    // smaller shift is right.
    let shift = |bits: u32| bits.min(32 * packing.words - 1);
    Settings {
        neurons: network.neurons(),
        slots: parts.max_delay,
        ports: parts.ports,
        batch: batch(network),
        weight_shift: 32 - packing.weight_bits,
        delay_shift: shift(packing.weight_bits),
        delay_mask: mask(packing.delay_bits),
        target_shift: shift(packing.weight_bits + packing.delay_bits),
        target_mask: mask(packing.target_bits),
        min_delay: packing.min_delay,
        // Kernels do no steps if a window has none.
        window: 1,
        synapse_words: packing.words,
        rules: parts.tables.len() as u32,
        has_moderate_terms: parts.records.iter().all(Record::has_moderate_terms).into(),
        input_base: base(parts.seed, Purpose::Input),
        source_base: base(parts.seed, Purpose::Source),
        ..Settings::default()
    }
}

/// Returns the number of steps that neurons can advance without an exchange of spikes.
fn batch(network: &Network) -> u32 {
    // A piece has one scale for all its spikes, but each spike of a FEAGI neuron has its own.
    let is_feagi = |record: &Record| record.kind == kvrm_spiking::Kind::Feagi as u32;
    if network.parts().records.iter().any(is_feagi) {
        return 1;
    }
    network.min_delay().unwrap_or(BATCH_MAX).min(BATCH_MAX).min(network.parts().max_delay)
}

/// Returns the tables of a network, followed by its plasticity rules in the format that `learn.wgsl` reads.
pub(super) fn tables(network: &Network) -> Vec<u32> {
    let parts = network.parts();
    let mut tables = parts.tables.clone();
    if !network.is_plastic() {
        return tables;
    }
    let directory = tables.len();
    tables.resize(directory + RULES_WORDS as usize * parts.populations.len(), 0);
    for population in 0..parts.populations.len() {
        let rules = network.rules_of(population as u32);
        let first = tables.len();
        tables[directory + RULES_WORDS as usize * population..][..2]
            .copy_from_slice(&[first as u32, rules.len() as u32]);
        tables.resize(first + RULE_WORDS as usize * rules.len(), 0);
        for (index, rule) in rules.iter().enumerate() {
            let targets = &parts.populations[rule.target as usize].neurons;
            let [low, high] = rule.weights.map(|weight| weight as u32);
            let [steps, more, less] = match &rule.rule {
                PlasticityRule::Window { steps, ltp, ltd } => [*steps, *ltp as u32, *ltd as u32],
                PlasticityRule::Pair { potentiation, depression } => {
                    let amounts = [potentiation, depression].map(|amounts| {
                        let start = tables.len() as u32;
                        tables.extend(amounts.iter().map(|&amount| amount as u32));
                        start
                    });
                    [0, amounts[0], amounts[1]]
                }
            };
            let place = first + RULE_WORDS as usize * index;
            for (word, value) in [
                (RULE_TARGET, targets.start),
                (RULE_TARGET_END, targets.end),
                (RULE_LOW, low),
                (RULE_HIGH, high),
                (RULE_STEPS, steps),
                (RULE_MORE, more),
                (RULE_LESS, less),
            ] {
                tables[place + word as usize] = value;
            }
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_of_a_block_fit_in_workgroup_memory() {
        for (bytes, used) in [(16 << 10, 16 << 10), (32 << 10, 32 << 10), (64 << 10, 48 << 10)] {
            let BlockMemory { sums, stage } = BlockMemory::new(bytes);
            let other = BLOCK_OTHER_BYTES + STAGED_BYTES * stage;
            // WebGPU counts each variable in multiples of 16 bytes.
            assert!((4 * sums).next_multiple_of(16) + other <= used, "{sums} sums in {bytes} bytes");
            assert!(4 * sums + 16 + other > used, "{sums} sums use all of {bytes} bytes");
            assert!(sums >= 2 * 1024, "a step of two ports of 1,024 neurons fits in {bytes} bytes");
            assert!(stage >= 256, "{stage} segments of a workgroup are staged in {bytes} bytes");
        }
        assert_eq!(BlockMemory::new(100).sums, 0, "no memory is no block");
    }
}
