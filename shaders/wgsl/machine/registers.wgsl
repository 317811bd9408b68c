//! The general registers of the invocation's lane.

import package::machine::micro_op::{REGISTERS};

/// X0 to X30, zero, SP, and a place for what nobody reads.
///
/// Behind them is what an access keeps while it looks up pages: there it takes none of the GPU's own registers,
/// of which the loop should need few.
var<private> x: array<u64, SCRATCH_END>;

/// Where an access keeps what was loaded.
const SCRATCH_LOADED = REGISTERS;
/// Where an access keeps what else was loaded.
const SCRATCH_SECOND = REGISTERS + 1u;
/// Where an access keeps what is to be stored.
const SCRATCH_DATA = REGISTERS + 2u;
/// Where an access keeps what else is to be stored.
const SCRATCH_DATA_HIGH = REGISTERS + 3u;
/// Where an access keeps the frame of its first page, and the code in it.
const SCRATCH_FIRST = REGISTERS + 4u;
/// Where an access keeps the frame of its second page, and the code in it.
const SCRATCH_LAST = REGISTERS + 5u;
/// Where the flags are while an instruction on SIMD registers is executed, which may change them.
const SCRATCH_FLAGS = REGISTERS + 6u;
/// How many steps have retired when the call that is served has. Calls load nothing.
const SCRATCH_STEPS = SCRATCH_SECOND;
/// The end of what is kept.
const SCRATCH_END = REGISTERS + 7u;
