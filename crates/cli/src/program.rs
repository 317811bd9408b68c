//! The options of all commands that run a program: how to load it, and how to build its machine.

use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use kvrm::arm64::{Features, Processor};
use kvrm::{Builder, Machine, Program, Stop, System, read};

use crate::number;

/// The exit status after the lane used up its budget, like that of the command `timeout`.
const BUDGET_STATUS: u8 = 124;
/// The exit status after the lane stopped for another reason than its exit or its budget.
const STOPPED_STATUS: u8 = 125;

/// The options for loading a program.
#[derive(clap::Args)]
pub(crate) struct LoadArgs {
    /// The program: a static ELF file for AArch64, or with --raw a file of bare code and data.
    pub(crate) program: PathBuf,
    /// Load the file as it is, not as an ELF file, and start at its first byte. All of its memory is readable, writable
    /// and executable.
    #[arg(long)]
    raw: bool,
    /// The address at which a raw program is loaded.
    #[arg(long, value_name = "ADDRESS", requires = "raw", default_value = "0x10000", value_parser = number::address)]
    load_address: u64,
    /// The size of the memory of a raw program, from its load address; at least the size of the file.
    #[arg(long, value_name = "BYTES", requires = "raw", default_value = "1M", value_parser = number::bytes)]
    raw_memory: u64,
    /// Serve the system calls of Linux. By default the file decides: its ABI, its notes or its code.
    #[arg(long, conflicts_with_all = ["semihosting", "raw"])]
    linux: bool,
    /// Serve Arm semihosting. By default the file decides, as for --linux.
    #[arg(long)]
    semihosting: bool,
}

/// The options for building a machine.
#[derive(clap::Args)]
pub(crate) struct MachineArgs {
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    /// The arguments of the program. Write -- before arguments that begin with a dash.
    pub(crate) args: Vec<String>,
    /// One more argument of the program, in which {lane} is replaced with the number of the lane, from 0. May be
    /// repeated.
    #[arg(long = "lane-arg", value_name = "TEMPLATE")]
    lane_args: Vec<String>,
    /// The largest number of steps (executed instructions) of each lane. By default lanes run until they stop.
    #[arg(long, value_name = "STEPS", value_parser = number::count)]
    pub(crate) budget: Option<u64>,
    /// The directory of the host in which a semihosting guest may read and write files. By default it has no files.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The file that the guest reads as its standard input, which is empty by default. {lane} in the name is replaced with
    /// the number of the lane.
    #[arg(long, visible_alias = "stdin", value_name = "FILE")]
    input: Option<String>,
    /// Mount a directory of the host in a Linux program, read-only. May be repeated.
    #[arg(long = "mount", value_name = "HOST:GUEST", value_parser = mount)]
    mounts: Vec<(PathBuf, String)>,
    /// Give each lane of a Linux program its own copy of a directory of the host, which it can change. The host directory
    /// does not change. May be repeated.
    #[arg(long = "copy", value_name = "HOST:GUEST", value_parser = mount)]
    copies: Vec<(PathBuf, String)>,
    /// Run a Linux program in this directory of the host, which holds an arm64 system: it becomes the root directory of each lane,
    /// which can change its own copy. Dynamically linked programs find their libraries there.
    #[arg(long, value_name = "DIR")]
    sysroot: Option<PathBuf>,
    /// The directory in which a Linux program starts, as a path of the guest.
    #[arg(long, value_name = "GUEST", default_value = "/")]
    cwd: String,
    /// A variable in the environment of a Linux program, which is empty by default. {lane} is replaced with the number of
    /// the lane. May be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    environment: Vec<String>,
    /// The seed of the random numbers that a Linux program gets, which also depend on the number of the lane. `random`
    /// takes a different seed from the host in each run.
    #[arg(long, value_name = "N", default_value = "0", value_parser = seed)]
    seed: u64,
    /// The number of steps after which another thread of a Linux program gets its turn, if one can go on.
    #[arg(long, value_name = "STEPS", default_value = "1000000", value_parser = number::count)]
    quantum: u64,
    /// The seed of the schedule of threads of a Linux program, in which {lane} is replaced with the number of the lane. Each seed
    /// is another interleaving, with turns of 1 step up to the quantum. By default threads take turns in order.
    #[arg(long, value_name = "TEMPLATE")]
    schedule: Option<String>,
    /// Let a Linux program see the clock of the host, and really sleep. By default its clock advances by 1 ns per step,
    /// and sleeping takes no time.
    #[arg(long)]
    real_time: bool,
    /// Make the standard streams of a Linux program a terminal of 80 by 24 characters. By default they are pipes.
    #[arg(long)]
    tty: bool,
    /// The size of the stack of each lane. The default is 1M, or 8M for a Linux program.
    #[arg(long, value_name = "BYTES", value_parser = number::bytes)]
    stack: Option<u64>,
    /// The size of the heap of each lane. The default is 16M, or 256M for a Linux program. Memory of the guest takes no
    /// memory of the host until it is written.
    #[arg(long, value_name = "BYTES", value_parser = number::bytes)]
    heap: Option<u64>,
    /// The size of the memory that each lane of a Linux program can map with mmap.
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = number::bytes)]
    arena: u64,
    /// The largest number of 4 KiB pages that each lane may write. By default the lanes share 8 GiB equally.
    #[arg(long, value_name = "PAGES", value_parser = number::count)]
    frames: Option<u64>,
    /// The processor: exactly its instructions exist. By default, the machine has Armv8.0 with CRC32, and for a Linux program
    /// also floating point, vectors and the Armv8.1 atomics. `max` has all that KVRM knows.
    #[arg(long, value_name = "NAME", value_parser = processor())]
    cpu: Option<Processor>,
    /// Add the Armv8.1 atomics (`FEAT_LSE`) to the machine. Linux programs have them by default.
    #[arg(long)]
    pub(crate) lse: bool,
    /// Add floating point and vectors to the machine, with AES, SHA-1 and SHA-256. Linux programs have floating point and
    /// vectors by default.
    #[arg(long)]
    pub(crate) fp: bool,
}

/// Returns the parser of the name of a processor.
fn processor() -> impl TypedValueParser<Value = Processor> {
    let names = PossibleValuesParser::new(Processor::ALL.map(Processor::name));
    names.try_map(|name| Processor::from_name(&name).ok_or("no processor has this name"))
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

/// The options of commands that run one lane of a machine.
#[derive(clap::Args)]
pub(crate) struct LaneArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// The number of the lane to run, which replaces {lane} in --lane-arg, --input and --env.
    #[arg(long, value_name = "N", default_value = "0", value_parser = number::count)]
    lane: u64,
    /// Run this many steps before anything is shown or counted.
    #[arg(long, value_name = "STEPS", default_value = "0", value_parser = number::count)]
    skip: u64,
}

impl LaneArgs {
    /// Returns a builder of a machine with one lane, which gets the arguments of the lane, and the features of the machine.
    pub(crate) fn builder(&self) -> Result<(Builder<'static>, Features)> {
        let lane = usize::try_from(self.lane)?;
        let program = self.machine.load.load()?;
        let features = self.machine.features(&program);
        Ok((self.machine.builder_of_lanes(program, features, lane, 1)?, features))
    }

    /// Returns the number of steps at which the lane has to end.
    pub(crate) fn end(&self) -> u64 {
        self.machine.budget.unwrap_or(u64::MAX)
    }

    /// Runs the steps of --skip.
    pub(crate) fn skip(&self, machine: &mut Machine) -> Result<()> {
        if self.skip > 0 {
            machine.run(self.skip.min(self.end()))?;
        }
        Ok(())
    }
}

impl MachineArgs {
    /// Returns the command line of the program: its file name without folders, and its arguments.
    pub(crate) fn command(&self) -> String {
        let name = self.load.program.file_name().unwrap_or_default().to_string_lossy();
        kvrm_records::command_line(&name, self.args.iter().chain(&self.lane_args).cloned())
    }

    /// Returns whether the clock of a Linux program counts its steps.
    pub(crate) const fn counts_steps_as_time(&self) -> bool {
        !self.real_time
    }

    /// Returns the features of the machine.
    pub(crate) fn features(&self, program: &Program) -> Features {
        let mut features = self.cpu.map_or_else(|| program.features(), Processor::features);
        if self.fp {
            features = features.union(Processor::CortexA53.features());
        }
        features.lse |= self.lse;
        features
    }

    /// Returns a builder with all settings of these options. The engine, the number of lanes and the console are missing.
    pub(crate) fn builder(
        &self,
        program: Program,
        features: Features,
        lanes: usize,
    ) -> Result<Builder<'static>> {
        self.builder_of_lanes(program, features, 0, lanes)
    }

    /// Reads the standard input of the lanes: one file for all, or one for each lane if its name contains `{lane}`.
    fn inputs(&self, first: usize, lanes: usize) -> Result<Vec<Vec<u8>>> {
        let Some(template) = &self.input else { return Ok(vec![Vec::new()]) };
        let lanes = if template.contains("{lane}") { lanes } else { 1 };
        let path = |lane: usize| PathBuf::from(template.replace("{lane}", &(first + lane).to_string()));
        (0..lanes).map(|lane| read(&path(lane)).with_context(|| format!("--input '{template}'"))).collect()
    }

    /// Returns the seeds of the schedules of lanes, which are numbered from `first`; none if there is no option.
    fn schedules(&self, first: usize, lanes: usize) -> Result<Vec<u64>> {
        let Some(template) = &self.schedule else { return Ok(Vec::new()) };
        check_template("--schedule", template)?;
        let seed = |lane: usize| {
            let text = template.replace("{lane}", &(first + lane).to_string());
            number::count(&text)
                .map_err(|expected| anyhow!("--schedule '{template}': {expected}, or {{lane}}"))
        };
        (0..lanes).map(seed).collect()
    }

    /// Returns [`MachineArgs::builder`] for `lanes` lanes, which are numbered from `first` in templates.
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
        if let Some(template) = &self.input {
            check_template("--input", template)?;
        }
        for template in &self.environment {
            check_template("--env", template)?;
        }
        let schedules = self.schedules(first, lanes)?;
        let inputs = self.inputs(first, lanes)?;
        let environment = self.environment.clone();
        let (args, templates) = (self.args.clone(), self.lane_args.clone());
        let mut builder = Machine::builder(program)
            .features(features)
            .arena_bytes(self.arena)
            .seed(self.seed)
            .real_time(self.real_time)
            .terminal(self.tty)
            .quantum(self.quantum)
            .schedule(move |lane| schedules.get(lane).copied())
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
        if let Some(sysroot) = &self.sysroot {
            builder = builder.copy(sysroot, "/");
            if let Some(path) = path_in(sysroot, &self.load.program) {
                builder = builder.executable(path);
            }
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

/// Returns the path that a file of the host has in a directory of the host, if it is there.
fn path_in(directory: &Path, file: &Path) -> Option<String> {
    let (directory, file) = (directory.canonicalize().ok()?, file.canonicalize().ok()?);
    Some(format!("/{}", file.strip_prefix(directory).ok()?.to_str()?))
}

/// Parses the value of `--seed`.
fn seed(text: &str) -> Result<u64, String> {
    // The standard library takes the keys of its hash functions from the randomness of the host.
    let random = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    if text == "random" {
        return Ok(random());
    }
    number::count(text).map_err(|expected| format!("{expected}, or `random`"))
}

/// Parses the value of `--mount` or `--copy`. The last colon separates the two paths.
fn mount(text: &str) -> Result<(PathBuf, String), String> {
    match text.rsplit_once(':') {
        Some((host, guest)) if !host.is_empty() && guest.starts_with('/') => {
            Ok((host.into(), guest.to_owned()))
        }
        _ => Err("expected HOST:GUEST, where GUEST is an absolute path, such as ./data:/data".to_owned()),
    }
}

/// Parses the value of `--env`.
fn variable(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err("expected NAME=VALUE, such as HOME=/root".to_owned()),
    }
}

/// Refuses braces that are not part of `{lane}`, because they are most likely a mistake.
fn check_template(option: &str, template: &str) -> Result<()> {
    if template.replace("{lane}", "").contains(['{', '}']) {
        bail!(
            "{option} '{template}': expected no braces but those of {{lane}}, which stands for the number of the lane"
        );
    }
    Ok(())
}

/// Returns the exit status of a command that has run the machine.
pub(crate) fn status(machine: &mut Machine) -> Result<ExitCode> {
    if machine.lanes() > 1 {
        let good = machine.stops()?.into_iter().all(|stop| stop == Some(Stop::Exit { code: 0 }));
        return Ok(ExitCode::from(u8::from(!good)));
    }
    Ok(ExitCode::from(match machine.stop(0)? {
        // The low eight bits, as a shell shows them.
        Some(Stop::Exit { code }) => code as u8,
        // A trace with a budget of 0 has run no step, so there is no stop.
        Some(Stop::Budget) | None => BUDGET_STATUS,
        _ => STOPPED_STATUS,
    }))
}
