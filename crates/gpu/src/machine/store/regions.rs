//! Markers in code pages, which lead lanes to translated regions.

use kvrm_shaders::interface::machine::{MarkGroup, RegionOp};
use kvrm_shaders::layout::DISPATCH_ROW;
use kvrm_translate::{PlacedOp, Translation};

use super::parameters::Launch;
use super::resident::Store;
use crate::device::Device;
use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The code of translated regions on the device.
#[derive(Debug)]
pub(crate) struct RegionCode {
    /// The range of micro-ops of each page of a region.
    ranges: Buffer,
    ops: Buffer,
    /// The number of pages of regions.
    pages: u32,
}

impl RegionCode {
    pub(crate) fn new(device: &Device, translation: &Translation) -> Result<Self, Error> {
        let mut ranges: Vec<[u32; 2]> = Vec::new();
        let mut ops: Vec<RegionOp> = Vec::new();
        for page in &translation.pages {
            let first = ops.len();
            ops.extend(page.iter().map(|PlacedOp { place, op, entry }| RegionOp {
                op: op.words(),
                place: *place,
                entry: entry.unwrap_or(0),
                padding: [0; 2],
            }));
            ranges.push([first as u32, ops.len() as u32]);
        }
        Ok(Self {
            ranges: Buffer::with_contents(device, "pages of regions", ranges.as_flattened())?,
            ops: Buffer::with_contents(device, "micro-ops of regions", &ops)?,
            pages: ranges.len() as u32,
        })
    }
}

impl Store {
    /// Sets the markers of regions in all code pages that have their code. Removes those in pages that have other code now.
    pub(crate) fn mark(&mut self, code: &RegionCode) -> Result<(), Error> {
        self.change_markers(code, true)?;
        self.marks_are_old = false;
        Ok(())
    }

    /// Removes the markers of regions, so that code pages are those that `decode` made.
    pub(crate) fn unmark(&mut self, code: &RegionCode) -> Result<(), Error> {
        self.change_markers(code, false)
    }

    /// Whether code pages may have changed since [`Store::mark`].
    pub(crate) const fn marks_are_old(&self) -> bool {
        self.marks_are_old
    }

    fn change_markers(&mut self, code: &RegionCode, sets: bool) -> Result<(), Error> {
        let pages: Vec<[u32; 2]> = (0..).zip(&self.code_pages).map(|(page, frame)| [page, *frame]).collect();
        if pages.is_empty() || code.pages == 0 {
            return Ok(());
        }
        let marked_pages = &Buffer::with_contents(&self.device, "code pages", pages.as_flattened())?;
        let buffers = MarkGroup { marked_pages, region_pages: &code.ranges, region_ops: &code.ops };
        let group = self.kernels.layouts.mark.bind(&self.device, buffers)?;
        let kernel = self.kernels.mark(&self.device, sets)?;
        let jobs = pages.len() as u32;
        let workgroups = (code.pages, jobs.min(DISPATCH_ROW), jobs.div_ceil(DISPATCH_ROW));
        self.dispatch(&kernel, Launch { jobs, ..Launch::default() }, Some(&group), workgroups)?;
        Ok(())
    }
}
