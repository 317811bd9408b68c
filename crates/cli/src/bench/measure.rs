//! How long steps take.

use anyhow::{Context as _, Result, bail};
use kvrm::{Factory, Machine, Register, Report, Stop};

use super::guest::Guest;

/// How often each measurement is repeated; the median counts.
pub(super) const REPETITIONS: usize = 3;
/// The most 4 KiB pages a lane may write. What the device has room for ends a measurement earlier.
const FRAMES_MAX: usize = 1 << 12;
/// The first run to learn the speed from, in steps a lane.
const FIRST_STEPS: u64 = 1 << 10;
/// How much longer each is than the one before.
const GROWTH: u64 = 4;
/// A run that takes this part of a measurement tells the speed well enough.
const ENOUGH: f64 = 0.1;

/// A repetition of a measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measurement {
    pub(crate) steps: u64,
    pub(crate) seconds: f64,
    pub(crate) dispatches: u64,
}

impl Measurement {
    /// Millions of steps a second.
    pub(crate) fn mips(&self) -> f64 {
        self.steps as f64 / self.seconds.max(1e-9) / 1e6
    }

    fn add(&mut self, report: &Report) {
        self.steps += report.steps;
        self.seconds += report.wall.as_secs_f64();
        self.dispatches += report.dispatches;
    }
}

/// Measures a guest in so many lanes: the name of the engine, and the repetitions, the slowest first.
pub(super) fn measured(
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
    let mut part = Part { machine, guest, done: 0, ended: false };
    let mut budget = FIRST_STEPS;
    // Steps a second of a lane.
    let mut speed = loop {
        let mut all = Measurement::default();
        part.run(budget, &mut all)?;
        if all.seconds >= ENOUGH * seconds || part.ended || budget >= part.length() {
            break all.steps as f64 / part.machine.lanes() as f64 / all.seconds.max(1e-9);
        }
        budget *= GROWTH;
    };
    // The first repetition is a rehearsal: memory has been handed out after it, and the speed is known.
    let mut all = Vec::with_capacity(1 + repetitions);
    for _ in 0..=repetitions {
        let mut sum = Measurement::default();
        // The last piece is not worth a run of its own.
        while sum.seconds < (1.0 - ENOUGH) * seconds {
            let mut piece = Measurement::default();
            part.run((speed * (seconds - sum.seconds)).max(1.0) as u64, &mut piece)?;
            speed = piece.steps as f64 / part.machine.lanes() as f64 / piece.seconds.max(1e-9);
            sum.steps += piece.steps;
            sum.seconds += piece.seconds;
            sum.dispatches += piece.dispatches;
        }
        all.push(sum);
    }
    Ok(all.split_off(1))
}

/// The part of a guest that is measured, over and over.
struct Part<'a> {
    machine: &'a mut Machine,
    guest: &'a Guest,
    /// Steps a lane has taken in it.
    done: u64,
    /// Whether all lanes have exited.
    ended: bool,
}

impl Part<'_> {
    /// Its steps.
    const fn length(&self) -> u64 {
        self.guest.end - self.guest.begin
    }

    /// Runs up to `budget` steps a lane, and adds what that took. Begins again if there is less left.
    fn run(&mut self, budget: u64, all: &mut Measurement) -> Result<()> {
        let budget = budget.min(self.length());
        if self.ended || budget > self.length() - self.done {
            let lanes: Vec<usize> = (0..self.machine.lanes()).collect();
            self.machine.reset(&lanes)?;
            // A device does it in its own time; what is read back waits for it, outside the time measured.
            self.machine.registers(Register::Steps)?;
            (self.done, self.ended) = (0, false);
        }
        let report = self.machine.run(budget)?;
        self.ended = !check(self.machine)?;
        if report.steps == 0 {
            bail!("the guest retires no steps");
        }
        self.done += budget;
        all.add(&report);
        Ok(())
    }
}

/// Whether any lane can run on. One that was stopped by anything but its budget or a good end is a failure.
fn check(machine: &mut Machine) -> Result<bool> {
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
