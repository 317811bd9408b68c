//! Files with measurements and choices for this computer, in the user's folder for caches.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The environment variable that names the folder for stored measurements and choices.
pub const CACHE_VARIABLE: &str = "KVRM_CACHE";

/// Returns the folder for stored measurements and choices.
pub(crate) fn folder() -> Option<PathBuf> {
    let set = |variable| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    set(CACHE_VARIABLE)
        .or_else(|| Some(set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA"))?.join("kvrm")))
        .or_else(|| Some(set("HOME")?.join(".cache/kvrm")))
}

/// Writes a file, and its folder if there is none. Other processes see the old contents or the new ones, never a part.
pub(crate) fn write(file: &Path, text: &str) -> io::Result<()> {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    file.parent().map_or(Ok(()), fs::create_dir_all)?;
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(format!(".{}-{number}", process::id()));
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, file));
    if written.is_err() {
        // What is left would never be read.
        let _ = fs::remove_file(&unfinished);
    }
    written
}
