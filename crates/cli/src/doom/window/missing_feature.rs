//! A build without the Cargo feature `window`, where the game has no window.

use anyhow::{Result, bail};

use crate::doom::controls::ControlArgs;
use crate::doom::playthrough::Playthrough;

/// Refuses to open a window.
pub(in crate::doom) fn check() -> Result<()> {
    bail!(
        "this kvrm was built without the Cargo feature `window`; `cargo kvrm-full doom` runs one with all \
         features, and --headless needs no window"
    )
}

pub(in crate::doom) fn run(_: &mut Playthrough, _: &ControlArgs) -> Result<()> {
    check()
}
