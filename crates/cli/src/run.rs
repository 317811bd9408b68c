//! `kvrm run`.

mod clock;
mod hooks;
mod learning;
mod outputs;
mod strace;
mod system_calls;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _, stderr};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use kvrm::arm64::{decode, disassemble};
use kvrm::{Access, Error, Fault, FaultKind, Machine, Register, Report, Stop, Stream};

use crate::engine::EngineArgs;
use crate::hint::hint;
use crate::output::{Output, note};
use crate::program::{MachineArgs, status};
use crate::{memory, number};

/// The time after which a run shows its progress.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);
/// The text at the end of the help.
const HELP: &str = "\
With one lane, output is shown as the guest writes it, and the exit status is the status of the guest: 124 means that \
the budget ran out, 125 that something else stopped the guest, and 2 that kvrm failed. With several lanes, each line of \
output is shown after the run with the number of its lane, and the exit status is 0 if all lanes exit with 0, else 1. A \
line on standard error names the device that runs the lanes, unless --engine reference or --json is given; the JSON has \
it, too.";

/// Arguments of `kvrm run`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(crate) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    hooks: hooks::HookArgs,
    #[command(flatten)]
    strace: strace::StraceArgs,
    /// The number of lanes: independent runs of the program at the same time.
    #[arg(long, value_name = "N", default_value = "1", value_parser = number::lanes)]
    lanes: u64,
    /// Write the output of each lane into this directory, as LANE.out and LANE.err, instead of showing it. The directory
    /// is made if it does not exist.
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    output_dir: Option<PathBuf>,
    /// After the run, write the files of a directory of a Linux program into a new directory of the host. {lane} in the
    /// name of the host directory is replaced with the number of the lane.
    #[arg(long, value_name = "GUEST:HOST", value_parser = save_paths)]
    save: Option<(String, String)>,
    /// Show each different output once, with the numbers of its lanes.
    #[arg(long, conflicts_with_all = ["json", "output_dir"])]
    group: bool,
    /// Print steps, stops, memory and speed after the run, on standard error.
    #[arg(long)]
    stats: bool,
    /// Print the report and the output of all lanes as one JSON object on standard output, instead of the output.
    #[arg(long)]
    json: bool,
    /// After the run, write the weights of all networks that have learned, and their manifest, into a new directory. A file of it can
    /// be the value of --prefetch-weights or --loops-weights.
    #[arg(long, value_name = "DIR", requires = "learn")]
    save_weights: Option<PathBuf>,
    /// Check the memory of all lanes after the run, also if the run fails: page tables, lists of frames, counters and
    /// lowered code must agree. Differences are printed on standard error, and the exit status is 2.
    #[arg(long)]
    audit: bool,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let bar = ProgressBar::no_length();
    let failure = Failure::default();
    let lanes = usize::try_from(args.lanes)?;
    let program = args.machine.load.load()?;
    let engine = args.engine.open()?;
    if !engine.is_gpu() {
        memory::check_lanes(args.lanes, program.linux.is_some())?;
    }
    if let Some((_, host)) = &args.save {
        if lanes > 1 && !host.contains("{lane}") {
            bail!("--save: all {lanes} lanes would write to '{host}'; put {{lane}} into its name");
        }
        // Report this before a long run, not after it.
        let existing = (0..lanes).map(|lane| with_lane(host, lane)).find(|path| Path::new(path).exists());
        if let Some(path) = existing {
            bail!("--save: '{path}' exists already; give the name of a new directory");
        }
    }
    if let Some(folder) = &args.output_dir {
        outputs::make_folder(folder)?;
    }
    let features = args.machine.features(&program);
    learning::check(engine.learning.as_ref(), args.save_weights.as_deref())?;
    let hooks = args.hooks.hooks(&program)?;
    let builder = args
        .machine
        .builder(program, features, lanes)?
        .engine(engine.clone())
        .loops(engine.loops.clone())
        .lanes(lanes)
        .hooks(hooks);
    let (mut builder, trace_failure) = args.strace.add_to(builder, lanes, &bar)?;
    let is_live = args.lanes == 1 && !args.json && args.output_dir.is_none() && !args.group;
    if is_live {
        let (bar, failure, mut out) = (bar.clone(), failure.clone(), Output::new());
        builder = builder.console(move |_, stream, bytes| {
            if let Err(error) = bar.suspend(|| show(&mut out, stream, bytes)) {
                failure.get().get_or_insert(error);
            }
        });
    }
    let mut machine = builder.build()?;
    if !args.json {
        engine.announce();
    }
    let ran = observe(&mut machine, &args, &bar, &failure);
    let audited = if args.audit { audit(&mut machine) } else { Ok(()) };
    let report = ran?;
    audited?;
    if let Some(error) = failure.get().take() {
        return Err(error.into());
    }
    if let Some(error) = trace_failure.take() {
        return Err(anyhow::Error::from(error).context("--strace-output"));
    }
    if let Some((guest, host)) = &args.save {
        for lane in 0..lanes {
            machine.save_files(lane, guest, with_lane(host, lane))?;
        }
    }
    if let (Some(learning), Some(folder)) = (&engine.learning, &args.save_weights) {
        learning::save(learning, folder)?;
    }
    if args.json {
        let mut out = Output::new();
        let mut json = to_json(&mut machine, &report, engine.fallback.as_deref())?;
        if let Some(learning) = &engine.learning {
            json["learning"] = learning::to_json(learning);
        }
        writeln!(out, "{json}")?;
        out.flush()?;
    } else if let Some(folder) = &args.output_dir {
        outputs::write(&machine, folder)?;
    } else if args.group {
        outputs::show_groups(&mut machine)?;
    } else if !is_live {
        outputs::show_lanes(&machine)?;
    }
    if !args.json {
        explain(&mut machine, &args.machine, engine.selection.stops_on_misprediction())?;
        if machine.stops()?.into_iter().any(is_failure) {
            system_calls::unserved(&report).into_iter().for_each(note);
        }
    }
    if args.stats {
        note(&report);
        engine.learning.iter().for_each(learning::report);
    } else if !args.json {
        report.warnings.iter().for_each(|warning| note(format_args!("warning: {warning}")));
    }
    status(&mut machine)
}

/// Returns whether a lane has failed: it stopped for another reason than its budget or an exit with status 0.
fn is_failure(stop: Option<Stop>) -> bool {
    !matches!(stop, None | Some(Stop::Budget | Stop::Exit { code: 0 }))
}

/// Returns a path with the number of a lane in place of `{lane}`.
fn with_lane(host: &str, lane: usize) -> String {
    host.replace("{lane}", &lane.to_string())
}

/// Parses the value of `--save`. The first colon separates the two paths.
fn save_paths(text: &str) -> Result<(String, String), String> {
    match text.split_once(':') {
        Some((guest, host)) if guest.starts_with('/') && !host.is_empty() => {
            Ok((guest.to_owned(), host.to_owned()))
        }
        _ => Err("expected GUEST:HOST, where GUEST is an absolute path, such as /tmp:./saved".to_owned()),
    }
}

/// The first failure to write output of the guest. The console cannot stop the machine, so it leaves the failure here,
/// and the observer ends the run.
#[derive(Clone, Default)]
struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    fn get(&self) -> MutexGuard<'_, Option<io::Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes output of the guest, without buffering.
fn show(out: &mut Output, stream: Stream, bytes: &[u8]) -> io::Result<()> {
    match stream {
        Stream::Output => out.write_all(bytes).and_then(|()| out.flush()),
        Stream::Error => {
            let _ = stderr().write_all(bytes);
            Ok(())
        }
    }
}

/// Runs the machine. On a terminal, a progress bar appears if the run takes longer than [`PROGRESS_AFTER`].
fn observe(machine: &mut Machine, args: &Args, bar: &ProgressBar, failure: &Failure) -> Result<Report> {
    let budget = args.machine.budget.unwrap_or(u64::MAX);
    let style = if let Some(budget) = args.machine.budget {
        bar.set_length(budget.saturating_mul(args.lanes));
        "{elapsed_precise} {wide_bar} {human_pos}/{human_len} steps {per_sec} {msg}"
    } else {
        "{elapsed_precise} {spinner} {human_pos} steps {per_sec} {msg}"
    };
    bar.set_style(ProgressStyle::with_template(style)?);
    let report = machine.run_with(budget, |progress| {
        if progress.elapsed >= PROGRESS_AFTER {
            bar.set_message(format!("{} lanes running", progress.running));
            bar.set_position(progress.steps);
        }
        if failure.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    Ok(report?)
}

/// Audits the memory of all lanes, and prints the violations.
fn audit(machine: &mut Machine) -> Result<()> {
    let violations = machine.audit()?;
    for violation in &violations {
        note(format_args!("audit: {violation}"));
    }
    match violations.len() {
        0 => note("audit: the memory of all lanes is consistent"),
        count => bail!("the audit found {count} violations; test the driver with `kvrm doctor`"),
    }
    Ok(())
}

/// Prints why the first few lanes stopped that did not exit, and hints.
fn explain(machine: &mut Machine, args: &MachineArgs, mispredictions_stop: bool) -> Result<()> {
    const SHOWN: usize = 8;
    let features = machine.features();
    let mut hints = Vec::new();
    let mut more = 0;
    let mut shown = 0;
    for (lane, stop) in machine.stops()?.into_iter().enumerate() {
        let Some(stop) = stop.filter(|stop| !matches!(stop, Stop::Exit { .. })) else { continue };
        if shown == SHOWN {
            more += 1;
            continue;
        }
        shown += 1;
        let pc = machine.cpu(lane)?.pc;
        let mut word = [0; 4];
        let text = match machine.read(lane, pc, &mut word) {
            Ok(()) => disassemble(u32::from_le_bytes(word), pc).to_string(),
            Err(Error::Memory { .. }) => "unmapped".to_owned(),
            Err(error) => return Err(error.into()),
        };
        let place = machine.program().function_at(pc).map_or(String::new(), |symbol| {
            format!(" <{}+{:#x}>", symbol.name.escape_debug(), pc - symbol.address)
        });
        let name = match stop {
            Stop::SystemCall { number } if machine.program().linux.is_some() => {
                format!(" ({})", system_calls::name(number.into()))
            }
            _ => String::new(),
        };
        note(format_args!("lane {lane} stopped: {stop}{name}; pc {pc:#x}{place}: {text}"));
        let hint = match stop {
            Stop::Undefined { word } if mispredictions_stop && decode(word).is_some() => {
                Some("the network may have chosen a wrong class; --stats shows its decisions".to_owned())
            }
            Stop::Budget if args.budget == Some(0) => Some("--budget 0 allows no step".to_owned()),
            Stop::Budget if args.counts_steps_as_time() && clock::waits_by_clock(machine, lane)? => Some(
                "the program waits for a time by looking at the clock, which advances by 1 ns per step; --real-time shows it \
                 the clock of the host"
                    .to_owned(),
            ),
            _ => hint(stop, pc, features),
        };
        hints.extend(hint.filter(|hint| !hints.contains(hint)));
    }
    if more > 0 {
        note(format_args!("{more} more lanes stopped without exiting"));
    }
    for hint in hints {
        note(format_args!("hint: {hint}"));
    }
    Ok(())
}

/// Returns the report and the lanes as one JSON object.
fn to_json(machine: &mut Machine, report: &Report, fallback: Option<&str>) -> Result<serde_json::Value> {
    let mut lanes = Vec::new();
    let (steps, pcs) = (machine.registers(Register::Steps)?, machine.registers(Register::Pc)?);
    for (lane, stop) in machine.stops()?.into_iter().enumerate() {
        let mut entry = serde_json::json!({
            "lane": lane,
            "stop": stop.map(|stop| stop.name()),
            "detail": stop.map(|stop| stop.to_string()),
            "steps": steps[lane],
            "pc": format!("{:#x}", pcs[lane]),
        });
        match stop {
            Some(Stop::Exit { code }) => entry["code"] = code.into(),
            Some(Stop::Halt { imm } | Stop::Breakpoint { imm } | Stop::Syscall { imm }) => {
                entry["imm"] = imm.into();
            }
            Some(Stop::Undefined { word }) => entry["word"] = format!("{word:08x}").into(),
            Some(Stop::Fault(fault)) => entry["fault"] = fault_to_json(fault),
            Some(Stop::Watchpoint { access, address }) => {
                entry["watchpoint"] =
                    serde_json::json!({ "access": access_name(access), "address": format!("{address:#x}") });
            }
            Some(Stop::SystemCall { number }) => entry["number"] = number.into(),
            Some(_) | None => {}
        }
        for (key, stream) in [("output", Stream::Output), ("error_output", Stream::Error)] {
            let bytes = machine.output(lane, stream)?;
            let text = String::from_utf8_lossy(bytes);
            // If the bytes are not UTF-8, the text differs from them, so add the bytes in hexadecimal.
            if let Cow::Owned(_) = text {
                entry[format!("{key}_hex")] = hex(bytes)?.into();
            }
            entry[key] = text.into();
        }
        if machine.output_truncated(lane)? {
            entry["output_truncated"] = true.into();
        }
        lanes.push(entry);
    }
    let mut json = serde_json::to_value(report)?;
    json["fallback"] = fallback.into();
    json["lanes"] = lanes.into();
    Ok(json)
}

fn fault_to_json(Fault { kind, access, address }: Fault) -> serde_json::Value {
    let kind = match kind {
        FaultKind::Translation => "translation",
        FaultKind::Permission => "permission",
        FaultKind::Alignment => "alignment",
    };
    serde_json::json!({ "kind": kind, "access": access_name(access), "address": format!("{address:#x}") })
}

const fn access_name(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Execute => "execute",
    }
}

fn hex(bytes: &[u8]) -> Result<String> {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}
