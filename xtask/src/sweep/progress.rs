//! Progress messages of a long task.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// A counter of finished units of work, which prints a line at every twentieth of the total.
pub(super) struct Progress {
    units: u32,
    done: AtomicU32,
    start: Instant,
}

impl Progress {
    pub(super) fn new(units: u32) -> Self {
        Self { units, done: AtomicU32::new(0), start: Instant::now() }
    }

    /// Counts a finished unit of work.
    pub(super) fn advance(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done * 20 / self.units > (done - 1) * 20 / self.units && done < self.units {
            let left = self.start.elapsed().mul_f64(f64::from(self.units - done) / f64::from(done));
            println!("{:3} %, about {:.0} s left", done * 100 / self.units, left.as_secs_f64());
        }
    }
}
