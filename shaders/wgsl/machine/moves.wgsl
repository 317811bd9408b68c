//! The kernels that move frames between the pools and the host.
//!
//! A frame has an *order*: the rank of the lane that took it, and the binary logarithm of the number of turns since it was used.
//! Frames of the greatest orders leave first. `tally` counts the frames of each order, so the host knows from which order on
//! frames have to leave; `choose` lists them; `evict` copies them into a buffer for the host. `fetch` copies frames back.
//! Nodes of page tables stay, so that a walk through a page table never meets a frame that is away.

import package::machine::bindings::{frame_info, parameters, places, state};
import package::machine::fixed_places::{handle_of};
import package::machine::frames::{frame_handle, frame_store_words, frame_words};
import package::machine::nodes::{node_entry};
import package::machine::layout::{
    COLUMN_ROOT, COLUMN_TLB, COLUMN_WINDOW, ENTRY_FRAME, ENTRY_MAPPED, FRAME_LOST, FRAME_WORDS, INFO_AWAY, INFO_NODE, INFO_PLACE,
    INFO_PLACE_BIT, LEVEL_BITS, MARK_PREFETCHED, MOVE_AGES, RANKS, RANK_RUNS,
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

/// A frame that moves; for `locate` and `find_used` a page of a lane.
struct Move {
    /// The number of the frame, or 0 if it is sought or there is none.
    frame: u32,
    /// The number of its place: the one that it leaves, or the one that it gets. Of a page, the low half of its number.
    place: u32,
    /// The number of its lane.
    lane: u32,
    /// For `fetch`, 1 if no lane has asked for the frame. Of a page, the high half of its number.
    detail: u32,
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
    let turns = (parameters.turn - places[parameters.places + 2u * frame + 1u]) & (MARK_PREFETCHED - 1u);
    let age = 32u - countLeadingZeros(turns);
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
    if job >= parameters.jobs {
        return;
    }
    let frame = moves[job].frame;
    let source = handle_of(frame);
    for (var word = local; word < FRAME_WORDS; word += WORKGROUP_SIZE) {
        move_words[job * FRAME_WORDS + word] = frame_words(source, word);
    }
    storageBarrier();
    if local == 0u {
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
        let mark = select(0u, MARK_PREFETCHED, arrival.detail != 0u);
        places[parameters.places + 2u * arrival.frame + 1u] = parameters.turn | mark;
    }
}

/// Finds the frames of pages that are away. Other pages get frame 0: those that are not mapped, and those that are in the pools.
@compute @workgroup_size(WORKGROUP_SIZE)
fn locate(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = job_of(workgroup) * WORKGROUP_SIZE + local;
    if index >= parameters.jobs {
        return;
    }
    let page = u64(moves[index].place) | (u64(moves[index].detail) << 32u);
    let frame = frame_of_page(moves[index].lane, page);
    moves[index].frame = select(0u, frame, (frame_info[frame].y & INFO_AWAY) != 0u);
}

/// Returns the number of the frame that has a page of a lane, or 0 if the page is not mapped.
fn frame_of_page(lane: u32, page: u64) -> u32 {
    let root = state[COLUMN_ROOT * parameters.lanes + lane];
    let relative = page - state[COLUMN_WINDOW * parameters.lanes + lane];
    var level = u32(root >> 32u);
    var entry = u32(root);
    if (relative >> (LEVEL_BITS * level)) != 0lu {
        return 0u;
    }
    while level > 0u && entry != 0u {
        level -= 1u;
        entry = node_entry(entry >> ENTRY_FRAME, u32(relative >> (LEVEL_BITS * level)) & ((1u << LEVEL_BITS) - 1u));
    }
    return select(0u, entry >> ENTRY_FRAME, (entry & ENTRY_MAPPED) != 0u);
}

/// Sets the frames to 0 that no lane has used since they were prefetched, and to `FRAME_LOST` those of them that have left again.
@compute @workgroup_size(WORKGROUP_SIZE)
fn find_used(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = job_of(workgroup) * WORKGROUP_SIZE + local;
    if index >= parameters.jobs {
        return;
    }
    let frame = moves[index].frame;
    if (places[parameters.places + 2u * frame + 1u] & MARK_PREFETCHED) != 0u {
        moves[index].frame = select(0u, FRAME_LOST, (frame_info[frame].y & INFO_AWAY) != 0u);
    }
}
