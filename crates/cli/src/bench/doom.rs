//! `kvrm bench doom`: DOOM as an environment, stepped by random actions.

mod check;
mod game;
mod policy;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result};
use kvrm::Program;
use kvrm::environments::Environments;

use self::game::{GameArgs, Picture, TICS};
use self::policy::Policy;
use super::arguments::{seconds, share};
use crate::engine::{EngineArgs, OpenEngine};
use crate::number;
use crate::output::{Output, note};

/// The text at the end of the help.
const HELP: &str = "\
A step of the environment lasts 4 tics of the game, which are a 35th of a second each, and draws one frame. Lanes begin in the \
first level, and take random actions: they go forward more often than back, turn, step aside, fire and open doors. A lane that \
dies or leaves the level begins again.

In lockstep, each call steps all lanes, and lanes wait for the slowest. Otherwise a lane gets its next action when the host \
sees that it has done its step, while others still run.

Instructions are those that lanes retire. The time is that of whole calls, with the transfer of all observations to the host.";

/// Arguments of `kvrm bench doom`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(super) struct Args {
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    game: GameArgs,
    /// The numbers of lanes to measure with, separated by commas.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,64,1024,8192", value_parser = number::lanes)]
    lanes: Vec<u64>,
    /// What is drawn and observed. May be repeated.
    #[arg(long, value_name = "PICTURE", value_delimiter = ',', default_value = "full,half,none")]
    picture: Vec<Picture>,
    /// Step all lanes together.
    #[arg(long)]
    lockstep: bool,
    /// The share of the lanes that are waited for, if lanes are not stepped together.
    #[arg(long, value_name = "SHARE", default_value = "0.1", value_parser = share)]
    share: f64,
    /// The approximate time of a measurement, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    seconds: f64,
    /// The number of steps of each lane without a picture before a measurement, in which lanes get to different places.
    #[arg(long, value_name = "STEPS", default_value = "100", value_parser = number::count)]
    skip: u64,
    /// The time between these steps and a measurement, in seconds, in which translation chooses how lanes run.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    warm_up: f64,
    /// Measure nothing: step the lanes so often on the engine and on another one, and compare all results of each step.
    #[arg(long, value_name = "STEPS", value_parser = number::count, conflicts_with_all = ["seconds", "json"])]
    check: Option<u64>,
    /// Print one JSON object per measurement, one per line.
    #[arg(long)]
    json: bool,
}

/// The counts of a measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    steps: u64,
    instructions: u64,
    seconds: f64,
    pages: f64,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let program = args.game.open()?;
    let engine = args.engine.open()?;
    let mut out = Output::new();
    if !args.json {
        engine.announce();
    }
    if !args.json && args.check.is_none() {
        writeln!(
            out,
            "{:>8} {:>8} {:>12} {:>12} {:>14} {:>10} {:>8}",
            "picture", "lanes", "steps/s", "tics/s", "k instr/step", "MIPS", "pages"
        )?;
        out.flush()?;
    }
    for &picture in &args.picture {
        for &lanes in &args.lanes {
            let lanes = usize::try_from(lanes)?;
            if let Some(steps) = args.check {
                let what = || format!("{lanes} lanes");
                let begin = |engine: &OpenEngine| args.game.environments(&program, engine, picture, lanes);
                let line = check::run(begin, &engine, lanes, steps).with_context(what)?;
                writeln!(out, "{line}")?;
                out.flush()?;
                continue;
            }
            let measured =
                measure(args, &program, &engine, picture, lanes).with_context(|| format!("{lanes} lanes"))?;
            let Measured { steps, instructions, seconds, pages } = measured;
            let (rate, mips) = (steps as f64 / seconds, instructions as f64 / seconds / 1e6);
            let each = instructions as f64 / steps as f64;
            if args.json {
                let line = serde_json::json!({
                    "picture": picture.name(), "lanes": lanes, "steps_a_second": rate, "mips": mips,
                    "instructions_a_step": each, "pages_a_lane": pages, "seconds": seconds, "steps": steps,
                    "engine": engine.name(), "device": engine.device(),
                });
                writeln!(out, "{line}")?;
            } else {
                writeln!(
                    out,
                    "{:>8} {lanes:>8} {rate:>12.1} {:>12.1} {:>14.1} {mips:>10.1} {pages:>8.1}",
                    picture.name(),
                    rate * f64::from(TICS),
                    each / 1e3
                )?;
            }
            out.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(
    args: &Args,
    program: &Program,
    engine: &OpenEngine,
    picture: Picture,
    lanes: usize,
) -> Result<Measured> {
    let mut environments = args.game.environments(program, engine, picture, lanes)?;
    let mut policy = Policy::new(lanes);
    let mut waiting: Vec<usize> = (0..lanes).collect();
    environments.set_observing(false);
    for _ in 0..args.skip {
        environments.step(&policy.actions(&waiting))?;
    }
    environments.set_observing(picture != Picture::None);
    let mut go = |environments: &mut Environments, seconds: f64| -> Result<Measured> {
        let begin = Instant::now();
        let mut measured = Measured::default();
        while measured.seconds < seconds {
            let wanted =
                if args.lockstep { lanes } else { ((lanes as f64 * args.share) as usize).clamp(1, lanes) };
            environments.send(&waiting, &policy.actions(&waiting))?;
            let batch = environments.receive(wanted)?;
            waiting.clear();
            waiting.extend(batch.lanes);
            measured.steps += batch.lanes.len() as u64;
            measured.instructions += batch.instructions.iter().sum::<u64>();
            measured.seconds = begin.elapsed().as_secs_f64();
        }
        Ok(measured)
    };
    go(&mut environments, args.warm_up)?;
    let measured = go(&mut environments, args.seconds)?;
    let report = environments.machine_mut().run(0)?;
    if !args.json
        && let Some(translation) = &report.translation
    {
        note(translation);
    }
    Ok(Measured { pages: report.frames as f64 / lanes as f64, ..measured })
}
