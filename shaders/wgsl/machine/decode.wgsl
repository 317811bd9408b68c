//! The kernel that lowers pages of code, one invocation per word.

import package::machine::bindings::{frame_info, micro_ops, parameters};
import package::machine::class_source::{load_class_source, lower_selected};
import package::machine::fixed_places::{handle_of};
import package::machine::frames::{frame_load};
import package::machine::layout::{INFO_CODE_VALID, PAGE_OPS};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// The pages to lower: a frame, its code page, and the frame that had this code page before, or the same
/// frame again.
@group(1) @binding(1) var<storage, read> pages: array<vec4<u32>>;

/// Lowers the words of the listed pages.
@compute @workgroup_size(WORKGROUP_SIZE)
fn decode(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    load_class_source(local, WORKGROUP_SIZE);
    // The words of a page are spread over the first dimension, pages over the second.
    let index = workgroup.x * WORKGROUP_SIZE + local;
    let job = workgroup.y;
    if job >= parameters.jobs || index >= PAGE_OPS {
        return;
    }
    let frame = pages[job].x;
    let code_page = pages[job].y;
    let both = frame_load(handle_of(frame), index >> 1u);
    let place = code_page * PAGE_OPS + index;
    let op = lower_selected(u32(both >> (32u * (index & 1u))), place);
    micro_ops[place] = vec4<u32>(op.control, op.parameters, u32(op.imm), u32(op.imm >> 32u));
    if index == 0u {
        // A fetch from the frame that had the code page before will request a new one.
        frame_info[pages[job].z].w = 0u;
        frame_info[frame].w = INFO_CODE_VALID | (code_page + 1u);
    }
}
