//! Views of pictures in guest memory, which the device computes.

use kvrm_arm64::Stop;
use kvrm_machine::View;

use super::lanes::GpuExecutor;
use super::memory::first_fault;
use crate::device::error::Error;
use crate::machine::store::views::{ViewShape, shape_of};

impl GpuExecutor {
    /// Returns a view as the kernel computes it, or `None` if the host has to compute it.
    pub(super) fn shape_of_view(&self, view: &View) -> Option<ViewShape> {
        // The kernel does not count its loop iterations. Drivers that limit them run it on the CPU anyway.
        // It cannot ask for frames that are away either.
        shape_of(view).filter(|_| !self.slices.are_limited() && self.store.places.is_none())
    }

    /// Writes the view of a picture in each of some lanes to `out`, which has as many bytes as they have. The inner result
    /// is the first lane without the picture, and its stop.
    pub(super) fn views(
        &mut self,
        shape: &ViewShape,
        view: &View,
        lanes: &[usize],
        out: &mut [u8],
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        let check = |lane: usize| (lane, view.check(&self.maps[lane]));
        if let Some(fault) = first_fault(lanes.len(), |index| check(lanes[index])) {
            return Ok(Err(fault));
        }
        if lanes.is_empty() {
            return Ok(Ok(()));
        }
        self.flush_memory()?;
        self.store.columns.flush()?;
        let lanes: Vec<u32> = lanes.iter().map(|&lane| lane as u32).collect();
        self.store.views(shape, &lanes, out)?;
        Ok(Ok(()))
    }
}
