//! The process of a lane in QEMU's user mode.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::workload::Workload;

/// An Armv8.0 processor, like that of KVRM's machine.
const PROCESSOR: [&str; 2] = ["-cpu", "cortex-a53"];

/// Fails if the command cannot run.
pub(super) fn check(qemu: &Path) -> Result<()> {
    let output = Command::new(qemu).arg("--version").output();
    let output = output.with_context(|| {
        format!("--qemu '{}': cannot run it; Debian's package is qemu-user", qemu.display())
    })?;
    ensure!(
        output.status.success(),
        "--qemu '{}': expected the path of qemu-aarch64, but --version fails",
        qemu.display()
    );
    Ok(())
}

/// Runs the process of a lane, which has to exit with status 0. Returns its output.
pub(super) fn output(workload: &Workload, qemu: &Path, lane: usize) -> Result<Vec<u8>> {
    let mut child = Command::new(qemu)
        .args(PROCESSOR)
        .arg(&workload.path)
        .args(workload.arguments(lane))
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", qemu.display()))?;
    // Programs read their whole input before they print, so no pipe is ever full on both sides.
    let mut input = child.stdin.take().context("the process has no input")?;
    input.write_all(&workload.input(lane)).context("the process does not read its input")?;
    drop(input);
    let output = child.wait_with_output()?;
    ensure!(
        output.status.success(),
        "lane {lane} in QEMU: {}; error output: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}
