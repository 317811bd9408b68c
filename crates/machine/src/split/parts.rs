//! The parts of a machine's lanes, each on an engine of its own, and calls of several parts at the same time.

use std::iter;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

use crate::executor::Executor;

/// Consecutive lanes of a machine, on one engine.
pub(super) struct Part {
    /// The number of the first lane in the machine.
    pub(super) first: usize,
    pub(super) executor: Box<dyn Executor>,
}

impl Part {
    /// Returns the numbers of the lanes in the machine.
    pub(super) fn lanes(&self) -> Range<usize> {
        self.first..self.first + self.executor.lanes()
    }
}

/// Calls a function with each job, the first one in this thread and each of the others in its own. Returns the results in
/// the order of the jobs.
///
/// The threads are not those of a pool, because they mostly wait for devices.
pub(super) fn at_once<J: Send, T: Send>(
    jobs: impl IntoIterator<Item = J>,
    call: impl Fn(J) -> T + Sync,
) -> Vec<T> {
    let mut jobs = jobs.into_iter();
    let Some(first) = jobs.next() else { return Vec::new() };
    let call = &call;
    thread::scope(|scope| {
        let others: Vec<_> = jobs.map(|job| scope.spawn(move || call(job))).collect();
        let first = call(first);
        let join =
            |thread: thread::ScopedJoinHandle<'_, T>| thread.join().unwrap_or_else(|e| resume_unwind(e));
        iter::once(first).chain(others.into_iter().map(join)).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::at_once;

    #[test]
    fn jobs_are_done_at_the_same_time_and_keep_their_order() {
        // With one thread after the other, this would never end.
        let barrier = Barrier::new(4);
        let results = at_once(0..4, |job| {
            barrier.wait();
            job * job
        });
        assert_eq!(results, [0, 1, 4, 9], "in the order of the jobs");
        assert!(at_once([], |job: u8| job).is_empty(), "no jobs");
    }
}
