//! The kernels that move frames between the pools and the host.
//!
//! A frame has an *order*: the rank of the lane that took it, and the binary logarithm of the number of dispatches since it was used.
//! Frames of the greatest orders leave first. `tally` counts the frames of each order, so the host knows from which order on
//! frames have to leave; `choose` lists them; `evict` copies them into a buffer for the host. `fetch` copies frames back.
//! Nodes of page tables stay, so that a walk through a page table never meets a frame that is away.

import package::machine::bindings::{frame_info, parameters, places, state};
import package::machine::fixed_places::{handle_of};
import package::machine::frames::{frame_handle, frame_store_words, frame_words};
import package::machine::layout::{
    COLUMN_TLB, FRAME_WORDS, INFO_AWAY, INFO_NODE, INFO_PLACE, INFO_PLACE_BIT, MOVE_AGES, RANKS, RANK_RUNS,
};
import package::machine::workgroups::{job_of};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// The number of orders.
const MOVE_ORDERS = RANKS * MOVE_AGES;

/// The frames that are chosen.
struct MoveChoice {
    /// The first frame that may leave.
    first: u32,
    /// The number of frames from the first one on.
    frames: u32,
    /// The least order of frames that leave.
    order: u32,
    /// The number of frames of this order that leave, at most.
    quota: u32,
}

/// A frame that moves.
struct Move {
    /// The number of the frame.
    frame: u32,
    /// The number of its place: the one that it leaves, or the one that it gets.
    place: u32,
    /// The number of its lane.
    lane: u32,
    /// 1 if all words of the frame are 0. Only `evict` sets it.
    is_zero: u32,
}

/// The frames to choose.
@group(1) @binding(0) var<storage, read> choice: MoveChoice;
/// The rank of each lane.
@group(1) @binding(1) var<storage, read> lane_ranks: array<u32>;
/// The number of frames of each order. Behind them the number of frames in `moves`, and that of frames of the least order.
@group(1) @binding(2) var<storage, read_write> tallies: array<atomic<u32>>;
/// The frames that move.
@group(1) @binding(3) var<storage, read_write> moves: array<Move>;
/// The words of these frames.
@group(1) @binding(4) var<storage, read_write> move_words: array<vec2<u32>>;

/// The number of words of the workgroup's frame that are not 0.
var<workgroup> other_words: atomic<u32>;

/// Returns the order of a frame, or `MOVE_ORDERS` if it has to stay or is away.
fn order_of(frame: u32) -> u32 {
    if (frame_info[frame].y & (INFO_AWAY | INFO_NODE)) != 0u {
        return MOVE_ORDERS;
    }
    let taker = places[parameters.places + 2u * frame];
    var rank = RANK_RUNS;
    if taker != 0u {
        rank = lane_ranks[taker - 1u];
    }
    let age = 32u - countLeadingZeros(parameters.turn - places[parameters.places + 2u * frame + 1u]);
    return rank * MOVE_AGES + min(age, MOVE_AGES - 1u);
}

/// Returns the frame of an invocation, or 0 if it has none.
fn frame_of(workgroup: vec3<u32>, local: u32) -> u32 {
    let index = job_of(workgroup) * WORKGROUP_SIZE + local;
    return select(0u, choice.first + index, index < choice.frames);
}

/// Counts the frames of each order.
@compute @workgroup_size(WORKGROUP_SIZE)
fn tally(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let frame = frame_of(workgroup, local);
    if frame == 0u {
        return;
    }
    let order = order_of(frame);
    if order < MOVE_ORDERS {
        atomicAdd(&tallies[order], 1u);
    }
}

/// Lists the frames above the least order, and some of that order.
@compute @workgroup_size(WORKGROUP_SIZE)
fn choose(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let frame = frame_of(workgroup, local);
    if frame == 0u {
        return;
    }
    let order = order_of(frame);
    if order < choice.order || order == MOVE_ORDERS {
        return;
    }
    if order == choice.order && atomicAdd(&tallies[MOVE_ORDERS + 1u], 1u) >= choice.quota {
        return;
    }
    let index = atomicAdd(&tallies[MOVE_ORDERS], 1u);
    let place = frame ^ ((frame_info[frame].y & INFO_PLACE) >> INFO_PLACE_BIT);
    moves[index] = Move(frame, place, places[parameters.places + 2u * frame] - 1u, 0u);
}

/// Copies the listed frames into the buffer, and marks them as away. Their lanes forget their pages.
@compute @workgroup_size(WORKGROUP_SIZE)
fn evict(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let job = job_of(workgroup);
    let is_job = job < parameters.jobs;
    if local == 0u {
        atomicStore(&other_words, 0u);
    }
    workgroupBarrier();
    let frame = moves[min(job, parameters.jobs - 1u)].frame;
    let source = handle_of(frame);
    var others = 0u;
    for (var word = local; is_job && word < FRAME_WORDS; word += WORKGROUP_SIZE) {
        let words = frame_words(source, word);
        others |= words.x | words.y;
        move_words[job * FRAME_WORDS + word] = words;
    }
    if others != 0u {
        atomicAdd(&other_words, 1u);
    }
    workgroupBarrier();
    if is_job && local == 0u {
        moves[job].is_zero = select(0u, 1u, atomicLoad(&other_words) == 0u);
        frame_info[frame].y = (frame_info[frame].y & ~INFO_PLACE) | INFO_AWAY;
        forget_frame(moves[job].lane);
    }
}

/// Lets a lane forget its pages.
fn forget_frame(lane: u32) {
    if lane < parameters.lanes {
        state[COLUMN_TLB * parameters.lanes + lane] = 0lu;
    }
}

/// Copies the listed frames from the buffer to their new places.
@compute @workgroup_size(WORKGROUP_SIZE)
fn fetch(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let job = job_of(workgroup);
    if job >= parameters.jobs {
        return;
    }
    let arrival = moves[job];
    let to = frame_handle(arrival.place);
    for (var word = local; word < FRAME_WORDS; word += WORKGROUP_SIZE) {
        frame_store_words(to, word, move_words[job * FRAME_WORDS + word]);
    }
    if local == 0u {
        let place = (arrival.place ^ arrival.frame) << INFO_PLACE_BIT;
        frame_info[arrival.frame].y = (frame_info[arrival.frame].y & ~(INFO_PLACE | INFO_AWAY)) | place;
        places[parameters.places + 2u * arrival.frame + 1u] = parameters.turn;
    }
}
