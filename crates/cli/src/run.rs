//! `kvrm run`.

use std::io::{Write as _, stderr, stdout};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use kvrm::arm64::disassemble;
use kvrm::{Machine, Report, Stop, Stream};

use crate::number;
use crate::program::MachineArgs;

/// The status when a lane has used up its budget, as of the command `timeout`.
const BUDGET_STATUS: u8 = 124;
/// The status when a lane was stopped by anything else but its own exit.
const STOPPED_STATUS: u8 = 125;
/// Shorter runs show no progress.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);

/// Arguments of `kvrm run`.
#[derive(clap::Args)]
#[command(after_help = "\
With one lane, output comes as it is written, and the exit status is the guest's; 124 means that the budget \
ran out, 125 that something else stopped the guest, 2 that kvrm failed. With several lanes each line is shown \
with its lane, and the status is 0 if all lanes exit with 0, else 1.")]
pub(crate) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    /// How many lanes to run.
    #[arg(long, value_name = "N", default_value = "1", value_parser = number::parse)]
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
    let mut builder = args.machine.builder()?.lanes(usize::try_from(args.lanes)?);
    if args.lanes == 1 && !args.json {
        let bar = bar.clone();
        builder = builder.console(move |_, stream, bytes| bar.suspend(|| show(stream, bytes)));
    }
    let mut machine = builder.build()?;
    let report = observe(&mut machine, &args, &bar)?;
    if args.json {
        println!("{}", serde_json::to_string(&to_json(&machine, &report)?)?);
    } else if args.lanes > 1 {
        show_lanes(&machine)?;
    }
    if !args.json {
        explain(&machine)?;
    }
    if args.stats {
        eprintln!("{report}");
    }
    status(&machine)
}

/// Writes console output at once. A reader that has gone away does not stop the guest.
fn show(stream: Stream, bytes: &[u8]) {
    let _ = match stream {
        Stream::Output => stdout().write_all(bytes).and_then(|()| stdout().flush()),
        Stream::Error => stderr().write_all(bytes),
    };
}

/// Runs with a progress bar that appears on terminals once the run turns out to be long.
fn observe(machine: &mut Machine, args: &Args, bar: &ProgressBar) -> Result<Report> {
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
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    Ok(report?)
}

/// Shows what each lane has printed, line by line.
fn show_lanes(machine: &Machine) -> Result<()> {
    let mut out = stdout().lock();
    for lane in 0..machine.lanes() {
        for stream in [Stream::Output, Stream::Error] {
            for line in String::from_utf8_lossy(machine.output(lane, stream)?).lines() {
                match stream {
                    Stream::Output => writeln!(out, "[{lane}] {line}")?,
                    Stream::Error => eprintln!("[{lane}] {line}"),
                }
            }
        }
    }
    Ok(())
}

/// Says why lanes stopped that did not exit by themselves, the first few of them.
fn explain(machine: &Machine) -> Result<()> {
    const SHOWN: usize = 8;
    let mut more = 0;
    let mut shown = 0;
    for lane in 0..machine.lanes() {
        let Some(stop) = machine.stop(lane)? else { continue };
        if let Stop::Exit { .. } = stop {
            continue;
        }
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
        let place = machine
            .program()
            .symbol(pc)
            .map_or(String::new(), |symbol| format!(" <{}+{:#x}>", symbol.name, pc - symbol.address));
        eprintln!("lane {lane} stopped: {stop}; pc {pc:#x}{place}: {text}");
    }
    if more > 0 {
        eprintln!("{more} more lanes stopped without exiting");
    }
    Ok(())
}

fn to_json(machine: &Machine, report: &Report) -> Result<serde_json::Value> {
    let mut lanes = Vec::new();
    for lane in 0..machine.lanes() {
        let (stop, cpu) = (machine.stop(lane)?, machine.cpu(lane)?);
        let text = |stream| {
            Ok::<_, kvrm::Error>(String::from_utf8_lossy(machine.output(lane, stream)?).into_owned())
        };
        let mut entry = serde_json::json!({
            "lane": lane,
            "stop": stop.map(|stop| stop.name()),
            "detail": stop.map(|stop| stop.to_string()),
            "steps": cpu.steps,
            "pc": format!("{:#x}", cpu.pc),
            "output": text(Stream::Output)?,
            "error_output": text(Stream::Error)?,
        });
        if let Some(Stop::Exit { code }) = stop {
            entry["code"] = code.into();
        }
        lanes.push(entry);
    }
    let mut json = serde_json::to_value(report)?;
    json["lanes"] = lanes.into();
    Ok(json)
}

fn status(machine: &Machine) -> Result<ExitCode> {
    if machine.lanes() > 1 {
        let mut stops = Vec::with_capacity(machine.lanes());
        for lane in 0..machine.lanes() {
            stops.push(machine.stop(lane)?);
        }
        let good = stops.iter().all(|stop| *stop == Some(Stop::Exit { code: 0 }));
        return Ok(ExitCode::from(u8::from(!good)));
    }
    Ok(ExitCode::from(match machine.stop(0)? {
        // The low eight bits, as the shell shows of any program.
        Some(Stop::Exit { code }) => code as u8,
        Some(Stop::Budget) => BUDGET_STATUS,
        _ => STOPPED_STATUS,
    }))
}
