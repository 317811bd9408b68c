//! The step of a lane that is alone in its workgroup.
//!
//! Such a lane waits for the result of nearly every instruction of the GPU, and longest for branches, whether they are taken
//! or not. So frequent micro-ops have code of their own here, with few branches. Lanes that share a workgroup would be
//! slower with it.

import package::arm64::flags::{condition_holds};
import package::arm64::load_store::{extend_loaded};
import package::machine::bindings::{micro_ops};
import package::machine::frames::{frame_store};
import package::machine::layout::{PAGE_OPS};
import package::machine::micro_op::{
    HANDLER_BRANCH, HANDLER_LOAD, REGISTER_SINK, get_c, get_cond, get_dst, get_extend, get_flags, get_handler,
    get_index,
};
import package::machine::registers::{x};
import package::machine::slice::{page_offset};
import package::machine::step::{
    combine, leave_to_slow_path, locate, read_word, transfer_registers, update_flags,
};

/// Begins a sequence of consecutive micro-ops. Sets `origin`, the index that the micro-op of step 0 would have, and `last`,
/// the index of the last micro-op of the page or of the slice, after which the lane needs `leave_page`.
///
/// Needs these two variables, and those that `begin_slice` declares.
fragment begin_sequence {
    origin = at - done;
    last = min(at | (PAGE_OPS - 1u), at + (count - done - 1u));
}

/// Begins a sequence at `next_at`, after a step that another micro-op than the next one follows. Breaks out of the loop if
/// `leave_page` has to find the next instruction.
///
/// Needs the variables that `begin_sequence` and `begin_slice` declare.
fragment jump {
    if (next_at ^ near) >= PAGE_OPS || at == last {
        break;
    }
    done = at + 1u - origin;
    at = next_at;
    op = micro_ops[at];
    insert begin_sequence;
    continue;
}

/// Executes a sum, a logical operation or a selection, and the conditional branch behind it, which is a step of its own.
///
/// Needs the variables that `read_operands` declares and `begin_sequence` sets, and `following`, the next micro-op.
fragment arithmetic_alone {
    insert combine;
    if get_flags(p) == 1u {
        insert update_flags;
        if get_handler(following.x) == HANDLER_BRANCH && at != last {
            x[destination] = value;
            at += 1u;
            op = following;
            x[get_dst(op.x)] = (page | u64(page_offset(at))) + 4lu;
            next_at = at + select(1u, u32(i32(op.z) >> 2u), condition_holds(get_cond(op.y), nzcv));
            insert jump;
        }
    }
    x[destination] = value;
}

/// Executes a load or a store of general registers, if the TLB has the page.
///
/// Needs the variables that `read_operands` declares.
fragment transfer_alone {
    insert locate;
    if misses {
        insert leave_to_slow_path;
    } else {
        insert read_word;
        // One register, in one word, without write-back.
        if (pair | get_index(p) | (((offset & 7u) + bytes - 1u) >> 3u)) == 0u {
            if handler == HANDLER_LOAD {
                value = extend_loaded(before >> shift, size, get_extend(p));
            } else {
                let changed = (0xfffffffffffffffflu >> ((64u - 8u * bytes) & 63u)) << shift;
                frame_store(translation.x, word, (before & ~changed) | ((x[get_c(control)] << shift) & changed));
                destination = REGISTER_SINK;
            }
        } else {
            insert transfer_registers;
        }
    }
}
