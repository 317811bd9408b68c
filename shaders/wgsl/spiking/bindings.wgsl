//! The bindings that all kernels of the burst engine share, except the synapses.
//!
//! The clocks are in a storage buffer: `neurons` reads the first and writes the second, `propagate` reads the second
//! and writes the first. So thousands of steps need no communication with the host.

/// The settings of a chunk, which kernels do not change.
struct Settings {
    /// The number of neurons.
    neurons: u32,
    /// The number of slots of the ring, one per step of input: the longest delay.
    slots: u32,
    /// The number of sums per neuron and step: 1, or 2 if inhibition has its own.
    ports: u32,
    /// The most steps between two exchanges of spikes: at most the shortest delay.
    batch: u32,
    /// The shift, first left and then right, that extracts the weight from the low word of a synapse.
    weight_shift: u32,
    /// The shift to the right that moves the delay to the lowest bits.
    delay_shift: u32,
    /// The mask of the delay, after the shift.
    delay_mask: u32,
    /// The shift to the right that moves the target to the lowest bits.
    target_shift: u32,
    /// The mask of the target, after the shift.
    target_mask: u32,
    /// The shortest delay. Synapses store the difference to it.
    min_delay: u32,
    /// The number of words of a synapse: 1 or 2.
    synapse_words: u32,
    /// The most synapses of a piece of a row.
    piece: u32,
    /// The binary logarithm of the number of invocations that share a piece.
    team_bits: u32,
    /// The number of blocks of the neurons, which have the same size.
    blocks: u32,
    /// The number of steps of a batch whose input the kernel `fused` has in workgroup memory at the same time.
    window: u32,
    /// The shift, first left and then right, that extracts the amount from a word of a block.
    block_amount_shift: u32,
    /// The shift to the right that moves the delay in a word of a block to the lowest bits.
    block_delay_shift: u32,
    /// The shift to the right that leaves the index of the sum of a word of a block.
    block_index_shift: u32,
    /// The divisor of excitatory weights, if a word counts the input of both ports of a neuron; see `narrow_sums`.
    excitatory_divisor: u32,
    /// The divisor of inhibitory weights, as above.
    inhibitory_divisor: u32,
    /// The index in `tables` of the directory of plasticity rules.
    rules: u32,
    /// 1 if the coefficients of all LIF neurons are from 0 to 1, and their biases are small; see `Record::has_moderate_terms`.
    has_moderate_terms: u32,
    /// The seed of the random numbers of Poisson inputs.
    input_base: u32,
    /// The seed of the random numbers of Poisson sources.
    source_base: u32,
    /// The number of steps of the chunk. The steps of injections and recorded spikes count from its first one.
    steps: u32,
    /// The number of injections of the chunk.
    injections: u32,
    /// The capacity of the recording in spikes; 0 if nothing is recorded.
    recording: u32,
    /// The first neuron that is recorded.
    recorded_first: u32,
    /// The number of neurons that are recorded.
    recorded: u32,
    /// The number of batches of one dispatch of `single`.
    rounds: u32,
}

/// The position of the engine in time.
struct Clock {
    /// The next step, the low word.
    step: u32,
    /// The next step, the high word.
    step_high: u32,
    /// The slot of the ring for the next step.
    head: u32,
    /// The number of steps of the chunk that remain.
    remaining: u32,
    /// The index of the element of `Time::pieces` that is in use.
    parity: u32,
    /// 1 if the recording may not have room for another batch.
    is_halted: u32,
    /// The number of steps of the last batch.
    batch: u32,
    /// The slot of the ring for the first step of the last batch.
    first: u32,
}

/// The clocks, and the counters of pieces and recorded spikes.
struct Time {
    /// The clock that `neurons` reads.
    before: Clock,
    /// The clock that `propagate` reads.
    after: Clock,
    /// Two counters of pieces: one is in use while the other is set to zero.
    pieces: array<atomic<u32>, 2>,
    /// The number of recorded spikes.
    recorded: atomic<u32>,
    /// The numbers of spikes that three batches of `fused` record: one counts, one is read, and one is set to zero.
    batch_spikes: array<atomic<u32>, 3>,
    /// The lengths of the lists of spikes of the same batches: `BATCH_MAX` for each batch, one for each window.
    batch_pieces: array<atomic<u32>, 96>,
}

/// The position of a workgroup of `fused` in time. Each workgroup has its own, which no other one reads or writes.
struct Turn {
    /// The clock for the next batch.
    clock: Clock,
    /// The number of batches of the slice that are done.
    number: u32,
    /// The number of spikes that all of these but the last one have recorded.
    recorded: u32,
}

/// A piece of the row of a neuron that fired.
struct Piece {
    /// The index of the piece's first word.
    place: u32,
    /// The number of synapses.
    synapses: u32,
    /// The steps of the batch in which the neuron fired, a bit each.
    spikes: u32,
    /// The factor of the weights, with 16 fraction bits.
    scale: u32,
}

/// The parameters of neurons.
struct Record {
    /// The model.
    kind: u32,
    /// The parameters of the model, in the layout of `kvrm_spiking::Record`.
    words: array<u32, 15>,
}

/// The settings of the chunk.
@group(0) @binding(0) var<uniform> settings: Settings;
/// The clocks, and the counters of pieces and recorded spikes.
@group(0) @binding(1) var<storage, read_write> time: Time;
/// The state of neurons: four columns of one word per neuron.
@group(0) @binding(2) var<storage, read_write> columns: array<u32>;
/// The accumulated input of future steps, in weight units: a word for each slot, port and neuron, in this order.
@group(0) @binding(3) var<storage, read_write> ring: array<atomic<i32>>;
/// A bit for each slot and neuron: the neuron has received input whose sum became zero.
@group(0) @binding(4) var<storage, read_write> marks: array<atomic<u32>>;
/// The index of the record of each neuron.
@group(0) @binding(5) var<storage, read> record_of: array<u32>;
/// The parameters of neurons.
@group(0) @binding(6) var<storage, read> records: array<Record>;
/// The tables that records refer to, and the plasticity rules.
@group(0) @binding(7) var<storage, read> tables: array<u32>;
/// The row of each neuron: the index of its first word, and its number of synapses.
@group(0) @binding(8) var<storage, read> rows: array<vec2<u32>>;
/// The pieces of rows to deliver. In the lists of the kernel `fused`, a piece is a whole row, and its place is the number of
/// the source neuron.
@group(0) @binding(9) var<storage, read_write> pieces: array<Piece>;
/// A bit for each neuron that fired in the last step.
@group(0) @binding(10) var<storage, read_write> fired: array<u32>;
/// The recorded spikes: the step, counted from the first of the chunk, and the neuron.
@group(0) @binding(11) var<storage, read_write> recording: array<vec2<u32>>;
/// The index of the first injection of each step, and the end of the last step's injections.
@group(0) @binding(12) var<storage, read> injection_starts: array<u32>;
/// The injections: a neuron, and an amount in weight units.
@group(0) @binding(13) var<storage, read> injections: array<vec2<u32>>;
/// The history of each neuron, used if weights change. The first two words are its spikes in the last 64 steps, low word
/// first: bit k is the step k steps ago. The third word has the spikes of the older steps that the last batch moved out of
/// these 64, in its lowest bits. The fourth word has a bit for each step of the last batch in which a rule for pairs visits the
/// row. Both are used in the batch that makes them and not after it, so they are no part of the state.
@group(0) @binding(14) var<storage, read_write> histories: array<vec4<u32>>;
/// The source neuron of each piece. Used if weights change.
@group(0) @binding(15) var<storage, read_write> piece_sources: array<u32>;
/// The places of blocks and segments, for the kernel `fused`. First two words for each block: its beginning, which is the number of
/// the binding and, in the `BLOCK_QUAD_BITS` low bits, the index of a quad (a group of four words); and the number of low bits of an
/// entry. Then, unless segments have lines, an entry for each block and source: the number of quads of the segment,
/// and in the low bits the index of the first one in the block.
@group(0) @binding(16) var<storage, read> segments: array<u32>;
/// The turn of each workgroup of the kernel `fused`.
@group(0) @binding(17) var<storage, read_write> turns: array<Turn>;
/// The synapses sorted by block, source and target, for the kernel `fused`. A word has the amount in its lowest bits (the weight,
/// or its multiple of a divisor; see `narrow_sums`), then the delay, and then the index of the sum, among those of the block in a
/// step. A block is in one binding.
@group(0) @binding(18) var<storage, read> blocks_a: array<vec4<u32>>;
/// More synapses sorted by block.
@group(0) @binding(19) var<storage, read> blocks_b: array<vec4<u32>>;
/// More synapses sorted by block.
@group(0) @binding(20) var<storage, read> blocks_c: array<vec4<u32>>;
/// More synapses sorted by block.
@group(0) @binding(21) var<storage, read> blocks_d: array<vec4<u32>>;
/// More synapses sorted by block.
@group(0) @binding(22) var<storage, read> blocks_e: array<vec4<u32>>;
/// More synapses sorted by block.
@group(0) @binding(23) var<storage, read> blocks_f: array<vec4<u32>>;
/// More synapses sorted by block.
@group(0) @binding(24) var<storage, read> blocks_g: array<vec4<u32>>;
/// More synapses sorted by block.
@group(0) @binding(25) var<storage, read> blocks_h: array<vec4<u32>>;
