//! Tasks that consist of steps: cargo commands that run in order until one fails.

use std::env;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::root::root;

/// A cargo command that a user can also type alone.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Environment variables of the command.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    pub(crate) arguments: &'static [&'static str],
}

/// Prints the command line of the step.
impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (name, value) in self.variables {
            write!(f, "{name}=\"{value}\" ")?;
        }
        write!(f, "cargo {}", self.arguments.join(" "))
    }
}

/// The error of a step that ran and failed.
#[derive(Debug)]
pub(crate) struct StepFailure {
    /// The exit code of the step.
    pub(crate) code: u8,
    name: &'static str,
    command: String,
    time: Duration,
}

impl Display for StepFailure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { code, name, command, time } = self;
        write!(f, "{name} failed with exit code {code} after {:.1} s; ", time.as_secs_f64())?;
        write!(f, "to repeat this step alone: {command}")
    }
}

impl Error for StepFailure {}

/// Runs `steps` in order, up to the first that fails.
pub(crate) fn run(steps: &[Step]) -> Result<()> {
    for step in steps {
        println!("==> {}: {step}", step.name);
        let start = Instant::now();
        let status = cargo()
            .current_dir(root())
            .envs(step.variables.iter().copied())
            .args(step.arguments)
            .status()
            .with_context(|| format!("cannot run {step}"))?;
        let time = start.elapsed();
        if !status.success() {
            // A step that was ended by a signal has no code.
            let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
            return Err(StepFailure { code, name: step.name, command: step.to_string(), time }.into());
        }
        println!("==> {}: passed in {:.1} s", step.name, time.as_secs_f64());
    }
    Ok(())
}

/// Returns a command for the cargo that runs this task.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}
