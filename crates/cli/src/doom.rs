//! `kvrm doom`: DOOM in a window, in a terminal, or without a picture.

mod controls;
mod frame;
mod game;
mod input;
#[cfg(any(feature = "window", feature = "terminal"))]
mod keyboard;
mod keys;
mod meter;
#[cfg(any(feature = "window", feature = "terminal"))]
mod pacing;
mod playthrough;
#[cfg(any(feature = "window", feature = "terminal"))]
mod pointer;
mod recorder;
mod recording;
mod replay;
mod screenshot;
mod session;
mod terminal;
mod window;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use kvrm::{Program, Stop};

use self::controls::ControlArgs;
use self::game::{Game, GameArgs};
use self::input::Input;
use self::playthrough::Playthrough;
use self::recorder::Recorder;
use self::recording::Recording;
use self::replay::Replay;
use self::screenshot::{Screenshot, screenshot};
use self::session::Session;
use crate::engine::EngineArgs;
use crate::number;
use crate::output::note;

/// The text at the end of the help.
const HELP: &str = "\
Keys: the arrows move and turn, Ctrl fires, Space opens doors, Shift runs, Alt or , and . step aside, 1 to \
7 choose a weapon, Tab shows the map, Escape the menu. The mouse turns and fires after a click into the \
window; Escape frees it. In a terminal, Ctrl-C ends the game. Terminals without the keyboard protocol of \
kitty do not report when keys are released; there a key counts as held for 150 ms after its last \
repetition, and F fires.

The game has 35 tics a second. If there is no time to draw a frame after each, frames are left out: up to 8 \
tics pass between two frames. If the engine is slower still, it plays as fast as it can, and says so. MIPS \
are millions of instructions in a second of the time that tics and frames take; the rest of the time is for \
showing and waiting.

The default engine is the JIT, also on hosts with a GPU: one lane is fastest on a CPU, and draws all frames \
there. A GPU is fast because it runs many lanes; --engine gpu plays in one of them, with fewer frames a second.

A recording has the options of the game, the inputs, the number of tics between frames, and checksums of \
frames, in lines of text. With --replay the inputs are played back, and a frame with another checksum is an \
error. All engines give the same frames after the same inputs and numbers of tics.

The game saves into memory that ends with the command. The exit status is 0 if the player or the game ends \
it, 1 if something else stops the game, and 2 if kvrm failed.";

/// Arguments of `kvrm doom`.
#[derive(clap::Args)]
#[command(
    after_help = format!("{HELP}\n\n{}", number::HELP),
    mut_arg("engine", |arg| arg.default_value("jit")),
)]
pub(crate) struct Args {
    #[command(flatten)]
    engine: EngineArgs,
    /// The program, which `cargo xtask guests --doom` makes.
    #[arg(long, value_name = "FILE", default_value = "target/programs/doom")]
    program: PathBuf,
    #[command(flatten)]
    game: GameArgs,
    /// Play in the terminal, in 24-bit colours, instead of a window.
    #[arg(long, conflicts_with = "headless")]
    terminal: bool,
    /// Show no picture and take no input, and run as fast as possible.
    #[arg(long)]
    headless: bool,
    #[command(flatten)]
    controls: ControlArgs,
    /// End the game after this number of tics.
    #[arg(long, value_name = "N", value_parser = number::count)]
    tics: Option<u64>,
    /// Record the game into a file.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Play back a recording, and compare its frames. It has the options of the game.
    #[arg(long, value_name = "FILE", conflicts_with = "record", conflicts_with = "tics_per_frame", conflicts_with_all = game::OPTIONS)]
    replay: Option<PathBuf>,
    /// Write the last frame into a PNG file.
    #[arg(long, value_name = "FILE", value_parser = screenshot)]
    screenshot: Option<Screenshot>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let (game, replay) = match &args.replay {
        Some(path) => {
            let Recording { game, events } = read(path).context("--replay")?;
            (game, Some(Replay::new(path, events)))
        }
        None => (Game::from(&args.game), None),
    };
    if args.headless && args.tics.is_none() && replay.is_none() && !game.is_demo() {
        bail!("--headless: nothing would end the game; add --tics, --demo or --replay");
    }
    match (args.headless, args.terminal) {
        (true, _) => {}
        (false, true) => terminal::check()?,
        (false, false) => window::check()?,
    }
    game.check()?;
    let name = || format!("--program '{}'", args.program.display());
    let program = Program::open(&args.program)
        .with_context(|| format!("{}; `cargo xtask guests --doom` makes it", name()))?;
    let engine = args.engine.open()?;
    let recorder =
        args.record.as_ref().map(|path| Recorder::create(path, &recording::header(&game))).transpose()?;
    engine.announce();
    let session = Session::start(&game, program, &engine).with_context(name)?;
    let mut play = Playthrough::new(session, engine.name(), args.tics, replay, recorder)?;
    let played = match (args.headless, args.terminal) {
        (true, _) => run_headless(&mut play, args.controls.tics_per_frame.unwrap_or(1)),
        (false, true) => terminal::run(&mut play, &args.controls),
        (false, false) => window::run(&mut play, &args.controls),
    };
    // Also what was played before a failure is worth keeping.
    let stop = play.finish();
    if let Some(screenshot) = &args.screenshot {
        screenshot.write(play.frame(), args.controls.scale.unwrap_or(1).into())?;
    }
    play.summary().into_iter().for_each(note);
    played?;
    Ok(match stop? {
        None | Some(Stop::Exit { code: 0 }) => ExitCode::SUCCESS,
        Some(_) => ExitCode::FAILURE,
    })
}

/// Reads a recording. Errors name the file and the line.
fn read(path: &Path) -> Result<Recording> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read '{}'", path.display()))?;
    Recording::parse(&text).map_err(|mistake| anyhow!("{}:{mistake}", path.display()))
}

fn run_headless(play: &mut Playthrough, tics: u32) -> Result<()> {
    while !play.is_over() {
        play.step(Input::default(), tics)?;
    }
    Ok(())
}
