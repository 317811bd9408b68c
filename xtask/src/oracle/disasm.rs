//! Comparison of the disassembler with GNU objdump.

use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use kvrm_arm64::disassemble;
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use super::corpus::write_corpus;
use crate::system::ensure_program;

const OBJDUMP: &str = "aarch64-linux-gnu-objdump";
/// The number of words of each encoding in the corpus.
const CORPUS_WORDS: usize = 20;

pub(super) fn run(each: usize, seed: u64, write: bool) -> Result<()> {
    ensure_program(OBJDUMP, "binutils-aarch64-linux-gnu")?;
    let mut random = Random::new(seed);
    let words: Vec<(u32, usize)> = ENCODINGS
        .iter()
        .flat_map(|encoding| {
            (0..each).map(|index| (words::allocated(encoding, &mut random), index)).collect::<Vec<_>>()
        })
        .collect();
    let file = crate::root::root().join("target/oracle/words.bin");
    std::fs::create_dir_all(file.parent().context("target has no parent")?)?;
    std::fs::write(&file, words.iter().flat_map(|(word, _)| word.to_le_bytes()).collect::<Vec<_>>())?;
    let output =
        Command::new(OBJDUMP).args(["-z", "-D", "-b", "binary", "-m", "aarch64"]).arg(&file).output()?;
    ensure!(output.status.success(), "{OBJDUMP} failed: {}", String::from_utf8_lossy(&output.stderr));

    let lines = String::from_utf8(output.stdout)?;
    let lines: Vec<String> = lines.lines().filter_map(text).collect();
    ensure!(lines.len() == words.len(), "{OBJDUMP} printed {} lines for {} words", lines.len(), words.len());
    let (mut differ, mut unknown, mut corpus) = (0, 0, String::new());
    for (index, (theirs, (word, number))) in lines.iter().zip(words).enumerate() {
        let pc = 4 * index as u64;
        let ours = disassemble(word, pc).to_string();
        if is_expected_difference(theirs, &ours) {
            unknown += 1;
        } else if ours != *theirs {
            differ += 1;
            if differ <= 20 {
                println!("{word:08x}: KVRM `{ours}`, objdump `{theirs}`");
            }
        } else if number < CORPUS_WORDS {
            corpus += &format!("{pc:x} {word:08x} {theirs}\n");
        }
    }
    println!("{} words, {unknown} expected differences, {differ} unexpected ones", lines.len());
    if differ > 0 {
        bail!("disassembler and objdump differ");
    }
    if write { write_corpus("disasm.txt.gz", &corpus) } else { Ok(()) }
}

/// Returns the instruction in a line of objdump's output, without the comment.
fn text(line: &str) -> Option<String> {
    let (_, rest) = line.trim_start().split_once(":\t")?;
    let (_, text) = rest.split_once('\t')?;
    let text = text.split("//").next()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns whether a difference from binutils 2.40 is expected: binutils lacks the newest hints, knows registers of
/// later versions and other profiles, and calls CONSTRAINED UNPREDICTABLE pairs undefined.
fn is_expected_difference(theirs: &str, ours: &str) -> bool {
    let newer_hint = ["dgh", "gcsb dsync", "clrbhb", "chkfeat x16"].contains(&ours);
    let later_name = [" s0_", " s1_", " s2_", " s3_", "sys "].iter().any(|generic| ours.contains(generic))
        || ours.starts_with("sys ");
    let unpredictable = theirs.starts_with(".inst") && ours.starts_with("ldpsw");
    newer_hint || (later_name && !theirs.contains(".inst")) || unpredictable
}
