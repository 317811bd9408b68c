//! What the commands that run a program have in common.

use std::hash::{BuildHasher as _, Hasher as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use kvrm::arm64::Features;
use kvrm::{Builder, Machine, Program, Stop, System, read};

use crate::number;

/// The status when a lane has used up its budget, as of the command `timeout`.
const BUDGET_STATUS: u8 = 124;
/// The status when a lane was stopped by anything else but its own exit.
const STOPPED_STATUS: u8 = 125;

/// How to load a program.
#[derive(clap::Args)]
pub(crate) struct LoadArgs {
    /// The program: a static ELF file for AArch64, or with --raw a file of code and data.
    pub(crate) program: PathBuf,
    /// Take the file as it is and start at its first byte; all its memory is readable, writable, executable.
    #[arg(long)]
    raw: bool,
    /// Where a raw program lies.
    #[arg(long, value_name = "ADDRESS", requires = "raw", default_value = "0x10000", value_parser = number::address)]
    load_address: u64,
    /// How much memory a raw program has from there, if more than the file.
    #[arg(long, value_name = "BYTES", requires = "raw", default_value = "1M", value_parser = number::bytes)]
    raw_memory: u64,
    /// Serve the system calls of Linux, whatever the file looks like.
    #[arg(long, conflicts_with_all = ["semihosting", "raw"])]
    linux: bool,
    /// Serve Arm semihosting, whatever the file looks like.
    #[arg(long)]
    semihosting: bool,
}

/// How to set a machine up.
#[derive(clap::Args)]
pub(crate) struct MachineArgs {
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    /// The arguments of the program; write -- before those that begin with a dash.
    pub(crate) args: Vec<String>,
    /// One more argument, different in each lane: {lane} stands for the lane's number. May be repeated.
    #[arg(long = "lane-arg", value_name = "TEMPLATE")]
    lane_args: Vec<String>,
    /// The most steps each lane may take.
    #[arg(long, value_name = "STEPS", value_parser = number::count)]
    pub(crate) budget: Option<u64>,
    /// The directory the guest may use files in. Without it, it has none.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// A file the guest reads as its console input; {lane} in its name stands for the lane's number.
    #[arg(long, visible_alias = "stdin", value_name = "FILE")]
    input: Option<String>,
    /// Show a Linux program a directory of the host, which it can read and not change. May be repeated.
    #[arg(long = "mount", value_name = "HOST:GUEST", value_parser = mount)]
    mounts: Vec<(PathBuf, String)>,
    /// Give each lane of a Linux program a copy of a directory of the host, which it can change. May be repeated.
    #[arg(long = "copy", value_name = "HOST:GUEST", value_parser = mount)]
    copies: Vec<(PathBuf, String)>,
    /// The directory a Linux program begins in, as the guest sees it.
    #[arg(long, value_name = "GUEST", default_value = "/")]
    cwd: String,
    /// A variable in the environment of a Linux program; {lane} in it stands for the lane's number. May be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    environment: Vec<String>,
    /// What the randomness of a Linux program follows from, together with the lane's number; `random` takes a seed from
    /// the host, and no two runs are the same.
    #[arg(long, value_name = "N", default_value = "0", value_parser = seed)]
    seed: u64,
    /// Let a Linux program see the time of the host, and sleep; otherwise a step takes a nanosecond.
    #[arg(long)]
    real_time: bool,
    /// Make the three standard streams of a Linux program a terminal, of 80 by 24; otherwise they are pipes.
    #[arg(long)]
    tty: bool,
    /// Size of each lane's stack; unless said, 1M, or 8M for a Linux program.
    #[arg(long, value_name = "BYTES", value_parser = number::bytes)]
    stack: Option<u64>,
    /// Size of each lane's heap; unless said, 16M, or 256M for a Linux program. Memory costs nothing until it is
    /// written.
    #[arg(long, value_name = "BYTES", value_parser = number::bytes)]
    heap: Option<u64>,
    /// How much each lane of a Linux program may map beside its heap.
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = number::bytes)]
    arena: u64,
    /// The most 4 KiB pages each lane may write; unless said, all lanes share 8 GiB equally.
    #[arg(long, value_name = "PAGES", value_parser = number::count)]
    frames: Option<u64>,
    /// Give the machine the Armv8.1 atomics.
    #[arg(long)]
    pub(crate) lse: bool,
    /// Give the machine floating point and vectors, with AES, SHA-1 and SHA-256. Linux programs have floating point and
    /// vectors anyway.
    #[arg(long)]
    pub(crate) fp: bool,
}

impl LoadArgs {
    pub(crate) fn load(&self) -> Result<Program> {
        if self.raw {
            let name = self.program.display().to_string();
            return Ok(Program::raw(&name, read(&self.program)?, self.load_address, self.raw_memory)?);
        }
        let system = match (self.linux, self.semihosting) {
            (true, _) => Some(System::Linux),
            (_, true) => Some(System::Semihosting),
            _ => None,
        };
        Ok(Program::open_as(&self.program, system)?)
    }
}

impl MachineArgs {
    /// The program's name without folders, and its arguments, as one types them.
    pub(crate) fn command(&self) -> String {
        let name = self.load.program.file_name().unwrap_or_default().to_string_lossy();
        kvrm_records::command_line(&name, self.args.iter().chain(&self.lane_args).cloned())
    }

    /// The features of the machine.
    pub(crate) fn features(&self, program: &Program) -> Features {
        let features = if self.fp { Features::ALL } else { program.features() };
        Features { lse: self.lse, ..features }
    }

    /// Everything but the engine, the number of lanes and the console.
    pub(crate) fn builder(
        &self,
        program: Program,
        features: Features,
        lanes: usize,
    ) -> Result<Builder<'static>> {
        self.builder_of_lanes(program, features, 0, lanes)
    }

    /// What lanes read: one file for all, or one for each if its name has the lane in it.
    fn inputs(&self, first: usize, lanes: usize) -> Result<Vec<Vec<u8>>> {
        let Some(template) = &self.input else { return Ok(vec![Vec::new()]) };
        let lanes = if template.contains("{lane}") { lanes } else { 1 };
        let path = |lane: usize| PathBuf::from(template.replace("{lane}", &(first + lane).to_string()));
        (0..lanes).map(|lane| read(&path(lane)).context("the console input")).collect()
    }

    /// The same, with `lanes` lanes numbered from `first` in templates.
    pub(crate) fn builder_of_lanes(
        &self,
        program: Program,
        features: Features,
        first: usize,
        lanes: usize,
    ) -> Result<Builder<'static>> {
        for template in &self.lane_args {
            check_template("--lane-arg", template)?;
        }
        for template in self.input.iter().chain(&self.environment) {
            check_template("--input or --env", template)?;
        }
        let inputs = self.inputs(first, lanes)?;
        let environment = self.environment.clone();
        let (args, templates) = (self.args.clone(), self.lane_args.clone());
        let mut builder = Machine::builder(program)
            .features(features)
            .arena_bytes(self.arena)
            .seed(self.seed)
            .real_time(self.real_time)
            .terminal(self.tty)
            .current_directory(&self.cwd)
            .input(move |lane| inputs[lane % inputs.len()].clone())
            .environment(move |lane| {
                let number = (first + lane).to_string();
                environment.iter().map(|template| template.replace("{lane}", &number)).collect()
            })
            .arguments(move |lane| {
                let number = (first + lane).to_string();
                args.iter().chain(&templates).map(|template| template.replace("{lane}", &number)).collect()
            });
        if let Some(stack) = self.stack {
            builder = builder.stack_bytes(stack);
        }
        if let Some(heap) = self.heap {
            builder = builder.heap_bytes(heap);
        }
        for (host, guest) in &self.mounts {
            builder = builder.mount(host, guest.clone());
        }
        for (host, guest) in &self.copies {
            builder = builder.copy(host, guest.clone());
        }
        if let Some(frames) = self.frames {
            builder = builder.frames_max(usize::try_from(frames).unwrap_or(usize::MAX));
        }
        if let Some(dir) = &self.dir {
            builder = builder.directory(dir);
        }
        Ok(builder)
    }
}

/// What `--seed` says.
fn seed(text: &str) -> Result<u64, String> {
    // The keys of the standard library's hashes are the host's randomness.
    let random = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    if text == "random" { Ok(random()) } else { number::count(text) }
}

/// What `--mount` and `--copy` say: the last colon parts the two paths.
fn mount(text: &str) -> Result<(PathBuf, String), String> {
    match text.rsplit_once(':') {
        Some((host, guest)) if !host.is_empty() && guest.starts_with('/') => {
            Ok((host.into(), guest.to_owned()))
        }
        _ => Err("expected HOST:GUEST, where GUEST is an absolute path".to_owned()),
    }
}

/// What `--env` says.
fn variable(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// A brace that is not part of `{lane}` is most likely a mistake.
fn check_template(option: &str, template: &str) -> Result<()> {
    if template.replace("{lane}", "").contains(['{', '}']) {
        bail!("{option} '{template}': the only thing that may stand in braces is {{lane}}");
    }
    Ok(())
}

/// The status of a command that has run the machine.
pub(crate) fn status(machine: &mut Machine) -> Result<ExitCode> {
    if machine.lanes() > 1 {
        let good = machine.stops()?.into_iter().all(|stop| stop == Some(Stop::Exit { code: 0 }));
        return Ok(ExitCode::from(u8::from(!good)));
    }
    Ok(ExitCode::from(match machine.stop(0)? {
        // The low eight bits, as the shell shows of any program.
        Some(Stop::Exit { code }) => code as u8,
        // A trace with a budget of 0 has not run at all.
        Some(Stop::Budget) | None => BUDGET_STATUS,
        _ => STOPPED_STATUS,
    }))
}
