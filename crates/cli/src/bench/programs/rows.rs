//! The rows of the measurements: printed as a table or as JSON, and recorded.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Result;
use kvrm::{Report, Translation};
use kvrm_records::{Figure, Kind, Log, MeasuredRow, Value};
use serde_json::json;

use super::measure::Measured;
use super::processes;
use super::workload::Workload;
use crate::engine::OpenEngine;
use crate::output::Output;
use crate::record;

/// The name of QEMU in the place of an engine.
const QEMU: &str = "qemu-aarch64";

/// Where rows go, and what they have in common.
pub(super) struct Rows<'a> {
    pub(super) out: Output,
    pub(super) log: Option<Log>,
    pub(super) is_json: bool,
    pub(super) engine: &'a OpenEngine,
    pub(super) lanes: usize,
}

impl Rows<'_> {
    /// Prints the head of the table.
    pub(super) fn head(&mut self) -> Result<()> {
        if !self.is_json {
            writeln!(
                self.out,
                "{:<10} {:<14} {:>12} {:>8} {:>12} {:>8} {:>12}  way",
                "program", "engine", "MIPS", "of first", "steps a lane", "pages", "calls/M"
            )?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Prints that all lanes of a workload are right.
    pub(super) fn checked(&mut self, workload: &Workload, report: &Report) -> Result<()> {
        let (name, lanes) = (workload.name, self.lanes);
        let mean = |sum: u64| sum as f64 / lanes as f64;
        let (steps, pages, calls) = (mean(report.steps), mean(report.frames as u64), mean(report.services));
        let json = json!({
            "program": name, "lanes": lanes, "steps_a_lane": steps, "pages_a_lane": pages, "calls_a_lane": calls,
        });
        let text = format!(
            "{name:<10} all lanes right; on average {steps:.0} steps, {pages:.0} pages, {calls:.0} calls"
        );
        self.print(&json, &text)
    }

    /// Adds a measurement of lanes. Returns how many times faster it is than the first of the same workload.
    pub(super) fn lanes(
        &mut self,
        workload: &Workload,
        translation: Translation,
        measured: &Measured,
        first: Option<&Measured>,
    ) -> Result<Option<f64>> {
        let name = record::engine(self.engine.name(), translation);
        let ratio = first.map(|first| measured.mips() / first.mips());
        let json = json!({
            "program": workload.name, "engine": name, "device": self.engine.device(),
            "fallback": self.engine.fallback, "lanes": self.lanes, "mips": measured.mips(),
            "all_mips": measured.all_mips(), "of_first": ratio, "window": measured.window,
            "pages_a_lane": measured.pages, "calls_a_million_steps": measured.calls,
            "translation": measured.translation,
        });
        let text = format!(
            "{:<10} {name:<14} {:>12.1} {:>8} {:>12} {:>8.0} {:>12.2}  {}",
            workload.name,
            measured.mips(),
            ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
            measured.window,
            measured.pages,
            measured.calls,
            measured.way(),
        );
        self.print(&json, &text)?;
        let lanes = self.lanes as u64;
        let parameters =
            [("program", workload.name.into()), ("engine", name.into()), ("lanes", lanes.into())];
        self.record(true, parameters.into(), figures(measured, first))?;
        Ok(ratio)
    }

    /// Adds a measurement of QEMU.
    pub(super) fn qemu(&mut self, workload: &Workload, measured: &processes::Measured) -> Result<()> {
        let processes::Measured { processes, ref all } = *measured;
        let json = json!({
            "program": workload.name, "engine": QEMU, "processes": processes, "mips": measured.mips(),
            "all_mips": all,
        });
        let text = format!(
            "{:<10} {QEMU:<14} {:>12.1}  {processes} processes at a time",
            workload.name,
            measured.mips()
        );
        self.print(&json, &text)?;
        let processes = processes as u64;
        let parameters =
            [("program", workload.name.into()), ("engine", QEMU.into()), ("processes", processes.into())];
        self.record(false, parameters.into(), [("mips", Figure::of("MIPS", all))].into())
    }

    /// Adds the geometric mean of the ratios of a mode to the first.
    pub(super) fn mean(&mut self, ratios: &[f64], translation: Translation) -> Result<()> {
        let programs = ratios.len() as u64;
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let json = json!({ "programs": programs, "geometric_mean": mean });
        self.print(&json, &format!("geometric mean of {programs} ratios: {mean:.3}"))?;
        let parameters = [
            ("program", "geometric mean".into()),
            ("programs", programs.into()),
            ("engine", record::engine(self.engine.name(), translation).into()),
            ("lanes", (self.lanes as u64).into()),
        ];
        self.record(true, parameters.into(), [("of_first", Figure::once("", mean))].into())
    }

    /// Prints a row at once, so that nothing is lost if the next measurement fails.
    fn print(&mut self, json: &serde_json::Value, text: &str) -> Result<()> {
        if self.is_json {
            writeln!(self.out, "{json}")?;
        } else {
            writeln!(self.out, "{text}")?;
        }
        Ok(self.out.flush()?)
    }

    /// Appends a row to the records, if there are any.
    fn record(
        &mut self,
        has_adapter: bool,
        parameters: BTreeMap<&'static str, Value>,
        figures: BTreeMap<&'static str, Figure>,
    ) -> Result<()> {
        let adapter = self.engine.recorded_adapter().filter(|_| has_adapter);
        let row = MeasuredRow { kind: Kind::ProgramLanes, adapter, parameters, figures };
        if let Some(log) = &mut self.log {
            log.append(row)?;
        }
        Ok(())
    }
}

/// Returns the figures of a measurement. Shares of the first measurement are of its median.
fn figures(measured: &Measured, first: Option<&Measured>) -> BTreeMap<&'static str, Figure> {
    let all = measured.all_mips();
    let ratios = first.map(|first| all.iter().map(|mips| mips / first.mips()).collect::<Vec<_>>());
    let ratios = ratios.map(|ratios| ("of_first", Figure::of("", &ratios)));
    let once = [
        ("mips", Figure::of("MIPS", &all)),
        ("pages_a_lane", Figure::once("pages", measured.pages)),
        ("calls_a_million_steps", Figure::once("calls", measured.calls)),
        ("window", Figure::once("steps", measured.window as f64)),
    ];
    once.into_iter().chain(ratios).collect()
}
