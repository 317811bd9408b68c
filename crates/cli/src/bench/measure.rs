//! Measurement of the speed of a guest in a number of lanes.

use anyhow::{Context as _, Result, bail};
use kvrm::{Factory, Machine, Register, Report, Stop, TranslationReport};

use super::guest::Guest;

/// The number of repetitions of each measurement, of which the median counts.
pub(super) const REPETITIONS: usize = 3;
/// The largest number of 4 KiB pages that a lane may write. The device may have room for fewer.
const FRAMES_MAX: usize = 1 << 12;
/// The length of the first run of the calibration, in steps per lane.
pub(super) const FIRST_STEPS: u64 = 1 << 10;
/// The factor by which each run of the calibration is longer than the one before.
pub(super) const GROWTH: u64 = 4;
/// The share of a measurement that a run has to take for a good estimate of the speed.
pub(super) const CALIBRATION_SHARE: f64 = 0.1;

/// The longest time to wait until the engine has chosen how it runs a guest, in seconds.
pub(super) const SETTLE_MAX: f64 = 60.0;

/// The counts of one repetition of a measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measurement {
    pub(crate) steps: u64,
    pub(crate) seconds: f64,
    pub(crate) dispatches: u64,
}

impl Measurement {
    /// Returns million steps per second of all lanes together.
    pub(crate) fn mips(&self) -> f64 {
        self.steps as f64 / self.seconds.max(1e-9) / 1e6
    }

    pub(super) fn of(report: &Report) -> Self {
        let Report { steps, dispatches, wall, .. } = *report;
        Self { steps, seconds: wall.as_secs_f64(), dispatches }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.seconds += other.seconds;
        self.dispatches += other.dispatches;
    }
}

/// Measures a guest in a number of lanes, for about `seconds` per repetition. Returns the name of the engine and the
/// repetitions, the slowest first.
pub(super) fn measure_guest(
    engine: impl Factory,
    guest: &Guest,
    lanes: u64,
    seconds: f64,
) -> Result<(&'static str, Vec<Measurement>)> {
    let what = || format!("{} in {lanes} lanes", guest.name);
    let mut machine = Machine::builder(guest.program.clone())
        .engine(engine)
        .lanes(usize::try_from(lanes)?)
        .frames_max(FRAMES_MAX)
        .output_max(0)
        .arguments(|lane| guest.arguments(lane))
        .build()
        .with_context(what)?;
    let mut all = measure(&mut machine, guest, seconds, REPETITIONS).with_context(what)?;
    all.sort_unstable_by(|a, b| a.mips().total_cmp(&b.mips()));
    Ok((machine.engine(), all))
}

/// Measures a machine that was just built, several times for about `seconds` each.
fn measure(
    machine: &mut Machine,
    guest: &Guest,
    seconds: f64,
    repetitions: usize,
) -> Result<Vec<Measurement>> {
    machine.run(guest.begin)?;
    check(machine)?;
    machine.snapshot()?;
    let mut part = MeasuredPart { machine, guest, done: 0, ended: false, is_settled: false };
    let mut budget = FIRST_STEPS;
    // The calibration: the steps per second of a lane.
    let mut speed = loop {
        let all = part.run(budget)?;
        if all.seconds >= CALIBRATION_SHARE * seconds || part.ended || budget >= part.length() {
            break all.steps as f64 / part.machine.lanes() as f64 / all.seconds.max(1e-9);
        }
        budget *= GROWTH;
    };
    // An engine that translates hot code has to choose how it runs the guest.
    let mut waited = 0.0;
    while waited < SETTLE_MAX && !part.is_settled {
        waited += part.run((speed * seconds).max(1.0) as u64)?.seconds;
    }
    // The first repetition is a warm-up: the engine allocates memory in it, and the estimate of the speed improves.
    let mut all = Vec::with_capacity(1 + repetitions);
    for _ in 0..=repetitions {
        let mut sum = Measurement::default();
        // A short rest at the end is not worth another run.
        while sum.seconds < (1.0 - CALIBRATION_SHARE) * seconds {
            let piece = part.run((speed * (seconds - sum.seconds)).max(1.0) as u64)?;
            speed = piece.steps as f64 / part.machine.lanes() as f64 / piece.seconds.max(1e-9);
            sum.add(piece);
        }
        all.push(sum);
    }
    Ok(all.split_off(1))
}

/// The measured part of a guest, which runs again and again.
struct MeasuredPart<'a> {
    machine: &'a mut Machine,
    guest: &'a Guest,
    /// The steps that each lane has taken in it since the last reset.
    done: u64,
    /// Whether all lanes have exited.
    ended: bool,
    /// Whether the engine has chosen how it runs the guest.
    is_settled: bool,
}

impl MeasuredPart<'_> {
    /// Returns the number of steps of the part.
    const fn length(&self) -> u64 {
        self.guest.end - self.guest.begin
    }

    /// Runs up to `budget` steps per lane. Resets the lanes first if fewer steps are left.
    fn run(&mut self, budget: u64) -> Result<Measurement> {
        let budget = budget.min(self.length());
        if self.ended || budget > self.length() - self.done {
            reset(self.machine)?;
            (self.done, self.ended) = (0, false);
        }
        let report = self.machine.run(budget)?;
        self.ended = !check(self.machine)?;
        if report.steps == 0 {
            bail!("the guest retired no steps, so there is nothing to measure");
        }
        self.is_settled = report.translation.as_ref().is_none_or(TranslationReport::is_settled);
        self.done += budget;
        Ok(Measurement::of(&report))
    }
}

/// Resets all lanes. A GPU does this asynchronously. Reading waits for it, so that it is not timed.
pub(super) fn reset(machine: &mut Machine) -> Result<()> {
    let lanes: Vec<usize> = (0..machine.lanes()).collect();
    machine.reset(&lanes)?;
    machine.registers(Register::Steps)?;
    Ok(())
}

/// Returns whether any lane can continue. A stop other than the budget or an exit with status 0 is an error.
pub(super) fn check(machine: &mut Machine) -> Result<bool> {
    let mut runs = false;
    for (lane, stop) in machine.stops()?.into_iter().enumerate() {
        match stop {
            None | Some(Stop::Budget) => runs = true,
            Some(Stop::Exit { code: 0 }) => {}
            Some(stop) => bail!("lane {lane} stopped: {stop}"),
        }
    }
    Ok(runs)
}
