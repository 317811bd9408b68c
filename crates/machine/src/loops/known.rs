//! The loops in which lanes were found.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use kvrm_arm64::lowering::lower;
use kvrm_arm64::{Cpu, Features};
use kvrm_loops::Obstacle;

use super::advice::{LoopAdvice, LoopAdvisor, LoopCandidate};
use super::proved::Proved;
use super::reason::Reason;
use super::report::{HotLoop, LoopReport};
use super::search::Place;

/// The largest number of loops that are remembered. No others are accelerated.
const LOOPS_MAX: usize = 1 << 12;
/// How often lanes have to be found in a loop before it is a candidate.
const THRESHOLD: u64 = 2;

/// The loops in which lanes were found, and who is asked about them.
#[derive(Debug)]
pub(super) struct KnownLoops {
    mode: Cow<'static, str>,
    advisor: Option<Box<dyn LoopAdvisor>>,
    loops: RwLock<HashMap<Place, Arc<KnownLoop>>>,
}

/// A loop in which lanes were found.
#[derive(Debug)]
pub(super) struct KnownLoop {
    place: Place,
    /// What was decided when it became a candidate.
    decision: OnceLock<Decision>,
    found: AtomicU64,
    steps: AtomicU64,
    attempts: AtomicU64,
    commits: AtomicU64,
    credited: AtomicU64,
    /// The obstacle to the last attempt that failed.
    obstacle: Mutex<Option<Obstacle>>,
}

/// What was decided about a candidate.
#[derive(Debug)]
struct Decision {
    advice: Option<LoopAdvice>,
    /// The time that the advice took.
    time: Duration,
    /// `None` if it was not proposed.
    verdict: Option<Result<Proved, Reason>>,
}

impl KnownLoops {
    pub(super) fn new(mode: Cow<'static, str>, advisor: Option<Box<dyn LoopAdvisor>>) -> Self {
        Self { mode, advisor, loops: RwLock::default() }
    }

    /// Returns the loop at a place. Returns `None` if there is no room for it.
    pub(super) fn find(&self, place: Place) -> Option<Arc<KnownLoop>> {
        let known = self.loops.read().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
        known.or_else(|| {
            let mut loops = self.loops.write().unwrap_or_else(PoisonError::into_inner);
            let has_room = loops.len() < LOOPS_MAX || loops.contains_key(&place);
            has_room.then(|| {
                let known = loops.entry(place.clone()).or_insert_with(|| Arc::new(KnownLoop::new(place)));
                Arc::clone(known)
            })
        })
    }

    /// Returns what is proved about a loop. The first lane for which it is a candidate has it decided.
    pub(super) fn proved<'a>(
        &self,
        known: &'a KnownLoop,
        cpu: &Cpu,
        features: Features,
    ) -> Option<&'a Proved> {
        if known.found.load(Ordering::Relaxed) < THRESHOLD {
            return None;
        }
        let decision = known.decision.get_or_init(|| self.decide(&known.place, cpu, features));
        decision.verdict.as_ref()?.as_ref().ok()
    }

    fn decide(&self, place: &Place, cpu: &Cpu, features: Features) -> Decision {
        let begin = Instant::now();
        let advice = self.advisor.as_ref().map(|advisor| {
            let registers = std::array::from_fn(|n| if n == 31 { cpu.sp } else { cpu.x(n as u32) });
            advisor.advise(LoopCandidate { head: place.head, words: &place.words, registers: &registers })
        });
        let time = if advice.is_some() { begin.elapsed() } else { Duration::ZERO };
        let is_proposed = advice.as_ref().is_none_or(|advice| advice.proposes);
        let verdict = is_proposed.then(|| {
            let fetch =
                |pc: u64| Some(lower(*place.words.get(pc.wrapping_sub(place.head) as usize / 4)?, features));
            Proved::find(place.end(), fetch)
        });
        Decision { advice, time, verdict }
    }

    pub(super) fn report(&self) -> LoopReport {
        let mut report = LoopReport { mode: self.mode.clone(), ..LoopReport::default() };
        for known in self.loops.read().unwrap_or_else(PoisonError::into_inner).values() {
            let Some(decision) = known.decision.get() else { continue };
            report.candidates += 1;
            report.advice_seconds += decision.time.as_secs_f64();
            match &decision.verdict {
                None => {}
                Some(Ok(_)) => report.proved += 1,
                Some(Err(reason)) => *report.refused.entry(reason.name().into()).or_default() += 1,
            }
            report.proposed += u64::from(decision.verdict.is_some());
            report.attempts += known.attempts.load(Ordering::Relaxed);
            report.commits += known.commits.load(Ordering::Relaxed);
            report.credited_steps += known.credited.load(Ordering::Relaxed);
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

impl KnownLoop {
    fn new(place: Place) -> Self {
        Self {
            place,
            decision: OnceLock::new(),
            found: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            attempts: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            credited: AtomicU64::new(0),
            obstacle: Mutex::new(None),
        }
    }

    pub(super) const fn place(&self) -> &Place {
        &self.place
    }

    /// Notes that lanes were found in the loop, so many, after so many steps of all of them.
    pub(super) fn visit(&self, lanes: u64, steps: u64) {
        self.found.fetch_add(lanes, Ordering::Relaxed);
        self.steps.fetch_add(steps, Ordering::Relaxed);
    }

    /// Notes that an attempt has executed so many steps at once, or has failed.
    pub(super) fn note(&self, result: Result<u64, Option<Obstacle>>) {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        match result {
            Ok(steps) => {
                self.commits.fetch_add(1, Ordering::Relaxed);
                self.credited.fetch_add(steps, Ordering::Relaxed);
            }
            Err(obstacle) => *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner) = obstacle,
        }
    }

    fn hot(&self) -> HotLoop {
        let decision = self.decision.get();
        let credited_steps = self.credited.load(Ordering::Relaxed);
        let obstacle = *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner);
        let verdict = match decision.map(|decision| &decision.verdict) {
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
            opinions: decision
                .and_then(|decision| decision.advice.as_ref())
                .map_or_else(Vec::new, |advice| advice.opinions.clone()),
            verdict,
        }
    }
}
