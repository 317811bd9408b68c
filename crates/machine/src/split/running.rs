//! Runs of all parts at the same time, with one observer.

use std::ops::ControlFlow;
use std::sync::mpsc;
use std::thread;

use super::parts::Pools;
use crate::error::Error;
use crate::executor::Progress;

/// The observer of a run.
pub(crate) type Observe<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// A message from the thread of a part.
enum Message<T> {
    /// The part makes a pause, and waits for the answer whether to go on.
    Pause(Progress),
    /// The run of the part has ended.
    End(Result<(Progress, T), Error>),
}

/// Runs several parts at the same time, each in a thread of its own. A part is a number of lanes and what `run` needs for it.
/// `observe` is called in this thread with the progress of all parts. Returns their progress and the results in the order of the
/// parts.
///
/// If a part fails, the others return soon, too. The error is that of the first part that has failed.
pub(crate) fn observed<J: Send, T: Send>(
    parts: Vec<(usize, J)>,
    run: impl Fn(J, Observe<'_>) -> Result<(Progress, T), Error> + Sync,
    observe: Observe<'_>,
) -> Result<(Progress, Vec<T>), Error> {
    let mut watch = Watch::new(parts.iter().map(|(lanes, _)| *lanes), observe);
    let (run, pools) = (&run, &Pools::for_parts(parts.len()));
    thread::scope(|scope| {
        let (sender, messages) = mpsc::channel();
        let mut threads = Vec::with_capacity(parts.len());
        for (index, (_, part)) in parts.into_iter().enumerate() {
            let (answer, answers) = mpsc::channel();
            let sender = sender.clone();
            scope.spawn(move || {
                let pauses = sender.clone();
                let observe = move |now| {
                    // If the observer has panicked, nobody listens and nobody answers.
                    drop(pauses.send((index, Message::Pause(now))));
                    answers.recv().unwrap_or(ControlFlow::Break(()))
                };
                let ended = pools.install(index, move || run(part, &mut { observe }));
                drop(sender.send((index, Message::End(ended))));
            });
            threads.push(answer);
        }
        drop(sender);
        for (index, message) in messages {
            match message {
                Message::Pause(now) => {
                    let flow = watch.pause(index, now);
                    let _ = threads[index].send(flow);
                }
                Message::End(ended) => watch.end(index, ended),
            }
        }
    });
    watch.finish()
}

/// The progress of all parts, as seen by the thread that has begun the run.
struct Watch<'a, T> {
    parts: Vec<PartWatch<T>>,
    observe: Observe<'a>,
    /// Whether the run goes on.
    flow: ControlFlow<()>,
}

/// The progress of a part.
struct PartWatch<T> {
    /// Its last progress. Until there is one, all of its lanes count as running.
    progress: Progress,
    /// Whether it has reported since the observer was called last.
    has_reported: bool,
    /// The result of the run of the part: `None` while it runs.
    end: Option<Result<T, Error>>,
}

impl<'a, T> Watch<'a, T> {
    /// Begins to watch parts with so many lanes.
    fn new(lanes: impl Iterator<Item = usize>, observe: Observe<'a>) -> Self {
        let part = |running| PartWatch {
            progress: Progress { running, ..Progress::default() },
            has_reported: false,
            end: None,
        };
        Self { parts: lanes.map(part).collect(), observe, flow: ControlFlow::Continue(()) }
    }

    /// Notes the progress of a part that makes a pause, and returns whether it goes on.
    fn pause(&mut self, index: usize, now: Progress) -> ControlFlow<()> {
        self.note(index, now);
        self.flow
    }

    /// Notes the end of the run of a part.
    fn end(&mut self, index: usize, ended: Result<(Progress, T), Error>) {
        match ended {
            Ok((progress, result)) => {
                self.parts[index].end = Some(Ok(result));
                self.note(index, progress);
            }
            Err(error) => {
                self.parts[index].end = Some(Err(error));
                self.flow = ControlFlow::Break(());
            }
        }
    }

    /// Notes the progress of a part. Calls the observer if there is output, or if this part or all others have reported since
    /// the last call, so that the observer is called about as often as with one part.
    fn note(&mut self, index: usize, now: Progress) {
        let part = &mut self.parts[index];
        part.progress = now;
        let has_reported_twice = std::mem::replace(&mut part.has_reported, true);
        let mut left = self.parts.iter().filter(|part| part.end.is_none()).peekable();
        // As with one part, the end of a run is not reported.
        if self.flow.is_break() || left.peek().is_none() {
            return;
        }
        if now.has_output || has_reported_twice || left.all(|part| part.has_reported) {
            let now = self.total();
            self.flow = (self.observe)(now);
            self.parts.iter_mut().for_each(|part| {
                part.has_reported = false;
                // A part that still has output reports it again.
                part.progress.has_output = false;
            });
        }
    }

    /// Returns the progress of all parts together.
    fn total(&self) -> Progress {
        self.parts.iter().fold(Progress::default(), |total, PartWatch { progress, .. }| Progress {
            steps: total.steps + progress.steps,
            running: total.running + progress.running,
            has_output: total.has_output | progress.has_output,
        })
    }

    /// Returns the progress and the results of all parts.
    fn finish(self) -> Result<(Progress, Vec<T>), Error> {
        let progress = self.total();
        let ends = self.parts.into_iter().filter_map(|part| part.end);
        ends.collect::<Result<Vec<T>, Error>>().map(|results| (progress, results))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the progress of a part with lanes that run.
    fn steps(steps: u64) -> Progress {
        Progress { steps, running: 1, has_output: false }
    }

    /// Makes two parts with three lanes each report, and returns the steps and the running lanes that the observer sees.
    fn seen(reports: impl FnOnce(&mut Watch<'_, ()>)) -> Vec<(u64, usize)> {
        let mut seen = Vec::new();
        let mut observe = |now: Progress| {
            seen.push((now.steps, now.running));
            ControlFlow::Continue(())
        };
        reports(&mut Watch::new([3, 3].into_iter(), &mut observe));
        seen
    }

    #[test]
    fn the_observer_is_called_as_often_as_the_fastest_part_reports_at_most() {
        let two_rounds = seen(|watch| {
            for (part, report) in [(0, 10), (1, 20), (1, 30), (0, 50)] {
                assert!(watch.pause(part, steps(report)).is_continue(), "the run goes on");
            }
        });
        assert_eq!(two_rounds, [(30, 2), (80, 2)], "once for both");
        let one_only = seen(|watch| {
            (1..5).for_each(|report| assert!(watch.pause(0, steps(report)).is_continue(), "it goes on"));
        });
        assert_eq!(one_only, [(2, 4), (4, 4)], "lanes that nobody has reported run");
    }

    #[test]
    fn the_end_of_a_part_is_reported_unless_it_is_the_last() {
        let end = |steps| {
            let progress = Progress { steps, ..Progress::default() };
            Ok((progress, ()))
        };
        let ended = seen(|watch| {
            watch.end(1, end(7));
            assert!(watch.pause(0, steps(1)).is_continue(), "the other part goes on");
            assert!(watch.pause(0, steps(2)).is_continue(), "the other part goes on");
            watch.end(0, end(3));
        });
        assert_eq!(ended, [(8, 1), (9, 1)], "each report of the part that is left");
    }

    #[test]
    fn output_is_reported_at_once_and_only_once_after_the_end_of_a_part() {
        let mut has_output = Vec::new();
        let mut observe = |now: Progress| {
            has_output.push(now.has_output);
            ControlFlow::Continue(())
        };
        let mut watch = Watch::new([1, 1].into_iter(), &mut observe);
        let progress = Progress { steps: 1, running: 0, has_output: true };
        watch.end(0, Ok((progress, ())));
        assert!(watch.pause(1, steps(5)).is_continue(), "it goes on");
        assert_eq!(has_output, [true, false], "the output of the part that has ended");
    }

    #[test]
    fn a_failure_ends_the_run_of_all_parts() {
        let mut observe = |_| panic!("nobody is told");
        let mut watch = Watch::new([1, 1].into_iter(), &mut observe);
        watch.end(1, Err(Error::NoSnapshot));
        assert!(watch.pause(0, steps(1)).is_break(), "the other part returns soon");
        watch.end(0, Ok((Progress::default(), ())));
        assert!(matches!(watch.finish(), Err(Error::NoSnapshot)), "the error is returned");
    }
}
