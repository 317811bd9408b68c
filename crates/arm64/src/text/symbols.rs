//! The labels of a text.

use alloc::collections::BTreeMap;

/// The labels of a text and their addresses.
#[derive(Debug, Default)]
pub(super) struct Symbols<'a> {
    named: BTreeMap<&'a str, u64>,
    /// Local labels by number and place.
    local: BTreeMap<(u32, usize), u64>,
}

impl<'a> Symbols<'a> {
    /// Adds a label. Returns whether there was none of this name.
    pub(super) fn add(&mut self, name: &'a str, address: u64) -> bool {
        self.named.insert(name, address).is_none()
    }

    /// Adds a local label. Places ascend in the text.
    pub(super) fn add_local(&mut self, number: u32, place: usize, address: u64) {
        self.local.insert((number, place), address);
    }

    pub(super) fn find(&self, name: &str) -> Option<u64> {
        self.named.get(name).copied()
    }

    /// Returns the next local label after `place`, or the last one before.
    pub(super) fn find_local(&self, number: u32, place: usize, next: bool) -> Option<u64> {
        let (_, &address) = if next {
            self.local.range((number, place)..=(number, usize::MAX)).next()?
        } else {
            self.local.range((number, 0)..(number, place)).next_back()?
        };
        Some(address)
    }
}

/// What the operands of a statement may refer to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) symbols: &'a Symbols<'a>,
    /// The address of the statement.
    pub(super) pc: u64,
    /// The place of the statement among all statements and labels.
    pub(super) place: usize,
}
