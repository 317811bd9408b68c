//! Where the memory that is not the program's lies.

use std::ops::Range;

/// Where heap and stack of every lane lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The heap.
    pub heap: Range<u64>,
    /// The stack; execution begins with SP at its end.
    pub stack: Range<u64>,
}
