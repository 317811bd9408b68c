//! The code of a lane, read page by page when it is needed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::MicroOp;

use crate::block::PAGE;
use crate::wgsl::{is_costly, is_translatable};

/// The largest number of instructions that take compilers of shaders long.
const COSTLY_MAX: usize = 16;

/// The code of a lane that can be translated to WGSL. Of the instructions that take compilers long, these are the first
/// that are fetched.
///
/// ```
/// use kvrm_arm64::Features;
/// use kvrm_translate::{Code, Limits, Region};
///
/// // subs x0, x0, #1; b.ne to it; svc #0
/// let words = [0xf100_0400_u32, 0x54ff_ffe1, 0xd400_0001];
/// let page: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
/// let code = Code::new(Features::BASE, |address| (address == 0x1000).then(|| page.clone()));
/// let limits = Limits { instructions: 100, pages: 1, distance: 8 };
/// let region = Region::find(&[0x1000], &limits, |pc| code.fetch(pc));
/// assert_eq!(region.instructions(), 2, "the call of the host is not translated");
/// ```
#[derive(Debug)]
pub struct Code<R> {
    features: Features,
    read: RefCell<R>,
    /// The bytes of pages by address, or `None` for those that cannot be read.
    pages: RefCell<BTreeMap<u64, Option<Vec<u8>>>>,
    /// The addresses of instructions that take compilers long.
    costly: RefCell<BTreeSet<u64>>,
}

impl<R: FnMut(u64) -> Option<Vec<u8>>> Code<R> {
    /// Creates the code of a lane with these features. `read` returns the bytes of the page at an address, or `None` if
    /// the lane has no code there. Each page is read once.
    pub fn new(features: Features, read: R) -> Self {
        Self { features, read: RefCell::new(read), pages: RefCell::default(), costly: RefCell::default() }
    }

    /// Returns the micro-op at an address, or `None` if there is none that is translated.
    pub fn fetch(&self, pc: u64) -> Option<MicroOp> {
        let mut pages = self.pages.borrow_mut();
        let page = pages.entry(pc & !PAGE).or_insert_with_key(|page| (self.read.borrow_mut())(*page));
        let word = page.as_ref()?.get((pc & PAGE) as usize..)?.first_chunk::<4>()?;
        let op = lower(u32::from_le_bytes(*word), self.features);
        if !pc.is_multiple_of(4) || !is_translatable(op) {
            return None;
        }
        let mut costly = self.costly.borrow_mut();
        let is_affordable =
            !is_costly(op) || costly.contains(&pc) || costly.len() < COSTLY_MAX && costly.insert(pc);
        is_affordable.then_some(op)
    }
}
