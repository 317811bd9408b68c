//! The kernel that computes views of pictures in the memory of lanes.
//!
//! A view is divided into groups of four consecutive pixels, which are whole words: one, or three if pixels
//! are red, green and blue. A chunk is a number of groups. A job is a chunk of the view of a lane, and a
//! workgroup computes it. First its invocations translate the pages of the picture that the chunk depends on,
//! so that no pixel needs a translation.

import package::machine::bindings::{parameters};
import package::machine::fixed_places::{handle_of};
import package::machine::frames::{frame_half};
import package::machine::layout::{
    COLUMN_ROOT, COLUMN_WINDOW, ENTRY_FRAME, LEVEL_BITS, PICTURE_GREY, PICTURE_PALETTE, PICTURE_XRGB,
    VIEW_GREY, VIEW_INDEX, VIEW_PAGES, VIEW_RGB,
};
import package::machine::memory::{PAGE_MASK, get_state, halves, joined, lane};
import package::machine::nodes::{node_entry};
import package::machine::workgroups::{job_of};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;
/// The colors of a palette.
const COLORS = 256u;
/// The most pages that a palette is in.
const PALETTE_PAGES = 2u;

/// The view, and the chunks that a dispatch computes.
struct ViewShape {
    /// The address of the first pixel of the view, the low word.
    address: u32,
    /// The address of the first pixel of the view, the high word.
    address_high: u32,
    /// The address of the palette, the low word.
    palette: u32,
    /// The address of the palette, the high word.
    palette_high: u32,
    /// The bytes from the beginning of a row of the picture to that of the next.
    stride: u32,
    /// The pixels of the picture: `PICTURE_*`.
    picture: u32,
    /// The pixels of the view: `VIEW_*`.
    format: u32,
    /// The number of pixels in a row of the view.
    width: u32,
    /// The binary logarithm of the side of the squares of the picture that become a pixel.
    shift: u32,
    /// The number of pixels of the view, below 2^31.
    pixels: u32,
    /// The number of groups of a chunk.
    groups: u32,
    /// The number of chunks of a view.
    chunks: u32,
    /// The index in `view_lanes` of the lane of the first job.
    first_lane: u32,
    /// The chunk of the first job.
    first_chunk: u32,
}

/// The view, and the chunks to compute.
@group(1) @binding(0) var<storage, read> view_shape: ViewShape;
/// The lanes whose views are computed.
@group(1) @binding(1) var<storage, read> view_lanes: array<u32>;
/// The words of the chunks. Groups beyond the end of a view are undefined.
@group(1) @binding(2) var<storage, read_write> view_words: array<u32>;

/// The handles of the frames that the chunk depends on: those of the picture, then those of the palette.
var<workgroup> frames: array<u32, VIEW_PAGES + PALETTE_PAGES>;
/// The palette.
var<workgroup> colors: array<u32, COLORS>;

/// Returns the handle of the frame of a page. The host has checked that the page is mapped.
///
/// `translate` does that, too, but it needs the TLBs, which are in the memory of each invocation.
fn frame_of(page: u64) -> u32 {
    let relative = page - get_state(COLUMN_WINDOW);
    let root = halves(get_state(COLUMN_ROOT));
    var entry = root.x;
    for (var level = root.y; level > 0u && entry != 0u; level -= 1u) {
        let index = u32(relative >> (LEVEL_BITS * (level - 1u))) & ((1u << LEVEL_BITS) - 1u);
        entry = node_entry(entry >> ENTRY_FRAME, index);
    }
    return handle_of(entry >> ENTRY_FRAME);
}

/// Returns the word at a byte of the pages in `frames`, a multiple of 4 that counts from the first of them.
fn word_at(at: u32) -> u32 {
    return frame_half(frames[at >> 12u], (at & 4095u) >> 3u, (at >> 2u) & 1u);
}

/// Returns a byte of the pages in `frames`.
fn byte_at(at: u32) -> u32 {
    return (word_at(at) >> (8u * (at & 3u))) & 255u;
}

/// Returns the color of the pixel of a picture at `at`.
fn color_at(picture: u32, at: u32) -> u32 {
    switch picture {
        case PICTURE_XRGB: { return word_at(at); }
        case PICTURE_GREY: { return byte_at(at) * 0x10101u; }
        default: { return colors[byte_at(at)]; }
    }
}

/// Returns the bytes of a pixel of the view. The upper left pixel of its square is at `at`.
fn view_pixel(shape: ViewShape, at: u32, pixel_bytes: u32) -> u32 {
    if shape.format == VIEW_INDEX {
        return byte_at(at);
    }
    let side = 1u << shape.shift;
    var sums = vec3<u32>((1u << (2u * shape.shift)) >> 1u);
    for (var y = 0u; y < side; y += 1u) {
        for (var x = 0u; x < side; x += 1u) {
            let color = color_at(shape.picture, at + y * shape.stride + x * pixel_bytes);
            sums += (vec3<u32>(color) >> vec3<u32>(16u, 8u, 0u)) & vec3<u32>(255u);
        }
    }
    let mean = sums >> vec3<u32>(2u * shape.shift);
    if shape.format == VIEW_GREY {
        return (77u * mean.x + 150u * mean.y + 29u * mean.z + 128u) >> 8u;
    }
    return mean.x | (mean.y << 8u) | (mean.z << 16u);
}

/// Computes the chunks of views.
@compute @workgroup_size(WORKGROUP_SIZE)
fn compute_views(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let job = job_of(workgroup);
    if job >= parameters.jobs {
        return;
    }
    let shape = view_shape;
    let number = shape.first_chunk + job;
    lane = view_lanes[shape.first_lane + number / shape.chunks];
    let first = 4u * (number % shape.chunks) * shape.groups;
    let end = min(first + 4u * shape.groups, shape.pixels);
    let pixel_bytes = select(1u, 4u, shape.picture == PICTURE_XRGB);
    let first_row = first / shape.width;
    let last_row = (end - 1u) / shape.width;

    // The pages from the first row of the picture that the chunk depends on to the last one.
    let start = joined(shape.address, shape.address_high) + u64(first_row << shape.shift) * u64(shape.stride);
    let offset = u32(start & PAGE_MASK);
    let rows = (last_row + 1u - first_row) << shape.shift;
    let last = offset + (rows - 1u) * shape.stride + (shape.width << shape.shift) * pixel_bytes - 1u;
    let pages = (last >> 12u) + 1u;
    let palette = joined(shape.palette, shape.palette_high);
    let has_colors = shape.picture == PICTURE_PALETTE && shape.format != VIEW_INDEX;
    let palette_end = u32(palette & PAGE_MASK) + 4u * COLORS - 1u;
    let all_pages = pages + select(0u, (palette_end >> 12u) + 1u, has_colors);
    for (var page = local; page < all_pages; page += WORKGROUP_SIZE) {
        let of_palette = page >= pages;
        let begin = select(start, palette, of_palette);
        frames[page] = frame_of((begin >> 12u) + u64(page - select(0u, pages, of_palette)));
    }
    workgroupBarrier();
    if has_colors {
        for (var color = local; color < COLORS; color += WORKGROUP_SIZE) {
            colors[color] = word_at((pages << 12u) + (shape.palette & 4095u) + 4u * color);
        }
    }
    workgroupBarrier();

    for (var pixel = first + 4u * local; pixel < end; pixel += 4u * WORKGROUP_SIZE) {
        var x = pixel % shape.width;
        var y = pixel / shape.width - first_row;
        var pixels = vec4<u32>();
        for (var index = 0u; index < 4u; index += 1u) {
            var bytes = 0u;
            if pixel + index < end {
                let at = offset + (y << shape.shift) * shape.stride + (x << shape.shift) * pixel_bytes;
                bytes = view_pixel(shape, at, pixel_bytes);
            }
            pixels = vec4<u32>(pixels.yzw, bytes);
            x += 1u;
            if x == shape.width {
                x = 0u;
                y += 1u;
            }
        }
        let group = job * shape.groups + (pixel - first) / 4u;
        if shape.format == VIEW_RGB {
            view_words[3u * group] = pixels.x | (pixels.y << 24u);
            view_words[3u * group + 1u] = (pixels.y >> 8u) | (pixels.z << 16u);
            view_words[3u * group + 2u] = (pixels.z >> 16u) | (pixels.w << 8u);
        } else {
            view_words[group] = pixels.x | (pixels.y << 8u) | (pixels.z << 16u) | (pixels.w << 24u);
        }
    }
}
