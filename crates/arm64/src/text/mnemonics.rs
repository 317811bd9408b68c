//! The mnemonics that the assembler knows.

use alloc::string::String;
use alloc::vec::Vec;

use super::form::SYS_MNEMONICS;
use crate::{alias, encoding};

/// Returns the known mnemonic that is nearest to an unknown one, unless they have hardly a letter in common.
pub(super) fn nearest(unknown: &str) -> Option<String> {
    let known = all().map(|known| (distance(unknown, &known), known));
    let (distance, known) = known.min_by_key(|(distance, _)| *distance)?;
    (distance <= 1 + known.len() / 3).then_some(known)
}

fn all() -> impl Iterator<Item = String> {
    let rows = encoding::ENCODINGS.iter().map(|row| (row.mnemonic, row.group()));
    let stores = rows.clone().filter(|(_, group)| *group == "memop");
    let stores =
        stores.filter_map(|(mnemonic, _)| mnemonic.strip_prefix("ld").map(|rest| alloc::format!("st{rest}")));
    let conditions = crate::operand::CONDITIONS.iter().map(|condition| alloc::format!("b.{condition}"));
    let names =
        rows.map(|(mnemonic, _)| mnemonic).chain(alias::all().map(|alias| alias.name)).chain(SYS_MNEMONICS);
    let names = names.filter(|name| !name.is_empty() && *name != "b.");
    let halves = |name: &str| match name.strip_suffix("{2}") {
        Some(first) => [Some(String::from(first)), Some(alloc::format!("{first}2"))],
        None => [Some(String::from(name)), None],
    };
    names.flat_map(halves).flatten().chain(stores).chain(conditions)
}

/// The least number of characters to insert, delete or replace, to turn one text into the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
