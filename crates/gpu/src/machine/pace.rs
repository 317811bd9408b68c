//! How long a dispatch may be, what is known of the speed of a device, and how lanes are spread over it.

use std::sync::Mutex;
use std::time::Duration;

use crate::device::lock::lock;
use crate::device::{Device, LoopLimit};
use crate::machine::kernels::WORKGROUP;
use crate::machine::store::Launch;

/// How long a slice should take: displays that share the GPU stay usable, and no driver loses patience.
const SLICE: Duration = Duration::from_millis(100);
/// The same where the CPU runs the shaders: there is nothing to disturb, and a dispatch costs more.
const SOFTWARE_SLICE: Duration = Duration::from_secs(1);
/// Slices grow or shrink by this factor at most from one to the next.
const GROWTH: f64 = 8.0;
/// The fewest and the most steps of a slice.
const STEPS: (u32, u32) = (256, 1 << 28);
/// Steps of the first slice if nothing is known of the device.
const FIRST_STEPS: u32 = 1 << 16;
/// What all lanes together may take of them.
const FIRST_STEPS_OF_ALL: u32 = 1 << 26;
/// How many pages the heap of a lane may grow by in one call that the shader serves, so that no lane waits long for
/// another.
const BREAK_PAGES: u32 = 64;
/// The fuel of the kernel that writes on a driver that cuts nothing off, so that a dispatch takes no seconds.
const WRITE_FUEL: u32 = 1 << 20;

/// How many lanes should share a workgroup on a device that runs `width` workgroups of one in the time of one.
///
/// Lanes of a workgroup wait for each other where they do different things, so few lanes have one each. Half the
/// width is as far as that pays: an interpreter keeps a GPU busier than the test that found the width.
pub(crate) fn workgroup(lanes: usize, width: u32) -> u32 {
    let spread = (width as usize / 2).max(1);
    u32::try_from(lanes.div_ceil(spread)).unwrap_or(WORKGROUP).clamp(1, WORKGROUP).next_power_of_two()
}

/// How fast lanes ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pace {
    /// How many there were.
    lanes: u32,
    /// What a step of all of them took, in seconds.
    step: f64,
}

/// How fast the last slice on a device was, and the last one in which a network was asked.
#[derive(Debug, Default)]
struct Last(Mutex<[Option<Pace>; 2]>);

impl Pace {
    /// How fast lanes ran last on a device, on whatever machine that asks a network in each step, or does not.
    pub(crate) fn last(device: &Device, asks: bool) -> Option<Self> {
        lock(&device.extension::<Last>().0)[usize::from(asks)]
    }

    /// Keeps it for the next machine on the device.
    pub(crate) fn remember(self, device: &Device, asks: bool) {
        lock(&device.extension::<Last>().0)[usize::from(asks)] = Some(self);
    }

    /// What a step of `lanes` lanes may take. Fewer lanes are not sure to be faster.
    fn step_of(self, lanes: u32) -> f64 {
        self.step * (f64::from(lanes) / f64::from(self.lanes)).max(1.0)
    }
}

/// How long slices are.
#[derive(Debug)]
pub(crate) struct Slices {
    target: Duration,
    most: u32,
    /// The most steps of a lane.
    pub(crate) steps: u32,
    /// The most loop iterations of a lane.
    fuel: u32,
    /// The loop iterations that a network takes in a step.
    loops: u32,
    /// How many lanes share the iterations that the driver allows.
    sharers: u32,
    /// How many pages the heap may grow by in one call that the shader serves.
    break_pages: u32,
}

impl Slices {
    /// For `lanes` lanes on a device that cuts loops off at `loop_limit`, if it does, and on which other lanes had a pace.
    /// A network that is asked in each step takes `loops` loop iterations.
    pub(crate) fn new(
        is_software: bool,
        loop_limit: Option<LoopLimit>,
        lanes: u32,
        loops: u32,
        pace: Option<Pace>,
    ) -> Self {
        let target = if is_software { SOFTWARE_SLICE } else { SLICE };
        let steps = match pace {
            // Most programs take a bit longer or shorter than the one before.
            Some(pace) => (0.5 * target.as_secs_f64() / pace.step_of(lanes.max(1))) as u32,
            None => FIRST_STEPS.min(FIRST_STEPS_OF_ALL / lanes.max(1)) / loops.max(1),
        };
        Self {
            target,
            most: STEPS.1,
            steps: steps.clamp(STEPS.0, STEPS.1),
            fuel: loop_limit.map_or(u32::MAX, run_fuel),
            loops,
            sharers: loop_limit.map_or(1, |limit| limit.sharers),
            // A page takes as long as some hundred steps.
            break_pages: if loop_limit.is_some() { 1 } else { BREAK_PAGES },
        }
    }

    /// Whether the driver limits the iterations of loops.
    pub(crate) const fn are_limited(&self) -> bool {
        self.fuel != u32::MAX
    }

    /// What an interpreter is told of a slice whose code has so many loops.
    pub(crate) fn launch(&self, loops: u32) -> Launch {
        let Self { steps, fuel, sharers, break_pages, .. } = *self;
        let launch = Launch { steps, fuel, sharers, break_pages, ..Launch::default() };
        if !self.are_limited() {
            return launch;
        }
        let step_loops = self.loops + loops;
        // A step is the least that a slice has.
        let steps = steps.min(fuel / step_loops).max(1);
        Launch {
            steps,
            fuel: fuel.max(step_loops),
            work_steps: (256 * sharers).div_ceil(step_loops),
            ..launch
        }
    }

    /// The same with no slice longer than that.
    pub(crate) fn at_most(self, steps: Option<u32>) -> Self {
        let most = steps.map_or(self.most, |steps| steps.min(self.most));
        Self { most, steps: self.steps.min(most), ..self }
    }

    /// Nothing is known of what comes now: the next slice is short.
    pub(crate) fn begin_again(&mut self) {
        self.steps = (self.steps / 64).max(STEPS.0).min(self.most);
    }

    /// Learns from a slice that took so long, at the end of which so many lanes still ran.
    pub(crate) fn adapt(&mut self, took: Duration, running: u32) -> Pace {
        let took = took.as_secs_f64().max(1e-6);
        // With fuel, a slice is not always as long as it might be.
        let pace = Pace { lanes: running.max(1), step: took / f64::from(self.steps) };
        let factor = (self.target.as_secs_f64() / took).clamp(1.0 / GROWTH, GROWTH);
        self.steps = ((f64::from(self.steps) * factor) as u32).max(STEPS.0).min(self.most);
        pace
    }
}

/// How many loop iterations a lane may take in a slice.
///
/// The last step of a lane may take two thousand more than it has left, as it copies pages; some are left for that.
/// Lanes that share the limit do their steps at the same time but other work at different times, so steps and work may
/// come to as many iterations each.
const fn run_fuel(limit: LoopLimit) -> u32 {
    let LoopLimit { iterations, sharers } = limit;
    if sharers == 1 { iterations - iterations / 8 } else { (iterations - iterations / 4) / 2 }
}

/// How many loop iterations a lane may take in a dispatch of the kernel that writes and maps. Writing a page, or
/// mapping one, takes two thousand at most; a lane that is below its fuel may begin another one.
pub(crate) fn write_fuel(limit: Option<LoopLimit>) -> u32 {
    let Some(LoopLimit { iterations, sharers }) = limit else { return WRITE_FUEL };
    let share = iterations / sharers;
    (share - share / 3).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit that each invocation has to itself.
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
            "a device that does one at a time"
        );
    }

    #[test]
    fn slices_come_to_the_time_they_should_take() {
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
    fn the_next_machine_begins_with_what_was_learned() {
        let mut slices = Slices::new(false, None, 100, 0, None);
        let pace = slices.adapt(Duration::from_secs_f64(1e-6 * f64::from(slices.steps)), 100);
        let first = |software, lanes| Slices::new(software, None, lanes, 0, Some(pace)).steps;
        let near = |steps: u32, expected: u32| steps.abs_diff(expected) <= expected / 100;
        assert!(near(first(false, 100), 50_000), "half of 100 ms: {}", first(false, 100));
        assert!(near(first(false, 1), 50_000), "fewer lanes may be no faster");
        assert!(near(first(false, 1000), 5_000), "ten times the lanes may take ten times as long");
        assert!(near(first(true, 100), 500_000), "software has more time");
        assert_eq!(first(false, u32::MAX), STEPS.0, "but never none");
    }

    #[test]
    fn what_is_not_known_begins_short_for_many_lanes() {
        let first = |lanes| Slices::new(false, None, lanes, 0, None).steps;
        assert_eq!((first(0), first(1), first(1024), first(65_536)), (65_536, 65_536, 65_536, 1024), "steps");
    }

    #[test]
    fn where_a_step_takes_many_loops_there_are_fewer_steps_at_first_and_never_none() {
        assert_eq!(Slices::new(false, None, 1, 48, None).steps, 65_536 / 48, "of the first slice");
        let launch = |limit, loops| {
            let Launch { steps, fuel, work_steps, .. } = Slices::new(false, limit, 1, 48, None).launch(loops);
            (steps, fuel, work_steps)
        };
        assert_eq!(launch(alone(65_535), 20), (57_344 / 68, 57_344, 4), "those of the interpreter, too");
        assert_eq!(launch(alone(50), 20), (1, 68, 4), "a step");
        assert_eq!(launch(None, 20), (65_536 / 48, u32::MAX, 0), "no limit");
    }

    #[test]
    fn fuel_ends_before_the_driver_ends_the_loop() {
        assert_eq!(Slices::new(true, None, 1, 0, None).fuel, u32::MAX, "no limit");
        assert_eq!(Slices::new(true, alone(65_535), 1, 0, None).fuel, 57_344, "some are left");
    }

    #[test]
    fn lanes_that_share_a_limit_stay_below_it_together() {
        let limit = LoopLimit { iterations: 65_535, sharers: 8 };
        // What a lane may take beyond its fuel: it copies five frames, or writes a page of code.
        let beyond = 2_000;
        // A lane stops when the iterations of its steps and eight times those of its work come to its fuel. The most are
        // taken if one lane only does steps and the others only work.
        let fuel = Slices::new(true, Some(limit), 64, 0, None).fuel;
        let (steps, work) = (fuel, 7 * fuel / 8);
        assert!(steps + work + 8 * beyond < limit.iterations, "{fuel} for a slice");
        assert!(8 * (write_fuel(Some(limit)) + beyond) < limit.iterations, "for a dispatch that writes");
    }
}
