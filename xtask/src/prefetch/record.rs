//! Runs programs and writes the streams of their page accesses.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use kvrm_machine::{Factory, Features, Machine, Program, Stop};
use kvrm_prefetch::{AccessStream, footprint};
use kvrm_train::oracle::{PageLog, RecordEngine};
use rayon::prelude::*;

use super::files::{EXTENSION, folder, streams_folder};
use super::workloads::{self, Job, Kind};
use crate::folders::recreate;

/// The largest number of steps of a run.
const STEPS: u64 = 100_000_000;
/// The largest number of accesses of a stream. The rest of the run is not recorded.
const ACCESSES: usize = 1_000_000;

/// Records the programs whose names contain a text.
pub(super) fn run(only: Option<&str>) -> Result<()> {
    let jobs = workloads::jobs(&folder(), only)?;
    ensure!(!jobs.is_empty(), "no program has `{}` in its name", only.unwrap_or_default());
    let streams = streams_folder();
    if only.is_none() {
        // Streams of programs that are gone would count.
        recreate(&streams)?;
    }
    fs::create_dir_all(&streams).with_context(|| format!("cannot create {}", streams.display()))?;
    println!("{} runs", jobs.len());
    jobs.par_iter()
        .try_for_each(|job| job.record(&streams).with_context(|| format!("{} {}", job.program, job.level)))
}

impl Job {
    /// Builds a machine with one lane for the program.
    pub(super) fn machine(&self, engine: impl Factory + 'static) -> Result<Machine> {
        let builder = Machine::builder(Program::open(&self.file)?).engine(engine);
        Ok(match &self.kind {
            Kind::Guest(size) => {
                let arguments: Vec<String> = size.iter().map(u64::to_string).collect();
                builder.features(Features::ALL).arguments(move |_| arguments.clone()).build()?
            }
            Kind::Program(run) => {
                let files = workloads::files();
                let input = run.input.map_or(Ok(Vec::new()), |name| fs::read(files.join(name)))?;
                builder
                    .arguments(|_| run.arguments.iter().map(|text| (*text).to_owned()).collect())
                    .input(move |_| input.clone())
                    .copy(&files, "/data")
                    .current_directory("/data")
                    .build()?
            }
        })
    }

    /// Runs the program to its end, or to that of the budget.
    pub(super) fn run(&self, machine: &mut Machine) -> Result<()> {
        machine.run(STEPS)?;
        // A program that fails has other pages than those that are wanted.
        let stop = machine.stop(0)?;
        let is_right = matches!(stop, Some(Stop::Exit { code: 0 } | Stop::Budget));
        ensure!(
            is_right,
            "the program ended with {stop:?}; expected the exit code 0 or the end of the budget"
        );
        Ok(())
    }

    /// Runs the program, and writes the stream.
    fn record(&self, folder: &Path) -> Result<()> {
        let start = Instant::now();
        let log = PageLog::new(ACCESSES);
        let mut machine = self.machine(RecordEngine(log.clone()))?;
        self.run(&mut machine)?;
        let steps = machine.cpu(0)?.steps;
        let accesses = log.finish();
        let (count, pages) = (accesses.len(), footprint(&accesses));
        ensure!(count > 0, "the program has accessed nothing");
        let stream =
            AccessStream { program: self.program.clone(), level: self.level.clone(), steps, accesses };
        let bytes = stream.to_bytes();
        let path = folder.join(format!("{}.{}.{EXTENSION}", self.program, self.level));
        fs::write(&path, &bytes).with_context(|| format!("cannot write {}", path.display()))?;
        let (kib, seconds) = (bytes.len() / 1024, start.elapsed().as_secs_f64());
        println!(
            "{} {}: {count} accesses to {pages} pages, {steps} steps, {kib} KiB, {seconds:.1} s",
            self.program, self.level
        );
        Ok(())
    }
}
