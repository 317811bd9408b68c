//! What the prefetcher of the memory oracle knows of a lane, and what it asks the network.

use kvrm_models::inputs::{Access, WINDOW_ACCESSES_MAX};
use kvrm_models::{AccessPrediction, MemoryOracle};

use super::settings::OracleSettings;
use crate::access::{PageAccess, Trigger};
use crate::candidates::Candidates;
use crate::groups::{Groups, Place};

/// The number of pages that were named last, which are not named again.
const NAMED: usize = 64;
/// The confidence in the last predicted page from which on the network predicts what comes after it.
const CERTAIN: f32 = 0.8;
/// The parts of a page in which the depth is counted.
const PARTS: usize = 16;
/// The least depth, in pages.
const DEPTH_MIN: usize = 2;
/// The number of pages of a prediction.
const DELTAS: usize = MemoryOracle::DELTAS;

/// What the prefetcher of the memory oracle knows of a lane. It asks questions; the caller evaluates the network, perhaps for
/// the questions of many lanes at once.
///
/// It divides the accesses that it hears of into [`Groups`]. The network sees the last accesses of the group of the current one, 12
/// to 24 with two rounds, with the distances between them. The pages at the predicted distances are candidates, if the
/// network is confident enough, and if they were not named shortly before.
///
/// Only the first predicted pages count, as many as the *depth*. It grows by one page when the first use of a named page comes before
/// the page, and shrinks by a sixteenth of a page when it comes after. So pages come as late as possible, but in time: those that come
/// early drive out others. If the depth is more than the eight pages of a prediction, and the network is certain of them, it
/// predicts what comes after them.
///
/// ```
/// use kvrm_models::MemoryOracle;
/// use kvrm_prefetch::{Candidates, Degree, OracleLane, OracleSettings, PageAccess, Trigger};
///
/// let network = MemoryOracle::from_flat(&vec![0.0; MemoryOracle::PARAMETERS])?;
/// let mut lane = OracleLane::new(OracleSettings::default());
/// let mut candidates = Candidates::new(Degree::new(4)?);
/// let mut question = lane.hear(&PageAccess { page: 100, ..PageAccess::default() }, Trigger::Miss);
/// while let Some(prediction) = network.predict(question.window()) {
///     if !lane.answer(&mut question, &prediction, &mut candidates) {
///         break;
///     }
/// }
/// lane.note(&candidates);
/// assert_eq!(candidates.pages().count(), 0, "a network of zeros predicts no distance");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct OracleLane {
    settings: OracleSettings,
    groups: Groups,
    /// The accesses of each group.
    windows: Vec<Vec<Access>>,
    /// The pages that were named last.
    named: Vec<Named>,
    /// The place of the oldest of them.
    oldest: usize,
    /// The number of predicted pages that count, in parts of a page.
    depth: usize,
}

/// A page that was named.
#[derive(Clone, Copy, Debug)]
struct Named {
    /// The page; `None` if it may be named again.
    page: Option<u64>,
    has_arrived: bool,
}

/// A question to the network: which pages follow after an access.
#[derive(Clone, Debug)]
pub struct OracleQuestion {
    group: usize,
    has_grown: bool,
    window: Vec<Access>,
    current: u64,
    /// The last predicted page, and the confidence in it.
    page: u64,
    confidence: f32,
    /// The number of predicted pages that still count.
    left: usize,
    rounds: usize,
}

impl OracleQuestion {
    /// Returns the number of the group of the access.
    #[must_use]
    pub const fn group(&self) -> usize {
        self.group
    }

    /// Returns whether the window is that of the last question about the group with the access behind it.
    #[must_use]
    pub const fn has_grown(&self) -> bool {
        self.has_grown
    }

    /// Returns the window of accesses that the network has to evaluate, oldest first.
    #[must_use]
    pub fn window(&self) -> &[Access] {
        &self.window
    }
}

impl OracleLane {
    /// Creates the state of a lane of which nothing was heard.
    #[must_use]
    pub fn new(settings: OracleSettings) -> Self {
        Self {
            settings,
            groups: Groups::default(),
            windows: Vec::new(),
            named: Vec::new(),
            oldest: 0,
            depth: DEPTH_MIN * PARTS,
        }
    }

    /// Hears of an access, and asks which pages follow.
    pub fn hear(&mut self, access: &PageAccess, trigger: Trigger) -> OracleQuestion {
        self.learn(access.page, trigger);
        let Place { group, delta } = self.groups.place(access);
        if group == self.windows.len() {
            self.windows.push(Vec::new());
        }
        let window = &mut self.windows[group];
        // The predicted accesses of all rounds but the last have room.
        let longest = WINDOW_ACCESSES_MAX - DELTAS * (self.settings.rounds() - 1);
        let kept = match delta {
            None => 0,
            // So the network takes two steps for each access on average, however long the windows are.
            Some(_) if window.len() >= longest => longest / 2,
            Some(_) => window.len(),
        };
        let has_grown = kept == window.len();
        window.drain(..window.len() - kept);
        window.push(Access {
            delta: delta.unwrap_or(0),
            size: access.size.into(),
            is_load: access.load,
            pc: access.pc,
        });
        OracleQuestion {
            group,
            has_grown,
            window: window.clone(),
            current: access.page,
            page: access.page,
            confidence: 1.0,
            left: self.depth / PARTS,
            rounds: self.settings.rounds(),
        }
    }

    /// Adds candidates that the network has predicted. Returns whether the question goes on, with a longer window.
    pub fn answer(
        &self,
        question: &mut OracleQuestion,
        prediction: &AccessPrediction,
        candidates: &mut Candidates,
    ) -> bool {
        let (deltas, before) = (prediction.deltas(), question.confidence);
        for (delta, of_delta) in deltas.into_iter().zip(prediction.confidences).take(question.left) {
            question.page = question.page.wrapping_add_signed(delta);
            question.confidence = before * of_delta;
            let is_new = question.page != question.current && self.place(question.page).is_none();
            if is_new && question.confidence >= self.settings.least_confidence() {
                candidates.push(question.page, question.confidence);
            }
        }
        question.left = question.left.saturating_sub(DELTAS);
        question.rounds -= 1;
        let is_full = candidates.as_slice().len() == candidates.degree();
        if question.rounds == 0 || question.left == 0 || is_full || question.confidence < CERTAIN {
            return false;
        }
        // The predicted accesses are like the current one.
        let current = question.window[question.window.len() - 1];
        question.window.extend(deltas.map(|delta| Access { delta, ..current }));
        true
    }

    /// Notes that all candidates were named.
    pub fn note(&mut self, candidates: &Candidates) {
        for page in candidates.pages() {
            let named = Named { page: Some(page), has_arrived: false };
            if self.named.len() < NAMED {
                self.named.push(named);
            } else {
                self.named[self.oldest] = named;
                self.oldest = (self.oldest + 1) % NAMED;
            }
        }
    }

    /// Hears that a page has arrived, as [`Prefetcher::arrived`](crate::Prefetcher::arrived).
    pub fn arrived(&mut self, page: u64, is_prefetched: bool) {
        if is_prefetched && let Some(place) = self.place(page) {
            self.named[place].has_arrived = true;
        }
    }

    /// Returns the number of bytes of the state, those on the heap included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let windows: usize = self.windows.iter().map(|window| window.capacity() * size_of::<Access>()).sum();
        size_of::<Self>() + windows + self.groups.bytes() + self.named.capacity() * size_of::<Named>()
    }

    /// Learns from an access whether the pages come in time.
    fn learn(&mut self, page: u64, trigger: Trigger) {
        let Some(place) = self.place(page) else { return };
        if trigger == Trigger::Miss {
            // It was not fetched, or has left again.
            self.named[place].page = None;
            return;
        }
        if self.named[place].has_arrived {
            self.depth = (self.depth - 1).max(DEPTH_MIN * PARTS);
        } else {
            self.depth = (self.depth + PARTS).min(self.settings.rounds() * DELTAS * PARTS);
        }
    }

    /// Returns the place of a page among those that were named last.
    fn place(&self, page: u64) -> Option<usize> {
        self.named.iter().position(|named| named.page == Some(page))
    }
}

#[cfg(test)]
mod tests {
    use kvrm_models::inputs::encoded_delta;

    use super::*;
    use crate::Degree;

    /// A prediction of the same distance eight times.
    fn prediction(delta: i64, confidence: f32) -> AccessPrediction {
        AccessPrediction::new([encoded_delta(delta); DELTAS], [confidence; DELTAS], [0.0; 4])
    }

    fn access(page: u64) -> PageAccess {
        PageAccess { page, ..PageAccess::default() }
    }

    #[test]
    fn late_pages_make_predictions_count_further() {
        let mut lane = OracleLane::new(OracleSettings::default());
        let degree = Degree::new(16).expect("the largest");
        let (mut counts, mut rounds) = (Vec::new(), 0);
        for page in 0..40 {
            let trigger = if page == 0 { Trigger::Miss } else { Trigger::FirstUse };
            let mut candidates = Candidates::new(degree);
            let mut question = lane.hear(&access(page), trigger);
            rounds = 1;
            while lane.answer(&mut question, &prediction(1, 1.0), &mut candidates) {
                rounds += 1;
            }
            lane.note(&candidates);
            counts.push(candidates.pages().last().map_or(0, |last| last - page));
        }
        assert_eq!(counts[..3], [2, 3, 4], "each late page adds one");
        assert_eq!((counts[39], rounds), (16, 2), "up to those of two predictions");
    }

    #[test]
    fn windows_have_room_for_predicted_accesses() {
        let mut lane = OracleLane::new(OracleSettings::default());
        for page in 0..100 {
            let question = lane.hear(&access(page), Trigger::Miss);
            let length = question.window().len();
            assert!(length <= WINDOW_ACCESSES_MAX - DELTAS, "{length} accesses");
            assert_eq!(question.has_grown(), page < 24 || (page - 24) % 12 != 0, "at page {page}");
        }
    }
}
