//! Lowers pages of code: one invocation a word.

import package::arm64::class::{class_of};
import package::machine::bindings::{frame_info, micro_ops, parameters};
import package::machine::frames::{frame_load};
import package::machine::layout::{FRAME_WORDS, INFO_CODE_VALID, PAGE_OPS, ROW_WORDS};
import package::machine::lowering::{MicroOp, shape, undefined};
import package::machine::rows::{in_hole};

/// Lanes of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// The decode table: rows, those of a class together.
@group(1) @binding(0) var<storage, read> rows: array<u32>;
/// Where the rows of each class begin, and where the last ends.
@group(1) @binding(1) var<storage, read> class_rows: array<u32>;
/// What to lower: pairs of a frame and a code page.
@group(1) @binding(2) var<storage, read> pages: array<vec2<u32>>;

/// The micro-op of a word: the class names the rows, and the row that matches is the check.
fn lower(word: u32, features: u32) -> MicroOp {
    let class_number = class_of(word);
    for (var row = class_rows[class_number]; row < class_rows[class_number + 1u]; row += 1u) {
        let at = row * ROW_WORDS;
        if (word & rows[at]) == rows[at + 1u] && !in_hole(word, rows[at + 2u]) {
            if ((features >> rows[at + 3u]) & 1u) == 0u {
                break;
            }
            return shape(rows[at + 4u], rows[at + 5u], rows[at + 6u], word);
        }
    }
    return undefined(word);
}

/// Lowers the words of the pages in the list.
@compute @workgroup_size(WORKGROUP_SIZE)
fn decode(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    // The words of a page are spread over the first dimension, pages over the second.
    let index = workgroup.x * WORKGROUP_SIZE + local;
    let job = workgroup.y;
    if job >= parameters.jobs || index >= PAGE_OPS {
        return;
    }
    let frame = pages[job].x;
    let code_page = pages[job].y;
    let both = frame_load(frame * FRAME_WORDS + (index >> 1u));
    let op = lower(u32(both >> (32u * (index & 1u))), parameters.features);
    micro_ops[code_page * PAGE_OPS + index] = vec4<u32>(op.control, op.parameters, u32(op.imm), u32(op.imm >> 32u));
    if index == 0u {
        frame_info[frame].w = INFO_CODE_VALID | (code_page + 1u);
    }
}
