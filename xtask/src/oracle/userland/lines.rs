//! The tables of command lines.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::places::SOURCES;
use crate::folders::entries;
use crate::root::root;

/// A command line, which a shell executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The program that the line is about.
    pub(super) program: String,
    pub(super) text: String,
    /// Whether GPUs run it, too.
    pub(super) gpu: bool,
    /// The name of the part of Linux without which the line fails in KVRM.
    pub(super) awaits: Option<String>,
}

impl Line {
    /// Returns whether it contains a text, or its program or the awaited part of Linux has this name.
    pub(super) fn has(&self, text: &str) -> bool {
        self.program == text || self.awaits.as_deref() == Some(text) || self.text.contains(text)
    }
}

/// The command lines of a program, as a table has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Program {
    /// Lines for CPUs and GPUs.
    gpu: Vec<String>,
    /// Lines for CPUs.
    cpu: Vec<String>,
    /// Lines that await a part of Linux, by its name.
    awaits: BTreeMap<String, Vec<String>>,
}

/// Reads all tables.
pub(super) fn read() -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for path in entries(&root().join(SOURCES).join("lines"))? {
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let programs: BTreeMap<String, Program> =
            toml::from_str(&text).with_context(|| format!("{} is not valid", path.display()))?;
        lines.extend(programs.into_iter().flat_map(|(name, program)| program.into_lines(&name)));
    }
    Ok(lines)
}

impl Program {
    fn into_lines(self, name: &str) -> Vec<Line> {
        let line = |gpu, awaits: Option<&String>, text| Line {
            program: name.to_owned(),
            text,
            gpu,
            awaits: awaits.cloned(),
        };
        let mut lines: Vec<Line> = self.gpu.into_iter().map(|text| line(true, None, text)).collect();
        lines.extend(self.cpu.into_iter().map(|text| line(false, None, text)));
        for (part, texts) in &self.awaits {
            lines.extend(texts.iter().map(|text| line(false, Some(part), text.clone())));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn lines_are_many_and_distinct_and_name_their_programs() {
        let lines = read().expect("the tables are valid");
        let texts: BTreeSet<_> = lines.iter().map(|line| &line.text).collect();
        assert_eq!(texts.len(), lines.len(), "distinct lines");
        assert!(lines.len() >= 300, "{} lines", lines.len());
        let programs: BTreeSet<_> = lines.iter().map(|line| &line.program).collect();
        assert!(programs.len() >= 40, "{} programs", programs.len());
        for line in &lines {
            assert!(
                line.text.contains(&line.program),
                "the line of {} does not run it: {}",
                line.program,
                line.text
            );
        }
        let gpu = lines.iter().filter(|line| line.gpu).count();
        assert!(gpu * 3 >= lines.len(), "{gpu} of {} lines are for GPUs", lines.len());
    }
}
