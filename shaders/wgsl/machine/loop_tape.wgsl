//! An iteration of a loop as a list of operations, on values in slots.
//!
//! All invocations of a workgroup execute the same operations, each for an iteration of its own, so they do not diverge.

import package::arm64::bits::{count_leading_sign_bits, count_leading_zero_bits, reverse_bits, reverse_bytes};
import package::arm64::bitfield::{window};
import package::arm64::constants::{CRC32C_POLYNOMIAL, CRC32_POLYNOMIAL};
import package::arm64::crc::{checksum};
import package::arm64::divide::{divide};
import package::arm64::flags::{condition_holds, cv, nz};
import package::arm64::load_store::{extend_loaded};
import package::arm64::multiply::{long_product, multiply_high};
import package::arm64::numbers::{sign_extend, truncate};
import package::arm64::operand::{shift_reg};
import package::machine::frame_bytes::{load_bytes, store_bytes};
import package::machine::layout::{
    FOLD_AND, FOLD_EOR, FOLD_GREATEST, FOLD_LEAST, FOLD_ORR, STOP_NONE, TAPE_COMPARE, TAPE_COMPUTE,
    TAPE_FOLD, TAPE_FOLDS, TAPE_LEAVE_IF, TAPE_LEAVE_IF_ZERO, TAPE_LOAD, TAPE_LOGIC, TAPE_PROGRESSION,
    TAPE_SELECT, TAPE_SLOTS, TAPE_STORE, TAPE_SUM, TAPE_WORD, TLB_READ, TLB_WRITE,
};
import package::machine::memory::{
    WANT_CHECK_WRITE, WANT_READ, WANT_WRITE, data_entry, found_code, found_frame, joined, translate,
};
import package::machine::loop_cells::{cells};
import package::machine::micro_op::{
    HANDLER_AND, HANDLER_BIT_FIELD_INSERT, HANDLER_COUNT_LEADING_SIGNS, HANDLER_COUNT_LEADING_ZEROS,
    HANDLER_CRC32, HANDLER_DIVIDE, HANDLER_EOR, HANDLER_EXTRACT, HANDLER_MULTIPLY_ADD,
    HANDLER_MULTIPLY_ADD_LONG, HANDLER_MULTIPLY_HIGH, HANDLER_ORR, HANDLER_REVERSE_BITS,
    HANDLER_REVERSE_BYTES, HANDLER_SHIFT, get_handler, get_left, get_operation, get_right, get_size, get_wide,
};
import package::machine::operands::{extract};

/// The values of the iteration.
var<private> slots: array<u64, TAPE_SLOTS>;
/// The values that the registers of folds are combined with, of the invocation's iterations.
var<private> folded: array<u64, TAPE_FOLDS>;
/// The page that was checked last for stores, plus one.
var<private> checked_page: u64;
/// The first cell of the stores of the job, and the cell behind the last. Two cells for each: the range of addresses, and the
/// step with the number of bytes.
var<private> stores: vec2<u32>;
/// The first cell of the folds of the job.
var<private> folds: u32;

/// Returns the value that changes no other that it is combined with.
fn fold_identity(kind: u32) -> u64 {
    return select(0lu, 0xfffffffffffffffflu, kind == FOLD_AND || kind == FOLD_LEAST);
}

/// Combines two values, which are keys for the least and the greatest.
fn fold_values(kind: u32, one: u64, other: u64) -> u64 {
    switch kind {
        case FOLD_AND: { return one & other; }
        case FOLD_ORR: { return one | other; }
        case FOLD_EOR: { return one ^ other; }
        case FOLD_LEAST: { return select(one, other, other < one); }
        case FOLD_GREATEST: { return select(one, other, other > one); }
        default: { return one + other; }
    }
}

/// Returns the key of a value for the least and the greatest, for a fold: its kind, and 1 if values are signed, 1 if they have
/// 64 bits.
fn fold_key(fold: vec4<u32>, value: u64) -> u64 {
    if fold.y < FOLD_LEAST {
        return value;
    }
    return (value << select(32u, 0u, fold.w == 1u)) ^ (u64(fold.z) << 63u);
}

/// Returns the frame of a page for loads, with `TLB_READ`, or 0 if the lane may not load there.
fn readable_frame(address: u64) -> u32 {
    let number = u32(address >> 12u);
    let entry = data_entry(number);
    if entry.y == number && (entry.x & TLB_READ) != 0u && (address >> 44u) == 0lu {
        return entry.x;
    }
    if translate(WANT_READ, address) != STOP_NONE {
        return 0u;
    }
    return found_frame | TLB_READ;
}

/// Returns whether the lane may store to a page, and the page has no code that is lowered.
fn is_writable(address: u64) -> bool {
    let page = (address >> 12u) + 1lu;
    if page != checked_page {
        if translate(WANT_CHECK_WRITE, address) != STOP_NONE || found_code != 0u {
            return false;
        }
        checked_page = page;
    }
    return true;
}

/// Returns the frame of a page that the lane owns.
fn owned_frame(address: u64) -> u32 {
    let number = u32(address >> 12u);
    let entry = data_entry(number);
    if entry.y == number && (entry.x & TLB_WRITE) != 0u && (address >> 44u) == 0lu {
        return entry.x;
    }
    if translate(WANT_WRITE, address) != STOP_NONE {
        return 0u;
    }
    return found_frame;
}

/// Returns whether bytes overlap those of a store of any iteration.
fn meets_stores(address: u64, bytes: u32) -> bool {
    var meets = false;
    for (var at = stores.x; at < stores.y; at += 2u) {
        let range = cells[at];
        meets = meets || (address < joined(range.z, range.w) && joined(range.x, range.y) < address + u64(bytes));
    }
    return meets;
}

/// Loads to two slots. Returns whether the lane may.
fn load(cell: vec4<u32>) -> bool {
    let address = slots[cell.x >> 24u];
    let size = cell.y & 255u;
    let pair = (cell.y >> 16u) & 255u;
    let bytes = 1u << (size + pair);
    if (cell.y >> 24u) != 0u && meets_stores(address, bytes) {
        return false;
    }
    let first = readable_frame(address);
    if first == 0u {
        return false;
    }
    let offset = u32(address) & 4095u;
    var second = first;
    if offset + bytes > 4096u {
        second = readable_frame(address + 4095lu);
        if second == 0u {
            return false;
        }
    }
    let extension = (cell.y >> 8u) & 255u;
    var value = load_bytes(first, second, offset, min(bytes, 8u));
    if pair == 1u {
        var other = value >> 32u;
        if size == 3u {
            other = load_bytes(first, second, offset + 8u, 8u);
        }
        slots[(cell.x >> 16u) & 255u] = extend_loaded(other, size, extension);
    }
    slots[(cell.x >> 8u) & 255u] = extend_loaded(value, size, extension);
    return true;
}

/// Stores, or only checks that the lane may. Returns whether it may.
fn store(cell: vec4<u32>, commits: bool) -> bool {
    let address = slots[(cell.x >> 8u) & 255u];
    let size = cell.y & 255u;
    let pair = cell.y >> 16u;
    let bytes = 1u << (size + pair);
    let offset = u32(address) & 4095u;
    let crosses = offset + bytes > 4096u;
    if !commits {
        return is_writable(address) && (!crosses || is_writable(address + 4095lu));
    }
    let first = owned_frame(address);
    var second = first;
    if crosses {
        second = owned_frame(address + 4095lu);
    }
    let low = slots[(cell.x >> 16u) & 255u];
    let high = slots[cell.x >> 24u];
    let is_word_pair = pair == 1u && size == 2u;
    store_bytes(first, second, offset, min(bytes, 8u), select(low, (low & 0xfffffffflu) | (high << 32u), is_word_pair));
    if bytes == 16u {
        store_bytes(first, second, offset + 8u, 8u, high);
    }
    return true;
}

/// Returns the result of a micro-op. Handler 0 is the extraction of a second operand.
///
/// Twin: `result` of `kvrm-loops`.
fn compute(op: vec4<u32>, first: u64, second: u64, third: u64) -> u64 {
    let p = op.y;
    let handler = get_handler(op.x);
    let datasize = 32u << get_wide(p);
    if handler == 0u {
        return extract(first, p);
    }
    let a = truncate(first, datasize);
    let b = truncate(second, datasize);
    let c = truncate(third, datasize);
    let operation = get_operation(p);
    var value = 0lu;
    switch handler {
        case HANDLER_AND: { value = a & b; }
        case HANDLER_ORR: { value = a | b; }
        case HANDLER_EOR: { value = a ^ b; }
        case HANDLER_BIT_FIELD_INSERT: {
            value = (c & ~((0xfffffffffffffffflu << get_left(p)) >> get_right(p))) | b;
        }
        case HANDLER_EXTRACT: { value = window(a, b, get_right(p), datasize); }
        case HANDLER_SHIFT: { value = shift_reg(a, operation, u32(b) & (datasize - 1u), datasize); }
        case HANDLER_MULTIPLY_ADD: { value = c + select(a * b, 0lu - a * b, operation == 1u); }
        case HANDLER_MULTIPLY_ADD_LONG: {
            let product = long_product(a, b, operation >= 2u);
            value = c + select(product, 0lu - product, (operation & 1u) == 1u);
        }
        case HANDLER_MULTIPLY_HIGH: { value = multiply_high(a, b, operation == 1u); }
        case HANDLER_DIVIDE: {
            let signed = operation == 1u;
            value = divide(select(a, sign_extend(a, datasize), signed), select(b, sign_extend(b, datasize), signed), signed);
        }
        case HANDLER_CRC32: {
            let polynomial = select(CRC32_POLYNOMIAL, CRC32C_POLYNOMIAL, operation == 1u);
            return u64(checksum(u32(first), second, 8u << get_size(p), polynomial));
        }
        case HANDLER_REVERSE_BITS: { value = reverse_bits(a) >> (64u - datasize); }
        case HANDLER_REVERSE_BYTES: { value = reverse_bytes(a, 8u << get_size(p)); }
        case HANDLER_COUNT_LEADING_ZEROS: { value = u64(count_leading_zero_bits(a, datasize)); }
        case HANDLER_COUNT_LEADING_SIGNS: { value = u64(count_leading_sign_bits(a, datasize)); }
        default: {}
    }
    return truncate(value, datasize);
}

/// Returns the flags of a difference or a sum.
fn compare(x: u64, y: u64, wide: bool, adds: bool) -> u32 {
    let second = select(~y, y, adds);
    let sum = x + second + select(1lu, 0lu, adds);
    return nz(truncate(sum, select(32u, 64u, wide)), wide) | cv(x, second, sum, wide);
}

/// Executes the operations of an iteration. `commits` says whether it stores and folds. Returns whether the iteration is valid:
/// it neither leaves the loop nor faults.
fn evaluate(first: u32, end: u32, iteration: u64, commits: bool) -> bool {
    var valid = true;
    for (var at = first; at < end && valid; at += 1u) {
        let cell = cells[at];
        let to = (cell.x >> 8u) & 255u;
        let a = slots[(cell.x >> 16u) & 255u];
        let b = slots[cell.x >> 24u];
        switch cell.x & 255u {
            case TAPE_PROGRESSION: {
                at += 1u;
                let numbers = cells[at];
                slots[to] = joined(numbers.x, numbers.y) + joined(numbers.z, numbers.w) * iteration;
            }
            case TAPE_SUM: {
                var sum = joined(cell.z, cell.w);
                for (var part = 0u; part < cell.y; part += 1u) {
                    at += 1u;
                    let multiple = cells[at];
                    sum += slots[multiple.x] * joined(multiple.z, multiple.w);
                }
                slots[to] = sum;
            }
            case TAPE_WORD: { slots[to] = select(a & 0xfffffffflu, sign_extend(a, 32u), cell.y == 1u); }
            case TAPE_LOAD: { valid = load(cell); }
            case TAPE_COMPARE: { slots[to] = u64(compare(a, b, cell.y == 1u, cell.z == 1u)); }
            case TAPE_LOGIC: { slots[to] = u64(nz(a, cell.y == 1u)); }
            case TAPE_SELECT: { slots[to] = select(b, a, condition_holds(cell.y, u32(slots[cell.z]))); }
            case TAPE_COMPUTE: {
                at += 1u;
                slots[to] = compute(cells[at], a, b, slots[cell.y]);
            }
            case TAPE_LEAVE_IF: { valid = !condition_holds(cell.y, u32(a)); }
            case TAPE_LEAVE_IF_ZERO: { valid = (a == 0lu) == (cell.y == 1u); }
            case TAPE_STORE: { valid = store(cell, commits); }
            case TAPE_FOLD: {
                if commits {
                    let fold = cells[folds + cell.y];
                    folded[cell.y] = fold_values(fold.y, folded[cell.y], fold_key(fold, a));
                }
            }
            default: {}
        }
    }
    return valid;
}
