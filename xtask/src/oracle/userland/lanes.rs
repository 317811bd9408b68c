//! Command lines in KVRM: each in a lane of one machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use super::lines::Line;
use super::places::{ENVIRONMENT, Places, SHELL};
use crate::folders::{recreate, tree};
use crate::oracle::outcome::Outcome;

/// A run of a line in KVRM.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) outcome: Outcome,
    pub(super) steps: u64,
    /// The trace of its system calls, if it was asked for.
    pub(super) trace: Option<PathBuf>,
}

/// The settings of machines.
#[derive(Debug)]
pub(super) struct Lanes<'a> {
    pub(super) kvrm: &'a Path,
    pub(super) engine: &'a str,
    pub(super) budget: u64,
    pub(super) places: &'a Places,
    /// Whether system calls are traced.
    pub(super) has_trace: bool,
}

impl Lanes<'_> {
    /// Runs lines, and returns their runs in the same order.
    pub(super) fn run(&self, lines: &[&Line]) -> Result<Vec<Run>> {
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        let Places { sysroot, files, binaries, work } = self.places;
        let (scripts, saved) = (work.join("lines"), work.join("saved"));
        recreate(&scripts)?;
        recreate(&saved)?;
        for (lane, line) in lines.iter().enumerate() {
            fs::write(scripts.join(lane.to_string()), &line.text).context("cannot write a line")?;
            fs::create_dir(saved.join(lane.to_string())).context("cannot create a folder")?;
        }
        let mut command = Command::new(self.kvrm);
        command.args([
            "run",
            "--json",
            "--engine",
            self.engine,
            "--cwd",
            "/data",
            "--lane-arg",
            "/lines/{lane}",
        ]);
        command.args(["--lanes", &lines.len().to_string(), "--budget", &self.budget.to_string()]);
        command.arg("--sysroot").arg(sysroot);
        for (folder, guest) in [(files, "/data"), (&scripts, "/lines"), (binaries, "/opt/tests")] {
            command.arg("--copy").arg(format!("{}:{guest}", folder.display()));
        }
        for (name, value) in ENVIRONMENT {
            command.arg("--env").arg(format!("{name}={value}"));
        }
        command.arg("--save").arg(format!("/data:{}/{{lane}}/data", saved.display()));
        let traces = work.join("traces");
        if self.has_trace {
            recreate(&traces)?;
            command.args(["--strace", "--strace-output"]).arg(traces.join("{lane}"));
        }
        command.arg(sysroot.join(SHELL.trim_start_matches('/'))).stdin(Stdio::null());
        let answer = command.output().with_context(|| format!("cannot run {}", self.kvrm.display()))?;
        let json: serde_json::Value = serde_json::from_slice(&answer.stdout)
            .with_context(|| format!("kvrm run: {}", String::from_utf8_lossy(&answer.stderr)))?;
        let run = |lane: usize| {
            let folder = saved.join(lane.to_string()).join("data");
            let files = if folder.exists() { tree(&folder)? } else { Default::default() };
            let trace = self.has_trace.then(|| traces.join(lane.to_string()));
            let lane = &json["lanes"][lane];
            let steps = lane["steps"].as_u64().unwrap_or_default();
            Ok(Run { outcome: Outcome::of_lane(lane, files), steps, trace })
        };
        (0..lines.len()).map(run).collect()
    }
}
