//! What the texts of `/proc` are made from: the kernel of a lane, and the memory of any of its processes.

use super::failure::Failure;
use super::guest::Guest;
use super::kernel::Kernel;
use super::space::{Space, Texts};
use crate::page_map::PageMap;
use crate::pages::{PAGE_BYTES, PAGE_SHIFT};
use crate::permissions::Permissions;

/// The text of a file.
pub(super) type Text = Result<Vec<u8>, Failure>;

/// Returns whether pages with these permissions can be accessed at all.
pub(super) fn is_accessible(permissions: Permissions) -> bool {
    permissions.read || permissions.write || permissions.execute
}

/// A look at a lane, which makes the text of a file.
pub(super) struct Look<'a, 'g> {
    pub(super) kernel: &'a mut Kernel,
    pub(super) guest: &'a mut Guest<'g>,
    /// The steps that the lane has retired.
    pub(super) steps: u64,
}

impl Look<'_, '_> {
    /// Returns the address space of a process; `None` if the process has ended.
    pub(super) fn space(&self, process: u32) -> Option<&Space> {
        let process = self.kernel.processes.get(&process).filter(|process| !process.has_ended())?;
        self.kernel.spaces.get(&process.space).map(Box::as_ref)
    }

    /// Returns the page map of a space.
    pub(super) fn page_map(&mut self, space: u32) -> Result<PageMap, Failure> {
        match self.kernel.spaces.get(&space).and_then(|space| space.memory.as_ref()) {
            Some(memory) => Ok(memory.map.clone()),
            None => self.guest.page_map(),
        }
    }

    /// Returns the number of pages of a space that count as being in memory: all that are mapped and can be accessed.
    ///
    /// Which of them have been written depends on whether a machine was forked since, so it is nothing that a guest may see.
    pub(super) fn resident(&mut self, space: u32) -> Result<u64, Failure> {
        let map = self.page_map(space)?;
        let accessible = map.regions().iter().filter(|region| is_accessible(region.permissions));
        Ok(accessible.map(|region| region.end_page - region.first_page).sum())
    }

    /// Returns strings that were on the initial stack of a process, as they are now.
    pub(super) fn texts(&mut self, process: u32, of: impl Fn(&Space) -> &Texts) -> Text {
        let Some(space) = self.space(process) else { return Ok(Vec::new()) };
        let Texts { address, bytes } = of(space);
        let (address, mut bytes) = (*address, bytes.clone());
        match &space.memory {
            // Pages that the process has not written since are as they were.
            Some(memory) => {
                for (page, contents) in &memory.pages {
                    let start = page << PAGE_SHIFT;
                    let from = start.max(address);
                    let to = (start + PAGE_BYTES as u64).min(address + bytes.len() as u64);
                    if from < to {
                        let new = &contents.bytes()[(from - start) as usize..(to - start) as usize];
                        bytes[(from - address) as usize..(to - address) as usize].copy_from_slice(new);
                    }
                }
            }
            None => {
                let mut now = vec![0; bytes.len()];
                if self.guest.lane.read_memory(address, &mut now, None)?.is_ok() {
                    bytes = now;
                }
            }
        }
        Ok(bytes)
    }
}
