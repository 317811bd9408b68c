//! Runs: slices of a length the device can take, and what lanes ask for between them.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kvrm_machine::{Progress, RunStats};
use kvrm_shaders::layout::{
    COLUMN_LIMIT, COLUMN_STOP, COLUMN_STOP_ADDRESS, COUNTER_FRAMES, COUNTER_NEED_CODE, COUNTER_NEED_FRAME,
    COUNTER_RUNNING, COUNTER_STEPS, COUNTER_STEPS_HIGH, STOP_NEED_CODE, STOP_NEED_FRAME, STOP_NONE,
    STOP_OUT_OF_FRAMES,
};

use super::{GpuExecutor, halves, word};
use crate::adapter::AdapterInfo;
use crate::error::Error;
use crate::kernels::WORKGROUP;
use crate::store::Parameters;

/// How long a slice should take: displays that share the GPU stay usable, and no driver loses patience.
const SLICE_TIME: Duration = Duration::from_millis(100);
/// The first slice, before anything is known of the device.
const FIRST_SLICE: u32 = 1 << 15;
/// Slices grow by this much at most from one to the next.
const GROWTH: f64 = 8.0;

/// How long slices are.
#[derive(Debug)]
pub(super) struct Slices {
    steps: u32,
    fuel: u32,
}

impl Slices {
    /// For a device that cuts invocations after `loop_limit` iterations, if it does.
    pub(super) fn new(info: &AdapterInfo, loop_limit: Option<u32>) -> Self {
        let _ = info;
        Self { steps: FIRST_SLICE, fuel: loop_limit.map_or(u32::MAX, |limit| limit - limit / 8) }
    }

    /// Learns from a slice that took so long.
    fn adapt(&mut self, took: Duration) {
        let factor = SLICE_TIME.as_secs_f64() / took.as_secs_f64().max(1e-6);
        let steps = f64::from(self.steps) * factor.clamp(1.0 / GROWTH, GROWTH);
        self.steps = (steps as u32).clamp(256, 1 << 28);
    }
}

impl GpuExecutor {
    pub(super) fn run_lanes(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, Error> {
        self.flush_memory()?;
        let before = self.store.dispatches;
        let columns = &mut self.store.columns;
        if columns.get(COLUMN_LIMIT)? != limits {
            columns.get_mut(COLUMN_LIMIT)?.copy_from_slice(limits);
        }
        let mut frames = self.frames;
        let mut steps = 0;
        loop {
            self.store.columns.flush()?;
            self.store.set_counters(frames)?;
            let parameters =
                Parameters { steps: self.slices.steps, fuel: self.slices.fuel, ..Parameters::default() };
            let workgroups = ((self.store.lanes as u32).div_ceil(WORKGROUP), 1, 1);
            let begin = Instant::now();
            self.store.dispatch(|kernels| &kernels.run, parameters, None, workgroups)?;
            self.store.columns.invalidate();
            self.cache.forget();
            let counters = self.store.counters()?;
            let took = begin.elapsed();

            let count = |counter: u32| counters[counter as usize];
            steps += word(count(COUNTER_STEPS), count(COUNTER_STEPS_HIGH));
            frames = count(COUNTER_FRAMES).min(self.store.capacity());
            let (running, needy) =
                (count(COUNTER_RUNNING), count(COUNTER_NEED_FRAME) + count(COUNTER_NEED_CODE));
            if needy > 0 {
                self.serve(count(COUNTER_FRAMES), count(COUNTER_NEED_FRAME))?;
            } else if running == 0 {
                break;
            } else {
                self.slices.adapt(took);
            }
            if observe(Progress { steps, running: (running + needy) as usize }).is_break() {
                break;
            }
        }
        self.frames = frames;
        Ok(RunStats { dispatches: self.store.dispatches - before })
    }

    /// Gives lanes the frames and the code they stopped for, and lets them go on.
    fn serve(&mut self, asked_for: u32, need_frame: u32) -> Result<(), Error> {
        let capacity = self.store.capacity();
        let grown = if need_frame > 0 {
            // Twice as many, so that growing takes few rounds.
            self.store.grow_frames(asked_for.max(capacity.saturating_mul(2)))? > capacity
        } else {
            false
        };
        let columns = &mut self.store.columns;
        columns.fetch([COLUMN_STOP, COLUMN_STOP_ADDRESS])?;
        let asks: Vec<u64> = columns.get(COLUMN_STOP_ADDRESS)?.to_vec();
        let mut code = Vec::new();
        for (stop, ask) in columns.get_mut(COLUMN_STOP)?.iter_mut().zip(asks) {
            match halves(*stop).0 {
                STOP_NEED_CODE => {
                    code.push(halves(ask));
                    *stop = word(STOP_NONE, 0);
                }
                STOP_NEED_FRAME => *stop = word(if grown { STOP_NONE } else { STOP_OUT_OF_FRAMES }, 0),
                _ => {}
            }
        }
        self.store.decode(&code)
    }
}
