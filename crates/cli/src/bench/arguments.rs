//! Checks of arguments that all measurements have.

use anyhow::{Result, bail};

/// The longest measurement, in seconds.
const SECONDS_MAX: f64 = 3600.0;

/// Parses a time.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= SECONDS_MAX);
    seconds.ok_or_else(|| format!("expected a number of seconds above 0 and up to {SECONDS_MAX}"))
}

/// Refuses machines without lanes.
pub(super) fn check_lanes(lanes: &[u64]) -> Result<()> {
    if lanes.contains(&0) {
        bail!("--lanes: a machine needs at least 1 lane, and 0 were asked for");
    }
    Ok(())
}
