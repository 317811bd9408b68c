//! Reads and writes of pipes that do not need the host: those that finish at once.
//!
//! The host offers up to two pipes of a lane, its *pipe windows*, after each of its services. It leaves out what a transfer would
//! have to wait for or to wake, so a transfer only moves bytes. The host serves all other transfers: of no bytes, of many bytes,
//! beyond the room or from an empty pipe, and those with bytes that cannot be accessed.

import package::machine::bindings::{parameters};
import package::machine::frames::{frame_load, frame_store};
import package::machine::layout::{
    COLUMN_PIPES, COLUMN_PIPE_ENDS, PIPE_BYTES, PIPE_CALL_BYTES, PIPE_CALL_BYTES_LEAST, PIPE_HANDLES, STOP_NONE,
};
import package::machine::memory::{
    NO_LIMIT, WANT_CHECK_WRITE, WANT_READ, WANT_WRITE, effort, found_code, found_frame, found_fresh, get_state,
    mark_stale, may_write, set_state, translate,
};
import package::machine::pipe_frames::{own_pipe_frame, pipe_frame};
import package::machine::registers::{x};

/// The number of pages of a window.
const PIPE_PAGES = PIPE_BYTES >> 12u;
/// The first bits of the number of bytes in a window and of the number of bytes that were read, in the word of a window.
const PIPE_FILLED = 16u;
const PIPE_READ = 33u;

/// Reads from descriptor X0 to address X1 up to X2 bytes, or writes them if `writes` is true. Returns the number of bytes, or 0 if
/// the host has to serve the call.
fn move_through_pipe(writes: bool) -> u64 {
    // Linux looks at the low 32 bits only.
    let descriptor = u32(x[0]);
    if descriptor >= PIPE_HANDLES {
        return 0lu;
    }
    let ends = get_state(COLUMN_PIPE_ENDS) >> (select(0u, PIPE_HANDLES, writes) + descriptor);
    let window = select(1u, 0u, (ends & 1lu) != 0lu);
    if ((ends >> (2u * PIPE_HANDLES * window)) & 1lu) == 0lu {
        return 0lu;
    }
    let place = get_state(COLUMN_PIPES + window);
    let start = u32(place) & (PIPE_BYTES - 1u);
    let filled = u32(place >> PIPE_FILLED) & (2u * PIPE_BYTES - 1u);
    let read = u32(place >> PIPE_READ);
    let most = select(PIPE_CALL_BYTES_LEAST, PIPE_CALL_BYTES, parameters.fuel == NO_LIMIT);
    // A write moves all of its bytes, a read those that are there.
    let room = min(most, select(filled, PIPE_BYTES - filled, writes));
    let bytes = u32(min(x[2], u64(select(filled, room + 1u, writes))));
    // The number of bytes that were read must not leave its bits.
    if bytes == 0u || bytes > room || ((read + bytes) >> 31u) != 0u {
        return 0lu;
    }
    let ring_start = select(start, start + filled, writes);
    let last = x[1] + u64(bytes - 1u);
    let bytes_of_first = min(bytes, 4096u - (u32(x[1]) & 4095u));
    let crosses = bytes_of_first < bytes;
    // The turns of a read into two pages: 0 and 1 check whether the last and the first page can be written, 2 makes the last page
    // the lane's own, 3 and 4 copy into the first and the last page. So nothing changes before it is certain that the call is
    // served. All other transfers need only the turns that copy.
    var fresh = 0u;
    var moved = 0u;
    for (var turn = select(3u, 0u, crosses && !writes); turn < select(4u, 5u, crosses); turn += 1u) {
        let is_first = (turn & 1u) == 1u;
        let wanted = select(select(WANT_WRITE, WANT_CHECK_WRITE, turn < 2u), WANT_READ, writes);
        if translate(wanted, select(last, x[1], is_first)) != STOP_NONE {
            return 0lu;
        }
        effort += 4u;
        if turn < 2u {
            fresh += found_fresh;
            if is_first && !may_write(fresh) {
                return 0lu;
            }
        }
        if turn < 3u {
            continue;
        }
        let guest_frame = found_frame;
        let guest_code = found_code;
        let end = select(bytes, bytes_of_first, is_first);
        let first_byte = (u32(x[1]) + moved) & 4095u;
        var ring_frame = 0u;
        var is_elsewhere = true;
        while moved < end {
            let ring = (ring_start + moved) & (PIPE_BYTES - 1u);
            if is_elsewhere || (ring & 4095u) == 0u {
                is_elsewhere = false;
                let page = window * PIPE_PAGES + (ring >> 12u);
                if writes {
                    ring_frame = own_pipe_frame(page);
                    if ring_frame == 0u {
                        return 0lu;
                    }
                } else {
                    ring_frame = pipe_frame(page);
                }
            }
            let guest = (u32(x[1]) + moved) & 4095u;
            // Both words are within their pages.
            let count = min(min(8u - (guest & 7u), 8u - (ring & 7u)), end - moved);
            let source_byte = select(ring & 4095u, guest, writes);
            let target_byte = select(guest, ring & 4095u, writes);
            let to_frame = select(guest_frame, ring_frame, writes);
            let value = frame_load(select(ring_frame, guest_frame, writes), source_byte >> 3u) >> (8u * (source_byte & 7u));
            let shift = 8u * (target_byte & 7u);
            let changed = (0xfffffffffffffffflu >> (64u - 8u * count)) << shift;
            frame_store(to_frame, target_byte >> 3u, (frame_load(to_frame, target_byte >> 3u) & ~changed) | ((value << shift) & changed));
            moved += count;
            effort += 1u;
        }
        if !writes && guest_code != 0u {
            mark_stale(guest_code, first_byte, (u32(x[1]) + end - 1u) & 4095u);
        }
    }
    let left = select(filled - bytes, filled + bytes, writes);
    // An empty window begins again at its first page, so that few pages are used.
    let begin = select(select(start + bytes, 0u, left == 0u) & (PIPE_BYTES - 1u), start, writes);
    let taken = select(read + bytes, read, writes);
    set_state(COLUMN_PIPES + window, u64(begin) | (u64(left) << PIPE_FILLED) | (u64(taken) << PIPE_READ));
    return u64(bytes);
}
