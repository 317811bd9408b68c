//! `kvrm regions`.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use kvrm::arm64::disassemble;
use kvrm::translate::{Code, Limits, Region, Samples, to_wgsl};
use kvrm::{Engine, Machine, PAGE_BYTES, Stop};

use crate::number;
use crate::output::{Output, note};
use crate::program::LaneArgs;

/// The text at the end of the help.
const HELP: &str = "\
The program runs in one lane on the CPU. Its program counter is sampled, and the regions are those that an engine on a \
GPU would translate, with these limits: blocks of code, each with the addresses to which it leads. Lanes enter regions \
at the blocks marked as entries.";

/// Arguments of `kvrm regions`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(crate) struct Args {
    #[command(flatten)]
    lane: LaneArgs,
    /// The number of samples.
    #[arg(long, value_name = "N", default_value = "2000", value_parser = number::count)]
    samples: u64,
    /// The number of steps between two samples, which varies by half of it.
    #[arg(long, value_name = "STEPS", default_value = "5000", value_parser = number::count)]
    interval: u64,
    /// The largest number of instructions of a region.
    #[arg(long, value_name = "N", default_value = "300")]
    instructions: usize,
    /// The largest number of branches between hot code and other code of a region.
    #[arg(long, value_name = "N", default_value = "3")]
    distance: usize,
    /// Print the regions as WGSL instead.
    #[arg(long, conflicts_with = "json")]
    wgsl: bool,
    /// Print one JSON object per region, one per line.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let (builder, features) = args.lane.builder()?;
    let mut machine = builder.engine(Engine::Jit).build()?;
    args.lane.skip(&mut machine)?;
    let mut samples = Samples::default();
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for number in 0..args.samples {
        // Samples should not fall into step with loops of the program.
        let varied = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let left = args.lane.end().saturating_sub(machine.cpu(0)?.steps);
        if left == 0 {
            note(format_args!("the budget ended after {number} samples"));
            break;
        }
        let steps = (args.interval / 2).saturating_add(1 + varied % args.interval.max(1));
        machine.run(steps.min(left))?;
        if !matches!(machine.stop(0)?, None | Some(Stop::Budget)) {
            note(format_args!("the program ended after {number} samples"));
            break;
        }
        let pc = machine.cpu(0)?.pc;
        samples.add(pc);
        *counts.entry(pc).or_default() += 1;
    }
    let limits = Limits { instructions: args.instructions, pages: 32, distance: args.distance };
    let regions = {
        let code = Code::new(features, |address| {
            let mut page = vec![0; PAGE_BYTES];
            machine.read(0, address, &mut page).ok().map(|()| page)
        });
        samples.regions(&limits, |pc| code.fetch(pc))
    };
    let mut out = Output::new();
    if args.wgsl {
        write!(out, "{}", to_wgsl(&regions).text)?;
    } else {
        let total = counts.values().sum::<u64>().max(1) as f64;
        let share = |pcs: &mut dyn Iterator<Item = u64>| -> f64 {
            pcs.filter_map(|pc| counts.get(&pc)).sum::<u64>() as f64 / total
        };
        let mut covered = 0.0;
        for (number, region) in regions.iter().enumerate() {
            let of_region = share(&mut region.addresses());
            covered += of_region;
            if args.json {
                writeln!(out, "{}", json(number, region, of_region))?;
            } else {
                print(&mut out, &mut machine, number, region, &share)?;
            }
        }
        if !args.json {
            writeln!(out, "{} regions have {:.1} % of the samples", regions.len(), 100.0 * covered)?;
        }
        let mut rest: Vec<(u64, u64)> = counts
            .iter()
            .filter(|(pc, _)| !regions.iter().any(|region| region.addresses().any(|of| of == **pc)))
            .map(|(pc, count)| (*count, *pc))
            .collect();
        rest.sort_unstable_by(|a, b| b.cmp(a));
        for (count, pc) in rest.iter().take(if args.json { 0 } else { 10 }) {
            let text = disassembly(&mut machine, *pc);
            writeln!(out, "outside: {:6.2} %  {pc:#x}  {text}", 100.0 * *count as f64 / total)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the blocks of a region.
fn print(
    out: &mut Output,
    machine: &mut Machine,
    number: usize,
    region: &Region,
    share: &dyn Fn(&mut dyn Iterator<Item = u64>) -> f64,
) -> Result<()> {
    let entries = region.blocks.iter().filter(|block| block.is_entry).count();
    writeln!(
        out,
        "region {number}: {} instructions, {} blocks, {entries} entries, {:.1} % of the samples",
        region.instructions(),
        region.blocks.len(),
        100.0 * share(&mut region.addresses())
    )?;
    for block in &region.blocks {
        let pcs = || (0..block.ops.len() as u64).map(|n| block.pc + 4 * n);
        let to: Vec<String> = block.successors().map(|to| format!("{:#x}", region.blocks[to].pc)).collect();
        writeln!(
            out,
            "  {:#x}:{} {:.1} %, to {}",
            block.pc,
            if block.is_entry { " entry," } else { "" },
            100.0 * share(&mut pcs()),
            if to.is_empty() { "no block of the region".to_owned() } else { to.join(", ") }
        )?;
        for pc in pcs() {
            let text = disassembly(machine, pc);
            writeln!(out, "    {pc:#x}  {text}")?;
        }
    }
    Ok(())
}

/// Returns the text of an instruction of the program.
fn disassembly(machine: &mut Machine, pc: u64) -> String {
    let mut word = [0; 4];
    match machine.read(0, pc, &mut word) {
        Ok(()) => disassemble(u32::from_le_bytes(word), pc).to_string(),
        Err(_) => String::new(),
    }
}

/// Returns a region as JSON.
fn json(number: usize, region: &Region, share: f64) -> serde_json::Value {
    let blocks: Vec<_> = region
        .blocks
        .iter()
        .map(|block| {
            serde_json::json!({
                "pc": format!("{:#x}", block.pc), "instructions": block.ops.len(), "entry": block.is_entry,
                "to": block.successors().map(|to| format!("{:#x}", region.blocks[to].pc)).collect::<Vec<_>>(),
            })
        })
        .collect();
    serde_json::json!({
        "region": number, "instructions": region.instructions(), "share": share, "blocks": blocks,
    })
}
