//! The process of a lane in QEMU's user mode.

use std::env;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::workload::Workload;

/// An Armv8.0 processor, like that of KVRM's machine.
const PROCESSOR: [&str; 2] = ["-cpu", "cortex-a53"];

/// Returns the path of the command, which is searched for in the folders of PATH. Fails if it cannot run.
pub(super) fn find(qemu: &Path) -> Result<PathBuf> {
    let output = Command::new(qemu).arg("--version").output();
    let output = output.with_context(|| {
        format!("--qemu '{}': cannot run it; Debian's package is qemu-user", qemu.display())
    })?;
    ensure!(
        output.status.success(),
        "--qemu '{}': expected the path of qemu-aarch64, but --version fails",
        qemu.display()
    );
    Ok(in_folders(qemu, &env::var_os("PATH").unwrap_or_default()))
}

/// Returns the path of a command that is a mere name in these folders. Processes in QEMU have no PATH, so the name alone
/// would not be found.
fn in_folders(command: &Path, folders: &OsStr) -> PathBuf {
    let is_name = command.components().count() == 1 && !command.is_absolute();
    let found = env::split_paths(folders).map(|folder| folder.join(command)).find(|path| path.is_file());
    found.filter(|_| is_name).unwrap_or_else(|| command.to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_folders_other_than_those_of_the_system() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders =
            env::join_paths([folder.join("src"), folder.to_owned()]).expect("the paths can be joined");
        let found = |command: &str| in_folders(Path::new(command), &folders);
        assert_eq!(found("Cargo.toml"), folder.join("Cargo.toml"), "a name");
        assert_eq!(found("src/main.rs"), Path::new("src/main.rs"), "a path is not searched for");
        assert_eq!(
            found("no-such-command"),
            Path::new("no-such-command"),
            "the name is kept for the message"
        );
    }
}
