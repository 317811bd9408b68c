//! `cargo xtask loops`: compiles programs at many levels, runs them, and logs their loops, from which the networks that look
//! at loops learn.

mod errors;
mod tables;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use kvrm_machine::{Features, Machine, Program, Stream};
use kvrm_train::loops::{LogEngine, LoopLog, LoopRecord, Part, Splits, read_records, write_records};
use rayon::prelude::*;

use crate::compilers::{self, Compiler, Source};
use crate::folders;
use crate::oracle::{PREPARED, RUNS, Run};
use crate::root::root;
use crate::{programs, third_party};

/// The levels at which programs are compiled: the compiler, and its level of optimization.
const LEVELS: [(Compiler, &str); 8] = [
    (Compiler::Gcc, "O0"),
    (Compiler::Gcc, "O1"),
    (Compiler::Gcc, "O2"),
    (Compiler::Gcc, "Os"),
    (Compiler::Clang, "O0"),
    (Compiler::Clang, "O1"),
    (Compiler::Clang, "O2"),
    (Compiler::Clang, "Os"),
];
/// The largest number of steps of a run of a guest.
const GUEST_STEPS: u64 = 20_000_000;
/// The largest number of steps of a run of a third-party program.
const PROGRAM_STEPS: u64 = 60_000_000;
/// The seeds with which guests run. Programs that wait do so in another place with each seed.
const SEEDS: std::ops::Range<u64> = 0..6;
/// Programs that wait for ever with some seeds, and the steps after which that is enough.
const WAITING: &[(&str, u64)] = &[
    ("poll", 400_000),
    ("uart", 400_000),
    ("watchdog", 400_000),
    ("spin", 400_000),
    ("device", 400_000),
    ("locks", 400_000),
];

/// The file of the sample, and about how many bodies it has.
const SAMPLE_FILE: &str = "crates/train/tests/held_out_loops.txt";
const SAMPLE: usize = 400;

/// Arguments of `cargo xtask loops`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(clap::Subcommand)]
enum Subcommand {
    /// Compiles the programs, runs them on the CPU engine, and writes target/loops/log.txt.
    Log {
        /// Run only programs whose names contain this text.
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
    },
    /// Measures the networks of weights/ on the held-out parts of the log, and prints tables.
    Tables {
        /// Replace the tables of docs/loop-networks.md.
        #[arg(long)]
        write: bool,
    },
    /// Lists the bodies that the pattern recogniser of weights/ gets wrong.
    Errors {
        /// The part of the log.
        #[arg(default_value = "validation")]
        part: PartName,
    },
    /// Writes a log with only a part of the training's programs, for `cargo xtask train --log`.
    Share {
        /// The percentage of the programs.
        #[arg(value_parser = clap::value_parser!(u8).range(1..=100))]
        percent: u8,
        /// The file to write.
        file: PathBuf,
    },
    /// Writes a sample of the held-out guests for tests.
    Sample,
    /// Writes all held-out bodies, for `kvrm verify loops --file`.
    HeldOut {
        /// The file to write.
        file: PathBuf,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum PartName {
    Training,
    Validation,
    Programs,
    Level,
}

impl PartName {
    const fn part(self) -> Part {
        match self {
            Self::Training => Part::Training,
            Self::Validation => Part::Validation,
            Self::Programs => Part::Programs,
            Self::Level => Part::Level,
        }
    }
}

/// A run whose loops are logged.
struct Job {
    program: String,
    level: String,
    file: PathBuf,
    kind: Kind,
}

enum Kind {
    /// A guest with all seeds.
    Guest,
    /// A Linux guest without arguments.
    Linux,
    /// A third-party program, with the folder of its files.
    Program(&'static Run, PathBuf),
}

pub(crate) fn run(Args { command }: &Args) -> Result<()> {
    let log = log_path();
    match command {
        Subcommand::Log { only } => write_log(only.as_deref()),
        Subcommand::Tables { write } => tables::run(&read_splits(&log)?, *write),
        Subcommand::Errors { part } => errors::run(&read_splits(&log)?, part.part()),
        Subcommand::Share { percent, file } => write_share(&log, *percent, file),
        Subcommand::Sample => write_sample(&log),
        Subcommand::HeldOut { file } => write_held_out(&log, file),
    }
}

/// Returns the path of the log.
pub(crate) fn log_path() -> PathBuf {
    root().join("target/loops/log.txt")
}

fn read_log(log: &Path) -> Result<Vec<LoopRecord>> {
    let text = fs::read_to_string(log)
        .with_context(|| format!("cannot read {}; run `cargo xtask loops log`", log.display()))?;
    Ok(read_records(&text)?)
}

/// Returns the loops of each part of a log.
fn read_splits(log: &Path) -> Result<Splits> {
    read_log(log).map(Splits::new)
}

/// Writes a log without some of the programs of the training: evenly spaced ones in the order of their names.
fn write_share(log: &Path, percent: u8, file: &Path) -> Result<()> {
    let mut records = read_log(log)?;
    let is_training = |record: &LoopRecord| Part::of(&record.program, &record.level) == Part::Training;
    let names: BTreeSet<String> =
        records.iter().filter(|record| is_training(record)).map(|record| record.program.clone()).collect();
    let percent = usize::from(percent);
    let is_kept = |place: usize| place * percent / 100 != (place + 1) * percent / 100;
    let kept = names.into_iter().enumerate().filter(|(place, _)| is_kept(*place)).map(|(_, name)| name);
    let kept: BTreeSet<String> = kept.collect();
    records.retain(|record| !is_training(record) || kept.contains(&record.program));
    fs::write(file, write_records(&records)).with_context(|| format!("cannot write {}", file.display()))?;
    println!("{}: {} programs of the training", file.display(), kept.len());
    Ok(())
}

/// Writes the bodies of the held-out programs and of the held-out level, each with its first entry.
fn write_held_out(log: &Path, file: &Path) -> Result<()> {
    let splits = read_splits(log)?;
    let mut records: Vec<LoopRecord> = splits.programs.into_iter().chain(splits.level).collect();
    records.iter_mut().for_each(|record| record.entries.truncate(1));
    fs::write(file, write_records(&records)).with_context(|| format!("cannot write {}", file.display()))?;
    println!("{}: {} bodies", file.display(), records.len());
    Ok(())
}

/// Writes a sample of the held-out programs whose source is in the repository: the first entries of some bodies.
fn write_sample(log: &Path) -> Result<()> {
    let third_party: BTreeSet<&str> = programs::names().collect();
    let mut records = read_splits(log)?.programs;
    // Guests contain no other code, but the libraries of third-party programs have other licences.
    records.retain(|record| !third_party.contains(&record.program[..]));
    let step = records.len().div_ceil(SAMPLE);
    let mut sample: Vec<LoopRecord> = records.into_iter().step_by(step).collect();
    sample.iter_mut().for_each(|record| record.entries.truncate(2));
    fs::write(root().join(SAMPLE_FILE), write_records(&sample))
        .with_context(|| format!("cannot write {SAMPLE_FILE}"))?;
    println!("{SAMPLE_FILE}: {} bodies", sample.len());
    Ok(())
}

fn write_log(only: Option<&str>) -> Result<()> {
    let folder = root().join("target/loops");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    compilers::ensure_installed()?;
    let mut jobs = guests(&folder)?;
    jobs.extend(third_party_jobs(&folder)?);
    jobs.retain(|job| only.is_none_or(|text| job.program.contains(text)));
    println!("{} runs", jobs.len());
    let logs = jobs.par_iter().map(|job| job.log().with_context(|| format!("{} {}", job.program, job.level)));
    let logs = logs.collect::<Result<Vec<_>>>()?;
    let steps: u64 = logs.iter().map(|(steps, _)| steps).sum();
    let records: Vec<LoopRecord> = logs.into_iter().flat_map(|(_, records)| records).collect();
    let names: BTreeSet<_> = records.iter().map(|record| &record.program).collect();
    let entries: usize = records.iter().map(|record| record.entries.len()).sum();
    println!("{} programs, {} loops, {entries} entries, {steps} steps", names.len(), records.len());
    let path = log_path();
    fs::write(&path, write_records(&records)).with_context(|| format!("cannot write {}", path.display()))
}

/// Compiles the guests at all levels.
fn guests(folder: &Path) -> Result<Vec<Job>> {
    let mut jobs = Vec::new();
    for (compiler, optimization) in LEVELS {
        let level = format!("{}-{optimization}", compiler.name());
        let binaries = folder.join(&level);
        fs::create_dir_all(&binaries).with_context(|| format!("cannot create {}", binaries.display()))?;
        for (sources, is_linux) in [("guests/loops", false), ("guests", false), ("guests/linux", true)] {
            for source in folders::entries(&root().join(sources))? {
                let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                // Position independent guests need relocations, which are not the point here.
                let Some(stem) = name.strip_suffix(".c").filter(|stem| !stem.ends_with(".pie")) else {
                    continue;
                };
                let (stem, has_floats) = stem.strip_suffix(".fp").map_or((stem, false), |stem| (stem, true));
                // Square roots are calls of a library then.
                if has_floats && level.ends_with("O0") {
                    continue;
                }
                let file = binaries.join(stem);
                let source = Source { path: &source, has_floats, is_linux };
                source.compile(compiler, optimization, &file)?;
                let kind = if is_linux { Kind::Linux } else { Kind::Guest };
                jobs.push(Job { program: stem.to_owned(), level: level.clone(), file, kind });
            }
        }
    }
    Ok(jobs)
}

/// Prepares third-party programs and their files, and returns their runs.
fn third_party_jobs(folder: &Path) -> Result<Vec<Job>> {
    programs::run()?;
    let files = folder.join("files");
    crate::oracle::copy_files(&files)?;
    set_times(&files)?;
    let binaries = third_party::folder()?;
    for (run, name) in PREPARED {
        let (_, machine) = log_program(run, &binaries.join(run.program), &files, &LoopLog::default())?;
        fs::write(files.join(name), machine)?;
        set_times(&files)?;
    }
    let jobs = RUNS.iter().map(|run| Job {
        program: run.program.to_owned(),
        level: "gcc-O2".to_owned(),
        file: binaries.join(run.program),
        kind: Kind::Program(run, files.clone()),
    });
    Ok(jobs.collect())
}

/// Sets the times of all files in a folder, so that archives and listings are the same each time.
fn set_times(folder: &Path) -> Result<()> {
    for path in folders::entries(folder)?.into_iter().chain([folder.to_owned()]) {
        if path != folder && path.is_dir() {
            set_times(&path)?;
        }
        let time = UNIX_EPOCH + Duration::from_secs(1_600_000_000);
        let set = File::open(&path).and_then(|file| file.set_modified(time));
        set.with_context(|| format!("cannot set the time of {}", path.display()))?;
    }
    Ok(())
}

impl Job {
    /// Runs the program, and returns its steps and its loops.
    fn log(&self) -> Result<(u64, Vec<LoopRecord>)> {
        let log = LoopLog::default();
        let mut steps = 0;
        let start = Instant::now();
        match &self.kind {
            Kind::Guest => {
                let waiting = WAITING.iter().find(|(name, _)| *name == self.program);
                for seed in SEEDS.take(if waiting.is_some() { 6 } else { 1 }) {
                    let machine = Machine::builder(Program::open(&self.file)?)
                        .features(Features::ALL)
                        .engine(LogEngine(log.clone()))
                        .arguments(|_| {
                            waiting.map_or(vec![], |(_, _)| vec!["600".to_owned(), seed.to_string()])
                        });
                    steps += machine.build()?.run(waiting.map_or(GUEST_STEPS, |(_, steps)| *steps))?.steps;
                }
            }
            Kind::Linux => {
                let machine = Machine::builder(Program::open(&self.file)?).engine(LogEngine(log.clone()));
                steps = machine.build()?.run(GUEST_STEPS)?.steps;
            }
            Kind::Program(run, files) => steps = log_program(run, &self.file, files, &log)?.0,
        }
        let records = log.finish(&self.program, &self.level);
        let name = if let Kind::Program(run, _) = &self.kind { run.command() } else { self.program.clone() };
        let seconds = start.elapsed().as_secs_f64();
        println!("{name:.60} {}: {} loops, {steps} steps, {seconds:.1} s", self.level, records.len());
        Ok((steps, records))
    }
}

/// Runs a third-party program, and returns its steps and its output.
fn log_program(run: &Run, file: &Path, files: &Path, log: &LoopLog) -> Result<(u64, Vec<u8>)> {
    let input = run.input.map_or(Ok(Vec::new()), |name| fs::read(files.join(name)))?;
    let mut machine = Machine::builder(Program::open(file)?)
        .engine(LogEngine(log.clone()))
        .arguments(|_| run.arguments.iter().map(|text| (*text).to_owned()).collect())
        .input(|_| input.clone())
        .copy(files, "/data")
        .current_directory("/data")
        .build()?;
    let steps = machine.run(PROGRAM_STEPS)?.steps;
    Ok((steps, machine.output(0, Stream::Output)?.to_vec()))
}
