//! The loops in which lanes were found.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_loops::{Obstacle, Proof, Unproved};

use super::advising::{Advising, Answer, Question};
use super::report::{HotLoop, LoopReport};
use super::search::Place;

/// The largest number of loops that are remembered. No others are accelerated.
const LOOPS_MAX: usize = 1 << 12;
/// How often lanes have to be found in a loop before it is a candidate.
const THRESHOLD: u64 = 2;

/// The loops in which lanes were found, and the advisor that is asked about them.
#[derive(Debug)]
pub(super) struct KnownLoops {
    mode: Cow<'static, str>,
    /// `None` if all candidates are proposed to the checker.
    advising: Option<Advising>,
    loops: RwLock<HashMap<Place, Arc<KnownLoop>>>,
    begin: Instant,
}

/// A loop in which lanes were found.
#[derive(Debug)]
pub(super) struct KnownLoop {
    place: Place,
    /// The number of steps that lanes take in the loop before it is a candidate.
    steps_min: u64,
    /// The advice about it, since it was asked for.
    answer: OnceLock<Arc<Answer>>,
    /// The decision, made once the loop was a candidate and the advice was there.
    decision: OnceLock<Decision>,
    found: AtomicU64,
    steps: AtomicU64,
    /// The number of steps that were executed at once in loops within it.
    within: AtomicU64,
    attempts: AtomicU64,
    commits: AtomicU64,
    credited: AtomicU64,
    /// When iterations were executed at once for the first time.
    first: OnceLock<Instant>,
    /// The obstacle to the last attempt that failed.
    obstacle: Mutex<Option<Obstacle>>,
}

/// The decision about a candidate.
#[derive(Debug)]
struct Decision {
    /// `None` if it was not proposed.
    verdict: Option<Result<Proof, Unproved>>,
    /// Whether the proof contradicts what an opinion claims.
    disagrees: bool,
    /// The time that the checker took.
    time: Duration,
}

impl KnownLoops {
    pub(super) fn new(mode: Cow<'static, str>, advising: Option<Advising>) -> Self {
        Self { mode, advising, loops: RwLock::default(), begin: Instant::now() }
    }

    /// Returns the advisor, if there is one.
    pub(super) const fn advising(&self) -> Option<&Advising> {
        self.advising.as_ref()
    }

    /// Returns the loop at a place. Returns `None` if there is no room for it.
    pub(super) fn find(&self, place: Place) -> Option<Arc<KnownLoop>> {
        let known = self.loops.read().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
        known.or_else(|| {
            let mut loops = self.loops.write().unwrap_or_else(PoisonError::into_inner);
            let steps_min = self.advising.as_ref().map_or(0, Advising::steps_min);
            let has_room = loops.len() < LOOPS_MAX || loops.contains_key(&place);
            has_room.then(|| {
                let known =
                    loops.entry(place.clone()).or_insert_with(|| Arc::new(KnownLoop::new(place, steps_min)));
                Arc::clone(known)
            })
        })
    }

    /// Asks for advice about candidates, with the registers of a lane in each.
    pub(super) fn ask<'a>(&self, candidates: impl Iterator<Item = (&'a KnownLoop, [u64; 32])>) {
        let Some(advising) = &self.advising else { return };
        let mut questions = Vec::new();
        for (known, registers) in candidates {
            known.answer.get_or_init(|| {
                let (answer, is_new) = advising.answer(&known.place.words);
                if is_new {
                    let (place, answer) = (known.place.clone(), Arc::clone(&answer));
                    questions.push(Question { place, registers, answer });
                }
                answer
            });
        }
        advising.ask(questions);
    }

    /// Returns the proof of a loop, if there is one. The first call after the advice has come asks the checker.
    pub(super) fn proved<'a>(&self, known: &'a KnownLoop, features: Features) -> Option<&'a Proof> {
        if let Some(decision) = known.decision.get() {
            return decision.verdict.as_ref()?.as_ref().ok();
        }
        let advice = match &self.advising {
            Some(_) => Some(known.answer.get()?.get()?),
            None => None,
        };
        if !known.is_found_often() {
            return None;
        }
        let decision = known.decision.get_or_init(|| {
            let is_proposed = advice.is_none_or(|advice| advice.proposes);
            let begin = Instant::now();
            let verdict = is_proposed.then(|| check(&known.place, features));
            let time = if is_proposed { begin.elapsed() } else { Duration::ZERO };
            let found = verdict.as_ref().and_then(|verdict| verdict.as_ref().ok());
            let disagrees = found.zip(advice).is_some_and(|(found, advice)| {
                advice.opinions.iter().any(|opinion| opinion.claim.is_contradicted_by(found.longest()))
            });
            Decision { verdict, disagrees, time }
        });
        decision.verdict.as_ref()?.as_ref().ok()
    }

    pub(super) fn report(&self) -> LoopReport {
        let mut report = LoopReport { mode: self.mode.clone(), ..LoopReport::default() };
        if let Some(advising) = &self.advising {
            (report.advised, report.advice_seconds) = advising.work();
        }
        for known in self.loops.read().unwrap_or_else(PoisonError::into_inner).values() {
            let Some(decision) = known.decision.get() else {
                let is_waiting = u64::from(known.answer.get().is_some());
                report.candidates += is_waiting;
                report.waiting += is_waiting;
                continue;
            };
            report.candidates += 1;
            report.checker_seconds += decision.time.as_secs_f64();
            match &decision.verdict {
                None => {}
                Some(Ok(_)) => report.proved += 1,
                Some(Err(reason)) => *report.refused.entry(reason.name().into()).or_default() += 1,
            }
            report.proposed += u64::from(decision.verdict.is_some());
            report.disagreed += u64::from(decision.disagrees);
            report.attempts += known.attempts.load(Ordering::Relaxed);
            report.commits += known.commits.load(Ordering::Relaxed);
            report.credited_steps += known.credited.load(Ordering::Relaxed);
            if let Some(first) = known.first.get() {
                let seconds = first.saturating_duration_since(self.begin).as_secs_f64();
                report.first_seconds = Some(report.first_seconds.map_or(seconds, |other| other.min(seconds)));
            }
        }
        report
    }

    pub(super) fn hot(&self) -> Vec<HotLoop> {
        let loops = self.loops.read().unwrap_or_else(PoisonError::into_inner);
        let mut hot: Vec<_> = loops.values().map(|known| known.hot()).collect();
        hot.sort_by_key(|of: &HotLoop| (std::cmp::Reverse(of.steps), of.head));
        hot
    }
}

/// Asks the checker for a proof.
fn check(place: &Place, features: Features) -> Result<Proof, Unproved> {
    let fetch = |pc: u64| Some(lower(*place.words.get(pc.wrapping_sub(place.head) as usize / 4)?, features));
    Proof::find(place.end(), fetch)
}

impl KnownLoop {
    fn new(place: Place, steps_min: u64) -> Self {
        Self {
            place,
            steps_min,
            answer: OnceLock::new(),
            decision: OnceLock::new(),
            found: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            within: AtomicU64::new(0),
            attempts: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            credited: AtomicU64::new(0),
            first: OnceLock::new(),
            obstacle: Mutex::new(None),
        }
    }

    pub(super) const fn place(&self) -> &Place {
        &self.place
    }

    fn is_found_often(&self) -> bool {
        let steps = self.steps.load(Ordering::Relaxed) + self.within.load(Ordering::Relaxed);
        self.found.load(Ordering::Relaxed) >= THRESHOLD && steps >= self.steps_min
    }

    /// Returns whether lanes were found in the loop often enough to ask for advice about it, and nobody has asked yet.
    pub(super) fn is_candidate(&self) -> bool {
        self.is_found_often() && self.decision.get().is_none() && self.answer.get().is_none()
    }

    /// Notes that so many lanes were found in the loop, after so many steps of all of them.
    pub(super) fn visit(&self, lanes: u64, steps: u64) {
        self.found.fetch_add(lanes, Ordering::Relaxed);
        self.steps.fetch_add(steps, Ordering::Relaxed);
    }

    /// Notes that a lane has executed so many steps at once in a loop within this one.
    pub(super) fn visit_within(&self, steps: u64) {
        self.found.fetch_add(1, Ordering::Relaxed);
        self.within.fetch_add(steps, Ordering::Relaxed);
    }

    /// Notes that an attempt has executed so many steps at once, or has failed.
    pub(super) fn note(&self, result: Result<u64, Option<Obstacle>>) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        match result {
            Ok(steps) => {
                self.commits.fetch_add(1, Ordering::Relaxed);
                self.credited.fetch_add(steps, Ordering::Relaxed);
                self.first.get_or_init(Instant::now);
            }
            Err(obstacle) => *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner) = obstacle,
        }
    }

    fn hot(&self) -> HotLoop {
        let decision = self.decision.get();
        let advice = self.answer.get().and_then(|answer| answer.get());
        let credited_steps = self.credited.load(Ordering::Relaxed);
        let obstacle = *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner);
        let verdict = match decision.map(|decision| &decision.verdict) {
            None if self.answer.get().is_some() => "not asked: there is no advice yet".into(),
            None => "found too rarely to be a candidate".into(),
            Some(None) => "not proposed".into(),
            Some(Some(Err(reason))) => format!("refused: {reason}").into(),
            Some(Some(Ok(_))) => match (credited_steps, obstacle) {
                (0, Some(obstacle)) => format!("proved, but never executed at once: {obstacle}").into(),
                _ => "proved".into(),
            },
        };
        HotLoop {
            head: self.place.head,
            words: self.place.words.clone(),
            steps: self.steps.load(Ordering::Relaxed) + credited_steps,
            credited_steps,
            commits: self.commits.load(Ordering::Relaxed),
            opinions: advice.map_or_else(Vec::new, |advice| advice.opinions.clone()),
            is_proved: matches!(decision, Some(Decision { verdict: Some(Ok(_)), .. })),
            disagrees: decision.is_some_and(|decision| decision.disagrees),
            verdict,
        }
    }
}
