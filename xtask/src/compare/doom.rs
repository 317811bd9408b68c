//! `cargo xtask compare doom`: measures DOOM as an environment in KVRM and in ViZDoom, on the same host in one run.
//!
//! ViZDoom comes from `PyPI` and runs in processes of its own, one on each core; KVRM does not link it.

use std::path::PathBuf;
use std::process::Command;
use std::thread;

use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use kvrm_records::{Adapter, Figure, Kind, Log, MeasuredRow, RecordArgs, Value};
use serde::Deserialize;

use super::answer::answer;
use crate::oracle::kvrm;
use crate::records::{PROGRAM, gpu_adapter_of};
use crate::system::python;
use crate::{doom, third_party};

const PACKAGES: [&str; 1] = ["vizdoom==1.3.2"];
/// The program that runs games of ViZDoom. It is passed on a command line, so that it is found wherever this one runs.
const SCRIPT: &str = include_str!("vizdoom.py");
/// The steps of each game before the measurement, in which games get to different places.
const SKIP: u32 = 100;
/// The name of ViZDoom in the place of an engine.
const VIZDOOM: &str = "vizdoom";

/// What is drawn and observed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Picture {
    /// 320x200 palette indices.
    Full,
    /// 160x100 grey pixels in KVRM; 160x120, the fewest that it has, in ViZDoom.
    Half,
    /// Nothing.
    None,
}

impl Picture {
    const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Half => "half",
            Self::None => "none",
        }
    }
}

/// Arguments of `cargo xtask compare doom`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The engines of KVRM to measure: gpu, jit, reference.
    #[arg(long, value_name = "ENGINE", value_delimiter = ',', default_value = "jit")]
    engines: Vec<String>,
    /// The numbers of lanes to measure KVRM with.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "64")]
    lanes: Vec<u64>,
    /// What is drawn and observed.
    #[arg(long, value_name = "PICTURE", value_delimiter = ',', default_value = "full,half,none")]
    picture: Vec<Picture>,
    /// The tics of a step.
    #[arg(long, value_name = "N", default_value_t = 4)]
    tics: u32,
    /// The number of processes of ViZDoom [default: one for each core].
    #[arg(long, value_name = "N")]
    processes: Option<usize>,
    /// The approximate duration of a warm-up and of each of three repetitions.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    seconds: f64,
    /// The kvrm to measure [default: built from the sources].
    #[arg(long, value_name = "FILE")]
    kvrm: Option<PathBuf>,
    /// A Python that has ViZDoom [default: a virtual environment in target/vizdoom, made if it is missing].
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// The WAD that ViZDoom plays [default: the one in KVRM's program].
    #[arg(long, value_name = "FILE")]
    wad: Option<PathBuf>,
    #[command(flatten)]
    record: RecordArgs,
    /// More options of `kvrm bench doom`, such as --loops checker.
    #[arg(last = true)]
    options: Vec<String>,
}

/// The output of `vizdoom.py`.
#[derive(Deserialize)]
struct VizdoomOutput {
    version: String,
    processes: u64,
    all_steps_a_second: Vec<f64>,
}

/// The output of `kvrm bench doom --json`.
#[derive(Deserialize)]
struct BenchOutput {
    engine: String,
    translate: String,
    loops: String,
    lanes: u64,
    all_steps_a_second: Vec<f64>,
}

/// The programs of a comparison.
struct Programs {
    kvrm: PathBuf,
    python: PathBuf,
    wad: PathBuf,
    game: PathBuf,
}

/// A line of the printed table.
struct Row {
    picture: Picture,
    /// `vizdoom`, or the engine of KVRM.
    engine: String,
    /// The number of games: lanes, or processes of ViZDoom.
    games: u64,
    /// The parameters of its record that only this simulator has.
    own: Vec<(&'static str, Value)>,
    adapter: Option<Adapter>,
    all_steps_a_second: Vec<f64>,
}

/// What all lines of the table have in common, and where they go.
struct Table {
    tics: u32,
    cores: f64,
    log: Option<Log>,
}

impl Table {
    fn head() {
        println!(
            "{:<8} {:<10} {:>8} {:>12} {:>12} {:>14} {:>14} {:>12}",
            "picture", "engine", "games", "steps/s", "tics/s", "steps/s/core", "tics/s/core", "of ViZDoom"
        );
    }

    /// Prints the line, and appends it to the records. `first` is the steps per second of ViZDoom.
    fn show(&mut self, row: Row, first: f64) -> Result<()> {
        let Row { picture, engine, games, own, adapter, all_steps_a_second } = row;
        let tics = f64::from(self.tics);
        let of = |unit, factor: f64| {
            Figure::of(unit, &all_steps_a_second.iter().map(|rate| rate * factor).collect::<Vec<_>>())
        };
        let rate = of("steps/s", 1.0).median;
        // Cores of the host say nothing about a GPU.
        let cores = (engine != "gpu").then_some(self.cores);
        let a_core = |value: f64| cores.map_or_else(String::new, |cores| format!("{:.1}", value / cores));
        let (steps_a_core, tics_a_core) = (a_core(rate), a_core(rate * tics));
        println!(
            "{:<8} {engine:<10} {games:>8} {rate:>12.1} {:>12.1} {steps_a_core:>14} {tics_a_core:>14} {:>12.3}",
            picture.name(),
            rate * tics,
            rate / first
        );
        let Some(log) = &mut self.log else { return Ok(()) };
        let parameters = [
            ("engine", engine.into()),
            ("games", games.into()),
            ("picture", picture.name().into()),
            ("tics_a_step", self.tics.into()),
        ];
        let per_core = cores.map(|cores| ("tics_a_second_a_core", of("tics/s", tics / cores)));
        log.append(MeasuredRow {
            kind: Kind::Games,
            adapter,
            parameters: parameters.into_iter().chain(own).collect(),
            figures: [
                ("of_vizdoom", of("", 1.0 / first)),
                ("steps_a_second", of("steps/s", 1.0)),
                ("tics_a_second", of("tics/s", tics)),
            ]
            .into_iter()
            .chain(per_core)
            .collect(),
        })?;
        Ok(())
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    let log = args.record.open(PROGRAM)?;
    let known = ["gpu", "jit", "reference"];
    for engine in &args.engines {
        ensure!(known.contains(&&**engine), "--engines {engine}: expected gpu, jit or reference");
    }
    let programs = programs(args)?;
    let has_gpu = args.engines.iter().any(|engine| engine == "gpu");
    let adapter = (log.is_some() && has_gpu).then(|| gpu_adapter_of(&programs.kvrm)).transpose()?;
    let cores = thread::available_parallelism().context("the number of cores is not known")?.get();
    let processes = args.processes.unwrap_or(cores);
    let mut table = Table { tics: args.tics, cores: cores as f64, log };
    Table::head();
    for &picture in &args.picture {
        let vizdoom = measure_vizdoom(args, &programs, picture, processes)?;
        let first = Figure::of("", &vizdoom.all_steps_a_second).median;
        table.show(vizdoom, first)?;
        for engine in &args.engines {
            for &lanes in &args.lanes {
                let mut row = measure_kvrm(args, &programs, engine, lanes, picture)?;
                row.adapter = adapter.clone().filter(|_| row.engine == "gpu");
                table.show(row, first)?;
            }
        }
    }
    Ok(())
}

/// Returns the programs to measure. Makes those that are missing.
fn programs(args: &Args) -> Result<Programs> {
    doom::run()?;
    let kvrm = args.kvrm.clone().map_or_else(kvrm, Ok)?;
    let python = args.python.clone().map_or_else(|| python("vizdoom", "vizdoom", &PACKAGES), Ok)?;
    let wad = args.wad.clone().map_or_else(doom::wad, Ok)?;
    ensure!(wad.is_file(), "--wad '{}': expected a file", wad.display());
    Ok(Programs { kvrm, python, wad, game: third_party::folder()?.join("doom") })
}

/// Measures ViZDoom.
fn measure_vizdoom(args: &Args, programs: &Programs, picture: Picture, processes: usize) -> Result<Row> {
    let numbers = [args.tics.to_string(), SKIP.to_string(), processes.to_string(), args.seconds.to_string()];
    let mut command = Command::new(&programs.python);
    command.args(["-c", SCRIPT]).arg(&programs.wad).arg(picture.name()).args(numbers);
    let VizdoomOutput { version, processes, all_steps_a_second } = answer(&mut command)?;
    ensure!(!all_steps_a_second.is_empty(), "ViZDoom reported no repetitions");
    Ok(Row {
        picture,
        engine: VIZDOOM.to_owned(),
        games: processes,
        own: vec![("version", version.into())],
        adapter: None,
        all_steps_a_second,
    })
}

/// Measures an engine of KVRM.
fn measure_kvrm(args: &Args, programs: &Programs, engine: &str, lanes: u64, picture: Picture) -> Result<Row> {
    let seconds = args.seconds.to_string();
    let mut command = Command::new(&programs.kvrm);
    command.args(["bench", "doom", "--json", "--engine", engine, "--lanes", &lanes.to_string()]);
    command.args(["--picture", picture.name(), "--tics", &args.tics.to_string()]);
    command.args(["--skip", &SKIP.to_string()]);
    command.args(["--warm-up", &seconds, "--seconds", &seconds]).arg("--program").arg(&programs.game);
    let BenchOutput { engine, translate, loops, lanes, all_steps_a_second } =
        answer(command.args(&args.options))?;
    ensure!(!all_steps_a_second.is_empty(), "kvrm bench doom reported no repetitions");
    Ok(Row {
        picture,
        engine,
        games: lanes,
        own: vec![("loops", loops.into()), ("translate", translate.into())],
        adapter: None,
        all_steps_a_second,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_recorded_with_what_identifies_them() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("records.jsonl");
        let log = Log::open(&path, PROGRAM, None).expect("a new file");
        let mut table = Table { tics: 4, cores: 2.0, log: Some(log) };
        let mut show = |engine: &str, own: Vec<(&'static str, Value)>, all_steps_a_second: Vec<f64>| {
            let (picture, adapter) = (Picture::Half, None);
            let row = Row { picture, engine: engine.to_owned(), games: 64, own, adapter, all_steps_a_second };
            table.show(row, 100.0).expect("it can be written");
        };
        show(VIZDOOM, vec![("version", "1.3.2".into())], vec![90.0, 100.0, 110.0]);
        let ours = vec![("loops", "off".into()), ("translate", "auto".into())];
        show("gpu", ours, vec![300.0, 200.0, 400.0]);
        let records = kvrm_records::read(&path).expect("records");
        let [theirs, ours] = &records[..] else { panic!("two rows: {records:?}") };
        let names =
            |record: &kvrm_records::Record| record.parameters.keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(names(theirs), "engine games picture tics_a_step version");
        assert_eq!(names(ours), "engine games loops picture tics_a_step translate");
        assert_eq!(theirs.figures["tics_a_second_a_core"].median, 200.0, "of two cores, in 4 tics a step");
        assert!(!ours.figures.contains_key("tics_a_second_a_core"), "the cores do not play the games");
        assert_eq!(ours.figures["of_vizdoom"].median, 3.0, "times as many steps");
        assert_eq!(ours.figures["tics_a_second"].min, Some(800.0), "the slowest repetition");
    }
}
