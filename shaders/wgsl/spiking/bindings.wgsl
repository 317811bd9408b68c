//! What every kernel of the burst engine is bound to, but for the ring and the synapses.
//!
//! Time is in storage: `neurons` reads one clock and writes the other, `propagate` reads that and writes the first.
//! So thousands of steps need no word from the host.

/// What stays as it is while steps run.
struct Settings {
    /// How many neurons there are.
    neurons: u32,
    /// How many steps of input the ring holds: the longest delay.
    slots: u32,
    /// Accumulators of a neuron and step: 1, or 2 where inhibition has its own.
    ports: u32,
    /// The most steps between two exchanges of spikes: at most the shortest delay.
    batch: u32,
    /// What a word of a synapse is shifted by to the left, and back, to leave the weight.
    weight_shift: u32,
    /// What is shifted to the right to leave the delay lowest.
    delay_shift: u32,
    /// The bits of the delay.
    delay_mask: u32,
    /// What is shifted to the right to leave the target lowest.
    target_shift: u32,
    /// The bits of the target.
    target_mask: u32,
    /// The shortest delay, which is what a delay of zero stands for.
    min_delay: u32,
    /// Words of a synapse: 1 or 2.
    synapse_words: u32,
    /// The most synapses of a piece of a row.
    piece: u32,
    /// Binary logarithm of the invocations that share a piece.
    team_bits: u32,
    /// How many partitions targets are divided into, of equal size.
    partitions: u32,
    /// Binary logarithm of the invocations that share what of a row leads to a partition.
    segment_team_bits: u32,
    /// Where rules of learning begin in `tables`.
    rules: u32,
    /// What random numbers of Poisson inputs begin from.
    input_base: u32,
    /// What random numbers of Poisson sources begin from.
    source_base: u32,
    /// How many steps are to be done, all in all. The host counts injections and recorded spikes from their first.
    steps: u32,
    /// How many injections there are for them.
    injections: u32,
    /// How many spikes there is room for in the recording; 0 if nothing is recorded.
    recording: u32,
    /// The first neuron that is recorded.
    recorded_first: u32,
    /// How many neurons are recorded.
    recorded: u32,
    /// How many batches one dispatch makes, if it makes several.
    rounds: u32,
}

/// Where the engine is in time.
struct Clock {
    /// The next step, the low word.
    step: u32,
    /// The next step, the high word.
    step_high: u32,
    /// The slot of the ring for the next step.
    head: u32,
    /// How many steps are left to do.
    remaining: u32,
    /// Which of the two counts of pieces is in use.
    parity: u32,
    /// 1 if the recording may have no room for another batch.
    is_halted: u32,
    /// How many steps the last batch had.
    batch: u32,
    /// The slot of the ring for its first step.
    first: u32,
}

/// Time, and what is counted as it passes.
struct Time {
    /// The clock that `neurons` reads.
    before: Clock,
    /// The clock that `propagate` reads.
    after: Clock,
    /// How many pieces there are, twice: one is in use, the other is set to zero meanwhile.
    pieces: array<atomic<u32>, 2>,
    /// How many spikes are recorded.
    recorded: atomic<u32>,
}

/// A piece of the row of a neuron that fired.
struct Piece {
    /// Its first word.
    place: u32,
    /// How many synapses it has.
    synapses: u32,
    /// In which steps of the batch the neuron fired, a bit each.
    spikes: u32,
    /// What weights are multiplied with, with 16 fraction bits.
    scale: u32,
}

/// The parameters of neurons.
struct Record {
    /// The model.
    kind: u32,
    /// What it has; see `record`.
    words: array<u32, 15>,
}

/// What stays as it is while steps run.
@group(0) @binding(0) var<uniform> settings: Settings;
/// Where the engine is in time.
@group(0) @binding(1) var<storage, read_write> time: Time;
/// State: four columns of a word a neuron.
@group(0) @binding(2) var<storage, read_write> columns: array<u32>;
/// Accumulated input of coming steps, in weight units: slots of ports of a word a neuron.
@group(0) @binding(3) var<storage, read_write> ring: array<atomic<i32>>;
/// A bit for each slot and neuron that has got input, though it sums to zero.
@group(0) @binding(4) var<storage, read_write> marks: array<atomic<u32>>;
/// The record of each neuron.
@group(0) @binding(5) var<storage, read> record_of: array<u32>;
/// Parameters of neurons.
@group(0) @binding(6) var<storage, read> records: array<Record>;
/// Tables that records refer to.
@group(0) @binding(7) var<storage, read> tables: array<u32>;
/// Of each neuron: the place of its row, and how many synapses that has.
@group(0) @binding(8) var<storage, read> rows: array<vec2<u32>>;
/// What `propagate` has to do.
@group(0) @binding(9) var<storage, read_write> pieces: array<Piece>;
/// A bit for each neuron that fired in the last step.
@group(0) @binding(10) var<storage, read_write> fired: array<u32>;
/// Spikes: the step, counted from the first of those the injections are for, and the neuron.
@group(0) @binding(11) var<storage, read_write> recording: array<vec2<u32>>;
/// Of each step the first of its injections, and their end.
@group(0) @binding(12) var<storage, read> injection_starts: array<u32>;
/// Injections: a neuron, and an amount in weight units.
@group(0) @binding(13) var<storage, read> injections: array<vec2<u32>>;
/// Of each neuron the spikes of the last 64 steps, low word first: bit k is the one k steps ago. Only where weights
/// change.
@group(0) @binding(14) var<storage, read_write> histories: array<vec2<u32>>;
/// Of each piece the neuron it is of. Only where somebody asks.
@group(0) @binding(15) var<storage, read_write> piece_sources: array<u32>;
/// Of each neuron, where the synapses of its row begin that lead to a partition of the targets, and the end of the
/// last. Only where rows are delivered so.
@group(0) @binding(16) var<storage, read_write> segments: array<u32>;
/// Of each neuron where its synapses begin in `incoming`, and their end. Only where targets look for spikes.
@group(0) @binding(17) var<storage, read> incoming_starts: array<u32>;
/// By target: the source of a synapse, and its weight. Only where targets look for spikes.
@group(0) @binding(18) var<storage, read> incoming: array<vec2<u32>>;
/// Of each neuron in which steps of the batch it fired, a bit each, and what weights are multiplied with. Only where
/// targets look for spikes.
@group(0) @binding(19) var<storage, read_write> spiked: array<vec2<u32>>;
