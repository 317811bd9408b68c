//! `kvrm trace`.

use std::fmt::Write as _;
use std::io::{Write as _, stderr};
use std::process::ExitCode;

use anyhow::Result;
use kvrm::arm64::{Cpu, disassemble};
use kvrm::{Error, Stop, Stream};

use crate::hint::hint;
use crate::number;
use crate::output::{Output, note};
use crate::program::{LaneArgs, status};

/// The text at the end of the help.
const HELP: &str = "\
Each line shows the number of the step, the pc, the instruction word, its assembly text, and the registers that it \
changed. The output of the guest goes to standard error. The exit status is that of kvrm run.";

/// Arguments of `kvrm trace`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(crate) struct Args {
    #[command(flatten)]
    lane: LaneArgs,
    /// Print one JSON object per step, one per line.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let (builder, features) = args.lane.builder()?;
    let builder = builder.console(|_, _: Stream, bytes| {
        let _ = stderr().write_all(bytes);
    });
    let mut machine = builder.build()?;
    let mut out = Output::new();
    let end = args.lane.end();
    args.lane.skip(&mut machine)?;
    while machine.cpu(0)?.steps < end && matches!(machine.stop(0)?, None | Some(Stop::Budget)) {
        let before = machine.cpu(0)?;
        let mut word = [0; 4];
        let fetched = match machine.read(0, before.pc, &mut word) {
            Ok(()) => true,
            Err(Error::Memory { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        machine.run(1)?;
        if fetched {
            let word = u32::from_le_bytes(word);
            let text = disassemble(word, before.pc).to_string();
            let changes = changes(&before, &machine.cpu(0)?);
            if args.json {
                let changes: serde_json::Map<_, _> =
                    changes.into_iter().map(|(name, value)| (name, format!("{value:#x}").into())).collect();
                let line = serde_json::json!({
                    "step": before.steps, "pc": format!("{:#x}", before.pc), "word": format!("{word:08x}"),
                    "text": text, "changes": changes,
                });
                writeln!(out, "{line}")?;
            } else {
                let mut line = format!("{:>8}  {:#010x}  {word:08x}  {text:<36}", before.steps, before.pc);
                for (name, value) in changes {
                    write!(line, "  {name}={value:#x}")?;
                }
                writeln!(out, "{}", line.trim_end())?;
            }
        }
    }
    out.flush()?;
    if let Some(stop) = machine.stop(0)?.filter(|stop| *stop != Stop::Budget) {
        let cpu = machine.cpu(0)?;
        note(format_args!("stopped after {} steps: {stop}", cpu.steps));
        if let Some(hint) = hint(stop, cpu.pc, features) {
            note(format_args!("hint: {hint}"));
        }
    }
    status(&mut machine)
}

/// Returns the registers that differ. The pc counts only if it is not the address of the next word.
fn changes(before: &Cpu, after: &Cpu) -> Vec<(String, u128)> {
    let mut changes = Vec::new();
    let mut check = |name: &str, before: u128, after: u128| {
        if before != after {
            changes.push((name.to_owned(), after));
        }
    };
    for n in 0..31 {
        check(&format!("x{n}"), before.x(n).into(), after.x(n).into());
    }
    check("sp", before.sp.into(), after.sp.into());
    check("nzcv", before.nzcv.into(), after.nzcv.into());
    for n in 0..32 {
        check(&format!("v{n}"), before.v[n], after.v[n]);
    }
    check("fpcr", before.fpcr.into(), after.fpcr.into());
    check("fpsr", before.fpsr.into(), after.fpsr.into());
    check("tpidr_el0", before.tpidr_el0.into(), after.tpidr_el0.into());
    if before.steps != after.steps {
        check("pc", before.pc.wrapping_add(4).into(), after.pc.into());
    }
    changes
}
