//! The regions of hot code: program counters are sampled at the ends of slices, and the code around them is read.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_arm64::{Access, Features};
use kvrm_shaders::layout::{COLUMN_PC, COLUMN_STOP, STOP_NONE};
use kvrm_translate::{Limits, Region, Samples, is_costly, is_translatable};

use super::super::lanes::GpuExecutor;
use super::super::translator::HotCode;
use super::super::words::{PAGE, halves};
use crate::device::error::Error;

/// The number of lanes of which a slice gives a sample, at most. Lanes that run together are often at the same place.
const LANES_SAMPLED: usize = 256;
/// The largest number of pages of a region.
const PAGES_MAX: usize = 32;
/// The largest number of instructions in regions that take compilers long.
const COSTLY_MAX: usize = 16;

/// The code of a lane: the words of a page, or `None` if the lane cannot execute it.
type Pages = HashMap<u64, Option<Vec<u32>>>;

impl GpuExecutor {
    /// Adds the program counters of lanes that have not stopped to samples.
    pub(super) fn sample(&mut self, hot: &mut HotCode) -> Result<(), Error> {
        let columns = &mut self.store.columns;
        columns.fetch([COLUMN_PC, COLUMN_STOP])?;
        let (pcs, stops) = (columns.cached(COLUMN_PC), columns.cached(COLUMN_STOP));
        let step = pcs.len().div_ceil(LANES_SAMPLED).max(1);
        for lane in (0..pcs.len()).step_by(step).filter(|lane| halves(stops[*lane]).0 == STOP_NONE) {
            let image = &self.images[if self.images.len() == 1 { 0 } else { lane }];
            let (_, samples) =
                hot.images.entry(Arc::as_ptr(image) as usize).or_insert((lane, Samples::default()));
            samples.add(pcs[lane]);
        }
        Ok(())
    }

    /// Returns the hottest regions, which have at most `instructions` instructions together.
    pub(super) fn hot_regions(
        &mut self,
        hot: &HotCode,
        instructions: usize,
        distance: usize,
    ) -> Result<Vec<Region>, Error> {
        let features = self.images[0].features();
        let limits = Limits { instructions, pages: PAGES_MAX, distance };
        let mut chosen = Vec::new();
        let mut left = instructions;
        for (lane, samples) in hot.images.values() {
            let failure = RefCell::new(None);
            let code = RefCell::new((&mut *self, Pages::new()));
            let costly = RefCell::new(BTreeSet::new());
            let fetch = |pc: u64| {
                let (executor, pages) = &mut *code.borrow_mut();
                let page = pages.entry(pc / PAGE).or_insert_with(|| {
                    executor.code_of(*lane, pc / PAGE).unwrap_or_else(|error| {
                        failure.borrow_mut().get_or_insert(error);
                        None
                    })
                });
                let op = wanted(page.as_deref()?, pc, features)?;
                let mut costly = costly.borrow_mut();
                let is_known = costly.contains(&pc) || !is_costly(op);
                if !is_known && costly.len() < COSTLY_MAX {
                    return costly.insert(pc).then_some(op);
                }
                is_known.then_some(op)
            };
            let found = samples.regions(&limits, fetch);
            if let Some(error) = failure.into_inner() {
                return Err(error);
            }
            // The regions of an image lead to each other, so a smaller one may fit behind one that does not.
            for region in found {
                if region.instructions() <= left {
                    left -= region.instructions();
                    chosen.push(region);
                }
            }
        }
        Ok(chosen)
    }

    /// Returns the words of a page of code of a lane, or `None` if the lane cannot execute it.
    fn code_of(&mut self, lane: usize, page: u64) -> Result<Option<Vec<u32>>, Error> {
        let mut bytes = vec![0; PAGE as usize];
        let Some(address) = page.checked_mul(PAGE) else { return Ok(None) };
        let read = self.read_bytes(lane, address, &mut bytes, Some(Access::Execute))?;
        let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        Ok(read.ok().map(|()| bytes.chunks_exact(4).map(word).collect()))
    }
}

/// Returns the micro-op at an address in a page if translated code can execute it.
fn wanted(page: &[u32], pc: u64, features: Features) -> Option<MicroOp> {
    let op = lower(page[(pc % PAGE / 4) as usize], features);
    (pc.is_multiple_of(4) && is_translatable(op)).then_some(op)
}
