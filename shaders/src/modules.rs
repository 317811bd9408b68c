//! The text of every module, embedded in the library.

/// Pairs each path with the text of its file.
macro_rules! modules { ($($path:literal)*) => { &[$(($path, include_str!(concat!("../wgsl/", $path)))),*] } }

/// Every file below `wgsl/`: its path there, and its text.
pub const MODULES: &[(&str, &str)] = modules! {
    "arm64/atomic.wgsl"
    "arm64/bitmask.wgsl"
    "arm64/bits.wgsl"
    "arm64/class.wgsl"
    "arm64/class_ids.wgsl"
    "arm64/constants.wgsl"
    "arm64/crc.wgsl"
    "arm64/divide.wgsl"
    "arm64/flags.wgsl"
    "arm64/float/add.wgsl"
    "arm64/float/arithmetic.wgsl"
    "arm64/float/compare.wgsl"
    "arm64/float/constants.wgsl"
    "arm64/float/control.wgsl"
    "arm64/float/divide.wgsl"
    "arm64/float/estimate.wgsl"
    "arm64/float/format.wgsl"
    "arm64/float/integer.wgsl"
    "arm64/float/multiply.wgsl"
    "arm64/float/nan.wgsl"
    "arm64/float/number.wgsl"
    "arm64/float/round.wgsl"
    "arm64/float/square_root.wgsl"
    "arm64/float/unpack.wgsl"
    "arm64/multiply.wgsl"
    "arm64/numbers.wgsl"
    "arm64/operand.wgsl"
    "arm64/operations.wgsl"
    "arm64/word.wgsl"
    "machine/access.wgsl"
    "machine/asked.wgsl"
    "machine/bindings.wgsl"
    "machine/checked.wgsl"
    "machine/choice.wgsl"
    "machine/choice_by_domain.wgsl"
    "machine/choice_by_step.wgsl"
    "machine/choice_by_word.wgsl"
    "machine/console.wgsl"
    "machine/decisions.wgsl"
    "machine/decode.wgsl"
    "machine/decode_table.wgsl"
    "machine/digest.wgsl"
    "machine/frames.wgsl"
    "machine/frames_16.wgsl"
    "machine/frames_2.wgsl"
    "machine/frames_4.wgsl"
    "machine/frames_8.wgsl"
    "machine/interpreter.wgsl"
    "machine/interpreter_few.wgsl"
    "machine/interpreter_network.wgsl"
    "machine/interpreter_network_few.wgsl"
    "machine/layout.wgsl"
    "machine/linux/calls.wgsl"
    "machine/linux/no_calls.wgsl"
    "machine/linux/numbers.wgsl"
    "machine/lowering.wgsl"
    "machine/mapping.wgsl"
    "machine/memory.wgsl"
    "machine/micro_op.wgsl"
    "machine/registers.wgsl"
    "machine/rows.wgsl"
    "machine/semihosting.wgsl"
    "machine/simd/crypto.wgsl"
    "machine/simd/floats.wgsl"
    "machine/simd/integers.wgsl"
    "machine/simd/moves.wgsl"
    "machine/simd/no_transfers.wgsl"
    "machine/simd/registers.wgsl"
    "machine/simd/transfers.wgsl"
    "machine/simd/unit.wgsl"
    "machine/simd/unit_all.wgsl"
    "machine/simd/unit_floats.wgsl"
    "machine/simd/unit_integers.wgsl"
    "machine/transfer.wgsl"
    "machine/vector_op.wgsl"
    "networks/bindings.wgsl"
    "networks/dispatch.wgsl"
    "networks/dispatch_layers.wgsl"
    "networks/dispatch_subgroups.wgsl"
    "networks/dispatch_together.wgsl"
    "networks/domain.wgsl"
    "networks/domain_together.wgsl"
    "networks/fold.wgsl"
    "networks/layout.wgsl"
    "networks/logits.wgsl"
    "networks/near_weights.wgsl"
    "networks/small_dispatch.wgsl"
    "networks/small_dispatch_together.wgsl"
    "networks/tuple.wgsl"
    "networks/tuple_network.wgsl"
    "spiking/accumulators.wgsl"
    "spiking/advance.wgsl"
    "spiking/bindings.wgsl"
    "spiking/deliver.wgsl"
    "spiking/feagi.wgsl"
    "spiking/fixed.wgsl"
    "spiking/inject.wgsl"
    "spiking/izhikevich.wgsl"
    "spiking/learn.wgsl"
    "spiking/learn_nothing.wgsl"
    "spiking/lif.wgsl"
    "spiking/list.wgsl"
    "spiking/marks.wgsl"
    "spiking/marks_none.wgsl"
    "spiking/neurons.wgsl"
    "spiking/partitions.wgsl"
    "spiking/poisson.wgsl"
    "spiking/propagate.wgsl"
    "spiking/pull.wgsl"
    "spiking/random.wgsl"
    "spiking/record.wgsl"
    "spiking/single.wgsl"
    "spiking/sources.wgsl"
    "spiking/sources_unknown.wgsl"
    "spiking/spiked.wgsl"
    "spiking/spiked_unseen.wgsl"
    "spiking/spikes.wgsl"
    "spiking/spikes_unrecorded.wgsl"
    "spiking/synapses.wgsl"
    "spiking/synapses_2.wgsl"
    "spiking/synapses_4.wgsl"
    "spiking/synapses_8.wgsl"
    "spiking/turn.wgsl"
    "spiking/unpack.wgsl"
    "wide.wgsl"
};

/// The variants of kernels: how many bindings the frames of a machine lie in, and the module for that. Each is a
/// substitute of the first.
pub const FRAMES: &[(usize, &str)] = &[
    (1, "machine::frames"),
    (2, "machine::frames_2"),
    (4, "machine::frames_4"),
    (8, "machine::frames_8"),
    (16, "machine::frames_16"),
];

/// The variants of kernels of the burst engine: how many bindings synapses lie in, and the module for that. Each is a
/// substitute of the first.
pub const SYNAPSES: &[(usize, &str)] = &[
    (1, "spiking::synapses"),
    (2, "spiking::synapses_2"),
    (4, "spiking::synapses_4"),
    (8, "spiking::synapses_8"),
];

/// What takes the place of modules of the burst engine's kernels where it is not needed: marks of FEAGI's neurons,
/// learning, recording, which neuron a piece is of, and what targets see of sources.
pub const WITHOUT: [(&str, &str); 5] = [
    ("spiking::marks", "spiking::marks_none"),
    ("spiking::learn", "spiking::learn_nothing"),
    ("spiking::spikes", "spiking::spikes_unrecorded"),
    ("spiking::sources", "spiking::sources_unknown"),
    ("spiking::spiked", "spiking::spiked_unseen"),
];

/// The module of `machine::decode` that says which class the rows for a word are searched in: here, the table's.
pub const CHOICE: &str = "machine::choice";
/// Its substitute where a network is asked when a word is lowered.
pub const CHOICE_BY_WORD: &str = "machine::choice_by_word";
/// Its substitute where a network has been asked for all tuples.
pub const CHOICE_BY_DOMAIN: &str = "machine::choice_by_domain";
/// Its substitute where a network is asked in each step.
pub const CHOICE_BY_STEP: &str = "machine::choice_by_step";

/// Modules, and what is linked in their place.
pub type Substitutions = &'static [(&'static str, &'static str)];

/// What is substituted in kernels that evaluate the dispatch network: nothing, where each invocation does by itself.
pub const DISPATCH: Substitutions = &[];
/// The same where subgroups share the work.
pub const DISPATCH_IN_SUBGROUPS: Substitutions = &[("networks::dispatch", "networks::dispatch_subgroups")];
/// The same for the small network.
pub const SMALL_DISPATCH: Substitutions = &[
    ("networks::dispatch", "networks::small_dispatch"),
    ("networks::dispatch_together", "networks::small_dispatch_together"),
];

/// What is substituted in interpreters for a unit of SIMD registers, from the one that has no instructions to the one that
/// has all.
pub const SIMD_UNITS: &[Substitutions] = &[
    &[],
    &[("machine::simd::unit", "machine::simd::unit_integers"), SIMD_TRANSFERS],
    &[("machine::simd::unit", "machine::simd::unit_floats"), SIMD_TRANSFERS],
    &[("machine::simd::unit", "machine::simd::unit_all"), SIMD_TRANSFERS],
];
/// What is substituted in interpreters of programs with system calls that need no host.
pub const LINUX_CALLS: Substitutions = &[("machine::linux::no_calls", "machine::linux::calls")];

const SIMD_TRANSFERS: (&str, &str) = ("machine::simd::no_transfers", "machine::simd::transfers");
