//! Address spaces: where a process maps memory, and its memory while another process has the lane.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::files::InodeNumber;
use super::fork_advice::ForkAdvice;
use super::mapped_files::MappedFiles;
use super::settings::Areas;
use crate::image::LINUX_PAGES;
use crate::lane_memory::LaneMemory;

/// An address space. The process and a child that borrows it (`vfork`) use it together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Space {
    pub(super) areas: Areas,
    /// The memory; `None` while the executor has it.
    pub(super) memory: Option<LaneMemory>,
    /// The end of the heap while the executor has another space.
    pub(super) heap_end: u64,
    /// The number of processes that use it.
    pub(super) users: u32,
    #[serde(with = "crate::interned")]
    pub(super) executable: Arc<Executable>,
    pub(super) files: MappedFiles,
    /// The pages that it shares with other spaces or with files.
    pub(super) shared: Vec<SharedMapping>,
    pub(super) advice: ForkAdvice,
    /// The commands with which its processes have registered for `membarrier`.
    pub(super) barriers: u32,
}

impl Space {
    /// Creates the space of a process that has the lane, without a program.
    pub(super) fn new(areas: Areas) -> Self {
        Self {
            areas,
            memory: None,
            heap_end: 0,
            users: 1,
            executable: Arc::default(),
            files: MappedFiles::default(),
            shared: Vec::new(),
            advice: ForkAdvice::default(),
            barriers: 0,
        }
    }

    /// Forgets what is known of pages that are unmapped, except that they are shared.
    pub(super) fn forget(&mut self, pages: &Range<u64>) {
        self.files.unmap(pages);
        self.advice.forget(pages);
    }

    /// Moves what is known of pages to others.
    pub(super) fn relocate(&mut self, from: &Range<u64>, to: &Range<u64>) {
        self.files.relocate(from, to);
        self.advice.relocate(from, to);
    }

    /// Ends the sharing of pages.
    pub(super) fn unshare(&mut self, pages: &Range<u64>) {
        let mut rest = Vec::new();
        for mapping in self.shared.drain(..) {
            let SharedMapping { pages: own, first, .. } = mapping.clone();
            if own.start < pages.start.min(own.end) {
                rest.push(SharedMapping { pages: own.start..own.end.min(pages.start), ..mapping.clone() });
            }
            if own.end > pages.end.max(own.start) {
                let start = own.start.max(pages.end);
                rest.push(SharedMapping {
                    pages: start..own.end,
                    first: first + (start - own.start),
                    ..mapping
                });
            }
        }
        self.shared = rest;
    }

    /// Returns the range from the first page that it shares to the last.
    pub(super) fn shared_span(&self) -> Range<u64> {
        let first = self.shared.iter().map(|mapping| mapping.pages.start).min().unwrap_or(0);
        first..self.shared.iter().map(|mapping| mapping.pages.end).max().unwrap_or(first)
    }
}

/// Pages of an address space that share the contents of an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SharedMapping {
    pub(super) pages: Range<u64>,
    /// The ID of the object, and the number of its page that the first one shows.
    pub(super) object: u32,
    pub(super) first: u64,
    /// Whether what is written there changes the object.
    pub(super) is_writable: bool,
    /// The version of the object that the pages show.
    pub(super) seen: u64,
    /// Whether `shmat` made it: `shmdt` needs its address.
    pub(super) is_segment: bool,
}

impl SharedMapping {
    /// Returns whether some of the pages are among those that it shares.
    pub(super) const fn overlaps(&self, pages: &Range<u64>) -> bool {
        self.pages.start < pages.end && pages.start < self.pages.end
    }

    /// Returns whether it has pages, all of them in the address space. A mapping from a file may break that.
    pub(super) fn is_valid(&self) -> bool {
        !self.pages.is_empty() && self.pages.end <= LINUX_PAGES.end
    }
}

/// The program of an address space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Executable {
    /// The absolute path of the file, without links.
    pub(super) path: Vec<u8>,
    /// The file; 0 if the program has none.
    pub(super) inode: InodeNumber,
    /// The addresses from the stack pointer at the start of the program to the end of the stack.
    pub(super) stack: Range<u64>,
    pub(super) arguments: Texts,
    pub(super) environment: Texts,
    /// The auxiliary vector.
    pub(super) auxiliary: Vec<u64>,
}

/// Strings on the initial stack, each with its NUL.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Texts {
    pub(super) address: u64,
    /// Their bytes at the start of the program, which may change them in its memory.
    pub(super) bytes: Vec<u8>,
}
