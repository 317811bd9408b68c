//! A simple model of an address space: whole pages in a map, accessed byte by byte.

use std::collections::BTreeMap;

use kvrm_machine::{ADDRESS_BITS, Access, Fault, FaultKind, PAGE_BYTES, Permissions, Segment, Stop};

const PAGE: u64 = PAGE_BYTES as u64;

#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) permissions: Permissions,
    pub(crate) bytes: Box<[u8; PAGE_BYTES]>,
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pages: BTreeMap<u64, Page>,
    /// The written pages, in the order of their first write.
    private: Vec<u64>,
    /// The state that `reset` restores.
    snapshot: Option<(BTreeMap<u64, Page>, Vec<u64>)>,
    pub(crate) frames_max: usize,
}

impl Model {
    pub(crate) fn new(segments: &[Segment]) -> Self {
        let none = Permissions { read: false, write: false, execute: false };
        let mut pages = BTreeMap::new();
        for segment in segments {
            for address in segment.range() {
                let page = pages
                    .entry(address / PAGE)
                    .or_insert_with(|| Page { permissions: none, bytes: Box::new([0; PAGE_BYTES]) });
                let Permissions { read, write, execute } = segment.permissions;
                page.permissions.read |= read;
                page.permissions.write |= write;
                page.permissions.execute |= execute;
                if let Some(byte) = segment.data.get((address - segment.address) as usize) {
                    page.bytes[(address % PAGE) as usize] = *byte;
                }
            }
        }
        Self { pages, private: Vec::new(), snapshot: None, frames_max: usize::MAX }
    }

    /// Returns the fault at the first byte that is not mapped or does not permit the access `needed`.
    fn check(&self, address: u64, bytes: usize, access: Access, needed: Option<Access>) -> Result<(), Fault> {
        for at in (0..bytes as u64).map(|index| address.wrapping_add(index)) {
            let fault = |kind| Fault { kind, access, address: at };
            let page = self.pages.get(&(at / PAGE)).filter(|_| at >> ADDRESS_BITS == 0);
            let page = page.ok_or_else(|| fault(FaultKind::Translation))?;
            if needed.is_some_and(|access| !page.permissions.permit(access)) {
                return Err(fault(FaultKind::Permission));
            }
        }
        Ok(())
    }

    pub(crate) fn check_write(&self, address: u64, bytes: usize) -> Result<(), Fault> {
        self.check(address, bytes, Access::Write, Some(Access::Write))
    }

    pub(crate) fn read(&self, address: u64, bytes: usize, needed: Option<Access>) -> Result<Vec<u8>, Fault> {
        self.check(address, bytes, Access::Read, needed)?;
        let byte = |at: u64| self.pages[&(at / PAGE)].bytes[(at % PAGE) as usize];
        Ok((address..).take(bytes).map(byte).collect())
    }

    pub(crate) fn write(&mut self, address: u64, bytes: &[u8], needed: Option<Access>) -> Result<(), Stop> {
        self.check(address, bytes.len(), Access::Write, needed)?;
        let mut private = self.private.clone();
        for (at, _) in (address..).zip(bytes) {
            if !private.contains(&(at / PAGE)) {
                private.push(at / PAGE);
            }
        }
        if private.len() > self.private.len() && private.len() > self.frames_max {
            return Err(Stop::OutOfFrames);
        }
        self.private = private;
        for (at, byte) in (address..).zip(bytes) {
            if let Some(page) = self.pages.get_mut(&(at / PAGE)) {
                page.bytes[(at % PAGE) as usize] = *byte;
            }
        }
        Ok(())
    }

    /// Returns the word at `pc`.
    pub(crate) fn fetch(&self, pc: u64) -> Result<u32, Fault> {
        if !pc.is_multiple_of(4) {
            return Err(Fault { kind: FaultKind::Alignment, access: Access::Execute, address: pc });
        }
        self.check(pc, 4, Access::Execute, Some(Access::Execute))?;
        let bytes = &self.pages[&(pc / PAGE)].bytes[(pc % PAGE) as usize..][..4];
        Ok(bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
    }

    pub(crate) fn snapshot(&mut self) {
        self.snapshot = Some((self.pages.clone(), self.private.clone()));
    }

    pub(crate) fn reset(&mut self) {
        if let Some((pages, private)) = &self.snapshot {
            self.pages.clone_from(pages);
            self.private.clone_from(private);
        }
    }

    /// Returns all mapped pages, sorted by address.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.pages.iter().map(|(page, contents)| (page * PAGE, contents))
    }

    /// Returns the written pages with their addresses, in the order of their first write.
    pub(crate) fn private_pages(&self) -> impl Iterator<Item = (u64, &[u8; PAGE_BYTES])> {
        self.private.iter().map(|page| (page * PAGE, &*self.pages[page].bytes))
    }
}
