//! What host and kernels share; `shaders/wgsl/spiking/bindings.wgsl` says what the members are.

use bytemuck::{Pod, Zeroable};
use kvrm_spiking::random::{Purpose, base};
use kvrm_spiking::{Network, Record, Rule};

/// Invocations of a workgroup.
pub(super) const MEMBERS: u32 = 256;
/// The most workgroups in a row of `neurons`.
pub(super) const ROW: u32 = 32_768;
/// The most steps of a batch: bits of a word.
pub(super) const BATCH_MAX: u32 = 32;
/// Bytes of a piece of a row.
pub(super) const PIECE_BYTES: u64 = 16;
/// Bytes of a spike in the recording, and of an injection.
pub(super) const SPIKE_BYTES: u64 = 8;

/// The most neurons that a single workgroup runs.
pub(super) const SINGLE_MAX: u32 = 32_768;
/// Sums that a workgroup keeps for its partition, and the bytes it needs in all.
pub(super) const SUMS: u32 = 4096;
pub(super) const PARTITION_BYTES: u32 = 4 * SUMS + SUMS / 8;

/// What stays as it is while steps run.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Settings {
    pub(super) neurons: u32,
    pub(super) slots: u32,
    pub(super) ports: u32,
    pub(super) batch: u32,
    pub(super) weight_shift: u32,
    pub(super) delay_shift: u32,
    pub(super) delay_mask: u32,
    pub(super) target_shift: u32,
    pub(super) target_mask: u32,
    pub(super) min_delay: u32,
    pub(super) synapse_words: u32,
    pub(super) piece: u32,
    pub(super) team_bits: u32,
    pub(super) partitions: u32,
    pub(super) segment_team_bits: u32,
    pub(super) rules: u32,
    pub(super) input_base: u32,
    pub(super) source_base: u32,
    pub(super) steps: u32,
    pub(super) injections: u32,
    pub(super) recording: u32,
    pub(super) recorded_first: u32,
    pub(super) recorded: u32,
    pub(super) rounds: u32,
}

impl Settings {
    /// Those of a network.
    pub(super) fn new(network: &Network) -> Self {
        let parts = network.parts();
        let packing = parts.synapses.packing;
        let mask = |bits| ((1_u64 << bits) - 1) as u32;
        // Where nothing is left to shift away, the mask is zero.
        let shift = |bits: u32| bits.min(32 * packing.words - 1);
        Self {
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
            synapse_words: packing.words,
            rules: parts.tables.len() as u32,
            input_base: base(parts.seed, Purpose::Input),
            source_base: base(parts.seed, Purpose::Source),
            ..Self::default()
        }
    }
}

/// How many steps of a network can be made without an exchange of spikes.
fn batch(network: &Network) -> u32 {
    // A piece has one scale for all its spikes, and weights learn in every step.
    let driven = |record: &Record| record.kind == kvrm_spiking::Kind::Feagi as u32;
    if network.is_plastic() || network.parts().records.iter().any(driven) {
        return 1;
    }
    network.min_delay().unwrap_or(BATCH_MAX).min(BATCH_MAX).min(network.parts().max_delay)
}

/// The tables of a network, and behind them its rules of learning, as `learn.wgsl` says.
pub(super) fn tables(network: &Network) -> Vec<u32> {
    let parts = network.parts();
    let mut tables = parts.tables.clone();
    if !network.is_plastic() {
        return tables;
    }
    let directory = tables.len();
    tables.resize(directory + 2 * parts.populations.len(), 0);
    for population in 0..parts.populations.len() {
        let rules = network.rules_of(population as u32);
        let first = tables.len();
        tables[directory + 2 * population..][..2].copy_from_slice(&[first as u32, rules.len() as u32]);
        tables.resize(first + 8 * rules.len(), 0);
        for (index, rule) in rules.iter().enumerate() {
            let targets = &parts.populations[rule.target as usize].neurons;
            let [low, high] = rule.weights.map(|weight| weight as u32);
            let [steps, more, less] = match &rule.rule {
                Rule::Window { steps, ltp, ltd } => [*steps, *ltp as u32, *ltd as u32],
                Rule::Pair { potentiation, depression } => {
                    let amounts = [potentiation, depression].map(|amounts| {
                        let start = tables.len() as u32;
                        tables.extend(amounts.iter().map(|&amount| amount as u32));
                        start
                    });
                    [0, amounts[0], amounts[1]]
                }
            };
            tables[first + 8 * index..][..8].copy_from_slice(&[
                targets.start,
                targets.end,
                low,
                high,
                steps,
                more,
                less,
                0,
            ]);
        }
    }
    tables
}

/// Where the engine is in time.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Clock {
    pub(super) step: u32,
    pub(super) step_high: u32,
    pub(super) head: u32,
    pub(super) remaining: u32,
    pub(super) parity: u32,
    pub(super) is_halted: u32,
    pub(super) batch: u32,
    pub(super) first: u32,
}

/// Time, and what is counted as it passes.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Time {
    pub(super) before: Clock,
    pub(super) after: Clock,
    /// Pieces, twice, and recorded spikes.
    pub(super) counts: [u32; 4],
}
