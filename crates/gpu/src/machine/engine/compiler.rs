//! Threads that compile in the background. They begin jobs in their order.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle, available_parallelism};
use std::time::{Duration, Instant};

use crate::device::lock::lock;

/// The longest time that the end of a machine waits for a compiler.
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest number of threads. Drivers compile a kernel in one thread each.
const THREADS_MAX: usize = 4;

/// A job for a thread.
struct Job<T> {
    /// The number of cancellations before the job was ordered.
    epoch: u64,
    number: usize,
    work: Box<dyn FnOnce() -> Result<T, String> + Send>,
}

/// A completed job.
struct Done<T> {
    epoch: u64,
    number: usize,
    result: Result<T, String>,
}

/// The threads, and the jobs that they have not completed.
pub(super) struct Compiler<T> {
    jobs: Option<Sender<Job<T>>>,
    done: Receiver<Done<T>>,
    /// The number of cancellations.
    epoch: Arc<AtomicU64>,
    /// The number of jobs whose results have not been taken.
    left: usize,
    threads: Vec<JoinHandle<()>>,
}

impl<T: Send + 'static> Compiler<T> {
    /// Starts `threads` threads.
    pub(super) fn start(threads: usize) -> io::Result<Self> {
        let (jobs, ordered) = channel::<Job<T>>();
        let ordered = Arc::new(Mutex::new(ordered));
        let (completed, done) = channel();
        let epoch = Arc::new(AtomicU64::new(0));
        let mut compiler = Self { jobs: Some(jobs), done, epoch, left: 0, threads: Vec::new() };
        for _ in 0..threads {
            let (ordered, completed) = (Arc::clone(&ordered), completed.clone());
            let current = Arc::clone(&compiler.epoch);
            let work = move || {
                // The lock is held while a thread waits for a job, and not while it works.
                while let Ok(Job { epoch, number, work }) = { lock(&ordered).recv() } {
                    if epoch != current.load(Ordering::Relaxed) {
                        continue;
                    }
                    let result = catch_unwind(AssertUnwindSafe(work));
                    let result = result.unwrap_or_else(|_| Err("the compiler panicked".to_owned()));
                    // Nobody waits for the result if the machine is dropped.
                    let _ = completed.send(Done { epoch, number, result });
                }
            };
            compiler.threads.push(Builder::new().spawn(work)?);
        }
        Ok(compiler)
    }

    /// Orders a job. Its result comes back with `number`.
    pub(super) fn order(&mut self, number: usize, work: impl FnOnce() -> Result<T, String> + Send + 'static) {
        let job = Job { epoch: self.epoch.load(Ordering::Relaxed), number, work: Box::new(work) };
        if self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok()) {
            self.left += 1;
        }
    }

    /// Drops all jobs that have not begun, and all results that have not been taken.
    pub(super) fn cancel(&mut self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
        self.left = 0;
    }

    /// Whether jobs are left.
    pub(super) const fn is_busy(&self) -> bool {
        self.left > 0
    }

    /// Returns the number and the result of the next completed job. If no job is completed, it waits for one, or returns
    /// `None`.
    pub(super) fn next(&mut self, waits: bool) -> Option<(usize, Result<T, String>)> {
        while self.left > 0 {
            let done = if waits { self.done.recv().ok() } else { self.done.try_recv().ok() };
            let Done { epoch, number, result } = done?;
            if epoch == self.epoch.load(Ordering::Relaxed) {
                self.left -= 1;
                return Some((number, result));
            }
        }
        None
    }
}

/// Returns the number of threads for a device. Half of the cores are left for others. Where the CPU runs the shaders,
/// lanes would be slower with more than one.
pub(super) fn threads(is_software: bool) -> usize {
    let cores = available_parallelism().map_or(1, usize::from);
    if is_software { 1 } else { (cores / 2).clamp(1, THREADS_MAX) }
}

impl<T> std::fmt::Debug for Compiler<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compiler").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<T> Drop for Compiler<T> {
    fn drop(&mut self) {
        // A driver may crash if the process ends while it compiles, so jobs in work are completed. But no compiler is worth a
        // long wait.
        self.epoch.fetch_add(1, Ordering::Relaxed);
        self.jobs = None;
        let begin = Instant::now();
        while !self.threads.iter().all(JoinHandle::is_finished) && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_completed_in_their_order_and_may_fail() {
        let mut compiler = Compiler::start(1).expect("a thread starts");
        assert_eq!(compiler.next(true), None, "there is nothing to wait for");
        compiler.order(7, || Ok("seven"));
        compiler.order(3, || Err("no such text".to_owned()));
        compiler.order(5, || panic!("a test of panics"));
        let results: Vec<_> = std::iter::from_fn(|| compiler.next(true)).collect();
        let panicked = Err("the compiler panicked".to_owned());
        let expected = vec![(7, Ok("seven")), (3, Err("no such text".to_owned())), (5, panicked)];
        assert_eq!(results, expected, "in the order of the jobs");
        assert!(!compiler.is_busy(), "all results are taken");
    }

    #[test]
    fn jobs_that_have_not_begun_can_be_cancelled() {
        let mut compiler = Compiler::start(1).expect("a thread starts");
        let (begun, wait) = (channel(), channel::<()>());
        compiler.order(0, move || {
            begun.0.send(()).expect("the test waits");
            wait.1.recv().expect("the test sends");
            Ok("old")
        });
        compiler.order(1, || panic!("the job has begun"));
        begun.1.recv().expect("the first job begins");
        assert!(compiler.is_busy() && compiler.next(false).is_none(), "the first job waits");
        compiler.cancel();
        compiler.order(2, || Ok("new"));
        wait.0.send(()).expect("the first job waits");
        assert_eq!(compiler.next(true), Some((2, Ok("new"))), "the result of the first job is dropped, too");
        assert!(!compiler.is_busy(), "no job is left");
    }

    #[test]
    fn threads_work_at_the_same_time() {
        let mut compiler = Compiler::start(2).expect("threads start");
        let ((first, at_first), (second, at_second)) = (channel(), channel());
        compiler.order(0, move || {
            first.send(()).map_err(|error| error.to_string())?;
            at_second.recv().map_err(|error| error.to_string())
        });
        compiler.order(1, move || {
            at_first.recv().map_err(|error| error.to_string())?;
            second.send(()).map_err(|error| error.to_string())
        });
        let mut results: Vec<_> = std::iter::from_fn(|| compiler.next(true)).collect();
        results.sort_unstable();
        assert_eq!(results, [(0, Ok(())), (1, Ok(()))], "each job waits for the other");
    }

    #[test]
    fn the_end_waits_for_the_job_in_work_and_drops_the_others() {
        let mut compiler = Compiler::start(1).expect("a thread starts");
        let ((begun, begins), (ended, ends)) = (channel(), channel());
        let late = ended.clone();
        compiler.order(0, move || {
            begun.send(()).expect("the test waits");
            std::thread::sleep(Duration::from_millis(20));
            ended.send(0).map_err(|error| error.to_string())
        });
        compiler.order(1, move || late.send(1).map_err(|error| error.to_string()));
        begins.recv().expect("the first job begins");
        drop(compiler);
        assert_eq!(ends.try_iter().collect::<Vec<_>>(), [0], "the job in work has ended");
    }
}
