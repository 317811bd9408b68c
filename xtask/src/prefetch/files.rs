//! The files of recorded streams.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use kvrm_prefetch::AccessStream;
use kvrm_train::oracle::Part;

use super::workloads::table_level;
use crate::folders;
use crate::root::root;

/// The extension of the files of streams.
pub(super) const EXTENSION: &str = "pages";

/// Returns the folder of everything that the task makes.
pub(super) fn folder() -> PathBuf {
    root().join("target/prefetch")
}

/// Returns the folder of the streams.
pub(crate) fn streams_folder() -> PathBuf {
    folder().join("streams")
}

/// Reads all streams, in the order of their file names.
pub(super) fn read_streams() -> Result<Vec<AccessStream>> {
    const ADVICE: &str = "run `cargo xtask prefetch log`";
    let folder = streams_folder();
    ensure!(folder.is_dir(), "{} does not exist; {ADVICE}", folder.display());
    let mut paths = folders::entries(&folder)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    ensure!(!paths.is_empty(), "{} has no streams; {ADVICE}", folder.display());
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        AccessStream::from_bytes(&bytes).with_context(|| format!("{}; {ADVICE}", path.display()))
    };
    paths.iter().map(read).collect()
}

/// The options that choose streams.
#[derive(clap::Args)]
pub(super) struct Choice {
    /// Replay the streams whose names contain this text, instead of those of a part by gcc -O2.
    #[arg(long, value_name = "TEXT", conflicts_with = "part")]
    only: Option<String>,
    /// The part of the programs that are replayed: training, validation or held-out.
    #[arg(long, default_value = "held-out")]
    part: Part,
}

impl Choice {
    /// Returns the streams that are chosen, of which there is at least one.
    pub(super) fn of<'a>(&self, streams: &'a [AccessStream]) -> Result<Vec<&'a AccessStream>> {
        let level = table_level();
        let is_wanted = |stream: &&AccessStream| match &self.only {
            Some(text) => format!("{} {}", stream.program, stream.level).contains(text),
            None => Part::of(&stream.program) == self.part && stream.level == level,
        };
        let chosen: Vec<_> = streams.iter().filter(is_wanted).collect();
        ensure!(
            !chosen.is_empty(),
            "no stream has `{}` in its name",
            self.only.as_deref().unwrap_or_default()
        );
        Ok(chosen)
    }
}
