//! The host on which a benchmark ran.

use std::fmt;
use std::fs;
use std::process::Command;
use std::thread;

use serde::{Deserialize, Serialize};

/// The host on which a benchmark ran, as described by its operating system.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// The model of the CPU.
    pub cpu: Option<String>,
    /// The number of cores that this process may use.
    pub cores: Option<usize>,
    /// The memory of the machine in bytes.
    pub memory_bytes: Option<u64>,
    /// The operating system and its version.
    pub os: Option<String>,
}

impl Host {
    /// Describes this host.
    #[must_use]
    pub fn here() -> Self {
        let cores = thread::available_parallelism().ok().map(usize::from);
        let memory_kib = field("/proc/meminfo", "MemTotal:");
        let memory_kib = memory_kib.and_then(|text| text.trim_end_matches("kB").trim().parse::<u64>().ok());
        let macos = || Some(format!("macOS {}", output("sw_vers", "-productVersion")?));
        let linux = || Some(field("/etc/os-release", "PRETTY_NAME=")?.trim_matches('"').to_owned());
        Self {
            cpu: field("/proc/cpuinfo", "model name")
                .map(|text| text.trim_start_matches([':', ' ']).to_owned())
                .or_else(|| output("sysctl", "machdep.cpu.brand_string")),
            cores,
            memory_bytes: memory_kib
                .map(|kib| kib << 10)
                .or_else(|| output("sysctl", "hw.memsize").and_then(|text| text.parse().ok())),
            os: linux().or_else(macos).or_else(|| Some(std::env::consts::OS.to_owned())),
        }
    }
}

/// Prints the known fields, separated by commas.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.cpu.clone());
        parts.extend(self.cores.map(|cores| format!("{cores} cores")));
        parts.extend(self.memory_bytes.map(|bytes| format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30))));
        parts.extend(self.os.clone());
        if parts.is_empty() {
            return f.write_str("a machine that is not known");
        }
        f.write_str(&parts.join(", "))
    }
}

/// Returns the text after `key` in the first line of a file that begins with `key`.
fn field(path: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.lines().find_map(|line| line.strip_prefix(key))?.trim().to_owned())
}

/// Returns the output of a macOS program for the argument `name`.
fn output(program: &str, name: &str) -> Option<String> {
    let mut command = Command::new(program);
    if program == "sysctl" {
        command.arg("-n");
    }
    let output = command.arg(name).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn this_host_is_described() {
        let host = Host::here();
        assert!(host.cores.is_some_and(|cores| cores > 0), "{host:?} has cores");
        assert!(host.memory_bytes.is_some_and(|bytes| bytes > 1 << 20), "{host:?} has memory");
        assert!(host.os.is_some(), "{host:?} has a system");
    }

    #[test]
    fn unknown_fields_are_not_printed() {
        let host = Host { cores: Some(16), memory_bytes: Some(24 << 30), ..Host::default() };
        assert_eq!(host.to_string(), "16 cores, 24 GiB", "neither the CPU nor the system");
        assert_eq!(Host::default().to_string(), "a machine that is not known", "nothing");
    }
}
