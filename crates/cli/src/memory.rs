//! The memory of the host, and whether the lanes of a machine on the CPU fit in it.

use std::fs;

use anyhow::{Result, bail};

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
    let available = available_bytes().unwrap_or(ASSUMED_BYTES);
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

/// Returns the available memory of this host with its swap space, or `None` if the host is not Linux.
fn available_bytes() -> Option<u64> {
    parse_meminfo(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn parse_meminfo(text: &str) -> Option<u64> {
    let kib = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    Some((kib("MemAvailable:")? + kib("SwapFree:").unwrap_or(0)) << 10)
}

#[cfg(test)]
mod tests {
    use super::{check_lanes, parse_meminfo};

    #[test]
    fn memory_and_swap_are_added() {
        let text = "MemTotal:       32 kB\nMemAvailable:   16 kB\nSwapFree:  4 kB\n";
        assert_eq!(parse_meminfo(text), Some(20 << 10), "KiB");
        assert_eq!(parse_meminfo("MemTotal: 1 kB\n"), None, "an old kernel");
    }

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
