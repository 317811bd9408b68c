//! Console output that needs no host: calls that only write bytes for which there is room.
//!
//! Everything else about a call is left to the host: bytes that cannot be read, other handles, long texts, a full
//! buffer. Nothing has changed then that anybody can see, as bytes count only when the lane says how many there are.

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

/// How many doublewords the parameter block of a write has: handle, address, length.
const BLOCK_FIELDS = 3u;

/// Beside the calls of semihosting: writes so many bytes as X2 says.
const WRITE_TEXT = 0x100u;

/// Serves a call, if it can; says whether it has. The result of such a call is zero.
///
/// It does what `Services::serve` of `kvrm-machine` does.
fn serve_console(operation: u32, parameter: u64) -> bool {
    let known = halves(get_state(COLUMN_CONSOLE));
    var end = known.y;
    // Bytes that are still to come; as long as that is not known, those for which there is room.
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
        let bytes = frame_load(found_frame + ((u32(address) & 4095u) >> 3u)) >> (8u * first);
        if field < BLOCK_FIELDS {
            address += 8lu;
            field += 1u;
            if field == 1u {
                // Handles count from 1; bit 0 says something else.
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
                // Zeros have come in above the bytes, so these are never more than there are.
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

/// Puts up to eight bytes behind the first `end` of the lane. What comes after them does not matter.
fn append(end: u32, bytes: u64, count: u32) {
    let place = (end >> 3u) * parameters.lanes + lane;
    let shift = 8u * (end & 7u);
    console[place] = (console[place] & ((1lu << shift) - 1lu)) | (bytes << shift);
    if (end & 7u) + count > 8u {
        console[place + parameters.lanes] = bytes >> (64u - shift);
    }
}

/// How many bytes of a word come before the first that is zero; 8 if none is.
fn bytes_before_zero(word: u64) -> u32 {
    let zeros = halves((word - 0x0101010101010101lu) & ~word & 0x8080808080808080lu);
    let low = countTrailingZeros(zeros.x);
    return select(low, 32u + countTrailingZeros(zeros.y), zeros.x == 0u) >> 3u;
}
