//! Lowers pages of code: one invocation a word.

import package::machine::bindings::{frame_info, micro_ops, parameters};
import package::machine::choice::{load_choice, lower_chosen};
import package::machine::frames::{frame_load};
import package::machine::layout::{FRAME_WORDS, INFO_CODE_VALID, PAGE_OPS};

/// Lanes of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// What to lower: a frame, its code page, and the frame that had that page before, if another one.
@group(1) @binding(1) var<storage, read> pages: array<vec4<u32>>;

/// Lowers the words of the pages in the list.
@compute @workgroup_size(WORKGROUP_SIZE)
fn decode(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    load_choice(local, WORKGROUP_SIZE);
    // The words of a page are spread over the first dimension, pages over the second.
    let index = workgroup.x * WORKGROUP_SIZE + local;
    let job = workgroup.y;
    if job >= parameters.jobs || index >= PAGE_OPS {
        return;
    }
    let frame = pages[job].x;
    let code_page = pages[job].y;
    let both = frame_load(frame * FRAME_WORDS + (index >> 1u));
    let place = code_page * PAGE_OPS + index;
    let op = lower_chosen(u32(both >> (32u * (index & 1u))), place);
    micro_ops[place] = vec4<u32>(op.control, op.parameters, u32(op.imm), u32(op.imm >> 32u));
    if index == 0u {
        // What fetches from the other frame asks for a page again.
        frame_info[pages[job].z].w = 0u;
        frame_info[frame].w = INFO_CODE_VALID | (code_page + 1u);
    }
}
