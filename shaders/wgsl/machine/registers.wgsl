//! The general registers of the invocation's lane.

import package::machine::micro_op::{REGISTERS};

/// X0 to X30, zero, SP, and a sink for results that are not used.
///
/// Behind them are scratch elements for values of `access` that must survive the translation of pages. In this array
/// they take none of the GPU's registers, of which the loop of the interpreter should need few.
///
/// Numbers of registers in micro-ops have six bits, and the array has an element for each. So compilers can leave out
/// the checks of bounds that wgpu adds to each access. The last elements are not used.
var<private> x: array<u64, 64>;

/// Scratch element: the loaded value.
const SCRATCH_LOADED = REGISTERS;
/// Scratch element: the second loaded value.
const SCRATCH_SECOND = REGISTERS + 1u;
/// Scratch element: the value to store.
const SCRATCH_DATA = REGISTERS + 2u;
/// Scratch element: the second value to store.
const SCRATCH_DATA_HIGH = REGISTERS + 3u;
/// Scratch element: the frame of the first page, and its code.
const SCRATCH_FIRST = REGISTERS + 4u;
/// Scratch element: the frame of the second page, and its code.
const SCRATCH_LAST = REGISTERS + 5u;
/// Scratch element: the flags, while an instruction on SIMD registers is executed, which may change them.
const SCRATCH_FLAGS = REGISTERS + 6u;
/// Scratch element: the number of steps retired, including the call that is served. Calls load nothing, so it can share
/// an element.
const SCRATCH_STEPS = SCRATCH_SECOND;
/// Scratch element: the address of the next instruction, between steps, if `at` does not give it. No access uses the other
/// meaning of the element then.
const SCRATCH_NEXT = SCRATCH_DATA;
/// Scratch element: the authenticated base of a load.
const SCRATCH_BASE = REGISTERS + 8u;
/// Scratch element: the number of the lane.
const SCRATCH_LANE = REGISTERS + 7u;
