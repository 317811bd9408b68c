//! `kvrm asm`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use kvrm::arm64::disassemble;
use kvrm::{Program, read};

use crate::number;
use crate::output::Output;

/// Arguments of `kvrm asm`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file of assembly text.
    #[arg(required_unless_present = "text")]
    file: Option<PathBuf>,
    /// Assemble this text instead of a file; `;` separates instructions.
    #[arg(long, conflicts_with = "file")]
    text: Option<String>,
    /// The address of the first word: a multiple of 4.
    #[arg(long, value_name = "ADDRESS", default_value = "0x10000", value_parser = number::address)]
    load_address: u64,
    /// Write the words to this file, as code that `kvrm run --raw` and `kvrm disasm --raw` take, instead of printing them.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if !args.load_address.is_multiple_of(4) {
        bail!("--load-address: code cannot start at {:#x}, which is not a multiple of 4", args.load_address);
    }
    let program = match (&args.file, &args.text) {
        (Some(path), _) => {
            let text = String::from_utf8(read(path)?);
            let text = text.with_context(|| format!("{} is not text in UTF-8", path.display()))?;
            Program::assemble(args.load_address, &text).with_context(|| path.display().to_string())?
        }
        (None, text) => Program::assemble(args.load_address, text.as_deref().unwrap_or_default())?,
    };
    let code = program.segments.iter().flat_map(|segment| &segment.data);
    let bytes: Vec<u8> = code.copied().collect();
    if let Some(path) = &args.output {
        std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = Output::new();
    let words = bytes.chunks_exact(4).map(|bytes| bytes.try_into().map_or(0, u32::from_le_bytes));
    for (word, pc) in words.zip((args.load_address..).step_by(4)) {
        for symbol in program.symbols.iter().filter(|symbol| symbol.address == pc) {
            writeln!(out, "\n{}:", symbol.name)?;
        }
        writeln!(out, "{pc:#10x}  {word:08x}  {}", disassemble(word, pc))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
