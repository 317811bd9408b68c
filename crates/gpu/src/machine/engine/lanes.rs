//! The GPU executor: the store with the lanes on the device, and the host's record of them.

use std::sync::Arc;

use kvrm_arm64::{Feature, Features};
use kvrm_machine::{Image, PageMap, Plan};
use kvrm_shaders::layout::{COLUMN_HEAD, COLUMN_ROOT, COLUMN_WINDOW, COLUMNS};

use super::accelerator::Accelerator;
use super::cache::Cache;
use super::predictors::Prefetching;
use super::translator::Translator;
use super::waiting::Waiting;
use super::words::word;
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::device::{Device, LoopLimit};
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::{ClassSelection, loops_of};
use crate::machine::kernels::{NetworkVariant, WORKGROUP};
use crate::machine::pace::{Pace, Slices, workgroup, write_fuel};
use crate::machine::pages::{Frames, Root};
use crate::machine::store::limits::code_pages_max;
use crate::machine::store::{Store, StoreConfig};

/// The executor that runs the lanes of a machine on a GPU. It does not survive the loss of its device.
#[derive(Debug)]
pub struct GpuExecutor {
    pub(super) store: Store,
    pub(super) description: String,
    pub(super) slices: Slices,
    /// The number of loop iterations that a lane may take in a dispatch that writes.
    pub(super) write_fuel: u32,
    /// The number of lanes in a workgroup.
    pub(super) workgroup: u32,
    pub(super) cache: Cache,
    /// The number of calls that the device has served since the host last fetched the console output.
    pub(super) served_calls: u64,
    /// The number of these calls that have written console output.
    pub(super) printing_calls: u64,
    /// Whether lanes may have SIMD registers that are not zero.
    pub(super) has_simd: bool,
    pub(super) snapshot: Option<Snapshot>,
    /// The page map of each lane.
    pub(super) maps: Vec<PageMap>,
    /// The end of each lane's heap that `maps` reflects. Empty if lanes cannot move the end of a heap without the host.
    pub(super) heap_ends: Vec<u64>,
    pub(super) images: Vec<Arc<Image>>,
    /// The page tables of the images.
    pub(super) roots: Vec<Root>,
    /// The class selection and the bounds with which the lanes were made.
    pub(super) selection: ClassSelection,
    pub(super) bounds: Bounds,
    /// The number of frames in use, those of the images included.
    pub(super) frames: u32,
    /// Whether the counters of the last dispatch have not been read.
    pub(super) has_unread_counters: bool,
    /// Whether lanes may have stopped with a request to the host that the host has not read, because a transfer failed.
    pub(super) has_unseen_requests: bool,
    /// The lanes that wait for places of frames.
    pub(super) waiting: Waiting,
    /// The prefetchers of lanes, if any page is prefetched.
    pub(super) prefetching: Option<Prefetching>,
    /// Whether lanes may have frames that they do not use, because they were reset.
    pub(super) has_unused: bool,
    /// The number of frames of the images.
    pub(super) frames_shared: u32,
    /// The number of pages that each lane may write.
    pub(super) frames_max: u32,
    /// The progress of the last run.
    pub(crate) last_run: RunProgress,
    /// Whether the last run had at most `SHORT_RUN` slices. The next run then fetches the columns that the host reads after a run
    /// with the counters of each slice.
    pub(super) was_short: bool,
    /// Whether the host has served calls of lanes since the last run.
    pub(super) has_served: bool,
    pub(super) translator: Translator,
    /// The acceleration of loops, if there is any.
    pub(super) accelerator: Option<Accelerator>,
}

/// A snapshot of all lanes.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) state: Buffer,
    pub(super) maps: Vec<PageMap>,
    pub(super) heap_ends: Vec<u64>,
}

/// The progress of a run in complete slices, also if the run has failed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunProgress {
    /// The largest number of steps that a lane can have retired.
    pub(crate) steps_max: u64,
    /// The steps of all lanes together.
    pub(crate) steps: u64,
    /// Whether lanes have stopped because the device had no frame left. Chance decides which lanes.
    pub(crate) is_full: bool,
}

impl GpuExecutor {
    /// Creates the lanes of `plan` on an open device, with classes from the table. Code is not translated.
    ///
    /// # Errors
    ///
    /// The device has no room for the lanes, or it fails.
    pub fn new(device: &Device, plan: &Plan<'_>) -> Result<Self, Error> {
        Self::with_bounds(device, plan, &ClassSelection::TABLE, Bounds::NONE)
    }

    /// Creates the lanes as [`GpuExecutor::new`] does, with a given class selection, and with the limits of the device
    /// lowered to `bounds`.
    ///
    /// # Errors
    ///
    /// The device has no room for the lanes, or it fails.
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
            // A CPU runs the lanes of a workgroup in parallel, and one workgroup after the other.
            None if device.info().is_software() => WORKGROUP,
            None => workgroup(lanes, device.width()?),
        };
        let contents = StoreConfig { frames: &frames, plan, features, selection, workgroup, bounds: &bounds };
        let mut store = Store::new(device, &contents)?;
        let root_of = |lane: usize| if roots.len() == 1 { roots[0] } else { roots[lane] };
        // Compiling the interpreter now makes a failure visible before the first run.
        let network = store.network_variant();
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
                loops_of(network),
                Pace::last(device, network.is_some_and(NetworkVariant::is_asked_in_steps)),
            )
            .at_most(bounds.slice_steps),
            store,
            images: plan.images.to_vec(),
            roots,
            selection: selection.clone(),
            maps: (0..lanes).map(|lane| plan.image(lane).map().clone()).collect(),
            heap_ends: vec![0; if plan.calls.is_some() { lanes } else { 0 }],
            cache: Cache::new(lanes),
            served_calls: 0,
            printing_calls: 0,
            has_simd: features.without(Features::BASE).any(Feature::is_simd),
            snapshot: None,
            frames: frames.words.len() as u32,
            has_unread_counters: false,
            has_unseen_requests: false,
            waiting: Waiting::default(),
            prefetching: bounds.memory.and_then(|_| Prefetching::new(&bounds.prefetch, lanes)),
            has_unused: false,
            frames_shared: frames.words.len() as u32,
            frames_max,
            last_run: RunProgress::default(),
            was_short: false,
            has_served: false,
            accelerator: plan.loops.cloned().map(Accelerator::new),
            translator: Translator::new(bounds.translation, bounds.regions, lanes, workgroup),
            bounds,
        })
    }

    /// Returns the image of a lane.
    pub(super) fn image(&self, lane: usize) -> &Arc<Image> {
        &self.images[if self.images.len() == 1 { 0 } else { lane }]
    }

    /// Returns the number of lanes that an executor has room for at least if each lane has an image of its own with few
    /// pages.
    pub(crate) fn images_max(device: &Device) -> usize {
        // Most of these images have one or two pages of code.
        (code_pages_max(device) / 2).max(1)
    }

    /// Returns the device that the lanes run on.
    pub(crate) fn device(&self) -> &Device {
        &self.store.device
    }

    /// Returns whether there is a snapshot.
    pub(crate) const fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }
}
