//! The regions that wait for the thread that compiles.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Jobs by the addresses of their regions. The one that lanes have asked for most often is the next.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    jobs: HashMap<u64, Waiting<T>>,
    closed: bool,
}

#[derive(Debug)]
struct Waiting<T> {
    /// How often lanes have asked.
    asked: u32,
    /// `None` from when the job is taken.
    job: Option<T>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { state: Mutex::new(State { jobs: HashMap::new(), closed: false }), changed: Condvar::new() }
    }
}

impl<T> Queue<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the job at `pc`. Returns `false` if there is none.
    pub(crate) fn ask(&self, pc: u64) -> bool {
        let mut state = self.state();
        let Some(waiting) = state.jobs.get_mut(&pc) else { return false };
        waiting.asked = waiting.asked.saturating_add(1);
        true
    }

    /// Returns whether there is a job at `pc`.
    pub(crate) fn contains(&self, pc: u64) -> bool {
        self.state().jobs.contains_key(&pc)
    }

    /// Adds a job, unless there is one at `pc`.
    pub(crate) fn add(&self, pc: u64, job: T) {
        let mut state = self.state();
        state.jobs.entry(pc).or_insert(Waiting { asked: 1, job: Some(job) });
        self.changed.notify_one();
    }

    /// Waits for a job and takes it. Its address stays in the queue until [`Queue::end`]. Returns `None` once the queue is
    /// closed.
    pub(crate) fn take(&self) -> Option<(u64, T)> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            let waiting = state.jobs.iter_mut().filter(|(_, waiting)| waiting.job.is_some());
            // The order of equals depends on the addresses alone.
            let next = waiting.max_by_key(|(pc, waiting)| (waiting.asked, **pc));
            if let Some((pc, job)) = next.and_then(|(pc, waiting)| Some((*pc, waiting.job.take()?))) {
                return Some((pc, job));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Removes the address of a job that has been taken.
    pub(crate) fn end(&self, pc: u64) {
        self.state().jobs.remove(&pc);
    }

    /// Ends the wait for jobs.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::Queue;

    #[test]
    fn the_job_asked_for_most_often_is_the_next() {
        let queue = Queue::default();
        for (pc, asks) in [(4, 1), (8, 3), (12, 2)] {
            assert!(!queue.ask(pc), "nothing waits at {pc} yet");
            queue.add(pc, pc * 10);
            for _ in 0..asks {
                assert!(queue.ask(pc), "a job waits at {pc}");
            }
        }
        assert_eq!(
            [queue.take(), queue.take(), queue.take()],
            [Some((8, 80)), Some((12, 120)), Some((4, 40))]
        );
        assert!(queue.contains(8), "a job that was taken keeps its address");
        queue.end(8);
        assert!(!queue.contains(8), "until it has ended");
    }

    #[test]
    fn a_thread_that_waits_ends_with_the_queue() {
        let queue = Arc::new(Queue::<()>::default());
        let waiting = thread::spawn({
            let queue = Arc::clone(&queue);
            move || queue.take()
        });
        queue.close();
        assert_eq!(waiting.join().ok(), Some(None), "no job comes after the end");
    }
}
