//! What translated regions return.

/// A lane that has left a region.
struct LeftRegion {
    /// The address of its next instruction.
    pc: u64,
    /// The flags.
    flags: u32,
    /// The rest of its budget.
    budget: u32,
}
