//! The measurement of a workload in lanes.

use anyhow::{Result, bail};
use kvrm::{Factory, Machine, Report, TranslationReport};

use super::workload::Workload;
use crate::bench::measure::{
    CALIBRATION_SHARE, FIRST_STEPS, GROWTH, Measurement, REPETITIONS, SETTLE_MAX, check, reset,
};

/// The steps of each lane before the snapshot, in which programs start, and lanes get to different places.
const START: u64 = 2_000_000;

/// A measured workload.
pub(super) struct Measured {
    /// The largest number of steps of a lane from the snapshot on.
    pub(super) window: u64,
    /// The repetitions, the slowest first.
    all: Vec<Measurement>,
    /// The 4 KiB pages that a lane owns at the end, on average.
    pub(super) pages: f64,
    /// The calls in a million steps.
    pub(super) calls: f64,
    /// What the engine has chosen, if it translates.
    pub(super) translation: Option<TranslationReport>,
}

impl Measured {
    /// Returns the median speed.
    pub(super) fn mips(&self) -> f64 {
        self.all[self.all.len() / 2].mips()
    }

    pub(super) fn all_mips(&self) -> Vec<f64> {
        self.all.iter().map(Measurement::mips).collect()
    }

    /// Returns how the engine runs the lanes, for a table.
    pub(super) fn way(&self) -> String {
        let Some(translation) = &self.translation else { return String::new() };
        let way = translation.ways.iter().find(|way| way.is_chosen);
        match way {
            Some(way) if way.regions > 0 => {
                format!("{} regions, {} lanes a workgroup", way.regions, way.workgroup)
            }
            Some(way) => {
                let votes = if way.has_votes { ", votes" } else { "" };
                format!("interpreter, {} lanes a workgroup{votes}", way.workgroup)
            }
            None => translation.state.to_string(),
        }
    }
}

/// Measures a workload, for about `seconds` per repetition if no window is given.
pub(super) fn measure(
    workload: &Workload,
    engine: impl Factory,
    lanes: usize,
    seconds: f64,
    window: Option<u64>,
) -> Result<Measured> {
    let mut machine = workload.machine(lanes, engine, 0)?;
    machine.run(START)?;
    if !check(&mut machine)? {
        bail!("all lanes exited in their first {START} steps, so there is nothing to measure");
    }
    machine.snapshot()?;
    let window = match window {
        Some(window) => window,
        None => calibrate(&mut machine, seconds)?,
    };
    let mut translation = run(&mut machine, window)?.translation;
    let mut waited = 0.0;
    // An engine that translates hot code has to choose how it runs the program.
    while waited < SETTLE_MAX && !translation.as_ref().is_none_or(TranslationReport::is_settled) {
        let report = run(&mut machine, window)?;
        waited += report.wall.as_secs_f64();
        translation = report.translation;
    }
    let (mut all, mut pages, mut calls, mut steps) = (Vec::new(), 0.0, 0, 0);
    for _ in 0..REPETITIONS {
        let mut sum = Measurement::default();
        while sum.seconds < (1.0 - CALIBRATION_SHARE) * seconds {
            let report = run(&mut machine, window)?;
            sum.add(Measurement::of(&report));
            (calls, steps) = (calls + report.services, steps + report.steps);
            pages = report.frames as f64 / lanes as f64;
            translation = report.translation;
        }
        all.push(sum);
    }
    all.sort_unstable_by(|a, b| a.mips().total_cmp(&b.mips()));
    Ok(Measured { window, all, pages, calls: calls as f64 / steps as f64 * 1e6, translation })
}

/// Returns how many steps a lane takes in so many seconds, but no more than the lanes have.
fn calibrate(machine: &mut Machine, seconds: f64) -> Result<u64> {
    let mut window = FIRST_STEPS;
    loop {
        // The first of two runs allocates memory, or waits for a kernel, and says nothing about the speed.
        run(machine, window)?;
        let share = run(machine, window)?.wall.as_secs_f64() / seconds;
        if share >= CALIBRATION_SHARE {
            return Ok(((window as f64 / share) as u64).max(1));
        }
        if !check(machine)? {
            return Ok(window);
        }
        window *= GROWTH;
    }
}

/// Runs lanes from the snapshot.
fn run(machine: &mut Machine, window: u64) -> Result<Report> {
    reset(machine)?;
    let report = machine.run(window)?;
    check(machine)?;
    if report.steps == 0 {
        bail!("the lanes retired no steps, so there is nothing to measure");
    }
    Ok(report)
}
