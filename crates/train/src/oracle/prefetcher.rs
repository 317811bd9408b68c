//! The prefetcher of the memory oracle.

use kvrm_models::inputs::{Access, WINDOW_ACCESSES_MAX};
use kvrm_models::{MemoryOracle, OracleProgress};
use kvrm_prefetch::{Candidates, Groups, PageAccess, Place, Prefetcher, Trigger};

use super::settings::OracleSettings;
use super::window::DELTAS;

/// The number of pages that were named last, which are not named again.
const NAMED: usize = 64;
/// The confidence in the last predicted page from which on the network predicts what comes after it.
const CERTAIN: f32 = 0.8;
/// The parts of a page in which the depth is counted.
const PARTS: usize = 16;
/// The least depth, in pages.
const DEPTH_MIN: usize = 2;

/// The prefetcher of the memory oracle.
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
/// use kvrm_models::{Architecture, MemoryOracle, inputs::encoded_delta};
/// use kvrm_prefetch::{Candidates, Degree, PageAccess, Prefetcher, Trigger};
/// use kvrm_train::oracle::{OraclePrefetcher, OracleSettings};
///
/// // A network that always predicts a distance of three pages, with a confidence of one half.
/// let mut flat = vec![0.0; MemoryOracle::PARAMETERS];
/// let deltas = Architecture::MemoryOracle.tensor("delta_head.3.bias").ok_or("no tensor")?;
/// flat[deltas.offset..][..8].fill(encoded_delta(3));
/// let network = MemoryOracle::from_flat(&flat)?;
/// let mut prefetcher = OraclePrefetcher::new(&network, OracleSettings::new(0.4, 1)?);
/// let mut candidates = Candidates::new(Degree::new(4)?);
/// prefetcher.observe(&PageAccess { page: 100, ..PageAccess::default() }, Trigger::Miss, &mut candidates);
/// assert_eq!(candidates.pages().collect::<Vec<_>>(), [103, 106]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct OraclePrefetcher<'a> {
    network: &'a MemoryOracle,
    settings: OracleSettings,
    groups: Groups,
    /// The accesses of each group, and the network's progress with them.
    windows: Vec<(Vec<Access>, OracleProgress)>,
    /// The pages that were named last.
    named: Vec<Named>,
    /// The place of the oldest of them.
    oldest: usize,
    /// The number of predicted pages that count, in parts of a page.
    depth: usize,
    inferences: u64,
}

/// A page that was named.
#[derive(Clone, Copy, Debug)]
struct Named {
    /// The page; `None` if it may be named again.
    page: Option<u64>,
    has_arrived: bool,
}

impl<'a> OraclePrefetcher<'a> {
    /// Creates a prefetcher that has heard nothing.
    #[must_use]
    pub fn new(network: &'a MemoryOracle, settings: OracleSettings) -> Self {
        Self {
            network,
            settings,
            groups: Groups::default(),
            windows: Vec::new(),
            named: Vec::new(),
            oldest: 0,
            depth: DEPTH_MIN * PARTS,
            inferences: 0,
        }
    }

    /// Returns how often the network has predicted.
    #[must_use]
    pub const fn inferences(&self) -> u64 {
        self.inferences
    }

    /// Adds an access to the window of its group, and returns the number of the group.
    fn hear(&mut self, access: &PageAccess) -> usize {
        let Place { group, delta } = self.groups.place(access);
        if group == self.windows.len() {
            self.windows.push((Vec::new(), self.network.begin()));
        }
        let (window, progress) = &mut self.windows[group];
        // The predicted accesses of all rounds but the last have room.
        let longest = WINDOW_ACCESSES_MAX - DELTAS * (self.settings.rounds() - 1);
        let kept = match delta {
            None => 0,
            // So the network takes two steps for each access on average, however long the windows are.
            Some(_) if window.len() >= longest => longest / 2,
            Some(_) => window.len(),
        };
        if kept < window.len() {
            window.drain(..window.len() - kept);
            *progress = self.network.begin();
            window.iter().for_each(|access| self.network.advance(progress, access));
        }
        let access = Access {
            delta: delta.unwrap_or(0),
            size: access.size.into(),
            is_load: access.load,
            pc: access.pc,
        };
        window.push(access);
        self.network.advance(progress, &access);
        group
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

    /// Notes a page that is named.
    fn note(&mut self, page: u64) {
        let named = Named { page: Some(page), has_arrived: false };
        if self.named.len() < NAMED {
            self.named.push(named);
        } else {
            self.named[self.oldest] = named;
            self.oldest = (self.oldest + 1) % NAMED;
        }
    }

    /// Adds candidates that the network predicts after the last access of a group.
    fn predict(&mut self, group: usize, current: u64, candidates: &mut Candidates) {
        let (window, progress) = &self.windows[group];
        let Some(access) = window.last().copied() else { return };
        let (mut page, mut confidence) = (current, 1.0);
        let mut left = self.depth / PARTS;
        let mut ahead: Option<OracleProgress> = None;
        for _ in 0..self.settings.rounds() {
            let Some(prediction) = self.network.answer(ahead.as_ref().unwrap_or(progress)) else { return };
            self.inferences += 1;
            let (deltas, before) = (prediction.deltas(), confidence);
            for (delta, of_delta) in deltas.into_iter().zip(prediction.confidences).take(left) {
                page = page.wrapping_add_signed(delta);
                confidence = before * of_delta;
                let is_new = page != current && self.place(page).is_none();
                if is_new && confidence >= self.settings.least_confidence() {
                    candidates.push(page, confidence);
                }
            }
            left = left.saturating_sub(DELTAS);
            let is_full = candidates.as_slice().len() == candidates.degree();
            if left == 0 || is_full || confidence < CERTAIN {
                return;
            }
            // The predicted accesses are like the current one.
            let ahead = ahead.get_or_insert_with(|| progress.clone());
            deltas.iter().for_each(|delta| self.network.advance(ahead, &Access { delta: *delta, ..access }));
        }
    }
}

impl Prefetcher for OraclePrefetcher<'_> {
    fn observe(&mut self, access: &PageAccess, trigger: Trigger, candidates: &mut Candidates) {
        self.learn(access.page, trigger);
        let group = self.hear(access);
        self.predict(group, access.page, candidates);
        candidates.pages().for_each(|page| self.note(page));
    }

    fn arrived(&mut self, page: u64, is_prefetched: bool) {
        if is_prefetched && let Some(place) = self.place(page) {
            self.named[place].has_arrived = true;
        }
    }

    fn bytes(&self) -> usize {
        let of_window = |(window, progress): &(Vec<Access>, OracleProgress)| {
            window.capacity() * size_of::<Access>() + progress.bytes()
        };
        let windows: usize = self.windows.iter().map(of_window).sum();
        size_of::<Self>() + windows + self.groups.bytes() + self.named.capacity() * size_of::<Named>()
    }
}
