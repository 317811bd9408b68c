//! `kvrm disasm`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use kvrm::arm64::{decode, disassemble};
use kvrm::{Program, read};

use crate::number;
use crate::output::Output;

/// Arguments of `kvrm disasm`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The program: a static ELF file for AArch64, or with --raw a file that contains only code.
    #[arg(required_unless_present = "words")]
    program: Option<PathBuf>,
    /// Disassemble these instruction words, in hexadecimal, instead of a file.
    #[arg(long = "word", value_name = "HEX", conflicts_with = "program", num_args = 1.., value_parser = word)]
    words: Vec<u32>,
    /// Take the file as code from its first byte, not as an ELF file.
    #[arg(long)]
    raw: bool,
    /// The address of the first word, or of a raw file: a multiple of 4.
    #[arg(long, value_name = "ADDRESS", default_value = "0x10000", value_parser = number::address)]
    load_address: u64,
    /// Print one JSON object per word, one per line, with the encoding's name in Arm's specification and its class.
    #[arg(long)]
    json: bool,
}

/// Parses an instruction word.
fn word(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let number = if digits.starts_with('+') { None } else { u32::from_str_radix(digits, 16).ok() };
    number.ok_or_else(|| "expected up to eight hexadecimal digits such as d503201f".to_owned())
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if !args.load_address.is_multiple_of(4) {
        bail!("--load-address: code cannot start at {:#x}, which is not a multiple of 4", args.load_address);
    }
    // Words become a raw program, too, because `Program::raw` checks that they fit the address space.
    let program = match &args.program {
        None => {
            let code = args.words.iter().flat_map(|word| word.to_le_bytes()).collect();
            Program::raw("words", code, args.load_address, 0)?
        }
        Some(path) if args.raw => {
            Program::raw(&path.display().to_string(), read(path)?, args.load_address, 0)?
        }
        Some(path) => Program::open(path)?,
    };
    let code: Vec<_> = program.segments.iter().filter(|segment| segment.permissions.execute).collect();
    if code.is_empty() {
        bail!("{} has no executable segment, so there is no code to disassemble", program.name);
    }
    let mut out = Output::new();
    for segment in code {
        let words = segment.data.chunks_exact(4).map(|bytes| bytes.try_into().map_or(0, u32::from_le_bytes));
        print(&mut out, args.json, &program, segment.address, words)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn print(
    out: &mut impl Write,
    json: bool,
    program: &Program,
    address: u64,
    words: impl Iterator<Item = u32>,
) -> Result<()> {
    for (word, pc) in words.zip((address..).step_by(4)) {
        let text = disassemble(word, pc).to_string();
        let begins = program.function_at(pc).filter(|symbol| symbol.address == pc);
        if json {
            let op = decode(word);
            let line = serde_json::json!({
                "pc": format!("{pc:#x}"), "word": format!("{word:08x}"), "text": text,
                "encoding": op.map(|op| op.encoding().name), "class": op.map(|op| op.class().name()),
                "symbol": begins.map(|symbol| &symbol.name),
            });
            writeln!(out, "{line}")?;
        } else {
            if let Some(symbol) = begins {
                // Symbol names may contain any bytes, including terminal control sequences.
                writeln!(out, "\n{}:", symbol.name.escape_debug())?;
            }
            writeln!(out, "{pc:#10x}  {word:08x}  {text}")?;
        }
    }
    Ok(())
}
