//! The report of a comparison: a line for each run, and a file with the outputs of runs that differ.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::lanes::Run;
use super::lines::Line;
use crate::oracle::made_calls::MadeCalls;
use crate::oracle::outcome::Outcome;

/// The number of bytes of each stream that the file shows at most.
const SHOWN: usize = 20_000;

/// The runs so far.
#[derive(Debug)]
pub(super) struct Report {
    path: PathBuf,
    file: File,
    same: usize,
    differ: usize,
    /// Runs of lines that await a part of Linux, and still differ.
    awaiting: usize,
    /// The system calls of runs that are the same.
    calls: MadeCalls,
}

/// What a run has to be like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'a> {
    /// The outcome in QEMU.
    pub(super) outcome: &'a Outcome,
    /// The number of steps on the reference.
    pub(super) steps: u64,
}

/// Prints all lines.
pub(super) fn list(lines: &[Line]) -> Result<()> {
    for line in lines {
        let mark = if line.gpu { "gpu" } else { "cpu" };
        println!("{mark} {:<12} {}", line.awaits.as_deref().unwrap_or_default(), one_line(&line.text));
    }
    Ok(())
}

impl Report {
    /// Creates the file in a folder.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        let path = folder.join("differences");
        let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path, file, same: 0, differ: 0, awaiting: 0, calls: MadeCalls::default() })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a run in KVRM.
    pub(super) fn add(
        &mut self,
        engine: &str,
        line: &Line,
        ours: &Run,
        expected: Expected<'_>,
    ) -> Result<()> {
        let Expected { outcome: theirs, steps } = expected;
        // A line whose program is missing would be the same on both sides.
        let missing = format!("{}: not found", line.program);
        let has_program = !String::from_utf8_lossy(&theirs.error_output).contains(&missing);
        let is_same = has_program && ours.outcome == *theirs && ours.steps == steps;
        let text = one_line(&line.text);
        let (word, count) = match (&line.awaits, is_same) {
            (None, true) => ("same  ", &mut self.same),
            (None, false) => ("DIFFER", &mut self.differ),
            (Some(_), true) => ("JOINS ", &mut self.same),
            (Some(_), false) => ("awaits", &mut self.awaiting),
        };
        *count += 1;
        println!("{word} {engine:<9} {:>13} {text}", ours.steps);
        if let Some(part) = &line.awaits {
            println!("  {}", if is_same { "awaits nothing more, remove the mark" } else { part });
        }
        if is_same {
            return ours.trace.as_ref().map_or(Ok(()), |trace| self.calls.add_trace(trace));
        }
        if line.awaits.is_none() {
            println!("  qemu {}", theirs.describe(&ours.outcome));
            println!("  kvrm {}", ours.outcome.describe(theirs));
            if ours.steps != steps {
                println!("  the reference takes {steps} steps");
            }
        }
        self.write(engine, &line.text, [("QEMU", theirs), ("KVRM", &ours.outcome)])
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Returns the system calls of the runs that are the same.
    pub(super) fn into_calls(self) -> MadeCalls {
        self.calls
    }

    /// Prints the numbers of runs, and returns how many differ.
    pub(super) fn finish(&self) -> usize {
        let Self { same, differ, awaiting, .. } = self;
        println!("{same} runs are the same, {differ} differ, {awaiting} await a part of Linux");
        *differ
    }

    fn write(&mut self, engine: &str, text: &str, sides: [(&str, &Outcome); 2]) -> std::io::Result<()> {
        writeln!(self.file, "==== {engine}: {text}")?;
        for (name, outcome) in sides {
            writeln!(self.file, "---- {name}: status {}", outcome.status)?;
            for (stream, bytes) in [("output", &outcome.output), ("error output", &outcome.error_output)] {
                let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
                writeln!(self.file, "{stream}, {} bytes:\n{shown}", bytes.len())?;
            }
        }
        let [(_, theirs), (_, ours)] = sides;
        let paths: std::collections::BTreeSet<_> = theirs.files.keys().chain(ours.files.keys()).collect();
        for path in paths.into_iter().filter(|path| theirs.files.get(*path) != ours.files.get(*path)) {
            writeln!(self.file, "file {} differs", path.display())?;
        }
        Ok(())
    }
}

fn one_line(text: &str) -> String {
    text.trim().replace('\n', "⏎")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: i64, output: &str, error_output: &str, file: &str) -> Outcome {
        let files = [(PathBuf::from("file"), Some(file.as_bytes().to_vec()))].into();
        Outcome { status, output: output.into(), error_output: error_output.into(), files }
    }

    #[test]
    fn every_part_of_an_outcome_is_compared() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut report = Report::new(folder.path()).expect("a report");
        let line = Line { program: "sort".to_owned(), text: "sort x".to_owned(), gpu: true, awaits: None };
        let theirs = outcome(0, "a", "b", "c");
        let mut add_steps = |line: &Line, ours: Outcome, theirs: &Outcome, steps| {
            let run = Run { outcome: ours, steps: 1, trace: None };
            let expected = Expected { outcome: theirs, steps };
            report.add("reference", line, &run, expected).expect("the report is written");
            (report.same, report.differ, report.awaiting)
        };
        assert_eq!(add_steps(&line, outcome(0, "a", "b", "c"), &theirs, 2), (0, 1, 0), "other steps");
        let mut add = |line: &Line, ours, theirs: &Outcome| add_steps(line, ours, theirs, 1);
        assert_eq!(add(&line, outcome(0, "a", "b", "c"), &theirs), (1, 1, 0), "equal outcomes");
        assert_eq!(add(&line, outcome(1, "a", "b", "c"), &theirs), (1, 2, 0), "another status");
        assert_eq!(add(&line, outcome(0, "x", "b", "c"), &theirs), (1, 3, 0), "another output");
        assert_eq!(add(&line, outcome(0, "a", "x", "c"), &theirs), (1, 4, 0), "another error output");
        assert_eq!(add(&line, outcome(0, "a", "b", "x"), &theirs), (1, 5, 0), "another file");
        let missing = || outcome(127, "", "dash: 1: sort: not found\n", "c");
        assert_eq!(add(&line, missing(), &missing()), (1, 6, 0), "a missing program");
        let awaiting = Line { awaits: Some("sockets".to_owned()), ..line };
        assert_eq!(
            add(&awaiting, outcome(1, "", "", ""), &theirs),
            (1, 6, 1),
            "a line that awaits something"
        );
        let text = std::fs::read_to_string(report.path()).expect("a file");
        assert_eq!(text.matches("==== ").count(), 7, "the runs that differ: {text}");
    }
}
