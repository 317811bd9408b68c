//! Comparison of the text assembler with GNU as.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::operand::Operand;
use kvrm_arm64::{assemble, disassemble};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::system::ensure_program;

const AS: &str = "aarch64-linux-gnu-as";
const OBJCOPY: &str = "aarch64-linux-gnu-objcopy";
/// The number of differences that are shown.
const SHOWN: usize = 20;

/// Starts of texts that binutils 2.40 refuses: hints that it does not know yet, fields of PSTATE without a name, and
/// pairs that are CONSTRAINED UNPREDICTABLE.
const REFUSED: &[&str] = &["dgh", "gcsb dsync", "clrbhb", "chkfeat x16", "msr s0_", "ldpsw"];

/// A text, and the word that KVRM makes of it.
struct Line {
    text: String,
    word: u32,
}

pub(super) fn run(each: usize, seed: u64) -> Result<()> {
    ensure_program(AS, "binutils-aarch64-linux-gnu")?;
    let folder = crate::root::root().join("target/oracle");
    std::fs::create_dir_all(&folder)?;
    let mut lines = lines(each, seed)?;
    let all = lines.len();
    // GNU as writes nothing if a line has an error, so these lines are left out in a second run.
    let words = match gnu_as(&folder, &lines)? {
        Ok(words) => words,
        Err(errors) => {
            let unexpected: Vec<String> = errors
                .iter()
                .map(|(index, error)| (&lines[*index].text, error))
                .filter(|(text, _)| !is_refused(text))
                .map(|(text, error)| format!("`{text}`: {error}"))
                .collect();
            let first: Vec<&str> = unexpected.iter().take(SHOWN).map(String::as_str).collect();
            ensure!(unexpected.is_empty(), "{AS} refuses {} texts:\n{}", unexpected.len(), first.join("\n"));
            let mut index = 0;
            lines.retain(|_| {
                index += 1;
                !errors.contains_key(&(index - 1))
            });
            gnu_as(&folder, &lines)?.map_err(|_| anyhow::anyhow!("{AS} refuses lines that it took before"))?
        }
    };
    ensure!(words.len() == lines.len(), "{AS} made {} words of {} lines", words.len(), lines.len());
    let differences: Vec<_> = lines.iter().zip(&words).filter(|(line, word)| line.word != **word).collect();
    for (Line { text, word }, theirs) in differences.iter().take(SHOWN) {
        println!("`{text}`: KVRM {word:08x}, GNU as {theirs:08x}");
    }
    println!("{all} texts, {} refused by {AS}, {} differences", all - lines.len(), differences.len());
    if differences.is_empty() { Ok(()) } else { bail!("assembler and GNU as differ") }
}

/// Whether binutils is known to refuse a text.
fn is_refused(text: &str) -> bool {
    REFUSED.iter().any(|start| text.starts_with(start))
}

/// Returns the texts of random words. Targets are relative, because GNU as leaves absolute ones, and pages, to the linker.
fn lines(each: usize, seed: u64) -> Result<Vec<Line>> {
    let mut random = Random::new(seed);
    let mut lines = Vec::new();
    for row in ENCODINGS.iter().filter(|row| !row.operands.contains(&Operand::PcRelPage)) {
        use Operand::{Label14, Label19, Label26, PcRel};
        let has_target =
            row.operands.iter().any(|operand| matches!(operand, Label14 | Label19 | Label26 | PcRel));
        for _ in 0..each {
            let mut text = disassemble(words::allocated(row, &mut random), 0).to_string();
            if has_target {
                let (start, target) = text.rsplit_once(' ').context("a branch has no target")?;
                let target = u64::from_str_radix(target.trim_start_matches("0x"), 16)? as i64;
                let sign = if target < 0 { '-' } else { '+' };
                text = format!("{start} .{sign}{}", target.unsigned_abs());
            }
            let words = assemble(0, &text)?;
            lines.push(Line { text, word: *words.first().context("a text has no word")? });
        }
    }
    Ok(lines)
}

/// Assembles lines with GNU as. Returns its words, or the indexes of lines with errors, and the errors.
fn gnu_as(folder: &Path, lines: &[Line]) -> Result<Result<Vec<u32>, BTreeMap<usize, String>>> {
    let [source, object, binary] = ["asm.s", "asm.o", "asm.bin"].map(|name| folder.join(name));
    let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    std::fs::write(&source, text.join("\n") + "\n")?;
    let arguments = ["-march=armv8.5-a+simd+crypto+memtag", "--no-warn", "-o"];
    let output = Command::new(AS).args(arguments).arg(&object).arg(&source).output()?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        let errors = messages.lines().filter_map(|line| {
            let (place, error) = line.split_once(": Error: ")?;
            let (_, number) = place.rsplit_once(':')?;
            Some((number.parse::<usize>().ok()?.checked_sub(1)?, error.to_owned()))
        });
        let errors: BTreeMap<usize, String> = errors.collect();
        ensure!(!errors.is_empty(), "{AS} failed: {messages}");
        return Ok(Err(errors));
    }
    let copied =
        Command::new(OBJCOPY).args(["-O", "binary", "-j", ".text"]).args([&object, &binary]).output()?;
    ensure!(copied.status.success(), "{OBJCOPY} failed: {}", String::from_utf8_lossy(&copied.stderr));
    let bytes = std::fs::read(&binary)?;
    Ok(Ok(bytes.chunks_exact(4).map(|bytes| bytes.try_into().map_or(0, u32::from_le_bytes)).collect()))
}
