//! `kvrm run`.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _, stderr};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use kvrm::arm64::{Feature, Features, decode, disassemble};
use kvrm::{Access, Fault, FaultKind, Machine, Register, Report, Stop, Stream};

use crate::engine::EngineArgs;
use crate::number;
use crate::output::{Output, note};
use crate::program::{MachineArgs, status};

/// Shorter runs show no progress.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);
/// What the help says at its end.
const HELP: &str = "\
With one lane, output comes as it is written, and the exit status is the guest's; 124 means that the budget \
ran out, 125 that something else stopped the guest, 2 that kvrm failed. With several lanes each line is shown \
with its lane, and the status is 0 if all lanes exit with 0, else 1. Unless --engine reference asks for the \
CPU, a line on standard error says what the lanes run on, and with --json the report.";

/// Arguments of `kvrm run`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(crate) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// How many lanes to run.
    #[arg(long, value_name = "N", default_value = "1", value_parser = number::count)]
    lanes: u64,
    /// Print steps, stops, speed and memory afterwards, on standard error.
    #[arg(long)]
    stats: bool,
    /// Print everything as one JSON object on standard output instead.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let bar = ProgressBar::no_length();
    let failure = Failure::default();
    let engine = args.engine.choose()?;
    let lanes = usize::try_from(args.lanes)?;
    let mut builder = args.machine.builder()?.engine(engine.clone()).lanes(lanes);
    if args.lanes == 1 && !args.json {
        let (bar, failure, mut out) = (bar.clone(), failure.clone(), Output::new());
        builder = builder.console(move |_, stream, bytes| {
            if let Err(error) = bar.suspend(|| show(&mut out, stream, bytes)) {
                failure.get().get_or_insert(error);
            }
        });
    }
    let mut machine = builder.build()?;
    if !args.json
        && let Some(line) = engine.note()
    {
        note(line);
    }
    let report = observe(&mut machine, &args, &bar, &failure)?;
    if let Some(error) = failure.get().take() {
        return Err(error.into());
    }
    if args.json {
        let mut out = Output::new();
        writeln!(out, "{}", to_json(&mut machine, &report, engine.fallback.as_deref())?)?;
        out.flush()?;
    } else if args.lanes > 1 {
        show_lanes(&machine)?;
    }
    if !args.json {
        explain(&mut machine, args.machine.features())?;
    }
    if args.stats {
        note(report);
    }
    status(&mut machine)
}

/// The first failure to write what the guest prints. The console cannot stop the machine, so it leaves the
/// failure here for the observer to find.
#[derive(Clone, Default)]
struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    fn get(&self) -> MutexGuard<'_, Option<io::Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes console output at once.
fn show(out: &mut Output, stream: Stream, bytes: &[u8]) -> io::Result<()> {
    match stream {
        Stream::Output => out.write_all(bytes).and_then(|()| out.flush()),
        Stream::Error => {
            let _ = stderr().write_all(bytes);
            Ok(())
        }
    }
}

/// Runs with a progress bar that appears on terminals once the run turns out to be long.
fn observe(machine: &mut Machine, args: &Args, bar: &ProgressBar, failure: &Failure) -> Result<Report> {
    let budget = args.machine.budget.unwrap_or(u64::MAX);
    let style = if let Some(budget) = args.machine.budget {
        bar.set_length(budget.saturating_mul(args.lanes));
        "{elapsed_precise} {wide_bar} {human_pos}/{human_len} steps {per_sec} {msg}"
    } else {
        "{elapsed_precise} {spinner} {human_pos} steps {per_sec} {msg}"
    };
    bar.set_style(ProgressStyle::with_template(style)?);
    let begin = Instant::now();
    let report = machine.run_observed(budget, &mut |progress| {
        if begin.elapsed() >= PROGRESS_AFTER {
            bar.set_message(format!("{} lanes running", progress.running));
            bar.set_position(progress.steps);
        }
        if failure.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    Ok(report?)
}

/// Shows what each lane has printed, line by line.
fn show_lanes(machine: &Machine) -> Result<()> {
    let mut out = Output::new();
    for lane in 0..machine.lanes() {
        for line in String::from_utf8_lossy(machine.output(lane, Stream::Output)?).lines() {
            writeln!(out, "[{lane}] {line}")?;
        }
        let errors = machine.output(lane, Stream::Error)?;
        if !errors.is_empty() {
            // On a terminal the two streams are to be in order.
            out.flush()?;
        }
        for line in String::from_utf8_lossy(errors).lines() {
            note(format_args!("[{lane}] {line}"));
        }
        if machine.output_truncated(lane)? {
            note(format_args!("[{lane}] printed more than is kept of one lane"));
        }
    }
    Ok(out.flush()?)
}

/// Says why lanes stopped that did not exit by themselves, the first few of them, and what would help.
fn explain(machine: &mut Machine, features: Features) -> Result<()> {
    const SHOWN: usize = 8;
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
        let text = match machine.read_memory(lane, pc, &mut word)? {
            Ok(()) => disassemble(u32::from_le_bytes(word), pc).to_string(),
            Err(_) => "unmapped".to_owned(),
        };
        let place = machine.program().symbol(pc).map_or(String::new(), |symbol| {
            format!(" <{}+{:#x}>", symbol.name.escape_debug(), pc - symbol.address)
        });
        note(format_args!("lane {lane} stopped: {stop}; pc {pc:#x}{place}: {text}"));
        hints.extend(hint(stop, pc, features).filter(|hint| !hints.contains(hint)));
    }
    if more > 0 {
        note(format_args!("{more} more lanes stopped without exiting"));
    }
    for hint in hints {
        note(format_args!("hint: {hint}"));
    }
    Ok(())
}

/// What may help against a stop.
fn hint(stop: Stop, pc: u64, features: Features) -> Option<String> {
    match stop {
        Stop::Undefined { word } => {
            let feature = decode(word)?.feature_of(word);
            let option = if feature == Feature::Lse { "--lse" } else { "--fp and --engine reference" };
            let is_missing = !features.has(feature);
            is_missing.then(|| format!("the word is `{}`, which needs {option}", disassemble(word, pc)))
        }
        Stop::OutOfFrames => Some("raise --frames".to_owned()),
        _ => None,
    }
}

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
            Some(Stop::Budget | Stop::OutOfFrames) | None => {}
        }
        for (key, stream) in [("output", Stream::Output), ("error_output", Stream::Error)] {
            let bytes = machine.output(lane, stream)?;
            let text = String::from_utf8_lossy(bytes);
            // Text that had to be changed is not what the guest wrote, so that comes with it.
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
    let access = match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Execute => "execute",
    };
    serde_json::json!({ "kind": kind, "access": access, "address": format!("{address:#x}") })
}

fn hex(bytes: &[u8]) -> Result<String> {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}
