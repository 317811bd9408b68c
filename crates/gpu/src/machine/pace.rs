//! The length of slices, the measured speed of a device, and the size of workgroups.

use std::sync::Mutex;
use std::time::Duration;

use crate::device::lock::lock;
use crate::device::{Device, LoopLimit};
use crate::machine::kernels::WORKGROUP;
use crate::machine::store::Launch;

/// The duration that a slice should take. Displays that share the GPU stay usable, and no driver takes a slice for a
/// hang.
const SLICE: Duration = Duration::from_millis(100);
/// The duration that a slice should take where the CPU runs the shaders. There is no display to disturb, and a dispatch
/// costs more.
const SOFTWARE_SLICE: Duration = Duration::from_secs(1);
/// The largest factor by which slices grow or shrink from one to the next.
const GROWTH: f64 = 8.0;
/// This factor after a slice in which lanes waited for frames, and the factor by which it grows again.
const GROWTH_AFTER_WAITS: f64 = 1.25;
/// The smallest and the largest number of steps of a slice.
const STEPS: (u32, u32) = (256, 1 << 28);
/// The number of steps of the first slice on a device without a measured pace.
const FIRST_STEPS: u32 = 1 << 16;
/// The largest number of steps that all lanes together may take in such a first slice.
const FIRST_STEPS_OF_ALL: u32 = 1 << 26;
/// The largest number of pages that the heap of a lane may grow by in one call that the shader serves. It bounds the
/// time that lanes wait for each other.
const BREAK_PAGES: u32 = 64;
/// The fuel of the kernel that writes on drivers that do not end loops. It keeps a dispatch from taking seconds.
const WRITE_FUEL: u32 = 1 << 20;

/// Returns the number of lanes per workgroup. `width` is the number of workgroups with one invocation that the device
/// runs in the time of one.
///
/// Lanes of a workgroup wait for each other where they do different things, so few lanes get a workgroup each. This
/// pays up to half of the width, because an interpreter keeps a GPU busier than the test that measures the width.
pub(crate) fn workgroup(lanes: usize, width: u32) -> u32 {
    let spread = (width as usize / 2).max(1);
    u32::try_from(lanes.div_ceil(spread)).unwrap_or(WORKGROUP).clamp(1, WORKGROUP).next_power_of_two()
}

/// The measured speed of lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pace {
    /// The number of lanes that ran.
    lanes: u32,
    /// The time that a step of all these lanes took, in seconds.
    step: f64,
}

/// The pace of the last slice on a device without a network in each step, and of the last slice with one.
#[derive(Debug, Default)]
struct LastPaces(Mutex<[Option<Pace>; 2]>);

impl Pace {
    /// Returns the pace of the last slice on a device, of any machine. `asks` selects machines that ask a network in
    /// each step.
    pub(crate) fn last(device: &Device, asks: bool) -> Option<Self> {
        lock(&device.extension::<LastPaces>().0)[usize::from(asks)]
    }

    /// Stores the pace for the next machine on the device.
    pub(crate) fn remember(self, device: &Device, asks: bool) {
        lock(&device.extension::<LastPaces>().0)[usize::from(asks)] = Some(self);
    }

    /// Estimates the time of a step of `lanes` lanes, in seconds. Fewer lanes are not assumed to be faster.
    fn step_of(self, lanes: u32) -> f64 {
        self.step * (f64::from(lanes) / f64::from(self.lanes)).max(1.0)
    }
}

/// The length of slices.
#[derive(Debug)]
pub(crate) struct Slices {
    /// The duration that a slice should take.
    target: Duration,
    /// The largest number of steps of a lane that `steps` may become.
    most: u32,
    /// The largest number of steps of a lane in the next slice.
    pub(crate) steps: u32,
    /// The largest factor by which the next slice may be longer than the last one.
    growth: f64,
    /// The largest number of loop iterations of a lane in a slice.
    fuel: u32,
    /// The number of loop iterations that a network takes in a step.
    loops: u32,
    /// The number of lanes that share the iterations that the driver allows.
    sharers: u32,
    /// The largest number of pages that the heap may grow by in one call that the shader serves.
    break_pages: u32,
}

impl Slices {
    /// Creates the slices of `lanes` lanes. `loop_limit` is the limit of loop iterations if the driver has one, `loops`
    /// the number of iterations that a network takes in each step, and `pace` the pace of the last slice on the device.
    pub(crate) fn new(
        is_software: bool,
        loop_limit: Option<LoopLimit>,
        lanes: u32,
        loops: u32,
        pace: Option<Pace>,
    ) -> Self {
        let target = if is_software { SOFTWARE_SLICE } else { SLICE };
        let steps = match pace {
            // Half the target leaves room for programs that are slower than the one before.
            Some(pace) => (0.5 * target.as_secs_f64() / pace.step_of(lanes.max(1))) as u32,
            None => FIRST_STEPS.min(FIRST_STEPS_OF_ALL / lanes.max(1)) / loops.max(1),
        };
        Self {
            target,
            most: STEPS.1,
            steps: steps.clamp(STEPS.0, STEPS.1),
            growth: GROWTH,
            fuel: loop_limit.map_or(u32::MAX, run_fuel),
            loops,
            sharers: loop_limit.map_or(1, |limit| limit.sharers),
            // Mapping a page takes as long as some hundred steps.
            break_pages: if loop_limit.is_some() { 1 } else { BREAK_PAGES },
        }
    }

    /// Returns the duration that a slice should take.
    pub(crate) const fn target(&self) -> Duration {
        self.target
    }

    /// Returns whether the driver limits the iterations of loops.
    pub(crate) const fn are_limited(&self) -> bool {
        self.fuel != u32::MAX
    }

    /// Returns the launch parameters of the next slice for an interpreter whose code has `loops` loops.
    pub(crate) fn launch(&self, loops: u32) -> Launch {
        let Self { steps, fuel, sharers, break_pages, .. } = *self;
        let launch = Launch { steps, fuel, sharers, break_pages, ..Launch::default() };
        if !self.are_limited() {
            return launch;
        }
        let step_loops = self.loops + loops;
        // A slice has at least one step.
        let steps = steps.min(fuel / step_loops).max(1);
        Launch {
            steps,
            fuel: fuel.max(step_loops),
            work_steps: (256 * sharers).div_ceil(step_loops),
            ..launch
        }
    }

    /// Limits the length of slices to `steps`.
    pub(crate) fn at_most(self, steps: Option<u32>) -> Self {
        let most = steps.map_or(self.most, |steps| steps.min(self.most));
        Self { most, steps: self.steps.min(most), ..self }
    }

    /// Makes the next slice short, because the pace may change.
    pub(crate) fn begin_again(&mut self) {
        self.steps = (self.steps / 64).max(STEPS.0).min(self.most);
    }

    /// Adapts the length of slices to the duration of the last slice. Returns its pace; `running` is the number of
    /// lanes that had not stopped at its end.
    pub(crate) fn adapt(&mut self, took: Duration, running: u32) -> Pace {
        let took = took.as_secs_f64().max(1e-6);
        // With fuel, a slice is not always as long as it might be.
        let pace = Pace { lanes: running.max(1), step: took / f64::from(self.steps) };
        self.scale((self.target.as_secs_f64() / took).clamp(1.0 / GROWTH, self.growth));
        self.growth = (self.growth * GROWTH_AFTER_WAITS).min(GROWTH);
        pace
    }

    /// Adapts the length of slices to the last slice, in which the longest lane took so many steps and `took`: lanes that needed
    /// frames have waited for its end for `idle` on average, and then for the exchange of frames.
    ///
    /// In a slice of twice the length, twice as many lanes wait, and twice as long, but there are half as many exchanges. So the
    /// sum of both is smallest when they are equal. If lanes have waited less for the end of the slice than for the exchange, for example because
    /// all of them needed frames, the slice was not too long, and the next one is not shorter.
    pub(crate) fn adapt_to_waits(
        &mut self,
        (steps, took): (u32, Duration),
        idle: Duration,
        exchange: Duration,
    ) {
        let before = self.steps;
        self.steps = steps;
        let [took, idle, exchange] = [took, idle, exchange].map(|time| time.as_secs_f64().max(1e-6));
        let longest = (self.target.as_secs_f64() / took).clamp(1.0 / GROWTH, 2.0);
        self.scale((exchange / idle).sqrt().clamp(1.0 / GROWTH, longest));
        if idle < exchange {
            self.steps = self.steps.max(before);
        }
        self.growth = GROWTH_AFTER_WAITS;
    }

    fn scale(&mut self, factor: f64) {
        self.steps = ((f64::from(self.steps) * factor) as u32).max(STEPS.0).min(self.most);
    }
}

/// Returns the number of loop iterations that a lane may take in a slice.
///
/// It is below the driver's limit, because the last step of a lane may take two thousand iterations beyond its fuel to
/// copy pages. Lanes that share the limit take their steps at the same time, but do other work at different times. So
/// steps and work together may take twice the fuel.
const fn run_fuel(limit: LoopLimit) -> u32 {
    let LoopLimit { iterations, sharers } = limit;
    if sharers == 1 { iterations - iterations / 8 } else { (iterations - iterations / 4) / 2 }
}

/// Returns the number of loop iterations that a lane may take in a dispatch of the kernel that writes and maps. Writing
/// or mapping a page takes at most two thousand iterations. A lane that has fuel left may begin another page.
pub(crate) fn write_fuel(limit: Option<LoopLimit>) -> u32 {
    let Some(LoopLimit { iterations, sharers }) = limit else { return WRITE_FUEL };
    let share = iterations / sharers;
    (share - share / 3).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a limit that invocations do not share.
    const fn alone(iterations: u32) -> Option<LoopLimit> {
        Some(LoopLimit { iterations, sharers: 1 })
    }

    #[test]
    fn few_lanes_are_spread_and_many_share() {
        let of = |lanes| workgroup(lanes, 2048);
        assert_eq!([0, 1, 1024, 1025, 4096, 5000].map(of), [1, 1, 1, 2, 4, 8], "powers of two");
        assert_eq!([65_536, 65_537, usize::MAX].map(of), [64; 3], "a workgroup has a largest size");
        assert_eq!(
            [1, 2, 100].map(|lanes| workgroup(lanes, 1)),
            [1, 2, 64],
            "a device that runs one workgroup at a time"
        );
    }

    #[test]
    fn slices_approach_their_target_duration() {
        for step in [1e-8, 1e-6, 1e-4] {
            let mut slices = Slices::new(false, None, 1000, 0, None);
            for _ in 0..10 {
                slices.adapt(Duration::from_secs_f64(step * f64::from(slices.steps)), 1000);
            }
            let took = step * f64::from(slices.steps);
            assert!((0.09..0.11).contains(&took), "{step} s a step: {took} s");
        }
    }

    #[test]
    fn slices_with_waits_become_as_long_as_waiting_costs_least() {
        // A step takes a microsecond and an exchange a millisecond. A lane waits for a frame once in 20,000 steps.
        let times = |steps: u32| {
            let took = 1e-6 * f64::from(steps);
            let idle = took * (f64::from(steps) / 20_000.0 / 2.0).min(1.0);
            [took, idle, 1e-3]
        };
        let cost = |steps: u32| {
            let [took, idle, exchange] = times(steps);
            (took + exchange) / (took - idle).max(1e-9)
        };
        for first in [300, 100_000] {
            let mut slices = Slices::new(false, None, 1000, 0, None).at_most(Some(1 << 20));
            slices.steps = first;
            for _ in 0..20 {
                let [took, idle, exchange] = times(slices.steps).map(Duration::from_secs_f64);
                slices.adapt_to_waits((slices.steps, took), idle, exchange);
            }
            let best = (256..100_000).map(cost).fold(f64::MAX, f64::min);
            assert!(cost(slices.steps) < 1.05 * best, "{} steps, from {first}", slices.steps);
            // Nobody waits any more.
            let before = slices.steps;
            slices.adapt(Duration::from_millis(5), 1000);
            assert!(slices.steps < before * 3 / 2, "slices do not grow at once");
        }
    }

    #[test]
    fn slices_that_all_lanes_end_together_do_not_become_shorter() {
        let mut slices = Slices::new(false, None, 1, 0, None);
        let before = slices.steps;
        for steps in [10, 1000, 300] {
            let [took, exchange] = [u64::from(steps), 200].map(Duration::from_micros);
            slices.adapt_to_waits((steps, took), Duration::ZERO, exchange);
            assert_eq!(slices.steps, before, "the only lane needs a frame after {steps} steps");
        }
    }

    #[test]
    fn the_next_machine_begins_at_the_measured_pace() {
        let mut slices = Slices::new(false, None, 100, 0, None);
        let pace = slices.adapt(Duration::from_secs_f64(1e-6 * f64::from(slices.steps)), 100);
        let first = |software, lanes| Slices::new(software, None, lanes, 0, Some(pace)).steps;
        let near = |steps: u32, expected: u32| steps.abs_diff(expected) <= expected / 100;
        assert!(near(first(false, 100), 50_000), "half of 100 ms: {}", first(false, 100));
        assert!(near(first(false, 1), 50_000), "fewer lanes may be no faster");
        assert!(near(first(false, 1000), 5_000), "ten times the lanes may take ten times as long");
        assert!(near(first(true, 100), 500_000), "software has more time");
        assert_eq!(first(false, u32::MAX), STEPS.0, "a slice has at least the smallest number of steps");
    }

    #[test]
    fn first_slices_without_a_pace_are_short_for_many_lanes() {
        let first = |lanes| Slices::new(false, None, lanes, 0, None).steps;
        assert_eq!((first(0), first(1), first(1024), first(65_536)), (65_536, 65_536, 65_536, 1024), "steps");
    }

    #[test]
    fn many_loops_per_step_make_first_slices_shorter_but_never_empty() {
        assert_eq!(Slices::new(false, None, 1, 48, None).steps, 65_536 / 48, "of the first slice");
        let launch = |limit, loops| {
            let Launch { steps, fuel, work_steps, .. } = Slices::new(false, limit, 1, 48, None).launch(loops);
            (steps, fuel, work_steps)
        };
        assert_eq!(
            launch(alone(65_535), 20),
            (57_344 / 68, 57_344, 4),
            "the loops of the interpreter count, too"
        );
        assert_eq!(launch(alone(50), 20), (1, 68, 4), "at least one step");
        assert_eq!(launch(None, 20), (65_536 / 48, u32::MAX, 0), "no limit");
    }

    #[test]
    fn fuel_ends_before_the_driver_ends_the_loop() {
        assert_eq!(Slices::new(true, None, 1, 0, None).fuel, u32::MAX, "no limit");
        assert_eq!(
            Slices::new(true, alone(65_535), 1, 0, None).fuel,
            57_344,
            "an eighth is left for the last step"
        );
    }

    #[test]
    fn lanes_that_share_a_limit_stay_below_it_together() {
        let limit = LoopLimit { iterations: 65_535, sharers: 8 };
        // The iterations that a lane may take beyond its fuel to copy five frames or write a page of code.
        let beyond = 2_000;
        // A lane stops when the iterations of its steps plus eight times those of its other work reach its fuel. The
        // total is largest if one lane only takes steps and the others only do other work.
        let fuel = Slices::new(true, Some(limit), 64, 0, None).fuel;
        let (steps, work) = (fuel, 7 * fuel / 8);
        assert!(steps + work + 8 * beyond < limit.iterations, "{fuel} for a slice");
        assert!(8 * (write_fuel(Some(limit)) + beyond) < limit.iterations, "for a dispatch that writes");
    }
}
