//! `kvrm bench prefetch`: prefetchers, for programs with less memory on the GPU than they need.

mod measured;
mod plot;
mod rows;
mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use kvrm::prefetch::{Degree, Policy};
use kvrm::{
    FrameMoves, GpuEngine, Machine, MemoryLimits, PAGE_BYTES, Prefetch, Register, Report, Stop, Stream,
    Translation,
};
use kvrm_records::RecordArgs;

use self::measured::{Case, Measured};
use self::rows::Rows;
use self::workload::Workload;
use crate::engine::AdapterArgs;
use crate::output::Output;
use crate::picture::{self, Picture};
use crate::{number, record};

/// The text at the end of the help.
const HELP: &str = "\
The programs are those of docs/prefetch.md that no prefetcher has learned from: chase, join, sort, stream and stride \
(`cargo xtask prefetch log` compiles them), and lua, sqlite and zstandard (`cargo xtask guests --programs`). The command \
is to be started in the root of the repository.

A program first runs without limits, which shows how many frames of 4096 bytes it needs. Those of its file stay on the \
GPU. Then it runs with room for 1/N of the others, for each N of --memory and with each prefetcher. All runs have to \
print the same and retire the same steps. Code is not translated.

frames    the frames that the program needs, with those of its file
speedup   the time without prefetching, divided by the time
waits     how often lanes stopped because they needed a frame or its place
in, out   frames that moved to the GPU, and to the host
accuracy  frames that were used after their prefetch, of all that were prefetched
coverage  first uses of prefetched frames, of these and the frames that lanes had to wait for
hears     accesses of which the prefetchers heard, for each 1,000 steps

Frames move only between slices, while lanes wait. So a prefetched frame is there before its first use, or was evicted \
before: timeliness is a figure of the replays in docs/prefetch.md.";

/// More frames than any GPU has room for: 256 GiB.
const PLACES_MAX: u64 = 1 << 26;

/// Arguments of `kvrm bench prefetch`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(super) struct Args {
    #[command(flatten)]
    adapter: AdapterArgs,
    /// The number of lanes. All do the same.
    #[arg(long, value_name = "N", default_value = "1", value_parser = number::lanes)]
    lanes: u64,
    /// The parts of the needed memory, separated by commas: N for 1/N of it.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2,5")]
    memory: Vec<u32>,
    /// The prefetchers, separated by commas. `none` is always measured, and first.
    #[arg(
        long,
        value_name = "POLICY",
        value_delimiter = ',',
        default_value = "next,stride,best-offset,markov,oracle"
    )]
    prefetch: Vec<Policy>,
    /// The largest number of pages that a prefetcher brings for each access of which it hears.
    #[arg(long, value_name = "PAGES", default_value_t)]
    degree: Degree,
    /// The number of repetitions of each measurement, of which the median counts.
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// The largest number of steps of each lane. By default, the small programs run to their end, and the large ones for 8 or 10 million
    /// steps.
    #[arg(long, value_name = "STEPS", value_parser = number::count)]
    steps: Option<u64>,
    /// The directory of the five small programs.
    #[arg(long, value_name = "DIR", default_value = "target/prefetch/gcc-O2")]
    guests: PathBuf,
    /// The directory of the three large programs.
    #[arg(long, value_name = "DIR", default_value = "target/programs")]
    programs: PathBuf,
    /// The size of the data of the small programs, which is their argument. By default, each has a size for which a lane takes a few
    /// seconds.
    #[arg(long, value_name = "N")]
    size: Option<u64>,
    /// Measure only this program. May be repeated.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Draw how often lanes have waited, step by step, into this file (.svg or .png), instead of measuring. For one program and
    /// one part of the memory.
    #[arg(long, value_name = "FILE", value_parser = picture::picture, conflicts_with_all = ["json", "record"])]
    plot: Option<Picture>,
    /// Print one JSON object per measurement, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

/// A run of a program.
struct Run {
    report: Report,
    moves: FrameMoves,
    /// The number of frames of the program's file, which stay on the GPU.
    images: u32,
    output: Vec<u8>,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    // Report all errors of the arguments before anything is measured.
    ensure!(!args.memory.contains(&0), "--memory 0: expected N for 1/N of the memory, at least 1");
    let workloads = workload::open(&args.guests, &args.programs, &args.only, args.size)?;
    if args.plot.is_some() {
        ensure!(
            workloads.len() == 1 && args.memory.len() == 1,
            "--plot: expected one program (--only) and one part of the memory (--memory); found {} and {}",
            workloads.len(),
            args.memory.len()
        );
    }
    let log = args.record.open(record::PROGRAM)?;
    let gpu = GpuEngine::open(args.adapter.adapter.as_deref())?;
    let lanes = usize::try_from(args.lanes)?;
    let mut rows = Rows {
        out: Output::new(),
        log,
        is_json: args.json,
        adapter: gpu.device().info(),
        lanes,
        degree: args.degree,
    };
    rows.head()?;
    let policies = args.prefetch.iter().copied().filter(|policy| *policy != Policy::None);
    let policies: Vec<Policy> = [Policy::None].into_iter().chain(policies).collect();
    for workload in &workloads {
        let all = args.run_once(&gpu, workload, None, Policy::None).with_context(|| workload.name.clone())?;
        let needed = u32::try_from(all.moves.resident)?;
        for &part in &args.memory {
            let places = all.images + needed.saturating_sub(all.images).div_ceil(part);
            if let Some(picture) = &args.plot {
                let mut curves = Vec::new();
                for policy in &policies {
                    let mut machine = args.machine(&gpu, workload, Some((places, needed)), *policy)?;
                    curves.push((
                        policy.name(),
                        plot::waits(&mut machine, all.report.steps.div_ceil(args.lanes))?,
                    ));
                }
                plot::draw(picture, format!("{} with 1/{part} of its memory", workload.name), curves)?;
                continue;
            }
            let mut without = None;
            for &policy in &policies {
                let case = Case { workload, part, needed, places, policy };
                let what =
                    || format!("{} with 1/{part} of the memory and --prefetch {policy}", workload.name);
                let measured = args.measure(&gpu, &case, &all).with_context(what)?;
                let without = without.get_or_insert(measured.seconds());
                rows.add(&case, &measured, *without)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// Measures a program several times. `all` is a run without limits.
    fn measure(&self, gpu: &GpuEngine, case: &Case<'_>, all: &Run) -> Result<Measured> {
        let mut runs = Vec::new();
        for _ in 0..self.repetitions {
            let places = Some((case.places, case.needed));
            let run = self.run_once(gpu, case.workload, places, case.policy)?;
            ensure!(
                run.report.steps == all.report.steps,
                "the run retired other steps than that without limits"
            );
            ensure!(run.output == all.output, "the run printed something else than that without limits");
            runs.push(run);
        }
        runs.sort_by_key(|run| run.report.wall);
        let seconds = runs.iter().map(|run| run.report.wall.as_secs_f64()).collect();
        let median = &runs[runs.len() / 2];
        Ok(Measured { seconds, steps: median.report.steps, moves: median.moves })
    }

    /// Builds the machine of a run. `places` are the frames on the GPU, and those that the program needs; `None`: there is room for all
    /// that it needs.
    fn machine(
        &self,
        gpu: &GpuEngine,
        workload: &Workload,
        places: Option<(u32, u32)>,
        policy: Policy,
    ) -> Result<Machine> {
        let (places, needed) = places.unwrap_or_else(|| (self.places_max(), 0));
        let host = u64::from(needed) * PAGE_BYTES as u64;
        let engine = gpu
            .clone()
            // Otherwise the first runs would also be those in which the engine looks for the fastest way to run the program.
            .with_translation(Translation::Off)
            .with_memory(MemoryLimits::new(u64::MAX, host))
            .with_prefetch(Prefetch::new(policy, self.degree)?)
            .with_places(places);
        let builder =
            Machine::builder(workload.program.clone()).engine(engine).lanes(usize::try_from(self.lanes)?);
        Ok(workload.prepare(builder)?.build()?)
    }

    /// Returns the largest number of steps of a lane.
    fn steps_of(&self, workload: &Workload) -> u64 {
        self.steps.unwrap_or(workload.steps)
    }

    /// Returns a number of frames that suffices for all lanes, or that no GPU has room for.
    fn places_max(&self) -> u32 {
        (workload::FRAMES_MAX as u64 * self.lanes).min(PLACES_MAX) as u32
    }

    /// Runs a program to its end, or up to the limit of steps, with `places` as in [`Args::machine`].
    fn run_once(
        &self,
        gpu: &GpuEngine,
        workload: &Workload,
        places: Option<(u32, u32)>,
        policy: Policy,
    ) -> Result<Run> {
        let mut machine = self.machine(gpu, workload, places, policy)?;
        let images = machine.run(0)?.frame_moves.map_or(0, |moves| moves.resident);
        let mut report = machine.run(self.steps_of(workload))?;
        // A GPU may still be working. Reading waits for it.
        machine.registers(Register::Steps)?;
        for (lane, stop) in machine.stops()?.into_iter().enumerate() {
            match stop {
                None | Some(Stop::Budget | Stop::Exit { code: 0 }) => {}
                Some(stop) => bail!("lane {lane} stopped: {stop}"),
            }
        }
        let moves = report.frame_moves.take().context("the engine does not count moves of frames")?;
        let output = machine.output(0, Stream::Output)?.to_vec();
        Ok(Run { report, moves, images: u32::try_from(images)?, output })
    }
}
