//! Programs in memory: where the parts of a program go, and its start in an address space.

use std::ops::Range;

use super::files::{Files, Kind, ROOT};
use super::settings::{Areas, Place};
use crate::elf::{self, ElfError, Executable};
use crate::error::Error;
use crate::layout::{Layout, place};
use crate::pages::PAGE_BYTES;
use crate::permissions::Permissions;
use crate::segment::Segment;
use crate::system::LinuxProgram;

/// The alignment of program interpreters: the largest page size of AArch64.
const INTERPRETER_ALIGNMENT: u64 = 1 << 16;

/// The parts of a program in memory, with its interpreter if it has one.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) segments: Vec<Segment>,
    /// The address of the first instruction that is executed: that of the interpreter, if there is one.
    pub(crate) start: u64,
    pub(crate) place: Place,
    pub(crate) layout: Layout,
    pub(crate) areas: Areas,
    pub(crate) stack_permissions: Permissions,
}

/// The sizes of the parts of an address space that are no segments, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) stack: u64,
    pub(crate) heap: u64,
    pub(crate) arena: u64,
}

impl Areas {
    /// Returns the sizes of the areas.
    pub(super) fn sizes(&self) -> Sizes {
        let length = |range: &Range<u64>| range.end - range.start;
        Sizes { stack: self.stack_bytes, heap: length(&self.heap), arena: length(&self.arena) }
    }
}

/// Chooses addresses for a program at the addresses of `segments`: stack, heap and arena behind the address `end`, and the
/// interpreter, whose file is given, at the end of the arena.
///
/// # Errors
/// There is no room, or the file is no interpreter.
pub(crate) fn load(
    program: Program<'_>,
    interpreter: Option<&[u8]>,
    end: u64,
    sizes: Sizes,
) -> Result<Loaded, LoadFailure> {
    let (layout, arena) =
        place(end, sizes.stack, sizes.heap, Some(sizes.arena)).map_err(LoadFailure::Room)?;
    let Program { mut segments, entry, linux } = program;
    let LinuxProgram { headers, count, has_executable_stack } = *linux;
    let (mut base, mut start) = (0, entry);
    if let Some(file) = interpreter {
        let bytes = elf::span(file).map_err(LoadFailure::Interpreter)?;
        let at = arena.end.checked_sub(bytes).map(|at| at & !(INTERPRETER_ALIGNMENT - 1));
        base = at.filter(|at| *at >= arena.start).ok_or_else(|| {
            LoadFailure::Room(Error::NoRoom { what: "dynamic linker", bytes, limit: arena.end })
        })?;
        let loaded: Executable = elf::load_interpreter(file, base).map_err(LoadFailure::Interpreter)?;
        start = loaded.entry;
        segments.extend(loaded.segments);
    }
    let trampoline = arena.end + PAGE_BYTES as u64;
    let stack_bytes = layout.stack.end - layout.stack.start;
    let place = Place { stack: layout.stack.clone(), entry, headers, count, base };
    let areas = Areas { heap: layout.heap.clone(), arena, stack_bytes, trampoline };
    let stack_permissions = Permissions { execute: has_executable_stack, ..Permissions::RW };
    Ok(Loaded { segments, start, place, layout, areas, stack_permissions })
}

/// A program without its interpreter.
#[derive(Clone, Debug)]
pub(crate) struct Program<'a> {
    pub(crate) segments: Vec<Segment>,
    pub(crate) entry: u64,
    pub(crate) linux: &'a LinuxProgram,
}

/// The reason that a program cannot be put into memory.
#[derive(Debug)]
pub(crate) enum LoadFailure {
    /// There is no room for a part.
    Room(Error),
    /// The file of the interpreter cannot be loaded.
    Interpreter(ElfError),
}

/// Returns the contents of the file at an absolute path.
pub(crate) fn contents<'a>(files: &'a Files, path: &[u8]) -> Option<&'a [u8]> {
    let number = files.walk(ROOT, path, true).ok()?.inode?;
    match &files.inode(number)?.kind {
        Kind::File(data) => Some(data),
        _ => None,
    }
}
