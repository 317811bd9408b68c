//! `kvrm bench doom`: DOOM as an environment, stepped by random actions.

mod check;
mod game;
mod measure;
mod policy;
mod rows;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use kvrm_records::RecordArgs;

use self::game::{GameArgs, Picture};
use self::measure::{Plan, measure};
use self::rows::Rows;
use super::arguments::{seconds, share};
use crate::engine::{EngineArgs, OpenEngine};
use crate::output::Output;
use crate::{number, record};

/// The text at the end of the help.
const HELP: &str = "\
A step of the environment lasts 4 tics of the game (--tics), which are a 35th of a second each, and draws one frame. Lanes begin in the \
first level, and take random actions: they go forward more often than back, turn, step aside, fire and open doors. A lane that \
dies or leaves the level begins again.

In lockstep, each call steps all lanes, and lanes wait for the slowest. Otherwise a lane gets its next action when the host \
sees that it has done its step, while others still run.

Instructions are those that lanes retire. The time is that of whole calls, with the transfer of all observations to the host. The shares \
of instructions in translated code, and of those that --loops executed at once, are those of the measured time.";

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
    /// The approximate time of each of the three repetitions of a measurement, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    seconds: f64,
    /// The number of steps of each lane without a picture at the beginning of the game, in which lanes get to different places.
    #[arg(long, value_name = "STEPS", default_value = "100", value_parser = number::count)]
    skip: u64,
    /// The time in which translation chooses how lanes run, in seconds. After it the game begins again with the steps of --skip and one
    /// repetition that is not counted.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    warm_up: f64,
    /// Measure nothing: step the lanes so often on the engine and on another one, and compare all results of each step.
    #[arg(long, value_name = "STEPS", value_parser = number::count, conflicts_with_all = ["seconds", "json", "record"])]
    check: Option<u64>,
    /// Print one JSON object per measurement, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    // Report all errors of the arguments before anything is measured.
    let program = args.game.open()?;
    let log = args.record.open(record::PROGRAM)?;
    let engine = args.engine.open()?;
    if !args.json {
        engine.announce();
    }
    let share = if args.lockstep { 1.0 } else { args.share };
    let mut rows =
        Rows { out: Output::new(), log, is_json: args.json, engine: &engine, game: &args.game, share };
    if args.check.is_none() {
        rows.head()?;
    }
    for &picture in &args.picture {
        for &lanes in &args.lanes {
            let lanes = usize::try_from(lanes)?;
            let what = || format!("{lanes} lanes");
            let begin = |engine: &OpenEngine| args.game.environments(&program, engine, picture, lanes);
            if let Some(steps) = args.check {
                let line = check::run(begin, &engine, lanes, steps).with_context(what)?;
                writeln!(rows.out, "{line}")?;
                rows.out.flush()?;
                continue;
            }
            let plan = Plan {
                skip: args.skip,
                warm_up: args.warm_up,
                seconds: args.seconds,
                wanted: ((lanes as f64 * share) as usize).clamp(1, lanes),
                draws: picture != Picture::None,
            };
            let measured =
                begin(&engine).and_then(|environments| measure(environments, &plan)).with_context(what)?;
            rows.add(picture, lanes, &measured)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
