//! The substitute for `learn` in networks whose weights do not change.

/// Nothing that is used: synapses need nothing of their source.
struct Source {
    /// The number of steps of the batch.
    steps: u32,
}

/// What a synapse needs in order to learn: nothing.
struct Learning {
    /// The steps of the batch in which the weight may change: none.
    visits: u32,
}

/// Does nothing: the source neurons of pieces are not used.
fn set_source(piece: u32, neuron: u32) {}

/// Returns whether a rule visits the row of a neuron: never. There are no histories to update.
fn update_history(neuron: u32, population: u32, spikes: u32, steps: u32) -> bool {
    return false;
}

/// Returns a source that is not used.
fn source_of(piece: u32, steps: u32) -> Source {
    return Source(steps);
}

/// Returns how a synapse learns: not at all.
fn learning_of(source: Source, destination: u32) -> Learning {
    return Learning(0u);
}

/// Returns the weight as it is.
fn weight_after(learning: Learning, source: Source, step: u32, weight: i32) -> i32 {
    return weight;
}

/// Does nothing: weights are constant.
fn store_weight(piece: u32, index: u32, weight: i32) {}
