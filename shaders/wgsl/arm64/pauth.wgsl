//! Pointer authentication.
//!
//! Twin: `kvrm_arm64::semantics::pauth`, which explains it.

import package::arm64::constants::{
    KEYS_COUNTS, KEYS_COUNT_BITS, KEYS_DISABLED, KEYS_SEED_BITS, KEYS_STEP, KEY_GA,
};
import package::arm64::operations::{POINTER_AUTHENTICATE, POINTER_SIGN, POINTER_STRIP};
import package::arm64::qarma::{compute_pac};

/// The finalizer of `SplitMix64`.
///
/// Twin: a part of `kvrm_arm64::semantics::pauth::key`.
fn mixed(value: u64) -> u64 {
    let first = (value ^ (value >> 30u)) * 0xbf58476d1ce4e5b9lu;
    let second = (first ^ (first >> 27u)) * 0x94d049bb133111eblu;
    return second ^ (second >> 31u);
}

/// Returns the state from which the high half of a key follows.
///
/// Twin: a part of `kvrm_arm64::semantics::pauth::key`.
fn key_state(keys: u64, number: u32) -> u64 {
    let seed = keys & ((1lu << KEYS_SEED_BITS) - 1lu);
    let count = (keys >> (KEYS_COUNTS + KEYS_COUNT_BITS * number)) & ((1lu << KEYS_COUNT_BITS) - 1lu);
    return (seed | (count << KEYS_SEED_BITS)) + KEYS_STEP * u64(2u * number + 1u);
}

/// Returns the code of a number with a key.
///
/// Twin: a part of `kvrm_arm64::semantics::pauth::authenticated`.
fn code_of(data: u64, modifier: u64, keys: u64, number: u32) -> u64 {
    let first = key_state(keys, number);
    return compute_pac(data, modifier, mixed(first), mixed(first + KEYS_STEP));
}

/// Returns the result of an operation on a pointer.
///
/// Twin: `kvrm_arm64::semantics::pauth::authenticated`.
fn authenticated(operation: u32, pointer: u64, modifier: u64, keys: u64) -> u64 {
    let number = operation >> 2u;
    let kind = operation & 3u;
    if number < KEY_GA && kind != POINTER_STRIP && ((keys >> (KEYS_DISABLED + number)) & 1lu) == 1lu {
        return pointer;
    }
    let is_upper = ((pointer >> 55u) & 1lu) == 1lu;
    // The bits of the code.
    let bits = select(0x007f000000000000lu, 0xff7f000000000000lu, is_upper);
    let stripped = select(pointer & ~bits, pointer | bits, is_upper);
    if kind == POINTER_STRIP {
        return stripped;
    }
    let is_pointer = kind == POINTER_SIGN || kind == POINTER_AUTHENTICATE;
    var code = code_of(select(pointer, stripped, is_pointer), modifier, keys, number);
    if kind == POINTER_SIGN {
        let whole = bits | (1lu << 55u);
        let extension = pointer & whole;
        if extension != 0lu && extension != whole {
            code ^= 1lu << select(54u, 62u, is_upper);
        }
        return (pointer & ~bits) | (code & bits);
    }
    if kind == POINTER_AUTHENTICATE {
        if ((code ^ pointer) & bits) == 0lu {
            return stripped;
        }
        let low = select(53u, 61u, is_upper);
        let error = select(1lu, 2lu, (number & 1u) == 1u);
        return (stripped & ~(3lu << low)) | (error << low);
    }
    return code & 0xffffffff00000000lu;
}
