//! How many batches are submitted at once.

use std::time::Duration;

/// How long they should take: displays that share the GPU stay usable.
const SLICE: Duration = Duration::from_millis(50);
/// The same where the CPU runs the shaders.
const SOFTWARE_SLICE: Duration = Duration::from_millis(200);
/// Slices grow or shrink by this factor at most from one to the next.
const GROWTH: f64 = 8.0;
/// Batches of the first slice.
const FIRST: u32 = 16;
/// The most batches of a slice: what is recorded of commands takes memory.
const MOST: u32 = 8192;

/// How long slices are.
#[derive(Debug)]
pub(super) struct Pace {
    target: Duration,
    /// Batches of the next slice.
    pub(super) batches: u32,
}

impl Pace {
    pub(super) fn new(is_software: bool) -> Self {
        Self { target: if is_software { SOFTWARE_SLICE } else { SLICE }, batches: FIRST }
    }

    /// Learns from a slice that took so long.
    pub(super) fn adapt(&mut self, batches: u32, took: Duration) {
        let factor = self.target.as_secs_f64() / took.as_secs_f64().max(1e-6);
        let wanted = f64::from(batches) * factor.clamp(1.0 / GROWTH, GROWTH);
        self.batches = (wanted as u32).clamp(1, MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_come_to_the_time_they_should_take() {
        for batch in [1e-5, 1e-4, 1e-2] {
            let mut pace = Pace::new(false);
            for _ in 0..8 {
                pace.adapt(pace.batches, Duration::from_secs_f64(batch * f64::from(pace.batches)));
            }
            let took = batch * f64::from(pace.batches);
            assert!((0.03..0.06).contains(&took), "{batch} s a batch: {took} s");
        }
        let mut pace = Pace::new(false);
        pace.adapt(1, Duration::from_secs(10));
        assert_eq!(pace.batches, 1, "a batch that takes too long is still one");
    }
}
