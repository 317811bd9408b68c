//! Tables in Markdown, and their places in documents.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result};

use crate::root::root;

/// Appends a row of a table.
pub(crate) fn row(out: &mut String, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<String> = cells.into_iter().collect();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// Appends the head of a table, whose columns after the first are numbers.
pub(crate) fn head(out: &mut String, title: &str, columns: &[&str]) {
    let _ = writeln!(out, "\n**{title}**\n");
    row(out, columns.iter().map(|column| (*column).to_owned()));
    row(out, columns.iter().enumerate().map(|(index, _)| if index == 0 { "---" } else { "---:" }.to_owned()));
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Replaces what a document has between two marks.
pub(crate) fn replace_between(document: &str, begin: &str, end: &str, text: &str) -> Result<()> {
    let path = root().join(document);
    let old = fs::read_to_string(&path).with_context(|| format!("cannot read {document}"))?;
    let (before, rest) = old.split_once(begin).with_context(|| format!("{document} has no `{begin}`"))?;
    let (_, after) = rest.split_once(end).with_context(|| format!("{document} has no `{end}`"))?;
    fs::write(&path, format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim()))
        .with_context(|| format!("cannot write {document}"))
}
