//! A build without the Cargo feature `terminal`, where the game cannot be played in a terminal.

use anyhow::{Result, bail};

use crate::doom::controls::ControlArgs;
use crate::doom::playthrough::Playthrough;

/// Refuses to play in a terminal.
pub(in crate::doom) fn check() -> Result<()> {
    bail!(
        "--terminal: this kvrm was built without the Cargo feature `terminal`; `cargo kvrm-full doom` runs \
         one with all features"
    )
}

pub(in crate::doom) fn run(_: &mut Playthrough, _: &ControlArgs) -> Result<()> {
    check()
}
