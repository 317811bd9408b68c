//! The regions of hot code: program counters are sampled at the ends of slices, and the code around them is read.

use std::cell::Cell;
use std::sync::Arc;

use kvrm_arm64::Access;
use kvrm_shaders::layout::{COLUMN_PC, COLUMN_STOP, STOP_BUDGET, STOP_NONE};
use kvrm_translate::{Code, Limits, Region, Samples};

use super::super::lanes::GpuExecutor;
use super::super::translator::HotCode;
use super::super::words::{PAGE, halves};
use crate::device::error::Error;

/// The number of lanes of which a slice gives a sample, at most. Lanes that run together are often at the same place.
const LANES_SAMPLED: usize = 256;
/// The largest number of pages of a region.
const PAGES_MAX: usize = 32;

impl GpuExecutor {
    /// Adds the program counters of lanes that have not stopped to samples. If all have, those at the end of their budget
    /// count: they may go on, and runs may be shorter than the slices with samples.
    pub(super) fn sample(&mut self, hot: &mut HotCode) -> Result<(), Error> {
        self.store.columns.fetch([COLUMN_PC, COLUMN_STOP])?;
        let columns = &self.store.columns;
        let (pcs, stops) = (columns.cached(COLUMN_PC), columns.cached(COLUMN_STOP));
        let step = pcs.len().div_ceil(LANES_SAMPLED).max(1);
        let lanes = || (0..pcs.len()).step_by(step);
        let is_at = |lane: usize, stop| halves(stops[lane]).0 == stop;
        let sampled = if lanes().any(|lane| is_at(lane, STOP_NONE)) { STOP_NONE } else { STOP_BUDGET };
        for lane in lanes().filter(|lane| is_at(*lane, sampled)) {
            let image = self.image(lane);
            let (_, samples) =
                hot.images.entry(Arc::as_ptr(image) as usize).or_insert((lane, Samples::default()));
            samples.add(pcs[lane]);
        }
        Ok(())
    }

    /// Returns the hottest regions, which have at most `instructions` instructions together, and the share of samples that
    /// they cover.
    pub(super) fn hot_regions(
        &mut self,
        hot: &HotCode,
        (instructions, distance): (usize, usize),
    ) -> Result<(Vec<Region>, f64), Error> {
        let features = self.images[0].features();
        let limits = Limits { instructions, pages: PAGES_MAX, distance };
        let mut chosen = Vec::new();
        let (mut left, mut covered, mut total) = (instructions, 0, 0);
        for (lane, samples) in hot.images.values() {
            let failure = Cell::new(None);
            let code = Code::new(features, |address| {
                self.code_of(*lane, address).unwrap_or_else(|error| {
                    failure.set(Some(error));
                    None
                })
            });
            let found = samples.regions(&limits, |pc| code.fetch(pc));
            if let Some(error) = failure.take() {
                return Err(error);
            }
            // The regions of an image lead to each other, so a smaller one may fit behind one that does not.
            total += samples.total();
            for region in found {
                if region.instructions() <= left {
                    left -= region.instructions();
                    covered += samples.count_in(&region);
                    chosen.push(region);
                }
            }
        }
        Ok((chosen, covered as f64 / total.max(1) as f64))
    }

    /// Returns the bytes of the page of code at an address, or `None` if the lane cannot execute it.
    fn code_of(&mut self, lane: usize, address: u64) -> Result<Option<Vec<u8>>, Error> {
        let mut bytes = vec![0; PAGE as usize];
        let read = self.read_bytes(lane, address, &mut bytes, Some(Access::Execute))?;
        Ok(read.ok().map(|()| bytes))
    }
}
