//! The table of whole programs.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Result;
use kvrm_records::{Figure, Kind, Log, MeasuredRow};

use super::whole::{MODES, Measured};
use crate::engine::OpenEngine;
use crate::output::Output;
use crate::record;

/// The outputs for the measurements of whole programs.
pub(super) struct Rows<'a> {
    pub(super) out: Output,
    pub(super) log: Option<&'a mut Log>,
    pub(super) is_json: bool,
    pub(super) engine: &'a OpenEngine,
    pub(super) lanes: usize,
    /// The logarithms of the times of each mode, as multiples of those of the first.
    pub(super) ratios: [Vec<f64>; MODES.len()],
}

impl Rows<'_> {
    pub(super) fn head(&mut self) -> Result<()> {
        if !self.is_json {
            writeln!(
                self.out,
                "{:<12} {:<9} {:>9} {:>7} {:>9} {:>9} {:>9} {:>10} {:>8} {:>7} {:>9} {:>6} {:>9} {:>9}",
                "program",
                "mode",
                "seconds",
                "to off",
                "to check",
                "in loops",
                "provable",
                "candidates",
                "proposed",
                "proved",
                "at once",
                "saved",
                "advice ms",
                "first ms"
            )?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Adds the measurements of a program in all modes.
    pub(super) fn add(&mut self, name: &str, all: &[Measured]) -> Result<()> {
        for (measured, ratios) in all.iter().zip(&mut self.ratios) {
            ratios.push((measured.median() / all[0].median()).ln());
        }
        for measured in all {
            let [to_off, to_checker] = [0, 1].map(|mode| measured.median() / all[mode].median());
            if self.is_json {
                writeln!(self.out, "{}", self.json(name, measured, to_off, to_checker))?;
            } else {
                let report = &measured.report;
                let percent = |share: f64| format!("{:.1} %", 100.0 * share);
                let first = report.first_seconds.map_or_else(String::new, |of| format!("{:.1}", 1e3 * of));
                writeln!(
                    self.out,
                    "{name:<12} {:<9} {:>9.3} {to_off:>7.3} {to_checker:>9.3} {:>9} {:>9} {:>10} {:>8} {:>7} {:>9} {:>6} {:>9.1} {first:>9}",
                    measured.mode.name(),
                    measured.median(),
                    percent(measured.in_loops),
                    percent(measured.in_proved),
                    report.candidates,
                    report.proposed,
                    report.proved,
                    percent(measured.credited()),
                    saved(measured),
                    1e3 * report.advice_seconds,
                )?;
            }
            if let Some(log) = &mut self.log {
                log.append(row(name, measured, self.engine, self.lanes))?;
            }
        }
        self.out.flush()?;
        Ok(())
    }

    /// Prints the means of all programs.
    pub(super) fn mean(mut self) -> Result<()> {
        if !self.is_json {
            for (mode, ratios) in MODES.iter().zip(&self.ratios).skip(1) {
                let mean = (ratios.iter().sum::<f64>() / ratios.len().max(1) as f64).exp();
                let worst = ratios.iter().copied().fold(f64::MIN, f64::max).exp();
                writeln!(
                    self.out,
                    "{mode}: {mean:.3} of the time without acceleration (geometric mean), at worst {worst:.3}"
                )?;
            }
        }
        self.out.flush()?;
        Ok(())
    }

    fn json(&self, name: &str, measured: &Measured, to_off: f64, to_checker: f64) -> serde_json::Value {
        serde_json::json!({
            "engine": self.engine.name(), "device": self.engine.device(), "program": name, "lanes": self.lanes,
            "mode": measured.mode.name(), "steps": measured.steps, "seconds": measured.seconds,
            "to_off": to_off, "to_checker": to_checker, "in_loops": measured.in_loops,
            "in_provable_loops": measured.in_proved, "credited": measured.credited(),
            "calls_saved": saved(measured), "loops": measured.report,
        })
    }
}

/// Returns the number of candidates about which the checker was not asked.
const fn saved(measured: &Measured) -> u64 {
    measured.report.candidates - measured.report.proposed - measured.report.waiting
}

/// Returns a measurement as a record.
fn row<'a>(name: &'a str, measured: &'a Measured, engine: &'a OpenEngine, lanes: usize) -> MeasuredRow<'a> {
    let share = |share: f64| Figure::of("%", &[100.0 * share]);
    let count = |count: u64| Figure::of("loops", &[count as f64]);
    MeasuredRow {
        kind: Kind::Loops,
        adapter: engine.recorded_adapter(),
        parameters: [
            ("engine", record::engine(engine.name(), engine.translation).into()),
            ("lanes", (lanes as u64).into()),
            ("program", name.into()),
            ("mode", measured.mode.name().into()),
        ]
        .into(),
        figures: BTreeMap::from([
            ("seconds", Figure::of("s", &measured.seconds)),
            ("in_loops", share(measured.in_loops)),
            ("in_proved_loops", share(measured.in_proved)),
            ("at_once", share(measured.credited())),
            ("candidates", count(measured.report.candidates)),
            ("proposed", count(measured.report.proposed)),
            ("proved", count(measured.report.proved)),
            ("advice", Figure::of("s", &[measured.report.advice_seconds])),
        ]),
    }
}
