//! `cargo xtask sweep`: checks decoder, class map, assembler and disassembler against the instruction table, on all
//! 2^32 words.
//!
//! For every word, the decoder must find the row that a linear search of the table finds, or none, and the class map
//! must return the class of that row. One word in 256 goes through the disassembler and both assemblers, of operands and of text. Class bits that no
//! encoding has must be SYSTEM, with the exceptions in [`later_extensions`].

mod later_extensions;
mod members;
mod progress;
mod sample;
mod tally;

use std::time::Instant;

use anyhow::{Result, bail};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{CLASS_BITS, Encoding, class_of, decode};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use self::members::members;
use self::progress::Progress;
use self::tally::Tally;

/// The bits that select a unit of work for a thread.
const TOP_BYTE: u32 = 0xff00_0000;

pub(crate) fn run() -> Result<()> {
    let start = Instant::now();
    let progress = Progress::new(256);
    let check = |top_byte: u32| {
        let mut tally = Tally::new();
        for tuple in members(top_byte << 24, CLASS_BITS & !TOP_BYTE) {
            check_tuple(tuple, &mut tally);
        }
        progress.advance();
        tally
    };
    let tally = (0..256).into_par_iter().map(check).reduce(Tally::new, Tally::merge);

    println!("{tally}");
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} words in {seconds:.1} s, {:.0} million a second",
        tally.words(),
        tally.words() as f64 / seconds / 1e6
    );
    let unused = ENCODINGS.iter().filter(|row| tally.allocated(row.op) == 0).map(|row| row.name);
    let unused: Vec<&str> = unused.collect();
    if !unused.is_empty() {
        bail!("no word decodes to {}", unused.join(", "));
    }
    if tally.disagreements() > 0 {
        bail!(
            "{} disagreements, the first of which are\n{}",
            tally.disagreements(),
            tally.first_disagreements()
        );
    }
    Ok(())
}

/// Checks the words with the class bits of `tuple`, a word whose other bits are zero.
fn check_tuple(tuple: u32, tally: &mut Tally) {
    // The linear search only needs rows whose fixed bits agree with the class bits of these words.
    let rows: Vec<&Encoding> = ENCODINGS
        .iter()
        .filter(|row| (tuple ^ row.pattern.value) & row.pattern.mask & CLASS_BITS == 0)
        .collect();
    let mut allocated = false;
    for word in members(tuple, !CLASS_BITS) {
        let (op, class) = (decode(word), class_of(word));
        let expected = rows.iter().find(|row| row.matches(word)).map(|row| row.op);
        if op != expected {
            tally.disagree(word, || format!("decodes to {op:?}; the table says {expected:?}"));
        }
        if let Some(op) = op {
            allocated = true;
            if op.class() != class {
                tally.disagree(word, || {
                    format!("is {op:?} of class {:?}; the class map says {class:?}", op.class())
                });
            }
        }
        if sample::is_sampled(word)
            && let Err(problem) = sample::check(word, op)
        {
            tally.disagree(word, || problem);
        }
        tally.count(op, class);
    }
    if !allocated {
        let class = class_of(tuple);
        if let Some(expected) = later_extensions::class(tuple).filter(|expected| *expected != class) {
            tally.disagree(tuple, || {
                format!("has class bits of no encoding; their class is {class:?}, not {expected:?}")
            });
        }
    }
}
