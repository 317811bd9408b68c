//! `kvrm loops`.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use kvrm::arm64::disassemble;
use kvrm::{Engine, HotLoop, Loops, Machine};

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
    /// Print one JSON object per loop, one per line.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let (builder, _) = args.lane.builder()?;
    // The reference, so that attempts come after the same numbers of steps in every run.
    let loops = Loops::checker();
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
    if !args.json {
        note(format_args!("{} steps, {} loops; {}", report.steps, hot.len(), loops.report()));
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the share of a loop in all steps, which is an estimate.
fn share(of: &HotLoop, steps: u64) -> f64 {
    (of.steps as f64 / steps.max(1) as f64).min(1.0)
}

/// Prints a loop.
fn print(out: &mut Output, of: &HotLoop, machine: &Machine, steps: u64) -> Result<()> {
    let function = machine.program().function_at(of.head);
    let name = function.map_or_else(String::new, |symbol| format!(" in {}", symbol.name.escape_debug()));
    writeln!(
        out,
        "{:#x}{name}: {:.1} % of the steps, {} executed at once in {} pieces",
        of.head,
        100.0 * share(of, steps),
        of.credited_steps,
        of.commits
    )?;
    for opinion in &of.opinions {
        writeln!(out, "  {opinion}")?;
    }
    writeln!(out, "  checker: {}", of.verdict)?;
    for (word, pc) in of.words.iter().zip((of.head..).step_by(4)) {
        writeln!(out, "    {pc:#x}  {}", disassemble(*word, pc))?;
    }
    Ok(())
}

/// Returns a loop as JSON.
fn json(of: &HotLoop, steps: u64) -> serde_json::Value {
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
    })
}
