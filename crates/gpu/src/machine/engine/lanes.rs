//! The lanes of a machine on a GPU, and what the host keeps of them.

use std::sync::Arc;

use kvrm_machine::{Image, PageMap, Plan};
use kvrm_shaders::layout::{COLUMN_HEAD, COLUMN_ROOT, COLUMN_WINDOW, COLUMNS};

use super::cache::Cache;
use super::registers::Words;
use super::words::word;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::device::{Device, LoopLimit};
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::{ClassSelection, loops_of};
use crate::machine::kernels::{Chooser, WORKGROUP};
use crate::machine::pace::{Pace, Slices, workgroup, write_fuel};
use crate::machine::pages::Frames;
use crate::machine::store::limits::code_pages_max;
use crate::machine::store::{Contents, Store};

/// Lanes on a GPU.
#[derive(Debug)]
pub struct GpuExecutor {
    pub(super) store: Store,
    pub(super) description: String,
    pub(super) slices: Slices,
    /// How many loop iterations a lane may take in a dispatch that writes.
    pub(super) write_fuel: u32,
    /// How many lanes share a workgroup.
    pub(super) workgroup: u32,
    pub(super) cache: Cache,
    /// Calls that were served on the device since the host last took what they wrote.
    pub(super) served: u64,
    /// Those of them that wrote anything.
    pub(super) written: u64,
    /// Whether lanes may have SIMD registers that are not zero.
    pub(super) has_simd: bool,
    pub(super) snapshot: Option<Snapshot>,
    /// What each lane has mapped.
    pub(super) maps: Vec<PageMap>,
    /// Where the heap of each lane ends, as far as `maps` knows; nothing if lanes have none that they move by themselves.
    pub(super) heap_ends: Vec<u64>,
    pub(super) images: Vec<Arc<Image>>,
    /// How many frames have been given out.
    pub(super) frames: u32,
    /// Whether the last dispatch may have counted something that the host has not read.
    pub(super) is_counting: bool,
    /// How many of them are those of the images.
    pub(super) frames_shared: u32,
    /// How many pages each lane may write.
    pub(super) frames_max: u32,
    /// Lanes that are served, as they were before: only its memory is kept.
    pub(super) found: Vec<Found>,
    /// How far the last run came.
    pub(crate) ran: Ran,
}

/// What a reset takes lanes back to.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) state: Buffer,
    pub(super) maps: Vec<PageMap>,
    pub(super) heap_ends: Vec<u64>,
}

/// How far a run came, even if it failed: its complete slices.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ran {
    /// The most steps a lane can have retired.
    pub(crate) steps_max: u64,
    /// The steps of all lanes together.
    pub(crate) steps: u64,
    /// Whether lanes stopped as the device had no frame left. Which ones is a matter of chance.
    pub(crate) is_full: bool,
}

/// A lane before it is served.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) words: Words,
    /// How many pages it has written, and may write.
    pub(super) written: u32,
    pub(super) written_max: u32,
}

impl GpuExecutor {
    /// Lanes as planned, on an open device.
    ///
    /// # Errors
    ///
    /// There is no room for them, or the device fails.
    pub fn new(device: &Device, plan: &Plan<'_>) -> Result<Self, Error> {
        Self::with_bounds(device, plan, &ClassSelection::TABLE, Bounds::NONE)
    }

    /// As [`GpuExecutor::new`], with classes chosen as `dispatch` says, on a device that could do less than it can.
    ///
    /// # Errors
    ///
    /// There is no room for the lanes, or the device fails.
    #[doc(hidden)]
    pub fn with_bounds(
        device: &Device,
        plan: &Plan<'_>,
        selection: &ClassSelection,
        bounds: Bounds,
    ) -> Result<Self, Error> {
        let lanes = plan.lanes;
        let max = (device.limits().storage_bytes() / (8 * u64::from(COLUMNS))) as usize;
        let max = max.min((device.limits().workgroups * WORKGROUP) as usize);
        if lanes > max {
            return Err(Error::TooManyLanes { lanes, max });
        }
        let mut frames = Frames::new();
        let roots: Vec<_> = plan.images.iter().map(|image| frames.add(image)).collect();
        let features = plan.image(0).features();
        let workgroup = match bounds.workgroup {
            Some(workgroup) => workgroup,
            // A CPU runs the lanes of a workgroup side by side, and one workgroup after the other.
            None if device.info().is_software() => WORKGROUP,
            None => workgroup(lanes, device.width()?),
        };
        let contents = Contents { frames: &frames, plan, features, selection, workgroup, bounds };
        let mut store = Store::new(device, &contents)?;
        let root_of = |lane: usize| if roots.len() == 1 { roots[0] } else { roots[lane] };
        // It is better to fail now than in the first run.
        let chooser = store.chooser();
        let loop_limit = bounds.loop_limit.or(device.loop_limit()?);
        store.interpreter(workgroup, loop_limit.is_some())?;
        let frames_max = u32::try_from(plan.frames_max).unwrap_or(u32::MAX);
        for (column, value) in [
            (COLUMN_ROOT, &|lane| word(root_of(lane).entry, root_of(lane).levels)),
            (COLUMN_WINDOW, &|lane| root_of(lane).window),
            (COLUMN_HEAD, &|_| word(frames_max, 0)),
        ] as [(u32, &dyn Fn(usize) -> u64); 3]
        {
            let words = store.columns.get_mut(column)?;
            words.iter_mut().enumerate().for_each(|(lane, word)| *word = value(lane));
        }
        Ok(Self {
            description: device.info().to_string(),
            write_fuel: write_fuel(loop_limit),
            workgroup,
            slices: Slices::new(
                device.info().is_software(),
                loop_limit.map(|limit| LoopLimit { sharers: limit.sharers.min(workgroup), ..limit }),
                lanes as u32,
                loops_of(chooser),
                Pace::last(device, chooser.is_some_and(Chooser::is_asked_in_steps)),
            )
            .at_most(bounds.slice_steps),
            store,
            images: plan.images.to_vec(),
            maps: (0..lanes).map(|lane| plan.image(lane).map().clone()).collect(),
            heap_ends: vec![0; if plan.calls.is_some() { lanes } else { 0 }],
            cache: Cache::new(lanes),
            served: 0,
            written: 0,
            has_simd: features.fp,
            snapshot: None,
            frames: frames.words.len() as u32,
            is_counting: false,
            frames_shared: frames.words.len() as u32,
            frames_max,
            found: Vec::new(),
            ran: Ran::default(),
        })
    }

    /// How many lanes with an image of their own, of a few pages each, an executor takes at least.
    pub(crate) fn images_max(device: &Device) -> usize {
        // Most have a page of code or two.
        (code_pages_max(device) / 2).max(1)
    }

    /// The device they run on.
    pub(crate) fn on(&self) -> &Device {
        &self.store.device
    }

    /// Whether there is a snapshot.
    pub(crate) const fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }
}
