//! The addresses of heap and stack.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The addresses of heap and stack, which are the same in every lane. See
/// [`Machine::layout`](crate::Machine::layout).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The addresses of the heap. Those of a Linux program are mapped by `brk`.
    pub heap: Range<u64>,
    /// The addresses of the stack. A semihosting guest begins with SP at its end; a Linux program finds arguments and
    /// environment there.
    pub stack: Range<u64>,
}
