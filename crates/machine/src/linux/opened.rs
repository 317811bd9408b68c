//! The file descriptors of the current process, with their open file descriptions.

use super::descriptors::Descriptor;
use super::errno::Errno;
use super::files::InodeNumber;
use super::kernel::Kernel;
use super::locks::Owner;
use super::notices::{IN_CLOSE_NOWRITE, IN_CLOSE_WRITE, IN_DELETE_SELF};
use super::open_files::{Description, O_PATH, Object};
use super::process::Process;

impl Kernel {
    /// Returns the ID of the open file description of a descriptor.
    pub(super) fn opened(&self, descriptor: u64) -> Result<u32, Errno> {
        Ok(self.process().descriptors.get(descriptor)?.description)
    }

    /// Returns the open file description of a descriptor.
    pub(super) fn description(&self, descriptor: u64) -> Result<&Description, Errno> {
        self.open.get(self.opened(descriptor)?)
    }

    /// Returns the open file description of a descriptor for changes.
    pub(super) fn description_mut(&mut self, descriptor: u64) -> Result<&mut Description, Errno> {
        let id = self.opened(descriptor)?;
        self.open.get_mut(id)
    }

    /// Opens a descriptor for a new description.
    pub(super) fn open(&mut self, description: Description, close_on_exec: bool) -> Result<u64, Errno> {
        let number = self.process().lowest_free(0)?;
        let id = self.open.add(description);
        self.refer(number, id, close_on_exec);
        Ok(number)
    }

    /// Makes the unused descriptor `number` refer to a description.
    pub(super) fn refer(&mut self, number: u64, description: u32, close_on_exec: bool) {
        self.open.share(description);
        self.process_mut().descriptors.insert(number, Descriptor { description, close_on_exec });
    }

    /// Closes a descriptor of the current process.
    pub(super) fn close(&mut self, descriptor: u64) -> Result<(), Errno> {
        let process = self.process_id();
        let description = self.process_mut().descriptors.remove(descriptor)?;
        self.unlock_closed(process, description);
        self.release_description(description);
        Ok(())
    }

    /// Removes the record locks of a process on a file of which it closes a descriptor, whichever it is.
    pub(super) fn unlock_closed(&mut self, process: u32, description: u32) {
        if let Ok(Description { object: Object::Inode(number), .. }) = self.open.get(description) {
            let number = *number;
            self.open.locks.forget(Some(number), Owner::Process(process));
        }
    }

    /// Counts a descriptor of a description less, and frees what nothing refers to any more.
    pub(super) fn release_description(&mut self, description: u32) {
        if let Ok(open) = self.open.get(description)
            && open.is_last()
        {
            let mask = if open.is_writable() { IN_CLOSE_WRITE } else { IN_CLOSE_NOWRITE };
            if open.flags & O_PATH == 0 {
                self.notify_opened(description, mask);
            }
        }
        for object in self.open.release(description) {
            match object {
                Object::Inode(number) => self.release_inode(number),
                Object::TerminalMaster(number) => self.close_master(number),
                Object::Terminal(number) => self.note_terminal(number),
                _ => {}
            }
        }
    }

    /// Frees an inode that has no links left, unless a description, a current directory or a program still refers to it.
    pub(super) fn release_inode(&mut self, number: InodeNumber) {
        let is_directory = |number| {
            let is_used = |process: &Process| process.directory == number || process.root == number;
            self.processes.values().any(|process| !process.has_ended() && is_used(process))
        };
        let is_program = |number| self.spaces.values().any(|space| space.executable.inode == number);
        if !self.open.is_open(Object::Inode(number))
            && !self.open.has_fifo(number)
            && !self.shared.has_file(number)
            && !is_directory(number)
            && !is_program(number)
        {
            if self.files.inode(number).is_some_and(|inode| inode.link_count == 0) {
                self.open.note(number, IN_DELETE_SELF, 0, b"");
                self.open.forget_watches(number);
            }
            self.files.forget(number);
        }
    }
}
