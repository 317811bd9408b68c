//! The bindings that all kernels of a machine share, except the frames.

import package::machine::layout::{CALLS, LIMITS};

/// The parameters of a dispatch.
struct Parameters {
    /// The number of lanes of the machine, which is the length of a column of their state.
    lanes: u32,
    /// The most steps a lane takes in this dispatch.
    steps: u32,
    /// The most loop iterations an invocation may take; some drivers cut off longer loops.
    fuel: u32,
    /// The number of frames of the machine.
    frames: u32,
    /// The number of jobs, for kernels that work on a list.
    jobs: u32,
    /// The features of the machine: bit `n` is set if it has the `n`-th `Feature`.
    features: u32,
    /// The size of a lane's buffer for console output, in bytes.
    console: u32,
    /// The handling of wrong classes: `SELECTION_*`.
    selection: u32,
    /// The number of invocations whose loop iterations a driver that cuts off long loops counts together; 1 on others.
    sharers: u32,
    /// The most pages that the heap may grow by in one call that the shader serves.
    break_pages: u32,
    /// The number of steps of a slice that an iteration of another loop costs, in units of 1/256; 0 where drivers do not limit
    /// iterations.
    work_steps: u32,
    /// The most steps that a lane takes before it leaves a translated region, so that the others of its workgroup do not wait
    /// for it too long.
    quantum: u32,
    /// The number of sets of each lane's TLB for data in `kept_pages`, a power of two.
    tlb_sets: u32,
    /// The number of sets of each lane's TLB for code in `kept_pages`, a power of two.
    code_tlb_sets: u32,
    /// The number of places that frames can have in the pools, in machines whose frames move.
    places: u32,
    /// The index in the ring of free places of the first one.
    first_free: u32,
    /// The number of free places.
    free_places: u32,
    /// The number of the turn, with which frames that are used are marked.
    turn: u32,
    /// The time of day before the first step of Linux programs, in nanoseconds.
    epoch: u64,
    /// The seed of the randomness of Linux programs, from which each lane derives its own.
    seed: u64,
    /// The number of the first lane in the machine, whose lanes several devices may share.
    first_lane: u64,
    /// The limits of resources of Linux programs.
    limits: array<u64, LIMITS>,
    /// The treatment of system calls, by number: `CALL_*`.
    calls: array<u32, CALLS>,
}

/// The parameters of the dispatch.
@group(0) @binding(0) var<storage, read> parameters: Parameters;
/// The state of lanes: columns of one word per lane.
@group(0) @binding(1) var<storage, read_write> state: array<u64>;
/// The information on each frame: its page in two words, the next frame of its lane, its lowered code.
@group(0) @binding(2) var<storage, read_write> frame_info: array<vec4<u32>>;
/// The lowered code, by code page.
@group(0) @binding(3) var<storage, read_write> micro_ops: array<vec4<u32>>;
/// The counters that the host reads after a dispatch.
@group(0) @binding(4) var<storage, read_write> counters: array<atomic<u32>>;
/// The console output that waits for the host: columns of one word per lane.
@group(0) @binding(5) var<storage, read_write> console: array<u64>;
/// The TLBs that lanes keep from slice to slice: rows of one set per lane, first those for data, then those for code.
@group(0) @binding(6) var<storage, read_write> kept_pages: array<vec4<u32>>;
/// In machines whose frames move, a ring of the numbers of free places, with room for all places; and then for each frame the lane
/// that took it plus one, and the dispatch in which it was used last.
@group(0) @binding(7) var<storage, read_write> places: array<u32>;
