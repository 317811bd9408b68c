//! Dispatches that compute views of pictures in the memory of lanes.

use std::iter::successors;
use std::mem;
use std::ops::Range;

use kvrm_machine::{PAGE_BYTES, Picture, PictureFormat, View, ViewFormat};
pub(crate) use kvrm_shaders::interface::machine::ViewShape;
use kvrm_shaders::interface::machine::ViewsGroup;
use kvrm_shaders::layout::{
    DISPATCH_ROW, PICTURE_GREY, PICTURE_PALETTE, PICTURE_XRGB, VIEW_GREY, VIEW_INDEX, VIEW_PAGES, VIEW_RGB,
};
use rayon::prelude::*;

use super::parameters::Launch;
use super::resident::Store;
use crate::device::error::Error;
use crate::machine::kernels::WORKGROUP;

/// The pixels of a group, which are whole words.
const GROUP: u32 = 4;
/// The most groups of a chunk.
const CHUNK_GROUPS: u32 = 1024;
/// The most bytes of views that a dispatch computes. While the host copies them, the device computes others.
const DISPATCH_BYTES: u64 = 32 << 20;
/// The most pixels of pictures that a dispatch reads. It keeps a dispatch from taking seconds.
const DISPATCH_PIXELS: u64 = 1 << 28;
/// The bytes that a thread copies at least.
const COPY_BYTES: usize = 1 << 18;

/// Returns a view as the kernel computes it, divided into chunks. `None` if it has too many pixels, or if
/// even a chunk of one group depends on too many pages.
pub(crate) fn shape_of(view: &View) -> Option<ViewShape> {
    let Picture { stride, format, .. } = view.picture();
    let pixels = u64::from(view.width()) * u64::from(view.height());
    let pixels = u32::try_from(pixels).ok().filter(|pixels| *pixels < 1 << 31)?;
    // Squares of many pixels take long, so chunks have fewer of them.
    let largest = (CHUNK_GROUPS >> (2 * view.shift())).max(WORKGROUP);
    let most = successors(Some(largest), |groups| Some(groups / 2))
        .take_while(|groups| *groups > 0)
        .find(|groups| pages(view, *groups) <= u64::from(VIEW_PAGES))?;
    // Chunks of about the same size need the least padding.
    let all = pixels.div_ceil(GROUP);
    let groups = all.div_ceil(all.div_ceil(most));
    let address = view.source().start;
    let palette = view.palette().unwrap_or(0);
    Some(ViewShape {
        address: address as u32,
        address_high: (address >> 32) as u32,
        palette: palette as u32,
        palette_high: (palette >> 32) as u32,
        stride,
        picture: match format {
            PictureFormat::Palette { .. } => PICTURE_PALETTE,
            PictureFormat::Xrgb => PICTURE_XRGB,
            PictureFormat::Grey => PICTURE_GREY,
        },
        format: match view.format() {
            ViewFormat::Index => VIEW_INDEX,
            ViewFormat::Grey => VIEW_GREY,
            ViewFormat::Rgb => VIEW_RGB,
        },
        width: view.width(),
        shift: view.shift(),
        pixels,
        groups,
        chunks: all.div_ceil(groups),
        first_lane: 0,
        first_chunk: 0,
    })
}

/// Returns the largest number of pages of the picture that a chunk can depend on.
fn pages(view: &View, groups: u32) -> u64 {
    let Picture { stride, format, .. } = view.picture();
    let rows = touched(u64::from(groups * GROUP), view.width().into()).min(view.height().into());
    let rows = rows << view.shift();
    let row = (u64::from(view.width()) << view.shift()) * u64::from(format.bytes());
    touched((rows - 1) * u64::from(stride) + row, PAGE_BYTES as u64)
}

/// Returns the largest number of blocks of `block` items that contain one of `items` consecutive items.
const fn touched(items: u64, block: u64) -> u64 {
    (items + block - 2) / block + 1
}

/// Returns the bytes of a pixel of a view.
const fn channels(shape: &ViewShape) -> u32 {
    if shape.format == VIEW_RGB { 3 } else { 1 }
}

/// Returns the bytes of a chunk.
const fn chunk_bytes(shape: &ViewShape) -> u32 {
    shape.groups * GROUP * channels(shape)
}

impl Store {
    /// Computes a view in some lanes, one after the other. `out` has as many bytes as they have.
    pub(crate) fn views(&mut self, shape: &ViewShape, lanes: &[u32], out: &mut [u8]) -> Result<(), Error> {
        let chunk_bytes = u64::from(chunk_bytes(shape));
        let chunks = u64::from(shape.chunks);
        let all = lanes.len() as u64 * chunks;
        let bytes_max = DISPATCH_BYTES.min(self.device.limits().storage_bytes());
        let pixels = u64::from(shape.groups * GROUP) << (2 * shape.shift);
        let jobs_max = (bytes_max / chunk_bytes).min(DISPATCH_PIXELS / pixels).clamp(1, all);
        let device = self.device.clone();
        let sizes = [
            ("the view", size_of::<ViewShape>() as u64),
            ("lanes with views", size_of_val(lanes) as u64),
            ("words of views", jobs_max * chunk_bytes),
        ];
        let layout = &self.kernels.layouts.views;
        let (buffers, group) =
            self.view_buffers.get(&device, sizes, |[view_shape, view_lanes, view_words]| {
                layout.bind(&device, ViewsGroup { view_shape, view_lanes, view_words })
            })?;
        buffers[1].upload(0, lanes)?;
        let kernel = self.kernels.views(&device)?;
        let mut before = None;
        for first in (0..all).step_by(jobs_max as usize) {
            let jobs = first..all.min(first + jobs_max);
            let (first_lane, first_chunk) = ((first / chunks) as u32, (first % chunks) as u32);
            buffers[0].upload(0, &[ViewShape { first_lane, first_chunk, ..*shape }])?;
            let count = (jobs.end - jobs.start) as u32;
            let grid = (1, count.min(DISPATCH_ROW), count.div_ceil(DISPATCH_ROW));
            self.dispatch(&kernel, Launch { jobs: count, ..Launch::default() }, Some(&group), grid)?;
            let download = device.begin_download(&[(&buffers[2], 0..u64::from(count) * chunk_bytes)])?;
            if let Some((download, jobs)) = before.replace((download, jobs)) {
                device.end_download(download, |bytes| copy(shape, &jobs, bytes, out))?;
            }
        }
        if let Some((download, jobs)) = before {
            device.end_download(download, |bytes| copy(shape, &jobs, bytes, out))?;
        }
        Ok(())
    }
}

/// Copies the chunks of jobs to their places in the views of all lanes.
fn copy(shape: &ViewShape, jobs: &Range<u64>, chunks: &[u8], out: &mut [u8]) {
    let chunk_bytes = chunk_bytes(shape) as usize;
    let view_bytes = shape.pixels as usize * channels(shape) as usize;
    let begin = |job: u64| {
        let (lane, chunk) = (job / u64::from(shape.chunks), job % u64::from(shape.chunks));
        lane as usize * view_bytes + chunk as usize * chunk_bytes
    };
    let mut rest = &mut out[begin(jobs.start)..begin(jobs.end)];
    let mut parts = Vec::with_capacity((jobs.end - jobs.start) as usize);
    for job in jobs.clone() {
        let (part, behind) = mem::take(&mut rest).split_at_mut(begin(job + 1) - begin(job));
        parts.push(part);
        rest = behind;
    }
    parts
        .into_par_iter()
        .zip(chunks.par_chunks(chunk_bytes))
        .with_min_len((COPY_BYTES / chunk_bytes).max(1))
        .for_each(|(part, chunk)| part.copy_from_slice(&chunk[..part.len()]));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shape of a view of a whole picture.
    fn shape(width: u32, height: u32, stride: u32, shift: u32, format: ViewFormat) -> Option<ViewShape> {
        let picture = Picture { address: 0x1000, width, height, stride, format: PictureFormat::Grey };
        shape_of(&View::new(picture, 0..width, 0..height, shift, format).expect("the picture has it"))
    }

    #[test]
    fn chunks_have_about_the_same_size() {
        let of = |width, height, shift, format| {
            let shape = shape(width, height, width, shift, format).expect("it is small");
            (shape.pixels, shape.groups, shape.chunks, chunk_bytes(&shape))
        };
        assert_eq!(of(320, 200, 0, ViewFormat::Index), (64_000, 1000, 16, 4000), "no padding");
        assert_eq!(of(320, 200, 0, ViewFormat::Rgb), (64_000, 1000, 16, 12_000), "three bytes a pixel");
        assert_eq!(of(84, 84, 0, ViewFormat::Grey), (7056, 882, 2, 3528), "no padding");
        assert_eq!(of(320, 168, 2, ViewFormat::Grey), (3360, 60, 14, 240), "fewer groups of large squares");
        assert_eq!(of(3, 3, 0, ViewFormat::Rgb), (9, 3, 1, 36), "a group with one pixel");
        assert_eq!(of(1, 1, 0, ViewFormat::Grey), (1, 1, 1, 4), "one pixel");
    }

    #[test]
    fn chunks_depend_on_as_many_pages_as_fit_the_kernel() {
        let groups = |width, height, stride, shift| {
            shape(width, height, stride, shift, ViewFormat::Grey).map(|shape| shape.groups)
        };
        assert_eq!(groups(1000, 1000, 2000, 0), Some(1021), "six rows at a time");
        assert_eq!(groups(10, 1000, 6000, 0), Some(500), "206 of 1,000 rows are 1.2 MB");
        assert_eq!(groups(640, 640, 16_000, 6), Some(2), "two rows of squares are 2.0 MB");
        assert_eq!(groups(640, 640, 17_000, 6), None, "two rows of squares are 2.2 MB");
        assert_eq!(groups(640, 64, 17_000, 6), Some(3), "one row of squares is 1.1 MB");
    }

    #[test]
    fn the_number_of_touched_blocks_is_the_largest() {
        for (items, block) in (1..40).flat_map(|items| (1..20).map(move |block| (items, block))) {
            let of = |first: u64| (first + items - 1) / block - first / block + 1;
            let largest = (0..block).map(of).max();
            assert_eq!(Some(touched(items, block)), largest, "{items} items in blocks of {block}");
        }
    }

    #[test]
    fn chunks_are_copied_without_their_padding() {
        // Three lanes with views of nine pixels in chunks of eight.
        let shape = ViewShape { groups: 2, chunks: 2, ..shape(9, 1, 9, 0, ViewFormat::Grey).expect("small") };
        let mut out = vec![0; 27];
        let chunk = |job: u8| (0..8).map(move |byte| 10 * job + byte);
        let copy_jobs = |jobs: Range<u64>, out: &mut [u8]| {
            let chunks: Vec<u8> = jobs.clone().flat_map(|job| chunk(job as u8)).collect();
            copy(&shape, &jobs, &chunks, out);
        };
        copy_jobs(0..3, &mut out);
        copy_jobs(3..6, &mut out);
        let expected = (0..6).flat_map(|job| chunk(job).take(if job % 2 == 0 { 8 } else { 1 }));
        assert!(out.iter().copied().eq(expected), "{out:?}");
    }
}
