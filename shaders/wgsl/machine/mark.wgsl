//! The kernels that set the markers of regions in code pages, and that remove them. Both run one workgroup per code page
//! and page of a region.

import package::machine::bindings::{frame_info, micro_ops, parameters};
import package::machine::layout::{
    HANDLER_MARKER, INFO_CODE_MARKED, INFO_CODE_PAGE, INFO_CODE_VALID, MARKER_ENTRY, PAGE_OPS,
};
import package::machine::workgroups::{job_of};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// A micro-op of a region.
struct RegionOp {
    /// The micro-op.
    op: vec4<u32>,
    /// The offset of its instruction in its page, in instructions.
    place: u32,
    /// The number of the entry that is there, or 0.
    entry: u32,
    /// Padding: the size is a multiple of 16 bytes.
    padding: vec2<u32>,
}

/// The code pages: the number and the frame of each.
@group(1) @binding(0) var<storage, read> marked_pages: array<vec2<u32>>;
/// The pages of regions: the index of the first micro-op in `region_ops`, and the index behind the last.
@group(1) @binding(1) var<storage, read> region_pages: array<vec2<u32>>;
/// The micro-ops of regions.
@group(1) @binding(2) var<storage, read> region_ops: array<RegionOp>;

/// The number of micro-ops of the code page that are not those of the region.
var<workgroup> different: atomic<u32>;

/// Returns the marker of an entry in a frame.
fn marker_of(entry: u32, frame: u32) -> vec4<u32> {
    return vec4<u32>(HANDLER_MARKER | (entry << MARKER_ENTRY), frame, 0u, 0u);
}

/// Sets the markers of a region's page if the code page has its micro-ops, and otherwise removes those that are there.
@compute @workgroup_size(WORKGROUP_SIZE)
fn mark(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let job = job_of(workgroup);
    let is_page = job < parameters.jobs;
    let code_page = marked_pages[job].x;
    let frame = marked_pages[job].y;
    let range = region_pages[workgroup.x];
    if local == 0u {
        let info = frame_info[frame].w;
        let is_valid = (info & INFO_CODE_VALID) != 0u && (info & INFO_CODE_PAGE) == code_page + 1u;
        atomicStore(&different, select(1u, 0u, is_valid));
    }
    workgroupBarrier();
    for (var i = range.x + local; is_page && i < range.y; i += WORKGROUP_SIZE) {
        let expected = region_ops[i];
        let op = micro_ops[code_page * PAGE_OPS + expected.place];
        let is_marker = expected.entry != 0u && all(op == marker_of(expected.entry, frame));
        if !is_marker && any(op != expected.op) {
            atomicAdd(&different, 1u);
        }
    }
    workgroupBarrier();
    let is_same = atomicLoad(&different) == 0u;
    for (var i = range.x + local; is_page && i < range.y; i += WORKGROUP_SIZE) {
        change(code_page, frame, region_ops[i], is_same);
    }
    if is_page && is_same && local == 0u {
        frame_info[frame].w |= INFO_CODE_MARKED;
    }
}

/// Removes the markers of a region's page.
@compute @workgroup_size(WORKGROUP_SIZE)
fn unmark(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let job = job_of(workgroup);
    let range = region_pages[workgroup.x];
    for (var i = range.x + local; job < parameters.jobs && i < range.y; i += WORKGROUP_SIZE) {
        change(marked_pages[job].x, marked_pages[job].y, region_ops[i], false);
    }
}

/// Sets or removes the marker of a micro-op, if it is at an entry.
fn change(code_page: u32, frame: u32, op: RegionOp, sets: bool) {
    if op.entry == 0u {
        return;
    }
    let place = code_page * PAGE_OPS + op.place;
    let marker = marker_of(op.entry, frame);
    if sets {
        micro_ops[place] = marker;
    } else if all(micro_ops[place] == marker) {
        micro_ops[place] = op.op;
    }
}
