//! Changes of a network that leave most of it where it is.

/// What engines have to take over after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// How many neurons there were.
    pub neurons: u32,
    /// How many slots the ring had.
    pub slots: usize,
    /// How many ports there were.
    pub ports: u32,
    /// How many words of synapses there were; rows that have moved are behind these.
    pub words: usize,
    /// Sources whose rows are others now, or elsewhere, in order.
    pub rows: Vec<u32>,
    /// Records that are others now, or new, in order.
    pub records: Vec<u32>,
    /// Neurons that have another record now, or are new, in order.
    pub record_of: Vec<u32>,
    /// All rows are elsewhere and packed in another way, so everything has to be taken over.
    pub is_repacked: bool,
}
