//! What all lanes of a machine share: the compiler, and the regions that it has translated.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use kvrm_arm64::lowering::lower;
use kvrm_machine::{AddressSpace, CodePage, Image, PAGE_BYTES};

use crate::compiler::Compiler;
use crate::context::Entry;
use crate::native::Table;
use crate::region::Region;

/// The largest number of translations from the same address that are kept. Programs that change their code have one for
/// each version of it.
const VERSIONS_MAX: usize = 16;

/// When and how much is translated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// How often a lane reaches an address before it is translated.
    pub(crate) threshold: u16,
    /// Whether lanes wait for the compiler if it is busy. Otherwise they go on being interpreted.
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

/// What all lanes of a machine share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    /// The function that calls regions.
    pub(crate) enter: u64,
    regions: RwLock<HashMap<u64, Vec<Translated>>>,
    /// The tables of lanes that have the code of their image, by the address of the image.
    tables: Mutex<HashMap<usize, Arc<Table>>>,
    compiler: Mutex<Compiler>,
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
            regions: RwLock::default(),
            tables: Mutex::default(),
            compiler: Mutex::new(compiler),
        }))
    }

    /// Returns the table of lanes that have the code of this image.
    pub(crate) fn table(&self, image: &Arc<Image>) -> Arc<Table> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let table = tables
            .entry(Arc::as_ptr(image).addr())
            .or_insert_with(|| Arc::new(Table::new(self.settings.slots)));
        Arc::clone(table)
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

    /// Translates the region at `pc` and returns its entry. Returns `None` if another lane is translating, or there is
    /// enough code.
    pub(crate) fn translate(&self, pc: u64, memory: &mut AddressSpace) -> Option<Arc<Entry>> {
        let mut compiler = if self.settings.waits {
            self.compiler.lock().unwrap_or_else(PoisonError::into_inner)
        } else {
            self.compiler.try_lock().ok()?
        };
        // Another lane may have translated the region while this one waited.
        if let Some(entry) = self.find(pc, memory) {
            return Some(entry);
        }
        if compiler.bytes >= self.settings.bytes_max {
            return None;
        }
        let mut pages: Vec<(u64, Arc<CodePage>)> = Vec::new();
        let features = memory.image().features();
        let region = Region::find(pc, self.settings.size, |at| {
            // Code that has been translated already is not translated again as a part of this region.
            if at != pc && self.find(at, memory).is_some() {
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
        let code = region.and_then(|region| compiler.compile(&region).ok()).unwrap_or(0);
        let entry = Arc::new(Entry { pc, code });
        let translated = Translated { pages, entry: Arc::clone(&entry) };
        let mut regions = self.regions.write().unwrap_or_else(PoisonError::into_inner);
        let versions = regions.entry(pc).or_default();
        if versions.len() == VERSIONS_MAX {
            versions.remove(0);
        }
        versions.push(translated);
        Some(entry)
    }
}
