//! What all lanes of a machine share: the compiler, and the regions that it has translated.
//!
//! A thread compiles regions while lanes go on, first those that lanes ask for most often.

use std::collections::HashMap;
use std::fmt;
use std::iter::repeat_with;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, RwLock};
use std::thread;

use kvrm_arm64::lowering::lower;
use kvrm_machine::{AddressSpace, CodePage, Image, PAGE_BYTES};

use crate::compiler::Compiler;
use crate::context::Entry;
use crate::native::Table;
use crate::queue::Queue;
use crate::region::Region;

/// The largest number of translations from the same address that are kept. Programs that change their code have one for
/// each version of it.
const VERSIONS_MAX: usize = 16;

/// The number of counters that all lanes share; a power of two.
const COUNTERS: usize = 1 << 14;

/// When and how much is translated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// How often one lane, or all lanes together, have to reach an address before it is translated.
    pub(crate) threshold: u16,
    /// Whether lanes wait for the compiler. Otherwise they go on being interpreted.
    pub(crate) waits: bool,
    /// The largest number of instructions of a region.
    pub(crate) size: usize,
    /// The number of slots of the tables of translated code.
    pub(crate) slots: usize,
    /// The bytes of code after which nothing more is translated.
    pub(crate) bytes_max: usize,
}

/// A translated region, valid for lanes with these code pages.
struct Translated {
    pages: Vec<(u64, Arc<CodePage>)>,
    /// The entry, whose code is 0 if the first instruction has to be interpreted.
    entry: Arc<Entry>,
}

/// A region to compile, which is valid for lanes with these code pages.
struct Job {
    region: Region,
    pages: Vec<(u64, Arc<CodePage>)>,
}

/// What all lanes of a machine share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    /// The function that calls regions.
    pub(crate) enter: u64,
    /// Approximately how often all lanes together have reached addresses that are not translated, by their low bits.
    visits: Box<[AtomicU32]>,
    regions: RwLock<HashMap<u64, Vec<Translated>>>,
    /// The tables of lanes that have the code of their image, by the address of the image.
    tables: Mutex<HashMap<usize, Arc<Table>>>,
    compiler: Mutex<Compiler>,
    /// The regions that wait for the thread that compiles.
    queue: Arc<Queue<Job>>,
    /// Begins the thread with the first region.
    thread: Once,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Shared {
    /// Returns an empty cache, or `None` if the host is not supported.
    pub(crate) fn open(settings: Settings) -> Option<Arc<Self>> {
        let compiler = Compiler::new().ok()?;
        let enter = compiler.enter;
        Some(Arc::new(Self {
            settings,
            enter,
            visits: repeat_with(AtomicU32::default).take(COUNTERS).collect(),
            regions: RwLock::default(),
            tables: Mutex::default(),
            compiler: Mutex::new(compiler),
            queue: Arc::default(),
            thread: Once::new(),
        }))
    }

    /// Returns the table of lanes that have the code of this image.
    pub(crate) fn table(&self, image: &Arc<Image>) -> Arc<Table> {
        let mut tables = lock(&self.tables);
        let table = tables
            .entry(Arc::as_ptr(image).addr())
            .or_insert_with(|| Arc::new(Table::new(self.settings.slots)));
        Arc::clone(table)
    }

    /// Returns the counter of an address.
    fn visits_of(&self, pc: u64) -> &AtomicU32 {
        &self.visits[(pc >> 2) as usize % COUNTERS]
    }

    /// Adds visits to those of an address that is not translated. Returns the sum.
    pub(crate) fn visit(&self, pc: u64, visits: u16) -> u32 {
        let visits = u32::from(visits);
        self.visits_of(pc).fetch_add(visits, Ordering::Relaxed).saturating_add(visits)
    }

    /// Returns the entry for `pc` that fits the code of a lane.
    pub(crate) fn find(&self, pc: u64, memory: &mut AddressSpace) -> Option<Arc<Entry>> {
        let regions = self.regions.read().unwrap_or_else(PoisonError::into_inner);
        let candidates = regions.get(&pc)?;
        let mut fits = |region: &&Translated| {
            let mut pages = region.pages.iter();
            pages.all(|(page, code)| memory.code_page(*page).is_some_and(|now| Arc::ptr_eq(&now, code)))
        };
        candidates.iter().find(|region| fits(region)).map(|region| Arc::clone(&region.entry))
    }

    /// Translates the region at `pc`. Returns its entry, or `None` if lanes do not wait for the compiler, or if there is
    /// enough code.
    pub(crate) fn translate(self: &Arc<Self>, pc: u64, memory: &mut AddressSpace) -> Option<Arc<Entry>> {
        // After a change, code at this address has to become hot again. So a program that changes its code often is not
        // translated each time.
        self.visits_of(pc).store(0, Ordering::Relaxed);
        if self.settings.waits {
            let mut compiler = lock(&self.compiler);
            // Another lane may have translated the region while this one waited.
            if let Some(entry) = self.find(pc, memory) {
                return Some(entry);
            }
            return match self.job(pc, memory) {
                Ok(job) => self.compile(&mut compiler, pc, job),
                Err(pages) => Some(self.insert(pc, 0, pages)),
            };
        }
        if self.queue.ask(pc) {
            return None;
        }
        match self.job(pc, memory) {
            Ok(job) => {
                self.thread.call_once(|| self.begin());
                self.queue.add(pc, job);
                None
            }
            Err(pages) => Some(self.insert(pc, 0, pages)),
        }
    }

    /// Finds the region at `pc` in the code of a lane. Returns the code pages alone if the first instruction has to be
    /// interpreted.
    fn job(&self, pc: u64, memory: &mut AddressSpace) -> Result<Job, Vec<(u64, Arc<CodePage>)>> {
        let mut pages: Vec<(u64, Arc<CodePage>)> = Vec::new();
        let features = memory.image().features();
        let region = Region::find(pc, self.settings.size, |at| {
            // Code that has been translated, or will be, is not translated again as a part of this region.
            if at != pc && (self.queue.contains(at) || self.find(at, memory).is_some()) {
                return None;
            }
            let page = at / PAGE_BYTES as u64;
            let known = pages.iter().position(|(number, _)| *number == page);
            let place = match known {
                Some(place) => place,
                None => {
                    pages.push((page, memory.code_page(page)?));
                    pages.len() - 1
                }
            };
            at.is_multiple_of(4).then(|| lower(pages[place].1.at(at).word, features))
        });
        match region {
            Some(region) => Ok(Job { region, pages }),
            None => Err(pages),
        }
    }

    /// Begins the thread that compiles. If the host has no thread left, regions are not translated.
    fn begin(self: &Arc<Self>) {
        let queue = Arc::clone(&self.queue);
        let shared = Arc::downgrade(self);
        let compile = move || {
            while let Some((pc, job)) = queue.take() {
                // The machine may have been dropped.
                let Some(shared) = shared.upgrade() else { return };
                if shared.compile(&mut lock(&shared.compiler), pc, job).is_some() {
                    queue.end(pc);
                }
            }
        };
        drop(thread::Builder::new().name("kvrm-jit".to_owned()).spawn(compile));
    }

    /// Compiles a region and returns its entry. Returns `None` if there is enough code.
    fn compile(&self, compiler: &mut Compiler, pc: u64, job: Job) -> Option<Arc<Entry>> {
        if compiler.bytes >= self.settings.bytes_max {
            return None;
        }
        let code = compiler.compile(&job.region).unwrap_or(0);
        Some(self.insert(pc, code, job.pages))
    }

    /// Inserts the code of a region, 0 if there is none, for lanes with these code pages.
    fn insert(&self, pc: u64, code: u64, pages: Vec<(u64, Arc<CodePage>)>) -> Arc<Entry> {
        let entry = Arc::new(Entry { pc, code });
        let translated = Translated { pages, entry: Arc::clone(&entry) };
        let mut regions = self.regions.write().unwrap_or_else(PoisonError::into_inner);
        let versions = regions.entry(pc).or_default();
        if versions.len() == VERSIONS_MAX {
            versions.remove(0);
        }
        versions.push(translated);
        entry
    }
}

/// Locks a mutex, also if a thread that had locked it has panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
