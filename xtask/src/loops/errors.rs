//! The bodies that the pattern recogniser gets wrong, as text: the first thing to read before its data or its training change.

use std::collections::HashSet;

use anyhow::Result;
use kvrm_arm64::disassemble;
use kvrm_models::{Architecture, PatternRecogniser, Weights};
use kvrm_train::loops::{Analysis, Part, Splits, canonical};

use crate::root::root;

/// Prints the wrong bodies of a part of a log: labels, predictions with their cosines, and instructions.
pub(super) fn run(splits: &Splits, part: Part) -> Result<()> {
    let path = root().join(format!("weights/{}.safetensors", Architecture::PatternRecogniser));
    let network = PatternRecogniser::from_flat(Weights::load(&path)?.values())?;
    let known: HashSet<Vec<u32>> = splits.training.iter().map(|record| canonical(&record.words)).collect();
    let records = match part {
        Part::Training => &splits.training,
        Part::Validation => &splits.validation,
        Part::Programs => &splits.programs,
        Part::Level => &splits.level,
    };
    let mut wrong = 0;
    for record in records {
        let label = Analysis::new(&record.words).pattern();
        let Some(found) = network.recognise(&record.words).filter(|found| found.pattern() != label) else {
            continue;
        };
        wrong += 1;
        let pattern = found.pattern();
        let cosine = |pattern: kvrm_models::LoopPattern| found.cosines[pattern as usize];
        let similar = if known.contains(&canonical(&record.words)) { ", similar in training" } else { "" };
        println!(
            "{} {} {:#x}: {} taken for {} (cosines {:.3} and {:.3}){similar}",
            record.program,
            record.level,
            record.head,
            label.name(),
            pattern.name(),
            cosine(label),
            cosine(pattern)
        );
        for (place, word) in record.words.iter().enumerate() {
            println!("    {}", disassemble(*word, record.head + 4 * place as u64));
        }
    }
    println!("{wrong} of {} bodies", records.len());
    Ok(())
}
