//! Runs: slices whose length is adapted to the device, and the service of lanes between slices.

use std::ops::ControlFlow;
use std::time::Instant;

use kvrm_machine::{Progress, RunStats};
use kvrm_shaders::layout::{
    COLUMN_LIMIT, COLUMN_PC, COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS, COUNTER_CUT_OFF, COUNTER_FRAMES,
    COUNTER_NEED_CODE, COUNTER_NEED_FRAME, COUNTER_PLACES, COUNTER_RUNNING, COUNTER_SERVED, COUNTER_STEPS,
    COUNTER_STEPS_HIGH, COUNTER_STOPPED, COUNTER_TRANSLATED, COUNTER_TRANSLATED_HIGH, COUNTER_WRITTEN,
    COUNTERS, LEVEL_BITS, STOP_NEED_AWAY, STOP_NEED_CODE, STOP_NEED_FRAME, STOP_NEED_SIMD, STOP_NONE,
    STOP_OUT_OF_FRAMES,
};
use kvrm_shaders::variants::SimdUnit;

use super::lanes::{GpuExecutor, RunProgress};
use super::moving::Need;
use super::waiting::Round;
use super::words::{halves, word};
use crate::device::error::{Error, Request};
use crate::machine::kernels::NetworkVariant;
use crate::machine::stopwatch::Stopwatch;

/// The columns of lanes that need frames, and of what their prefetchers hear.
const COLUMNS_OF_NEEDS: [u32; 4] = [COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_PC, COLUMN_STEPS];

/// The number of dispatches in a row without progress at which a run fails. Before its next step a lane needs at most
/// one dispatch each for code, for frames and for a SIMD unit.
const IDLE_ROUNDS: u32 = 32;

/// The largest number of slices of a short run.
const SHORT_RUN: u64 = 2;

/// The count of dispatches in a row in which no lane has retired a step or stopped.
#[derive(Clone, Copy, Debug, Default)]
struct IdleCounter {
    /// The number of these dispatches.
    rounds: u32,
    /// The number of lanes that had not stopped after the last dispatch.
    left: u32,
}

impl IdleCounter {
    /// Counts a dispatch in which all lanes together retired `steps` steps, and after which `left` lanes have not
    /// stopped. Returns whether the run has to be given up.
    const fn is_endless(&mut self, steps: u64, left: u32) -> bool {
        let is_idle = steps == 0 && left >= self.left;
        self.rounds = if is_idle { self.rounds + 1 } else { 0 };
        self.left = left;
        self.rounds >= IDLE_ROUNDS
    }
}

impl GpuExecutor {
    pub(super) fn run_lanes(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, Error> {
        self.last_run = RunProgress::default();
        self.waiting.begin_run(self.store.lanes);
        self.flush_memory()?;
        let before = self.store.dispatches;
        self.store.columns.replace(COLUMN_LIMIT, limits);
        let mut slices = 0;
        let mut progress = Progress::default();
        let mut idle = IdleCounter::default();
        loop {
            self.store.columns.flush()?;
            self.prepare_counters()?;
            let mut slice = self.next_slice()?;
            let look = self.look_after();
            if slice.steps.is_none() && look.is_some_and(|steps| steps < self.slices.steps) {
                slice.steps = look;
            }
            let workgroups = ((self.store.lanes as u32).div_ceil(slice.workgroup), 1, 1);
            let mut launch = self.slices.launch(slice.kernel.loops);
            launch.steps = launch.steps.min(slice.steps.unwrap_or(u32::MAX));
            launch.quantum = slice.quantum;
            self.store.begin_turn();
            let stopwatch = Stopwatch::begin(&self.store.device);
            let hooks = self.store.hooks.clone();
            self.has_unseen_requests = true;
            self.store.dispatch(&slice.kernel.pipeline, launch, hooks.as_ref(), workgroups)?;
            self.store.columns.invalidate();
            self.cache.forget();
            self.ask_first_uses()?;
            let looked = look.map_or(0..0, |_| self.look_columns());
            let after = self.was_short.then(|| self.columns_after_run()).into_iter().flatten();
            let needs = self.store.places.is_some().then_some(COLUMNS_OF_NEEDS).into_iter().flatten();
            let counters = self.read_counters_and(looked.chain(after).chain(needs))?;
            let took = stopwatch.end();
            slices += 1;

            let count = |counter: u32| counters[counter as usize];
            let steps = word(count(COUNTER_STEPS), count(COUNTER_STEPS_HIGH));
            let translated = word(count(COUNTER_TRANSLATED), count(COUNTER_TRANSLATED_HIGH));
            self.last_run.steps += steps;
            self.last_run.steps_max += u64::from(launch.steps);
            self.end_slice(&slice, launch.steps, [steps, translated], took)?;
            let (running, needy) =
                (count(COUNTER_RUNNING), count(COUNTER_NEED_FRAME) + count(COUNTER_NEED_CODE));
            if idle.is_endless(steps, running + needy + self.waiting.lanes as u32) {
                return Err(self.no_progress());
            }
            // Lanes that stop leave room for those that wait.
            let can_go_on = self.waiting.lanes > 0 && (running == 0 || count(COUNTER_STOPPED) > 0);
            self.has_unseen_requests = needy > 0 || self.waiting.lanes > 0;
            progress.running = (running + needy) as usize + self.waiting.lanes;
            if self.bounds.moves_eagerly && self.store.places.is_some() {
                self.evict_eagerly()?;
            }
            if needy > 0 || can_go_on {
                let served = Instant::now();
                let has_waited = self.serve(count(COUNTER_FRAMES))?;
                if has_waited && slice.steps.is_none() {
                    let lanes = running + needy + count(COUNTER_STOPPED);
                    let (limit, exchange) = (launch.steps, served.elapsed());
                    let round = Round { lanes, is_whole: running > 0, limit, steps, took, exchange };
                    let (longest, idle) = self.waiting.add(round);
                    self.slices.adapt_to_waits((longest, took), idle, exchange);
                }
            } else if running == 0 {
                break;
            } else if slice.steps.is_none() {
                let pace = self.slices.adapt(took, running);
                self.waiting.note_step(launch.steps, took);
                let asks = self.store.network_variant().is_some_and(NetworkVariant::is_asked_in_steps);
                // The next machine begins like this.
                if slice.is_usual() {
                    pace.remember(&self.store.device, asks);
                }
            }
            if look.is_some() && running > 0 {
                self.accelerate(launch.steps, steps, took)?;
            }
            progress.steps = self.last_run.steps;
            progress.has_output = self.printing_calls > 0;
            if observe(progress).is_break() {
                break;
            }
        }
        // This transfers nothing if they came with the last slice.
        self.store.columns.fetch(self.columns_after_run())?;
        self.note_heaps()?;
        (self.was_short, self.has_served) = (slices <= SHORT_RUN, false);
        let progress =
            Progress { steps: self.last_run.steps, has_output: self.printing_calls > 0, ..progress };
        Ok(RunStats { dispatches: self.store.dispatches - before, progress })
    }

    /// Prepares the counters for a dispatch. If reading the counters of the dispatch before failed, they are read
    /// first. Otherwise frames would be given out twice.
    pub(super) fn prepare_counters(&mut self) -> Result<(), Error> {
        self.read_pending_counters()?;
        self.store.set_counters(self.frames)?;
        self.has_unread_counters = true;
        Ok(())
    }

    /// Reads the counters of the last dispatch if they have not been read yet.
    pub(super) fn read_pending_counters(&mut self) -> Result<(), Error> {
        if self.has_unread_counters { self.read_counters().map(drop) } else { Ok(()) }
    }

    /// Reads the counters of the last dispatch and adds them to the host's.
    pub(super) fn read_counters(&mut self) -> Result<[u32; COUNTERS as usize], Error> {
        self.read_counters_and(0..0)
    }

    /// Does what [`Self::read_counters`] does, and fetches columns in the same transfer.
    fn read_counters_and(
        &mut self,
        columns: impl IntoIterator<Item = u32>,
    ) -> Result<[u32; COUNTERS as usize], Error> {
        let counters = self.store.counters_and(columns)?;
        self.note_counters(&counters)?;
        Ok(counters)
    }

    /// Adds the counters of the last dispatch to the host's.
    pub(super) fn note_counters(&mut self, counters: &[u32; COUNTERS as usize]) -> Result<(), Error> {
        self.has_unread_counters = false;
        if counters[COUNTER_CUT_OFF as usize] != 0 {
            return Err(self.store.device.give_up("its driver has ended loops early, so results are wrong"));
        }
        self.served_calls += u64::from(counters[COUNTER_SERVED as usize]);
        self.printing_calls += u64::from(counters[COUNTER_WRITTEN as usize]);
        self.frames = counters[COUNTER_FRAMES as usize].min(self.store.capacity());
        if let Some(places) = &mut self.store.places {
            places.take(counters[COUNTER_PLACES as usize]);
        }
        Ok(())
    }

    /// Returns the lanes that have not stopped, with the number of steps that each has retired.
    pub(crate) fn unfinished(&mut self) -> Result<Vec<(usize, u64)>, Error> {
        // Lanes that wait for frames have not stopped either.
        self.forget_requests()?;
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

    /// Returns the error of a run without progress. It names the first lane that has not stopped.
    fn no_progress(&mut self) -> Error {
        let columns = &mut self.store.columns;
        if let Err(error) = columns.fetch([COLUMN_STOP, COLUMN_STOP_ADDRESS]) {
            return error;
        }
        let (stops, asks) = (columns.cached(COLUMN_STOP), columns.cached(COLUMN_STOP_ADDRESS));
        let is_left = |stop: &u64| matches!(halves(*stop).0, STOP_NONE | STOP_NEED_FRAME..);
        let lane = stops.iter().position(is_left).unwrap_or(0);
        let request = Request::Again { code: halves(stops[lane]).0, asks: asks[lane], rounds: IDLE_ROUNDS };
        self.bad_request(lane, request)
    }

    /// Returns the error of a lane that makes an invalid request.
    pub(super) fn bad_request(&mut self, lane: usize, request: Request) -> Error {
        let columns = &mut self.store.columns;
        match columns.fetch([COLUMN_PC, COLUMN_STEPS]) {
            Ok(()) => {
                let (pc, steps) = (columns.cached(COLUMN_PC)[lane], columns.cached(COLUMN_STEPS)[lane]);
                Error::BadRequest { lane, pc, steps, request }
            }
            Err(error) => error,
        }
    }

    /// Returns the number of frames that suffices if every lane writes as many pages as it may after the last snapshot.
    fn frames_enough(&self) -> u64 {
        let mut lane = 0;
        for image in &self.images {
            let span = image.window();
            let window = span.end - span.start;
            let pages = window.min(self.frames_max.into());
            // A level has at most one node for each `reach` pages, and at most one for each written page. The root is
            // copied in any case.
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

    /// Makes room for at least `asked_for` frames if the device can. Returns whether there is more room than before.
    pub(super) fn grow(&mut self, asked_for: u32) -> Result<bool, Error> {
        let capacity = self.store.capacity();
        // Doubling keeps the number of growths small. From several pools on, a growth copies only the last of them, so a quarter
        // more is enough; many frames that are not used would need kernels for more pools. There is no use in many more frames
        // than lanes can ever use.
        let more = capacity.min(self.store.frames_of_pool().max(capacity / 4));
        let enough = self.frames_enough().max(u64::from(asked_for) * 5 / 4);
        let larger = u64::from(capacity) + u64::from(more);
        let wanted = asked_for.max(u32::try_from(larger.min(enough)).unwrap_or(u32::MAX));
        Ok(self.store.grow_frames(wanted)? > capacity)
    }

    /// Clears requests that lanes have made in a slice whose results the host could not read. The lanes make them again.
    pub(super) fn forget_requests(&mut self) -> Result<(), Error> {
        if self.has_unseen_requests {
            for stop in self.store.columns.get_mut(COLUMN_STOP)? {
                if matches!(halves(*stop).0, STOP_NEED_FRAME..=STOP_NEED_AWAY) {
                    *stop = word(STOP_NONE, 0);
                }
            }
            self.has_unseen_requests = false;
        }
        Ok(())
    }

    /// Gives lanes the frames, the code and the SIMD units that they have stopped for, and lets them go on.
    ///
    /// A lane whose request is not served makes it again. So a failure of this function leaves the lanes in a valid
    /// state. Returns whether lanes have waited for frames that are away, or for places.
    fn serve(&mut self, asked_for: u32) -> Result<bool, Error> {
        let columns = &mut self.store.columns;
        columns.fetch([COLUMN_STOP, COLUMN_STOP_ADDRESS])?;
        self.has_unseen_requests = false;
        let stops = columns.cached(COLUMN_STOP).iter().map(|stop| halves(*stop).0);
        let asks: Vec<_> = stops.zip(columns.cached(COLUMN_STOP_ADDRESS).iter().copied()).collect();
        let (mut code, mut without_frame, mut served) = (Vec::new(), Vec::new(), Vec::new());
        let (moves, is_short) = (self.store.places.is_some(), asked_for > self.store.capacity());
        let mut needs = Vec::new();
        let mut unit = self.store.simd_unit;
        for (lane, (stop, ask)) in asks.into_iter().enumerate() {
            let checked = match stop {
                STOP_NEED_CODE => {
                    code.push(halves(ask));
                    self.store.check_code(halves(ask), self.frames)
                }
                STOP_NEED_FRAME if moves && !is_short => {
                    needs.push(Need::of_place(lane));
                    continue;
                }
                STOP_NEED_FRAME => {
                    without_frame.push(lane);
                    Ok(())
                }
                STOP_NEED_AWAY => {
                    let need = Need::of_frame(lane, ask);
                    if moves && need.frame < Some(self.frames) {
                        needs.push(need);
                        continue;
                    }
                    Err(Request::Frame { frame: need.frame.unwrap_or(0), frames: self.frames })
                }
                STOP_NEED_SIMD => {
                    unit = unit.max(SimdUnit::with(ask));
                    check_unit(ask, self.store.simd_unit)
                }
                _ => continue,
            };
            checked.map_err(|request| self.bad_request(lane, request))?;
            served.push(lane);
        }
        // Lanes whose frames cannot be fetched make their requests again.
        self.has_unseen_requests = !needs.is_empty();
        let stops = self.store.columns.get_mut(COLUMN_STOP)?;
        served.into_iter().for_each(|lane| stops[lane] = word(STOP_NONE, 0));
        if unit > self.store.simd_unit {
            // A step may take much longer with the larger unit.
            self.store.simd_unit = unit;
            self.slices.begin_again();
        }
        if !without_frame.is_empty() && !self.grow(asked_for)? {
            self.last_run.is_full = true;
            let stops = self.store.columns.get_mut(COLUMN_STOP)?;
            for lane in without_frame {
                stops[lane] = word(STOP_OUT_OF_FRAMES, 0);
            }
        }
        if !code.is_empty() {
            self.lower(&code)?;
        }
        if needs.is_empty() {
            self.waiting.lanes = 0;
            return Ok(false);
        }
        self.serve_needs(&needs)?;
        Ok(true)
    }
}

/// Checks that a SIMD unit that a lane asks for exists and is larger than the one that the kernel has.
fn check_unit(unit: u64, has: SimdUnit) -> Result<(), Request> {
    let (has, units) = (has as u64, SimdUnit::ALL.len() as u64);
    if has < unit && unit < units { Ok(()) } else { Err(Request::Unit { unit, has, units }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatches_without_progress_end_a_run() {
        let mut idle = IdleCounter::default();
        let rounds = (1..1000).find(|_| idle.is_endless(0, 3));
        assert_eq!(rounds, Some(IDLE_ROUNDS), "three lanes ask and retire nothing");
    }

    #[test]
    fn lanes_that_retire_a_step_or_stop_may_run_forever() {
        let mut idle = IdleCounter::default();
        let is_endless = (0..1000).any(|round| idle.is_endless(u64::from(round % 20 == 0), 7));
        assert!(!is_endless, "a step now and then is enough");
        let is_endless = (0..1000).any(|round| idle.is_endless(0, 1000 - round / 10));
        assert!(!is_endless, "and so is a lane that stops");
    }

    #[test]
    fn a_requested_simd_unit_exists_and_is_larger_than_the_current_one() {
        let units = SimdUnit::ALL.len() as u64;
        let none = SimdUnit::None;
        assert_eq!(
            [1, units - 1].map(|unit| check_unit(unit, none)),
            [Ok(()), Ok(())],
            "lanes may skip units"
        );
        let all = SimdUnit::All;
        let (integers, floats) = (SimdUnit::Integers, SimdUnit::Floats);
        for (unit, has) in [(0, none), (1, integers), (1, floats), (units, none), (u64::MAX, all)] {
            let expected = Request::Unit { unit, has: has as u64, units };
            assert_eq!(check_unit(unit, has), Err(expected), "unit {unit} instead of {has:?}");
        }
    }
}
