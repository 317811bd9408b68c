//! The check that the lanes of a machine on the CPU fit in the memory of the host.

use anyhow::{Result, bail};
use kvrm::spiking::available_memory;

/// The bytes that a lane on the CPU takes before it writes anything, measured and rounded down.
const LANE_BYTES: u64 = 5 << 10;
/// The bytes that a lane of a Linux program takes: with files, signals and the first page of the stack.
const LINUX_LANE_BYTES: u64 = 10 << 10;
/// The assumed memory of a host that does not say how much is available.
const ASSUMED_BYTES: u64 = 1 << 40;

/// Refuses a number of lanes that certainly does not fit in the memory of this host. Without this check, the host would
/// run out of memory while it builds the lanes, and end this process or another one.
pub(crate) fn check_lanes(lanes: u64, is_linux: bool) -> Result<()> {
    let lane = if is_linux { LINUX_LANE_BYTES } else { LANE_BYTES };
    let available = available_memory().unwrap_or(ASSUMED_BYTES);
    let max = available / lane;
    if lanes > max {
        let gib = |bytes: u128| bytes.div_ceil(1 << 30);
        bail!(
            "--lanes {lanes}: {lanes} lanes do not fit in memory: they take {} GiB on the CPU before they write anything, \
             and this host has {} GiB available; use at most {max} lanes",
            gib(u128::from(lanes) * u128::from(lane)),
            gib(available.into())
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_lanes;

    #[test]
    fn lanes_that_cannot_fit_are_refused_with_the_maximum() {
        assert!(check_lanes(1, true).is_ok(), "one lane fits everywhere");
        let message = check_lanes(u64::MAX, false).expect_err("no host has so much").to_string();
        assert!(
            message.contains("lanes do not fit in memory") && message.contains("use at most "),
            "{message}"
        );
    }
}
