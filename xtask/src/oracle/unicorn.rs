//! A connection to Unicorn, an emulator derived from QEMU.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::root::root;
use crate::system::python;

/// The version with which all corpora were made.
const UNICORN: &str = "unicorn==2.1.4";

/// A Python process with Unicorn.
pub(super) struct Unicorn {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Unicorn {
    pub(super) fn start() -> Result<Self> {
        let python = python("oracle", "unicorn", &["setuptools<81", UNICORN])?;
        let script = root().join("xtask/src/oracle/unicorn_oracle.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start Python")?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("Python has no output")?;
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// Sends one request and reads its answer.
    pub(super) fn ask<T: serde::de::DeserializeOwned>(
        &mut self,
        request: &impl serde::Serialize,
    ) -> Result<T> {
        let input = self.input.as_mut().context("Unicorn has ended")?;
        serde_json::to_writer(&mut *input, request)?;
        input.write_all(b"\n")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        ensure!(!answer.is_empty(), "Unicorn ended before its answer; its messages are above");
        serde_json::from_str(&answer).with_context(|| format!("Unicorn answered {answer}"))
    }
}

impl Drop for Unicorn {
    fn drop(&mut self) {
        // The script ends at the end of its input.
        self.input = None;
        let _ = self.child.wait();
    }
}
