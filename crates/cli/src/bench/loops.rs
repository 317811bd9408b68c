//! `kvrm bench loops`: the speed of loops with and without their acceleration.

mod bare;
mod native;
mod rows;
mod whole;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use kvrm::{Engine, Factory, HotLoop, Loops, Machine, Stop};
use kvrm_records::{Figure, Kind, MeasuredRow, RecordArgs};

use self::bare::{BARE, BareLoop};
use self::rows::Rows;
use super::measure::REPETITIONS;
use crate::engine::{EngineArgs, OpenEngine};
use crate::output::Output;
use crate::{loops, number, record};

/// The text at the end of the help.
const HELP: &str = "\
Each loop runs for a number of iterations in each lane, stepped and accelerated. The time is that of the whole run, from the \
call to its return, with the search for the loop, its proof and, for modes with networks, their evaluation. MIPS are million \
retired steps per second of all lanes together. `times` says how many times faster a loop is at once than stepped, and `native`, \
for one lane on the CPU, how many times faster the same loop is as code of the host, with copies of the pages that it writes.

The loops `doom-...` are of the form of those with which DOOM draws columns, spans and rectangles, also with several pixels in an iteration. \
--iterations is the number of their pixels in all, which is rounded up to whole columns or rows.

With --programs, the time is that of the run of a program from its start, with the advice of networks in the background. Shares of \
steps in loops, and in loops that are proved, are estimates from samples. `saved` are the candidates that networks did not propose \
to the checker; `first ms` is the time until iterations were executed at once for the first time.";

/// Arguments of `kvrm bench loops`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(super) struct Args {
    #[command(flatten)]
    engine: EngineArgs,
    /// The numbers of lanes to measure with, separated by commas.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1", value_parser = number::lanes)]
    lanes: Vec<u64>,
    /// The number of iterations of each loop.
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = number::count)]
    iterations: u64,
    /// The number of pixels of each column or row that a loop of DOOM draws. The default is that of its screen.
    #[arg(long, value_name = "N", value_parser = number::count, conflicts_with = "programs")]
    pixels: Option<u64>,
    /// Also print what the networks and the checker say about each loop, in a run on the reference. Here the networks decide nothing.
    #[arg(long, conflicts_with = "programs")]
    networks: bool,
    /// The loops to measure, or with --programs the programs. The default is all. May be repeated.
    #[arg(long = "loop", value_name = "NAME", num_args = 1..)]
    names: Vec<String>,
    /// Measure whole programs without acceleration, with the checker alone, and with networks: the guests, and those of the
    /// workloads of `kvrm bench programs` whose programs are in this directory. `doom-demo1` plays a demo of DOOM.
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = "target/programs", conflicts_with = "iterations")]
    programs: Option<PathBuf>,
    /// The largest number of steps of each lane of a whole program.
    #[arg(long, value_name = "N", default_value = "1G", value_parser = number::count, requires = "programs")]
    steps: u64,
    /// The number of repetitions of a whole program in each mode.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..), requires = "programs")]
    repetitions: u32,
    /// Print one JSON object per measurement, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    match &args.programs {
        Some(folder) => run_programs(args, folder),
        None => run_bare(args),
    }
}

/// Measures whole programs in all modes.
fn run_programs(args: &Args, folder: &Path) -> Result<ExitCode> {
    let all = whole::all(folder, &args.names)?;
    let mut log = args.record.open(record::PROGRAM)?;
    let engine = args.engine.open()?;
    if !args.json {
        engine.announce();
    }
    for &lanes in &args.lanes {
        let lanes = usize::try_from(lanes)?;
        let mut rows = Rows {
            out: Output::new(),
            log: log.as_mut(),
            is_json: args.json,
            engine: &engine,
            lanes,
            ratios: Default::default(),
        };
        rows.head()?;
        for of in &all {
            let measured = of
                .measure(&engine, lanes, args.steps, args.repetitions as usize)
                .with_context(|| format!("{} in {lanes} lanes", of.name))?;
            rows.add(of.name, &measured)?;
        }
        rows.mean()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures loops without a program around them.
fn run_bare(args: &Args) -> Result<ExitCode> {
    let known = || BARE.iter().map(|of| of.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| match BARE.iter().find(|of| of.name == name) {
        Some(of) => Ok(of),
        None => bail!("--loop '{name}': expected one of {}", known()),
    };
    let chosen: Vec<&BareLoop> = match &args.names[..] {
        [] => BARE.iter().collect(),
        names => names.iter().map(find).collect::<Result<_>>()?,
    };
    let sized = chosen.into_iter().map(|of| of.sized(args.iterations, args.pixels));
    let chosen: Vec<BareLoop> = sized.collect::<Result<_>>()?;
    let mut log = args.record.open(record::PROGRAM)?;
    let engine = args.engine.open()?;
    let Some(loops) = engine.loops.clone() else {
        bail!("--loops off measures nothing; use --loops checker");
    };
    let mut out = Output::new();
    if !args.json {
        engine.announce();
        writeln!(
            out,
            "{:<13} {:>8} {:>12} {:>14} {:>14} {:>10} {:>10} {:>8}",
            "loop", "lanes", "steps", "stepped MIPS", "at once MIPS", "times", "credited", "native"
        )?;
        out.flush()?;
    }
    for of in &chosen {
        for &lanes in &args.lanes {
            let row = Row::measure(&engine, &loops, of, usize::try_from(lanes)?, args.iterations)?;
            let Row { stepped, at_once, native, steps, credited } = &row;
            let mips = |seconds: f64| *steps as f64 / seconds.max(1e-9) / 1e6;
            let [slow, fast] = [stepped, at_once].map(|all| mips(all[all.len() / 2]));
            let share = *credited as f64 / *steps as f64;
            let to_native = |native: &[f64]| {
                stepped.iter().zip(native).map(|(stepped, native)| stepped / native).collect::<Vec<_>>()
            };
            let found = args.networks.then(|| Found::new(of, args.iterations)).transpose()?;
            if args.json {
                let mut line = serde_json::json!({
                    "engine": engine.name(), "device": engine.device(), "loop": of.name, "lanes": lanes,
                    "iterations": args.iterations, "steps": steps, "stepped_mips": slow, "at_once_mips": fast,
                    "times": fast / slow, "credited": share,
                    "stepped_seconds": stepped, "at_once_seconds": at_once, "native_seconds": native,
                });
                if let Some(pixels) = of.pixels() {
                    line["pixels"] = pixels.into();
                }
                if let Some(found) = &found {
                    line["found"] = found.json();
                }
                writeln!(out, "{line}")?;
            } else {
                writeln!(
                    out,
                    "{:<13} {lanes:>8} {steps:>12} {slow:>14.1} {fast:>14.1} {:>10.1} {:>8.2} % {:>8}",
                    of.name,
                    fast / slow,
                    100.0 * share,
                    to_native(native)
                        .get(native.len() / 2)
                        .map_or_else(String::new, |times| format!("{times:.1}"))
                )?;
                found.iter().try_for_each(|found| found.print(&mut out))?;
            }
            out.flush()?;
            if let Some(log) = &mut log {
                let figure = |all: &[f64]| {
                    Figure::of("MIPS", &all.iter().map(|seconds| mips(*seconds)).collect::<Vec<_>>())
                };
                let times: Vec<f64> =
                    stepped.iter().zip(at_once).map(|(stepped, at_once)| stepped / at_once).collect();
                log.append(MeasuredRow {
                    kind: Kind::Loops,
                    adapter: engine.recorded_adapter(),
                    parameters: [
                        Some(("engine", record::engine(engine.name(), engine.translation).into())),
                        Some(("lanes", lanes.into())),
                        Some(("loop", of.name.into())),
                        Some(("iterations", args.iterations.into())),
                        Some(("mode", loops.report().mode.as_ref().into())),
                        of.pixels().map(|pixels| ("pixels", pixels.into())),
                    ]
                    .into_iter()
                    .flatten()
                    .collect(),
                    figures: [
                        Some(("steps", Figure::of("steps", &[*steps as f64]))),
                        Some(("credited_steps", Figure::of("steps", &[*credited as f64]))),
                        Some(("stepped_mips", figure(stepped))),
                        Some(("at_once_mips", figure(at_once))),
                        Some(("times", Figure::of("ratio", &times))),
                        (!native.is_empty())
                            .then(|| ("native_times", Figure::of("ratio", &to_native(native)))),
                    ]
                    .into_iter()
                    .flatten()
                    .collect(),
                })?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The times of a loop in seconds, in rising order, and its steps in all lanes.
struct Row {
    stepped: Vec<f64>,
    at_once: Vec<f64>,
    /// The times of the same loop as code of the host, if the engine is on the host and there is one lane.
    native: Vec<f64>,
    steps: u64,
    credited: u64,
}

impl Row {
    fn measure(
        engine: &OpenEngine,
        loops: &Loops,
        of: &BareLoop,
        lanes: usize,
        iterations: u64,
    ) -> Result<Self> {
        let mut row =
            Self { stepped: Vec::new(), at_once: Vec::new(), native: Vec::new(), steps: 0, credited: 0 };
        // Both take turns, so that other work on the host slows both.
        let mut stepped = machine(engine.clone(), None, of, lanes, iterations)?;
        let mut at_once = machine(engine.clone(), Some(loops.clone()), of, lanes, iterations)?;
        for repetition in 0..=REPETITIONS {
            let before = loops.report().credited_steps;
            for (machine, seconds) in [(&mut stepped, &mut row.stepped), (&mut at_once, &mut row.at_once)] {
                machine.reset(..)?;
                let report = machine.run(of.budget(iterations))?;
                let stops = machine.stops()?;
                if !stops.iter().all(|stop| matches!(stop, Some(Stop::Halt { .. } | Stop::Budget))) {
                    bail!("the loop {} stopped with {:?}, not at its end", of.name, report.stops);
                }
                row.steps = report.steps;
                // The first run is a warm-up.
                if repetition > 0 {
                    seconds.push(report.wall.as_secs_f64());
                }
            }
            row.credited = loops.report().credited_steps - before;
            let is_compared = !engine.is_gpu() && lanes == 1 && repetition > 0;
            if let Some((seconds, written)) = is_compared.then(|| of.run_native(iterations)).flatten() {
                if written != of.written(&mut at_once, 0, iterations)? {
                    bail!("the loop {} gave other memory than code of the host", of.name);
                }
                row.native.push(seconds);
            }
        }
        for lane in [0, lanes - 1] {
            if stepped.cpu(lane)? != at_once.cpu(lane)? {
                bail!("the loop {} gave other registers in lane {lane} than stepping it", of.name);
            }
            let written = |machine: &mut Machine| of.written(machine, lane, iterations);
            if written(&mut stepped)? != written(&mut at_once)? {
                bail!("the loop {} gave other memory in lane {lane} than stepping it", of.name);
            }
        }
        row.stepped.sort_by(f64::total_cmp);
        row.at_once.sort_by(f64::total_cmp);
        row.native.sort_by(f64::total_cmp);
        Ok(row)
    }
}

/// The loops that were found in a run on the reference, with what the networks and the checker say about them.
struct Found {
    hot: Vec<HotLoop>,
    machine: Machine,
    steps: u64,
}

impl Found {
    /// Runs a loop in one lane.
    fn new(of: &BareLoop, iterations: u64) -> Result<Self> {
        let loops = loops::with_opinions()?;
        let mut machine = machine(Engine::Reference, Some(loops.clone()), of, 1, iterations)?;
        let steps = machine.run(of.budget(iterations))?.steps;
        Ok(Self { hot: loops.hot(), machine, steps })
    }

    fn print(&self, out: &mut Output) -> Result<()> {
        self.hot.iter().try_for_each(|of| loops::print_opinions(out, of, &self.machine, self.steps))
    }

    fn json(&self) -> serde_json::Value {
        self.hot.iter().map(|of| loops::json(of, self.steps)).collect()
    }
}

/// Builds a machine with a snapshot of its start.
fn machine(
    engine: impl Factory,
    loops: Option<Loops>,
    of: &BareLoop,
    lanes: usize,
    iterations: u64,
) -> Result<Machine> {
    let builder = Machine::builder(of.program(iterations)?).engine(engine).loops(loops).lanes(lanes);
    let builder = builder.frames_max(of.frames(iterations)).stack_bytes(0).heap_bytes(0);
    let mut machine = builder.prepare(|lane| of.prepare(lane, iterations)).build()?;
    machine.snapshot()?;
    Ok(machine)
}
