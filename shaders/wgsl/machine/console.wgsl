//! Console output that does not need the host: calls that write bytes for which the lane's buffer has room.
//!
//! The host serves all other calls: those with bytes that cannot be read, other handles, long texts, or a full buffer.
//! A call that is left to the host has no visible effect, because the bytes in the buffer count only once the lane
//! updates their number.

import package::machine::bindings::{console, counters, parameters};
import package::machine::frames::{frame_load};
import package::machine::layout::{
    COLUMN_CONSOLE, CONSOLE_CALL_BYTES, CONSOLE_HANDLES, COUNTER_SERVED, COUNTER_WRITTEN, STOP_NONE,
};
import package::machine::memory::{
    PAGE_MASK, WANT_READ, effort, found_frame, get_state, halves, joined, lane, set_state, translate,
};
import package::machine::registers::{x};
import package::machine::semihosting::{SYS_WRITE, SYS_WRITE0, SYS_WRITEC};

/// The number of doublewords in the parameter block of a write: handle, address, length.
const BLOCK_FIELDS = 3u;

/// An operation besides those of semihosting: writes as many bytes as X2 gives.
const WRITE_TEXT = 0x100u;

/// Serves a call if possible, and returns whether it has. The result of a served call is zero.
///
/// The effect is that of `Services::serve` of `kvrm-machine`.
fn serve_console(operation: u32, parameter: u64) -> bool {
    let known = halves(get_state(COLUMN_CONSOLE));
    var end = known.y;
    // The number of bytes that remain to be written. Until it is known, the number for which there is room.
    var left = min(parameters.console - end, CONSOLE_CALL_BYTES);
    if (known.x & 1u) == 0u || left == 0u {
        return false;
    }
    var field = BLOCK_FIELDS;
    switch operation {
        case SYS_WRITEC: { left = 1u; }
        case SYS_WRITE0: {}
        case SYS_WRITE: {
            field = 0u;
            if (parameter & 7lu) != 0lu {
                return false;
            }
        }
        case WRITE_TEXT: {
            if x[2] - 1lu >= u64(left) {
                return false;
            }
            left = u32(x[2]);
        }
        default: { return false; }
    }
    var address = parameter;
    var text = 0lu;
    var is_elsewhere = true;
    loop {
        effort += 4u;
        if is_elsewhere || (address & PAGE_MASK) == 0lu {
            is_elsewhere = false;
            if translate(WANT_READ, address) != STOP_NONE {
                return false;
            }
        }
        let first = u32(address) & 7u;
        let bytes = frame_load(found_frame, (u32(address) & 4095u) >> 3u) >> (8u * first);
        if field < BLOCK_FIELDS {
            address += 8lu;
            field += 1u;
            if field == 1u {
                // Handles count from 1. Bit 0 is for calls without a handle.
                if bytes - 1lu >= u64(CONSOLE_HANDLES - 1u) || ((known.x >> u32(bytes)) & 1u) == 0u {
                    return false;
                }
            } else if field == 2u {
                text = bytes;
            } else {
                if bytes - 1lu >= u64(left) {
                    return false;
                }
                left = u32(bytes);
                address = text;
                is_elsewhere = true;
            }
        } else {
            let available = 8u - first;
            var count = min(available, left);
            var ends = count == left;
            if operation == SYS_WRITE0 {
                // The bits above the available bytes are zero, so the count is never more than these.
                count = bytes_before_zero(bytes);
                ends = count < available;
                if count > left {
                    return false;
                }
            }
            if count != 0u {
                append(end, bytes, count);
            }
            end += count;
            left -= count;
            address += u64(count);
            if ends {
                break;
            }
        }
    }
    set_state(COLUMN_CONSOLE, joined(known.x, end));
    atomicAdd(&counters[COUNTER_SERVED], 1u);
    atomicAdd(&counters[COUNTER_WRITTEN], 1u);
    return true;
}

/// Appends up to eight bytes to the first `end` bytes of the lane's buffer. Bytes after them may change.
fn append(end: u32, bytes: u64, count: u32) {
    let place = (end >> 3u) * parameters.lanes + lane;
    let shift = 8u * (end & 7u);
    console[place] = (console[place] & ((1lu << shift) - 1lu)) | (bytes << shift);
    if (end & 7u) + count > 8u {
        console[place + parameters.lanes] = bytes >> (64u - shift);
    }
}

/// Returns the number of bytes of a word before the first that is zero, 8 if none is.
fn bytes_before_zero(word: u64) -> u32 {
    let zeros = halves((word - 0x0101010101010101lu) & ~word & 0x8080808080808080lu);
    let low = countTrailingZeros(zeros.x);
    return select(low, 32u + countTrailingZeros(zeros.y), zeros.x == 0u) >> 3u;
}
