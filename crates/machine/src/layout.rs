//! The addresses of heap and stack.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::pages::{ADDRESS_BITS, PAGE_BYTES};

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

/// Places stack, heap and, for a Linux program, the arena behind the address `end`, each after an unmapped page that
/// makes overruns faults.
///
/// So all memory that a lane writes is close together, and page tables stay small.
pub(crate) fn place(
    end: u64,
    stack_bytes: u64,
    heap_bytes: u64,
    arena_bytes: Option<u64>,
) -> Result<(Layout, Range<u64>), Error> {
    const PAGE: u64 = PAGE_BYTES as u64;
    const LIMIT: u64 = 1 << ADDRESS_BITS;
    let after = |end: u64, what: &'static str, bytes: u64| {
        let start = end.next_multiple_of(PAGE) + PAGE;
        let size = bytes.checked_next_multiple_of(PAGE);
        let end = size.and_then(|size| start.checked_add(size)).filter(|&end| end <= LIMIT);
        end.map(|end| start..end).ok_or(Error::NoRoom { what, bytes, limit: LIMIT })
    };
    let stack = after(end, "stack", stack_bytes)?;
    let heap = after(stack.end, "heap", heap_bytes)?;
    let arena = match arena_bytes {
        Some(bytes) => after(heap.end, "mmap arena", bytes)?,
        None => 0..0,
    };
    Ok((Layout { heap, stack }, arena))
}
