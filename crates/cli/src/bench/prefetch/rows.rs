//! The rows of the measurements: printed as a table or as JSON, and recorded.

use std::io::Write as _;

use anyhow::Result;
use kvrm::gpu::AdapterInfo;
use kvrm::prefetch::Degree;
use kvrm_records::{Figure, Kind, Log, MeasuredRow};
use serde_json::json;

use super::measured::{Case, Measured};
use crate::output::Output;
use crate::record;

/// Where rows go, and what they have in common.
pub(super) struct Rows<'a> {
    pub(super) out: Output,
    pub(super) log: Option<Log>,
    pub(super) is_json: bool,
    pub(super) adapter: &'a AdapterInfo,
    pub(super) lanes: usize,
    pub(super) degree: Degree,
}

/// Returns a part of a whole, if there is a whole.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Rows<'_> {
    /// Prints the head of the table.
    pub(super) fn head(&mut self) -> Result<()> {
        if !self.is_json {
            writeln!(
                self.out,
                "{:<10} {:>6} {:>9} {:<12} {:>9} {:>8} {:>9} {:>10} {:>10} {:>9} {:>9} {:>8}",
                "program",
                "memory",
                "frames",
                "prefetch",
                "seconds",
                "speedup",
                "waits",
                "in",
                "out",
                "accuracy",
                "coverage",
                "hears"
            )?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Adds a measurement. `without` are the seconds without prefetching.
    pub(super) fn add(&mut self, case: &Case<'_>, measured: &Measured, without: f64) -> Result<()> {
        let Case { workload, part, needed, policy, .. } = *case;
        let moves = &measured.moves;
        let demanded = moves.fetched - moves.prefetched;
        let accuracy = share(moves.used, moves.prefetched);
        let coverage = share(moves.used, moves.used + demanded);
        let hears = 1000.0 * moves.heard as f64 / measured.steps.max(1) as f64;
        let (seconds, speedup) = (measured.seconds(), without / measured.seconds().max(1e-9));
        let memory = format!("1/{part}");
        if self.is_json {
            let line = json!({
                "program": workload.name, "device": self.adapter.to_string(), "lanes": self.lanes,
                "memory": memory, "frames": needed, "prefetch": policy.name(), "degree": self.degree.get(),
                "seconds": seconds, "all_seconds": measured.seconds, "speedup": speedup, "steps": measured.steps,
                "waits": moves.waits, "fetched": moves.fetched, "evicted": moves.evicted,
                "prefetched": moves.prefetched, "used": moves.used, "accuracy": accuracy, "coverage": coverage,
                "heard_per_1000_steps": hears,
            });
            writeln!(self.out, "{line}")?;
        } else {
            let percent =
                |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
            writeln!(
                self.out,
                "{:<10} {memory:>6} {needed:>9} {:<12} {seconds:>9.3} {speedup:>8.2} {:>9} {:>10} {:>10} {:>9} {:>9} {hears:>8.3}",
                workload.name,
                policy.name(),
                moves.waits,
                moves.fetched,
                moves.evicted,
                percent(accuracy),
                percent(coverage),
            )?;
        }
        // Show each line at once, so that nothing is lost if the next measurement fails.
        self.out.flush()?;
        let Some(log) = &mut self.log else { return Ok(()) };
        let one = |unit, value: f64| Figure::of(unit, &[value]);
        let speedups: Vec<f64> = measured.seconds.iter().map(|seconds| without / seconds.max(1e-9)).collect();
        let mut figures: Vec<_> = [
            ("seconds", Figure::of("s", &measured.seconds)),
            ("speedup", Figure::of("times", &speedups)),
            ("waits", one("waits", moves.waits as f64)),
            ("fetched", one("frames", moves.fetched as f64)),
            ("evicted", one("frames", moves.evicted as f64)),
            ("hears", one("per 1,000 steps", hears)),
        ]
        .into();
        figures.extend(accuracy.map(|share| ("accuracy", one("%", 100.0 * share))));
        figures.extend(coverage.map(|share| ("coverage", one("%", 100.0 * share))));
        log.append(MeasuredRow {
            kind: Kind::Prefetch,
            adapter: Some(record::adapters(&[self.adapter])),
            parameters: [
                ("degree", (self.degree.get() as u64).into()),
                ("frames", needed.into()),
                ("lanes", (self.lanes as u64).into()),
                ("memory", memory.into()),
                ("prefetch", policy.name().into()),
                ("program", workload.name.as_str().into()),
            ]
            .into_iter()
            .collect(),
            figures: figures.into_iter().collect(),
        })?;
        Ok(())
    }
}
