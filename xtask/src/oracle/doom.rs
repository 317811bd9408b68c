//! Comparison of DOOM's demos with QEMU user mode and with the same game compiled for the host: the checksums of all frames
//! have to be the same.

mod playback;
mod wad;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use self::playback::Playback;
use super::commands::{QEMU_CPU, intervals, kvrm};
use crate::system::ensure_program;
use crate::{doom, third_party};

/// The folder of the WADs for the guest.
const WADS: &str = "/wads";
/// The engine that executes a demo in intervals, because a single lane is slow there.
const GPU: &str = "gpu";

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The engines to test.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "ENGINE,...",
        default_value = "reference,jit",
        value_parser = ["reference", "jit", GPU],
    )]
    engines: Vec<String>,
    /// Compare so many frames of each demo, from its start. By default all are compared.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    frames: Option<u64>,
    /// The WADs of Freedoom.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...", default_value = "freedoom1,freedoom2")]
    wad: Vec<String>,
    /// The demos, such as demo1. By default these are all that a WAD has.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    demo: Vec<String>,
    /// Play so many demos at the same time.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,
}

/// A demo of a WAD.
#[derive(Clone, Debug)]
struct Demo {
    wad: String,
    name: String,
}

/// A program that plays demos.
#[derive(Clone, Debug)]
enum Player {
    /// The guest under QEMU.
    Qemu,
    /// The program for the host.
    Native,
    /// The guest in KVRM, with this engine on the CPU.
    Engine(String),
    /// The guest in KVRM on a GPU, with the path of the program that executes it in intervals.
    Intervals(PathBuf),
}

/// The paths of programs and WADs, and the number of frames.
struct Setting {
    kvrm: PathBuf,
    programs: PathBuf,
    wads: PathBuf,
    frames: Option<u64>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    ensure_program("qemu-aarch64", "qemu-user")?;
    doom::run()?;
    let setting =
        Setting { kvrm: kvrm()?, programs: third_party::folder()?, wads: doom::wads()?, frames: args.frames };
    let demos = demos(args, &setting.wads)?;
    let mut players = vec![Player::Native];
    for engine in &args.engines {
        players.push(Player::of(engine)?);
    }
    let names: String = players.iter().map(|player| format!(" {:<12}", player.name())).collect();
    println!("{:<10} {:<6} {:>6} {:>8} {}", "wad", "demo", "frames", "pictures", names.trim_end());
    let pool = ThreadPoolBuilder::new().num_threads(args.jobs.into()).build()?;
    let compare = |demo| compare(demo, &players, &setting);
    let counts = pool.install(|| demos.par_iter().map(compare).collect::<Result<Vec<_>>>())?;
    let (frames, differ): (Vec<usize>, Vec<usize>) = counts.into_iter().unzip();
    let differ: usize = differ.iter().sum();
    let all = format!("{} frames of {} demos", frames.iter().sum::<usize>(), demos.len());
    if differ > 0 {
        bail!("{all}: {differ} of {} playbacks differ from qemu-aarch64", demos.len() * players.len());
    }
    println!("{all}: the same as with qemu-aarch64");
    Ok(())
}

/// Returns the demos of the arguments. All of them have to exist.
fn demos(args: &Args, wads: &Path) -> Result<Vec<Demo>> {
    let mut demos = Vec::new();
    for wad in &args.wad {
        let all = wad::demos(&wads.join(format!("{wad}.wad"))).with_context(|| format!("--wad '{wad}'"))?;
        let list = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        if let Some(missing) = args.demo.iter().find(|demo| !all.contains(demo)) {
            bail!("--demo '{missing}': {wad}.wad has the demos {list}");
        }
        ensure!(!all.is_empty(), "--wad '{wad}': the WAD has no demos");
        let names = if args.demo.is_empty() { all } else { args.demo.clone() };
        demos.extend(names.into_iter().map(|name| Demo { wad: wad.clone(), name }));
    }
    Ok(demos)
}

/// Plays a demo with all players, and prints a row. Returns the number of frames, and of players that differ from QEMU.
fn compare(demo: &Demo, players: &[Player], setting: &Setting) -> Result<(usize, usize)> {
    let Demo { wad, name } = demo;
    let right = Playback::of(&mut setting.command(&Player::Qemu, demo))?;
    ensure!(
        right.has_succeeded() && right.frames() > 0,
        "{wad} {name}: qemu-aarch64 played {} frames and ended with {}: expected frames and status 0",
        right.frames(),
        right.end()
    );
    let mut row = format!("{wad:<10} {name:<6} {:>6} {:>8} ", right.frames(), right.pictures());
    let mut details = String::new();
    let mut differ = 0;
    for player in players {
        let difference = Playback::of(&mut setting.command(player, demo))?.difference(&right);
        let cell = difference.as_ref().map_or("same".to_owned(), |difference| difference.place());
        row += &format!(" {cell:<12}");
        if let Some(difference) = difference {
            differ += 1;
            details += &format!("\n  {}: {difference}", player.name());
        }
    }
    println!("{}{details}", row.trim_end());
    Ok((right.frames(), differ))
}

impl Player {
    /// Returns the player of an engine.
    fn of(engine: &str) -> Result<Self> {
        Ok(if engine == GPU { Self::Intervals(intervals()?) } else { Self::Engine(engine.to_owned()) })
    }

    fn name(&self) -> &str {
        match self {
            Self::Qemu => "qemu-aarch64",
            Self::Native => "native",
            Self::Engine(name) => name,
            Self::Intervals(_) => GPU,
        }
    }
}

impl Setting {
    /// Returns the command with which a program plays a demo and prints its frames.
    fn command(&self, player: &Player, demo: &Demo) -> Command {
        let [guest, native] = [doom::GUEST, doom::NATIVE].map(|build| self.programs.join(build.file));
        let mut command = match player {
            Player::Native => Command::new(native),
            Player::Qemu => {
                let mut command = Command::new("qemu-aarch64");
                command.args(QEMU_CPU).arg(guest);
                command
            }
            Player::Engine(engine) => {
                let mut command = Command::new(&self.kvrm);
                command.args(["run", "--engine", engine, "--cwd", WADS, "--mount"]);
                command.arg(format!("{}:{WADS}", self.wads.display())).arg(guest).arg("--");
                command
            }
            Player::Intervals(intervals) => {
                let mut command = Command::new(intervals);
                command.arg("--data").arg(&self.wads).arg(guest);
                command
            }
        };
        command.arg("-frames").args(self.frames.map(|frames| frames.to_string()));
        command.args(["-playdemo", &demo.name]);
        let wad = format!("{}.wad", demo.wad);
        // That one is a part of the program.
        if wad != doom::WAD {
            command.args(["-iwad", &wad]);
        }
        command.current_dir(&self.wads);
        command
    }
}
