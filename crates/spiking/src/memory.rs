//! The available memory of the host, and the check that a network fits in it.
//!
//! Without the check, a network that is too large would end this process or another one, because hosts promise more
//! memory than they have.

use std::fs;

use crate::Error;

/// The need below which nothing is checked, so that small networks cost no look at the host.
const UNCHECKED_BYTES: u64 = 64 << 20;
/// The assumed memory of a host that does not say how much is available.
const ASSUMED_BYTES: u64 = 1 << 40;

/// Returns the available memory of this host with its swap space, in bytes, or `None` if the host is not Linux.
///
/// ```
/// if let Some(bytes) = kvrm_spiking::available_memory() {
///     println!("{} GiB are available", bytes >> 30);
/// }
/// ```
#[must_use]
pub fn available_memory() -> Option<u64> {
    parse_meminfo(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn parse_meminfo(text: &str) -> Option<u64> {
    let kib = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    Some((kib("MemAvailable:")? + kib("SwapFree:").unwrap_or(0)) << 10)
}

/// A part of the memory for a network that is allocated next, at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryNeed {
    /// The number of neurons of the network.
    pub(crate) neurons: u64,
    /// The number of its synapses, as far as they are known; 0 if they are not.
    pub(crate) synapses: u64,
    /// The size of the part in bytes.
    pub(crate) bytes: u64,
}

impl MemoryNeed {
    /// Checks that the host has this much memory.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if it certainly has not.
    pub(crate) fn check(self) -> Result<(), Error> {
        if self.bytes <= UNCHECKED_BYTES {
            return Ok(());
        }
        self.check_within(available_memory().unwrap_or(ASSUMED_BYTES))
    }

    fn check_within(self, available: u64) -> Result<(), Error> {
        let Self { neurons, synapses, bytes } = self;
        if bytes > available { Err(Error::TooLarge { neurons, synapses, bytes, available }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_swap_are_added() {
        let text = "MemTotal:       32 kB\nMemAvailable:   16 kB\nSwapFree:  4 kB\n";
        assert_eq!(parse_meminfo(text), Some(20 << 10), "KiB");
        assert_eq!(parse_meminfo("MemTotal: 1 kB\n"), None, "an old kernel");
    }

    #[test]
    fn a_need_above_the_available_memory_is_an_error_with_all_numbers() {
        let need = MemoryNeed { neurons: 1000, synapses: 0, bytes: 3 << 30 };
        assert!(need.check_within(3 << 30).is_ok(), "it just fits");
        let text = need.check_within((3 << 30) - 1).expect_err("one byte is missing").to_string();
        let expected = "a network of 1000 neurons does not fit in memory: it takes at least 3221225472 bytes (3.0 GiB), \
                        and this host has 3221225471 bytes (3.0 GiB) available; use fewer neurons, fewer synapses or \
                        shorter delays";
        assert_eq!(text, expected, "before synapses are known");
        let need = MemoryNeed { synapses: 7, ..need };
        let text = need.check_within(5 << 20).expect_err("too little").to_string();
        assert!(text.contains("1000 neurons and 7 synapses") && text.contains("5242880 bytes"), "{text}");
    }

    #[test]
    fn small_needs_are_not_checked() {
        assert!(MemoryNeed { neurons: 1, synapses: 1, bytes: UNCHECKED_BYTES }.check().is_ok(), "64 MiB");
        let need = MemoryNeed { neurons: 1, synapses: 1, bytes: u64::MAX };
        assert!(matches!(need.check(), Err(Error::TooLarge { .. })), "no host has so much");
    }
}
