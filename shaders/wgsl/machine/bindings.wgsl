//! What every kernel of a machine is bound to, but for its frames.

import package::machine::layout::{CALLS, LIMITS};

/// What a dispatch is told.
struct Parameters {
    /// How many lanes the machine has; the length of a column of their state.
    lanes: u32,
    /// The most steps a lane takes in this dispatch.
    steps: u32,
    /// The most loop iterations an invocation may take; some drivers cut longer ones off.
    fuel: u32,
    /// How many frames the machine has.
    frames: u32,
    /// Jobs of kernels that work on a list.
    jobs: u32,
    /// Bit `n` is set if the machine has the `n`-th `Feature`.
    features: u32,
    /// Bytes of console output there is room for, a lane.
    console: u32,
    /// What becomes of decisions that are wrong: `DISPATCH_*`.
    dispatch: u32,
    /// How many invocations count loop iterations together on drivers that cut off long loops; 1 on others.
    sharers: u32,
    /// How many pages the heap may grow by in one call that the shader serves.
    break_pages: u32,
    /// How many steps of a slice an iteration of other loops costs, in units of 1/256, on drivers that limit iterations.
    work_steps: u32,
    /// Nothing: the words of eight bytes are aligned.
    padding: u32,
    /// Where the heap of Linux programs begins.
    heap_start: u64,
    /// Where it may end.
    heap_end: u64,
    /// The time of day before the first step of Linux programs, in nanoseconds.
    epoch: u64,
    /// What the randomness of Linux programs follows from, beside the number of the lane.
    seed: u64,
    /// The limits of resources of Linux programs.
    limits: array<u64, LIMITS>,
    /// What becomes of system calls, by number: `CALL_*`.
    calls: array<u32, CALLS>,
}

/// What a dispatch is told.
@group(0) @binding(0) var<storage, read> parameters: Parameters;
/// Columns of one word a lane.
@group(0) @binding(1) var<storage, read_write> state: array<u64>;
/// Of each frame: its page in two words, the next frame of its lane, its lowered code.
@group(0) @binding(2) var<storage, read_write> frame_info: array<vec4<u32>>;
/// Lowered code, by code page.
@group(0) @binding(3) var<storage, read_write> micro_ops: array<vec4<u32>>;
/// What the host reads after a dispatch.
@group(0) @binding(4) var<storage, read_write> counters: array<atomic<u32>>;
/// Console output that waits for the host: columns of one word a lane.
@group(0) @binding(5) var<storage, read_write> console: array<u64>;
