//! The places of a comparison: folders, and the environment of command lines.

use std::path::PathBuf;

/// The folder of command lines, fixtures and sources, relative to the root of the repository.
pub(super) const SOURCES: &str = "xtask/userland";
/// The environment of each command line. QEMU reads its processor from it.
pub(super) const ENVIRONMENT: [(&str, &str); 6] = [
    ("HOME", "/root"),
    ("LANG", "C.UTF-8"),
    ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/opt/tests"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("QEMU_CPU", "cortex-a53"),
    ("TZ", "UTC"),
];
/// The shell that executes the command lines.
pub(super) const SHELL: &str = "/usr/bin/dash";

/// The folders that both sides read.
#[derive(Debug)]
pub(super) struct Places {
    /// The system.
    pub(super) sysroot: PathBuf,
    /// The files in the working directory of each line, `/data`.
    pub(super) files: PathBuf,
    /// Our programs, in `/opt/tests`.
    pub(super) binaries: PathBuf,
    /// The folder for everything that runs write.
    pub(super) work: PathBuf,
}
