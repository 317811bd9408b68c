//! `kvrm loops`.

mod plot;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use kvrm::arm64::disassemble;
use kvrm::{Engine, HotLoop, Loops, Machine, NetworkAdvisor};

use self::plot::Bar;
use crate::number;
use crate::output::{Output, note};
use crate::program::LaneArgs;

/// The text at the end of the help.
const HELP: &str = "\
The program runs in one lane on the CPU. From time to time, the innermost loop around its program counter is noted. The steps \
in a loop are those that were executed at once, which are exact, and an estimate of the others from these samples.";

/// Arguments of `kvrm loops`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(crate) struct Args {
    #[command(flatten)]
    lane: LaneArgs,
    /// The number of loops to print, those with the most steps first.
    #[arg(long, value_name = "N", default_value = "10")]
    top: usize,
    /// Also print the opinions of the networks that look at loops. Here they decide nothing: the checker looks at all loops.
    #[arg(long)]
    networks: bool,
    /// Draw the printed loops as an SVG file: the shares of all steps that were executed at once and stepped in each.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print one JSON object per loop, one per line.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let (builder, _) = args.lane.builder()?;
    // The reference, so that attempts come after the same numbers of steps in every run.
    let loops = if args.networks { with_opinions()? } else { Loops::checker() };
    let mut machine = builder.engine(Engine::Reference).loops(loops.clone()).build()?;
    args.lane.skip(&mut machine)?;
    let begin = machine.cpu(0)?.steps;
    let report = machine.run(args.lane.end().saturating_sub(begin))?;
    let mut out = Output::new();
    let hot = loops.hot();
    for of in hot.iter().take(args.top) {
        if args.json {
            writeln!(out, "{}", json(of, report.steps))?;
        } else {
            print(&mut out, of, &machine, report.steps)?;
        }
    }
    if let Some(path) = &args.plot {
        let bars: Vec<Bar> = hot.iter().take(args.top).map(|of| bar(of, &machine, report.steps)).collect();
        let title = format!("Loops of {}: {} steps", machine.program().name, report.steps);
        fs::write(path, plot::svg(&title, &bars)).with_context(|| format!("--plot '{}'", path.display()))?;
    }
    if !args.json {
        note(format_args!("{} steps, {} loops; {}", report.steps, hot.len(), loops.report()));
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the acceleration of all loops for which the checker has a proof, with the opinions of the networks about them. Lanes wait
/// for the networks, so that attempts come after the same numbers of steps in every run.
pub(crate) fn with_opinions() -> Result<Loops> {
    Ok(Loops::advised_at_once("all", NetworkAdvisor::builtin()?.asked_after(0).proposing_all()))
}

/// Returns the share of a loop in all steps, which is an estimate.
fn share(of: &HotLoop, steps: u64) -> f64 {
    (of.steps as f64 / steps.max(1) as f64).min(1.0)
}

/// Returns the address of a loop and the function that it is in.
fn name(of: &HotLoop, machine: &Machine) -> String {
    let function = machine.program().function_at(of.head);
    let name = function.map_or_else(String::new, |symbol| format!(" in {}", symbol.name.escape_debug()));
    format!("{:#x}{name}", of.head)
}

/// Returns a loop as a bar of a plot.
fn bar(of: &HotLoop, machine: &Machine, steps: u64) -> Bar {
    let at_once = of.credited_steps as f64 / steps.max(1) as f64;
    let shares = [at_once, (share(of, steps) - at_once).max(0.0)];
    Bar { name: name(of, machine), verdict: of.verdict.to_string(), shares }
}

/// Prints a loop with its instructions.
fn print(out: &mut Output, of: &HotLoop, machine: &Machine, steps: u64) -> Result<()> {
    print_opinions(out, of, machine, steps)?;
    for (word, pc) in of.words.iter().zip((of.head..).step_by(4)) {
        writeln!(out, "    {pc:#x}  {}", disassemble(*word, pc))?;
    }
    Ok(())
}

/// Prints a loop, and what the networks and the checker say about it.
pub(crate) fn print_opinions(out: &mut Output, of: &HotLoop, machine: &Machine, steps: u64) -> Result<()> {
    writeln!(
        out,
        "{}: {:.1} % of the steps, {} executed at once in {} pieces",
        name(of, machine),
        100.0 * share(of, steps),
        of.credited_steps,
        of.commits
    )?;
    for opinion in &of.opinions {
        writeln!(out, "  {opinion}")?;
    }
    let disagrees = if of.disagrees { ", but not what the networks claim" } else { "" };
    writeln!(out, "  checker: {}{disagrees}", of.verdict)?;
    Ok(())
}

/// Returns a loop as JSON.
pub(crate) fn json(of: &HotLoop, steps: u64) -> serde_json::Value {
    let opinions = of.opinions.iter().map(|opinion| {
        serde_json::json!({
            "source": opinion.source, "answer": opinion.answer, "confidence": opinion.confidence,
        })
    });
    serde_json::json!({
        "head": format!("{:#x}", of.head),
        "words": of.words.iter().map(|word| format!("{word:08x}")).collect::<Vec<_>>(),
        "share": share(of, steps), "steps": of.steps, "credited_steps": of.credited_steps,
        "commits": of.commits, "opinions": opinions.collect::<Vec<_>>(), "checker": of.verdict,
        "disagrees": of.disagrees,
    })
}
