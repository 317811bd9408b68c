//! The parts of a machine's lanes, each on an engine of its own, and calls of several parts at the same time.

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

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

/// Calls a function with each job at the same time. Returns the results in the order of the jobs.
pub(super) fn at_once<J: Send, T: Send>(
    jobs: impl IntoIterator<Item = J>,
    call: impl Fn(J) -> T + Sync,
) -> Vec<T> {
    let mut jobs: Vec<J> = jobs.into_iter().collect();
    if jobs.len() <= 1 {
        return jobs.pop().map(call).into_iter().collect();
    }
    let (call, pools) = (&call, Pools::for_parts(jobs.len()));
    thread::scope(|scope| {
        let threads: Vec<_> = jobs
            .into_iter()
            .enumerate()
            .map(|(index, job)| {
                let pools = &pools;
                scope.spawn(move || pools.install(index, || call(job)))
            })
            .collect();
        let join =
            |thread: thread::ScopedJoinHandle<'_, T>| thread.join().unwrap_or_else(|e| resume_unwind(e));
        threads.into_iter().map(join).collect()
    })
}

/// Pools of threads, one for each part.
///
/// The pieces of work that a part divides among threads are small, and it waits for the last of them. Threads of the other parts
/// would delay that.
#[derive(Clone)]
pub(super) struct Pools(Arc<[Option<ThreadPool>]>);

impl Pools {
    /// Returns the pools of so many parts, which share the threads of the present pool evenly. They are made once in a process.
    pub(super) fn for_parts(parts: usize) -> Self {
        static POOLS: Mutex<BTreeMap<(usize, usize), Pools>> = Mutex::new(BTreeMap::new());
        let threads = (rayon::current_num_threads() / parts).max(1);
        // If the system has no more threads, parts use the present pool.
        let pool = || ThreadPoolBuilder::new().num_threads(threads).build().ok();
        let mut made = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let pools = made.entry((parts, threads));
        pools.or_insert_with(|| Self(iter::repeat_with(pool).take(parts).collect())).clone()
    }

    /// Calls a function in a thread of the pool of a part.
    pub(super) fn install<T: Send>(&self, part: usize, call: impl FnOnce() -> T + Send) -> T {
        match self.0.get(part).and_then(Option::as_ref) {
            Some(pool) => pool.install(call),
            None => call(),
        }
    }
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
