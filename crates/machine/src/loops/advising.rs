//! Questions to an advisor, and its answers, which may come later.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use super::advice::{LoopAdvice, LoopAdvisor, LoopCandidate, LoopEntry};
use super::search::Place;

/// The advice about a body, once it is there.
pub(super) type Answer = OnceLock<LoopAdvice>;

/// The time at which an advisor answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Before lanes go on.
    AtOnce,
    /// In a thread of its own.
    Later,
}

/// A body about which the advisor is asked.
#[derive(Debug)]
pub(super) struct Question {
    /// The loop that was found first.
    pub(super) place: Place,
    pub(super) registers: [u64; 32],
    pub(super) answer: Arc<Answer>,
}

/// The right to tell an advisor of entries of loops, which one engine has at a time.
#[derive(Debug)]
pub(super) struct Hearing;

/// An advisor, and its answers.
#[derive(Debug)]
pub(super) struct Advising {
    advisor: Arc<Advisor>,
    when: When,
    /// The answers by the words of bodies.
    answers: Mutex<HashMap<Vec<u32>, Arc<Answer>>>,
    /// The thread, from the first question on.
    worker: Mutex<Option<Worker>>,
    /// The right that an engine has, unless there is none any more.
    hearing: Mutex<Weak<Hearing>>,
}

/// An advisor, and the amount of its work.
#[derive(Debug)]
struct Advisor {
    advisor: Box<dyn LoopAdvisor>,
    bodies: AtomicU64,
    nanoseconds: AtomicU64,
    /// Whether nobody wants answers any more.
    is_dropped: AtomicBool,
}

/// A thread that answers questions.
#[derive(Debug)]
struct Worker {
    questions: Sender<Vec<Question>>,
    /// `None` if the host has no thread for it. Then there are no answers.
    thread: Option<JoinHandle<()>>,
}

impl Advising {
    pub(super) fn new(advisor: Box<dyn LoopAdvisor>, when: When) -> Self {
        let [bodies, nanoseconds] = [0, 0].map(AtomicU64::new);
        let advisor = Advisor { advisor, bodies, nanoseconds, is_dropped: AtomicBool::new(false) };
        let (answers, worker, hearing) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { advisor: Arc::new(advisor), when, answers, worker, hearing }
    }

    /// Returns the right to tell the advisor of entries of loops. Returns `None` if it does not hear, or another engine has the right.
    pub(super) fn listen(&self) -> Option<Arc<Hearing>> {
        let mut hearing = self.hearing.lock().unwrap_or_else(PoisonError::into_inner);
        if hearing.strong_count() > 0 || !self.advisor.advisor.hears() {
            return None;
        }
        let right = Arc::new(Hearing);
        *hearing = Arc::downgrade(&right);
        Some(right)
    }

    /// Tells the advisor of an entry of a loop.
    pub(super) fn hear(&self, entry: &LoopEntry<'_>) {
        self.advisor.advisor.hear(entry);
    }

    /// Returns the number of steps that lanes take in a loop before anyone is asked about it.
    pub(super) fn steps_min(&self) -> u64 {
        self.advisor.advisor.steps_min()
    }

    /// Returns the place of the answer about a body, and whether nobody has asked for it before.
    pub(super) fn answer(&self, words: &[u32]) -> (Arc<Answer>, bool) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = answers.get(words) {
            return (Arc::clone(answer), false);
        }
        let answer = Arc::<Answer>::default();
        answers.insert(words.to_vec(), Arc::clone(&answer));
        (answer, true)
    }

    /// Asks for answers.
    pub(super) fn ask(&self, questions: Vec<Question>) {
        if questions.is_empty() {
            return;
        }
        if self.when == When::AtOnce {
            return self.advisor.answer_all(&questions);
        }
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = worker.get_or_insert_with(|| Worker::start(Arc::clone(&self.advisor)));
        // There is no receiver if the advisor has panicked; loops are stepped then.
        drop(worker.questions.send(questions));
    }

    /// Returns the number of bodies about which advice was given, and the time that it took in seconds.
    pub(super) fn work(&self) -> (u64, f64) {
        let Advisor { bodies, nanoseconds, .. } = &*self.advisor;
        (bodies.load(Ordering::Relaxed), nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9)
    }
}

impl Drop for Advising {
    fn drop(&mut self) {
        // The thread ends after the questions that it has begun with.
        self.advisor.is_dropped.store(true, Ordering::Relaxed);
        let worker = self.worker.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Worker { questions, thread: Some(thread) }) = worker {
            drop(questions);
            // A process that ends while a thread uses its GPU may crash, so this waits for the thread.
            drop(thread.join());
        }
    }
}

impl Advisor {
    fn answer_all(&self, questions: &[Question]) {
        questions.chunks(self.advisor.batch_max().max(1)).for_each(|batch| self.answer(batch));
    }

    fn answer(&self, batch: &[Question]) {
        if self.is_dropped.load(Ordering::Relaxed) {
            return;
        }
        let candidates: Vec<_> = batch
            .iter()
            .map(|Question { place, registers, .. }| LoopCandidate {
                head: place.head,
                words: &place.words,
                registers,
            })
            .collect();
        let begin = Instant::now();
        let advice = self.advisor.advise(&candidates);
        self.nanoseconds.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.bodies.fetch_add(batch.len() as u64, Ordering::Relaxed);
        // No advice means that the loop is not proposed.
        let advice = advice.into_iter().chain(std::iter::repeat_with(LoopAdvice::default));
        for (question, advice) in batch.iter().zip(advice) {
            question.answer.get_or_init(|| advice);
        }
    }
}

impl Worker {
    fn start(advisor: Arc<Advisor>) -> Self {
        let (questions, receiver) = channel();
        let work = move || work(&advisor, &receiver);
        Self { questions, thread: Builder::new().name("kvrm-loops".to_owned()).spawn(work).ok() }
    }
}

/// Answers questions until nobody can ask any more. All questions that wait are answered together.
fn work(advisor: &Advisor, receiver: &Receiver<Vec<Question>>) {
    while let Ok(mut questions) = receiver.recv() {
        questions.extend(receiver.try_iter().flatten());
        advisor.answer_all(&questions);
    }
}
