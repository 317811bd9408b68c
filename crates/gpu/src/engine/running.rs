//! Runs: slices of a length the device can take, and what lanes ask for between them.

use std::ops::ControlFlow;
use std::time::Instant;

use kvrm_machine::{Progress, RunStats};
use kvrm_shaders::SIMD_UNITS;
use kvrm_shaders::layout::{
    COLUMN_LIMIT, COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS, COUNTER_FRAMES, COUNTER_NEED_CODE,
    COUNTER_NEED_FRAME, COUNTER_RUNNING, COUNTER_SERVED, COUNTER_STEPS, COUNTER_STEPS_HIGH, COUNTER_WRITTEN,
    LEVEL_BITS, STOP_NEED_CODE, STOP_NEED_FRAME, STOP_NEED_SIMD, STOP_NONE, STOP_OUT_OF_FRAMES,
};

use super::{GpuExecutor, halves, word};
use crate::dispatch::Chooser;
use crate::error::Error;
use crate::store::Parameters;

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

impl GpuExecutor {
    pub(super) fn run_lanes(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, Error> {
        self.ran = Ran::default();
        self.flush_memory()?;
        let before = self.store.dispatches;
        let columns = &mut self.store.columns;
        if columns.get(COLUMN_LIMIT)? != limits {
            columns.get_mut(COLUMN_LIMIT)?.copy_from_slice(limits);
        }
        loop {
            self.store.columns.flush()?;
            self.store.set_counters(self.frames)?;
            let parameters =
                Parameters { steps: self.slices.steps, fuel: self.slices.fuel, ..Parameters::default() };
            let workgroups = ((self.store.lanes as u32).div_ceil(self.workgroup), 1, 1);
            let run = self.store.interpreter(self.workgroup)?;
            let begin = Instant::now();
            self.store.dispatch_pipeline(&run, parameters, None, workgroups)?;
            self.store.columns.invalidate();
            self.cache.forget();
            let counters = self.store.counters()?;
            let took = begin.elapsed();

            let count = |counter: u32| counters[counter as usize];
            self.ran.steps += word(count(COUNTER_STEPS), count(COUNTER_STEPS_HIGH));
            self.ran.steps_max += u64::from(self.slices.steps);
            self.served += u64::from(count(COUNTER_SERVED));
            self.written += u64::from(count(COUNTER_WRITTEN));
            self.frames = count(COUNTER_FRAMES).min(self.store.capacity());
            let (running, needy) =
                (count(COUNTER_RUNNING), count(COUNTER_NEED_FRAME) + count(COUNTER_NEED_CODE));
            if needy > 0 {
                self.serve(count(COUNTER_FRAMES))?;
            } else if running == 0 {
                break;
            } else {
                let pace = self.slices.adapt(took, running);
                let asks = self.store.chooser().is_some_and(Chooser::is_asked_in_steps);
                self.store.device.set_pace(asks, pace);
            }
            let progress = Progress {
                steps: self.ran.steps,
                running: (running + needy) as usize,
                has_output: self.written > 0,
            };
            if observe(progress).is_break() {
                break;
            }
        }
        self.note_heaps()?;
        Ok(RunStats { dispatches: self.store.dispatches - before })
    }

    /// The lanes that could run on, and how many steps they have retired.
    pub(crate) fn unfinished(&mut self) -> Result<Vec<(usize, u64)>, Error> {
        let columns = &mut self.store.columns;
        columns.fetch([COLUMN_STOP, COLUMN_STEPS])?;
        let mut lanes = Vec::new();
        for (lane, stop) in columns.get(COLUMN_STOP)?.iter().enumerate() {
            if halves(*stop).0 == STOP_NONE {
                lanes.push((lane, 0));
            }
        }
        let retired = columns.get(COLUMN_STEPS)?;
        lanes.iter_mut().for_each(|(lane, steps)| *steps = retired[*lane]);
        Ok(lanes)
    }

    /// How many frames there would be if every lane wrote all the pages it may, once since the last snapshot.
    fn frames_enough(&self) -> u64 {
        let mut lane = 0;
        for image in &self.images {
            let span = image.map().span();
            let window = span.end - span.start;
            let pages = window.min(self.frames_max.into());
            // A node for the pages it leads to, level by level; the root is the lane's own in any case.
            let mut nodes = 1;
            let mut reach = 1 << LEVEL_BITS;
            while reach < window {
                nodes += window.div_ceil(reach).min(pages);
                reach <<= LEVEL_BITS;
            }
            lane = lane.max(pages + nodes);
        }
        u64::from(self.frames_shared) + self.store.lanes as u64 * lane
    }

    /// Makes room for the frames that were asked for, and more; says whether there is more room than before.
    pub(super) fn grow(&mut self, asked_for: u32) -> Result<bool, Error> {
        let capacity = self.store.capacity();
        // Twice as many, so that growing takes few rounds, but hardly more than lanes can ever use.
        let doubled = u64::from(capacity) * 2;
        let enough = self.frames_enough().max(u64::from(asked_for) * 5 / 4);
        let wanted = asked_for.max(u32::try_from(doubled.min(enough)).unwrap_or(u32::MAX));
        Ok(self.store.grow_frames(wanted)? > capacity)
    }

    /// Gives lanes the frames and the code they stopped for, and lets them go on.
    ///
    /// A lane that does not get what it asked for asks again, so that nothing is left half done if this fails.
    fn serve(&mut self, asked_for: u32) -> Result<(), Error> {
        let columns = &mut self.store.columns;
        columns.fetch([COLUMN_STOP, COLUMN_STOP_ADDRESS])?;
        let asks: Vec<u64> = columns.get(COLUMN_STOP_ADDRESS)?.to_vec();
        let (mut code, mut without_frame) = (Vec::new(), Vec::new());
        let mut unit = self.store.simd_unit;
        for ((lane, stop), ask) in columns.get_mut(COLUMN_STOP)?.iter_mut().enumerate().zip(asks) {
            match halves(*stop).0 {
                STOP_NEED_CODE => code.push(halves(ask)),
                STOP_NEED_FRAME => without_frame.push(lane),
                STOP_NEED_SIMD => unit = unit.max(ask as usize),
                _ => continue,
            }
            *stop = word(STOP_NONE, 0);
        }
        if unit > self.store.simd_unit {
            // A step may take much longer now.
            self.store.simd_unit = unit.min(SIMD_UNITS.len() - 1);
            self.slices.begin_again();
        }
        if !without_frame.is_empty() && !self.grow(asked_for)? {
            self.ran.is_full = true;
            let stops = self.store.columns.get_mut(COLUMN_STOP)?;
            for lane in without_frame {
                stops[lane] = word(STOP_OUT_OF_FRAMES, 0);
            }
        }
        if code.is_empty() { Ok(()) } else { self.store.decode(&code) }
    }
}
