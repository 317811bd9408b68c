//! The system calls that programs make while they are compared with QEMU. The table of `docs/linux.md` names them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::root::root;

/// The file of the names, by kind of program.
pub(crate) fn path() -> PathBuf {
    root().join("docs/records/linux-calls.toml")
}

/// Returns the names of the calls that were compared, by kind of program.
pub(crate) fn read() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let path = path();
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not valid", path.display()))
}

/// The calls of the runs so far.
#[derive(Debug, Default)]
pub(super) struct MadeCalls(BTreeSet<String>);

impl MadeCalls {
    /// Adds the calls in a trace of `kvrm run --strace` that did not fail.
    pub(super) fn add_trace(&mut self, trace: &Path) -> Result<()> {
        let text = fs::read(trace).with_context(|| format!("cannot read {}", trace.display()))?;
        let text = String::from_utf8_lossy(&text);
        self.0.extend(text.lines().filter_map(call).map(str::to_owned));
        Ok(())
    }

    /// Writes the names as those of a kind of program. The names of other kinds stay.
    pub(super) fn write(self, kind: &str) -> Result<()> {
        let path = path();
        let mut kinds = if path.exists() { read()? } else { BTreeMap::new() };
        println!("{} system calls of {kind}", self.0.len());
        kinds.insert(kind.to_owned(), self.0);
        let text = toml::to_string_pretty(&kinds)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Returns the name of the call in a line of a trace, if the call is complete and did not fail.
fn call(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("[pid ") {
        Some(rest) => rest.split_once("] ")?.1,
        None => line,
    };
    let (_, result) = line.rsplit_once(" = ")?;
    if result.starts_with("-1 E") {
        return None;
    }
    if let Some(rest) = line.strip_prefix("<... ") {
        return Some(rest.split_once(" resumed>")?.0);
    }
    let (name, _) = line.split_once('(')?;
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_did_not_fail_have_names() {
        assert_eq!(call("[pid 3] read(0, \"a = b\", 5)   = 5"), Some("read"), "a call of a thread");
        assert_eq!(call("exit_group(0)          = ?"), Some("exit_group"), "a call that does not return");
        assert_eq!(call("openat(AT_FDCWD, \"x\", O_RDONLY) = -1 ENOENT (No such file or directory)"), None);
        assert_eq!(call("[pid 2] wait4(-1,  <unfinished ...>"), None, "a call that waits");
        assert_eq!(call("[pid 2] <... wait4 resumed>NULL, 0, NULL) = 3"), Some("wait4"), "its end");
        assert_eq!(call("--- SIGCHLD {si_signo=SIGCHLD} ---"), None, "a signal");
    }
}
