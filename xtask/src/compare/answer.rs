//! The output of a measurement in another process.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::de::DeserializeOwned;

/// Runs a command and parses the last line of its output as JSON.
pub(super) fn answer<T: DeserializeOwned>(command: &mut Command) -> Result<T> {
    let name = command.get_program().to_owned();
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot run {}", name.display()))?;
    ensure!(output.status.success(), "{} failed; its messages are above", name.display());
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().with_context(|| format!("{} printed nothing", name.display()))?;
    serde_json::from_str(line).with_context(|| format!("{} printed {line}", name.display()))
}
