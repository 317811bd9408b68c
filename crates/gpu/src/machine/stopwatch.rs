//! The time that a slice takes on a device that several machines share.
//!
//! A device runs slices one after the other. A slice that is submitted while another one runs waits for it, and this time is
//! not its own.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::device::Device;
use crate::device::lock::lock;

/// The slices of all machines on a device.
#[derive(Debug, Default)]
struct Slices(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The number of slices that have been submitted.
    submitted: u64,
    /// The number of the last slice that has ended, and when.
    last_end: Option<(u64, Instant)>,
}

/// Measures a slice.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    slices: Arc<Slices>,
    number: u64,
    begin: Instant,
}

impl Stopwatch {
    /// Begins to measure a slice, which is submitted next.
    pub(crate) fn begin(device: &Device) -> Self {
        Self::begin_at(device.extension(), Instant::now())
    }

    fn begin_at(slices: Arc<Slices>, begin: Instant) -> Self {
        let mut state = lock(&slices.0);
        let number = state.submitted;
        state.submitted += 1;
        drop(state);
        Self { slices, number, begin }
    }

    /// Returns the time that the slice has taken, now that it has ended.
    pub(crate) fn end(self) -> Duration {
        self.end_at(Instant::now())
    }

    fn end_at(self, end: Instant) -> Duration {
        let mut state = lock(&self.slices.0);
        let mut begin = self.begin;
        // The thread of an earlier slice may see its end later than that of this one.
        if state.last_end.is_none_or(|(number, _)| number < self.number) {
            let before = state.last_end.replace((self.number, end));
            begin = before.map_or(begin, |(_, before)| before.max(begin));
        }
        drop(state);
        end - begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Submits slices at `begins` and returns what `ends`, pairs of a slice and the time of its end, measure, all in
    /// milliseconds.
    fn measure(begins: &[u64], ends: &[(usize, u64)]) -> Vec<u128> {
        let zero = Instant::now();
        let at = |milliseconds| zero + Duration::from_millis(milliseconds);
        let slices = Arc::<Slices>::default();
        let mut watches: Vec<_> =
            begins.iter().map(|begin| Some(Stopwatch::begin_at(Arc::clone(&slices), at(*begin)))).collect();
        let end = |&(slice, end): &(usize, u64)| {
            let watch = watches[slice].take().expect("a slice ends once");
            watch.end_at(at(end)).as_millis()
        };
        ends.iter().map(end).collect()
    }

    #[test]
    fn a_slice_does_not_count_the_time_in_which_it_waits_for_another() {
        assert_eq!(measure(&[0, 10, 110], &[(0, 100), (1, 150), (2, 230)]), [100, 50, 80]);
    }

    #[test]
    fn a_slice_on_an_idle_device_counts_from_its_submission() {
        assert_eq!(measure(&[0, 200], &[(0, 100), (1, 250)]), [100, 50]);
    }

    #[test]
    fn a_slice_whose_end_is_seen_late_counts_from_its_submission() {
        assert_eq!(measure(&[0, 10], &[(1, 150), (0, 151)]), [140, 151]);
    }
}
