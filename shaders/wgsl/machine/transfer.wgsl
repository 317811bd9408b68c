//! The kernels for reads, writes and mappings of guest memory by the host, and for the reset of lanes.

import package::machine::bindings::{parameters, state};
import package::machine::frames::{frame_load, frame_store};
import package::machine::layout::{
    COLUMNS, COLUMN_CONSOLE, COLUMN_HEAD, COLUMN_TAIL, COLUMN_TLB, PIPE_ADDRESS_HIGH, STOP_NEED_AWAY, STOP_NEED_FRAME, STOP_NEED_TIME,
    STOP_NONE,
};
import package::machine::mapping::{map_some_pages};
import package::machine::memory::{
    WANT_HOST_READ, WANT_HOST_WRITE, effort, forget_pages, found_code, found_frame, found_fresh,
    get_state, lane, mark_stale, set_state, translate,
};
import package::machine::pipe_frames::{own_pipe_frame, pipe_frame};
import package::machine::workgroups::{job_of};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// A part of a page of a lane to read or write, or pages to map. A dispatch removes the pages that it has mapped from
/// the piece.
struct Piece {
    /// The lane.
    lane: u32,
    /// The number of bytes, all in one page; or the number of pages to map.
    bytes: u32,
    /// The address, the low word.
    address: u32,
    /// The address, the high word.
    address_high: u32,
    /// The index of the piece's first word in `data`.
    data: u32,
    /// The result: a stop.
    stop: u32,
    /// The result of a read: 1 if the lane has not written the page. With the stop `STOP_NEED_AWAY` the number of the frame.
    fresh: u32,
    /// The mapping: `MAP_*` and the `ENTRY_*` bits of the pages; 0 if the piece is to be read or written.
    map: u32,
}

/// The pieces. Those to write or map are sorted by lane.
@group(1) @binding(0) var<storage, read_write> pieces: array<Piece>;
/// The bytes of all pieces. Each piece starts at a new word.
@group(1) @binding(1) var<storage, read_write> data: array<u64>;
/// The index of the first piece of each lane that has pieces, and the end of the last; or the lanes to reset.
@group(1) @binding(2) var<storage, read> jobs: array<u32>;
/// The state of all lanes at the last snapshot.
@group(1) @binding(3) var<storage, read> snapshot: array<u64>;

/// Returns the address of a piece.
fn address_of(piece: Piece) -> u64 {
    return u64(piece.address) | (u64(piece.address_high) << 32u);
}

/// Whether a piece is in the pipe windows of the lane.
fn is_in_window(piece: Piece) -> bool {
    return piece.address_high >= PIPE_ADDRESS_HIGH;
}

/// Reads pieces whose addresses are aligned to words. The first dimension is the word of the piece, the others the
/// piece.
@compute @workgroup_size(WORKGROUP_SIZE)
fn read_pieces(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let word = workgroup.x * WORKGROUP_SIZE + local;
    let index = job_of(workgroup);
    if index >= parameters.jobs || word * 8u >= pieces[index].bytes {
        return;
    }
    let piece = pieces[index];
    lane = piece.lane;
    forget_pages();
    var stop = STOP_NONE;
    if is_in_window(piece) {
        found_frame = pipe_frame(piece.address >> 12u);
        found_fresh = 0u;
    } else {
        stop = translate(WANT_HOST_READ, address_of(piece));
    }
    if stop == STOP_NONE {
        data[piece.data + word] = frame_load(found_frame, ((piece.address & 4095u) >> 3u) + word);
    }
    if word == 0u {
        pieces[index].stop = stop;
        pieces[index].fresh = select(found_fresh, found_frame, stop == STOP_NEED_AWAY);
    }
}

/// Maps, protects or unmaps as many pages of a piece as the dispatch has fuel for, and removes them from the piece.
/// Returns a stop.
fn map_pages(index: u32) -> u32 {
    let piece = pieces[index];
    let page = address_of(piece) >> 12u;
    var done = 0u;
    var stop = STOP_NONE;
    while stop == STOP_NONE && done < piece.bytes {
        if effort >= parameters.fuel {
            stop = STOP_NEED_TIME;
        } else {
            let mapped = map_some_pages(page + u64(done), piece.bytes - done, piece.map);
            stop = mapped.x;
            done += select(0u, mapped.y, stop == STOP_NONE);
        }
    }
    let address = (page + u64(done)) << 12u;
    pieces[index].address = u32(address);
    pieces[index].address_high = u32(address >> 32u);
    pieces[index].bytes = piece.bytes - done;
    return stop;
}

/// Writes the pieces of a lane and maps its pages, in order, as far as the dispatch has fuel. The first piece that it
/// does not finish gets a stop; the host passes the remaining pieces to the next dispatch.
@compute @workgroup_size(WORKGROUP_SIZE)
fn write_pieces(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let job = invocation.x;
    if job >= parameters.jobs {
        return;
    }
    let first = jobs[job];
    lane = pieces[first].lane;
    forget_pages();
    effort = 0u;
    let tail = get_state(COLUMN_TAIL);
    var has_mapped = false;
    for (var index = first; index < jobs[job + 1u]; index += 1u) {
        let piece = pieces[index];
        var stop = STOP_NEED_TIME;
        if effort < parameters.fuel {
            if piece.map != 0u {
                forget_pages();
                has_mapped = true;
                effort += 40u;
                stop = map_pages(index);
            } else if is_in_window(piece) {
                found_frame = own_pipe_frame(piece.address >> 12u);
                found_code = 0u;
                stop = select(STOP_NONE, STOP_NEED_FRAME, found_frame == 0u);
            } else {
                stop = translate(WANT_HOST_WRITE, address_of(piece));
            }
        }
        pieces[index].stop = stop;
        if stop == STOP_NEED_AWAY {
            pieces[index].fresh = found_frame;
        }
        if stop != STOP_NONE {
            // Later pieces may overlap this one, so they wait too.
            break;
        }
        if piece.map != 0u {
            continue;
        }
        let offset = piece.address & 4095u;
        let end = offset + piece.bytes;
        let shift = 8u * (offset & 7u);
        var carried = 0lu;
        effort += 2u + (piece.bytes >> 3u);
        for (var word = offset >> 3u; word * 8u < end; word += 1u) {
            // A word of the data can overlap two words of the page.
            let at = word - (offset >> 3u);
            let fresh = select(0lu, data[piece.data + at], at * 8u < piece.bytes);
            let bytes = select(fresh, (fresh << shift) | carried, shift != 0u);
            carried = fresh >> ((64u - shift) & 63u);
            let from_bit = select(0u, shift, at == 0u);
            let unused = select(0u, 8u * (word * 8u + 8u - end), word * 8u + 8u > end);
            let changed = (0xfffffffffffffffflu << from_bit) & (0xfffffffffffffffflu >> unused);
            frame_store(found_frame, word, (frame_load(found_frame, word) & ~changed) | (bytes & changed));
        }
        if found_code != 0u {
            mark_stale(found_code, offset, end - 1u);
        }
    }
    // Pages that the lane has copied or mapped have other frames now.
    if has_mapped || get_state(COLUMN_TAIL) != tail {
        set_state(COLUMN_TLB, 0lu);
    }
}

/// Resets the listed lanes to the snapshot. They keep their chains of frames, to reuse them.
@compute @workgroup_size(WORKGROUP_SIZE)
fn reset(@builtin(global_invocation_id) invocation: vec3<u32>) {
    if invocation.x >= parameters.jobs {
        return;
    }
    lane = jobs[invocation.x];
    let lanes = parameters.lanes;
    for (var column = 0u; column < COLUMNS; column += 1u) {
        if column != COLUMN_HEAD {
            var there = snapshot[column * lanes + lane];
            if column == COLUMN_CONSOLE {
                // The output that waited at the snapshot is no longer in the buffer.
                there &= 0xfffffffflu;
            } else if column == COLUMN_TLB {
                there = 0lu;
            }
            state[column * lanes + lane] = there;
        }
    }
}
