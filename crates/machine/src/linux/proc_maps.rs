//! The mappings of a process: `maps`, `smaps`, `statm`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::failure::Failure;
use super::proc_node::Owner;
use super::proc_text::{Look, Text, is_accessible};
use crate::pages::{PAGE_BYTES, PAGE_SHIFT};
use crate::permissions::Permissions;

const PAGE: u64 = PAGE_BYTES as u64;

/// What a mapping is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Anonymous,
    Heap,
    Stack,
    Trampoline,
    File,
}

/// A mapping, as a line of `maps` shows it.
#[derive(Clone, Debug)]
struct Mapping {
    first_page: u64,
    end_page: u64,
    permissions: Permissions,
    is_shared: bool,
    kind: Use,
    /// The page of the file.
    offset: u64,
    inode: u64,
    path: Vec<u8>,
    /// The number of its pages that are in memory.
    resident: u64,
}

/// The sizes of an address space, in pages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub(super) all: u64,
    pub(super) resident: u64,
    pub(super) resident_files: u64,
    pub(super) code: u64,
    pub(super) libraries: u64,
    pub(super) data: u64,
    pub(super) stack: u64,
    /// The addresses of the code of the program.
    pub(super) program: (u64, u64),
}

impl Mapping {
    /// Returns whether `next` continues this mapping.
    fn continues(&self, next: &Self) -> bool {
        self.end_page == next.first_page
            && (self.permissions, self.kind, self.is_shared) == (next.permissions, next.kind, next.is_shared)
            && self.inode == next.inode
            && (self.kind != Use::File || self.offset + (self.end_page - self.first_page) == next.offset)
    }
}

impl Look<'_, '_> {
    /// Returns the mappings of a process in ascending order; none if it has ended.
    fn mappings(&mut self, process: u32) -> Result<Vec<Mapping>, Failure> {
        let Some(space) = self.space(process) else { return Ok(Vec::new()) };
        let id = self.kernel.processes[&process].space;
        let is_loaded = space.memory.is_none();
        let heap_end = if is_loaded { self.kernel.state.heap_end } else { space.heap_end };
        let stack_end = space.executable.stack.end >> PAGE_SHIFT;
        let heap = space.areas.heap.start >> PAGE_SHIFT..heap_end.div_ceil(PAGE);
        let stack = stack_end.saturating_sub(space.areas.stack_bytes >> PAGE_SHIFT)..stack_end;
        let trampoline = space.areas.trampoline >> PAGE_SHIFT;
        let files: Vec<_> = space.files.parts_in(&(0..u64::MAX)).collect();
        let map = self.page_map(id)?;
        let mut cuts: BTreeSet<u64> =
            [heap.start, heap.end, stack.start, stack.end, trampoline, trampoline + 1].into();
        cuts.extend(files.iter().flat_map(|(range, _)| [range.start, range.end]));
        let mut mappings: Vec<Mapping> = Vec::new();
        for region in map.regions() {
            let mut first_page = region.first_page;
            while first_page < region.end_page {
                let cut = cuts.range(first_page + 1..).next().copied().unwrap_or(u64::MAX);
                let end_page = region.end_page.min(cut);
                let at = files.partition_point(|(range, _)| range.end <= first_page);
                let file = files.get(at).filter(|(range, _)| range.contains(&first_page));
                let kind = match first_page {
                    _ if file.is_some() => Use::File,
                    page if heap.contains(&page) => Use::Heap,
                    page if stack.contains(&page) => Use::Stack,
                    page if page == trampoline => Use::Trampoline,
                    _ => Use::Anonymous,
                };
                let mut mapping = Mapping {
                    first_page,
                    end_page,
                    permissions: region.permissions,
                    is_shared: false,
                    kind,
                    offset: 0,
                    inode: 0,
                    path: Vec::new(),
                    resident: if is_accessible(region.permissions) { end_page - first_page } else { 0 },
                };
                if let Some((range, file)) = file {
                    mapping.offset = file.offset + (first_page - range.start);
                    (mapping.inode, mapping.is_shared) = (file.inode, file.is_shared);
                    mapping.path = self.kernel.seen(file.path.to_vec());
                    if self.kernel.files.inode(file.inode).is_none_or(|inode| inode.link_count == 0) {
                        mapping.path.extend(b" (deleted)");
                    }
                }
                match mappings.last_mut().filter(|last| last.continues(&mapping)) {
                    Some(last) => {
                        last.end_page = end_page;
                        last.resident += mapping.resident;
                    }
                    None => mappings.push(mapping),
                }
                first_page = end_page;
            }
        }
        Ok(mappings)
    }

    /// Returns the sizes of the address space of a process.
    pub(super) fn sizes(&mut self, process: u32) -> Result<Sizes, Failure> {
        let mut sizes = Sizes::default();
        let program = self.space(process).map_or(0, |space| space.executable.inode);
        for mapping in self.mappings(process)? {
            let pages = mapping.end_page - mapping.first_page;
            let Permissions { write, execute, .. } = mapping.permissions;
            sizes.all += pages;
            sizes.resident += mapping.resident;
            if mapping.kind == Use::File && !write {
                sizes.resident_files += mapping.resident;
            }
            match mapping.kind {
                Use::Stack => sizes.stack += pages,
                Use::File if execute && mapping.inode == program => {
                    sizes.code += pages;
                    sizes.program = (mapping.first_page << PAGE_SHIFT, mapping.end_page << PAGE_SHIFT);
                }
                Use::File if execute => sizes.libraries += pages,
                _ if write => sizes.data += pages,
                _ => {}
            }
        }
        Ok(sizes)
    }
}

/// Returns a line of `maps`.
fn line(mapping: &Mapping) -> Vec<u8> {
    /// The device of all files, as `stat` returns it.
    const DEVICE: &str = "00:01";
    let (permissions, sharing) = (mapping.permissions, if mapping.is_shared { 's' } else { 'p' });
    let (start, end) = (mapping.first_page << PAGE_SHIFT, mapping.end_page << PAGE_SHIFT);
    let offset = mapping.offset << PAGE_SHIFT;
    let device = if mapping.kind == Use::File { DEVICE } else { "00:00" };
    let inode = mapping.inode;
    let line = format!("{start:08x}-{end:08x} {permissions}{sharing} {offset:08x} {device} {inode} ");
    let mut line = line.into_bytes();
    let name = match mapping.kind {
        Use::Anonymous => &[][..],
        Use::Heap => b"[heap]",
        Use::Stack => b"[stack]",
        Use::Trampoline => b"[vdso]",
        Use::File => &mapping.path,
    };
    if !name.is_empty() {
        line.resize(line.len().max(73), b' ');
        line.extend(name.iter().flat_map(|byte| match byte {
            b'\n' => b"\\012".to_vec(),
            byte => vec![*byte],
        }));
    }
    line.push(b'\n');
    line
}

pub(super) fn maps(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    Ok(look.mappings(look.kernel.process_of(owner)?)?.iter().flat_map(line).collect())
}

/// Returns the figures of `smaps` about mappings.
fn figures(mappings: &[Mapping]) -> String {
    let kilobytes = |pages: u64| pages * PAGE / 1024;
    let sum = |of: fn(&Mapping) -> bool| {
        kilobytes(mappings.iter().filter(|mapping| of(mapping)).map(|mapping| mapping.resident).sum())
    };
    let resident = sum(|_| true);
    let clean = sum(|mapping| mapping.kind == Use::File && !mapping.permissions.write);
    let anonymous = resident - clean;
    let rows = [
        ("Rss", resident),
        ("Pss", resident),
        ("Pss_Dirty", anonymous),
        ("Shared_Clean", 0),
        ("Shared_Dirty", 0),
        ("Private_Clean", clean),
        ("Private_Dirty", anonymous),
        ("Referenced", resident),
        ("Anonymous", anonymous),
        ("LazyFree", 0),
        ("AnonHugePages", 0),
        ("ShmemPmdMapped", 0),
        ("FilePmdMapped", 0),
        ("Shared_Hugetlb", 0),
        ("Private_Hugetlb", 0),
        ("Swap", 0),
        ("SwapPss", 0),
        ("Locked", 0),
    ];
    rows.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{:<16}{value:>8} kB", format!("{name}:"));
        text
    })
}

pub(super) fn smaps(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    let mut text = Vec::new();
    for mapping in look.mappings(look.kernel.process_of(owner)?)? {
        text.extend(line(&mapping));
        let size = (mapping.end_page - mapping.first_page) * PAGE / 1024;
        for (name, value) in [("Size", size), ("KernelPageSize", PAGE / 1024), ("MMUPageSize", PAGE / 1024)] {
            text.extend(format!("{:<16}{value:>8} kB\n", format!("{name}:")).bytes());
        }
        let Permissions { read, write, execute } = mapping.permissions;
        text.extend(figures(&[mapping]).bytes());
        text.extend(b"THPeligible:           0\nVmFlags:");
        for (is_set, flag) in [(read, " rd"), (write, " wr"), (execute, " ex"), (true, " mr mw me")] {
            text.extend(if is_set { flag.bytes() } else { "".bytes() });
        }
        text.extend(b"\n");
    }
    Ok(text)
}

pub(super) fn smaps_rollup(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    let mappings = look.mappings(look.kernel.process_of(owner)?)?;
    let (Some(first), Some(last)) = (mappings.first(), mappings.last()) else { return Ok(Vec::new()) };
    let (start, end) = (first.first_page << PAGE_SHIFT, last.end_page << PAGE_SHIFT);
    let mut head = format!("{start:08x}-{end:08x} ---p 00000000 00:00 0 ");
    while head.len() < 73 {
        head.push(' ');
    }
    Ok(format!("{head}[rollup]\n{}", figures(&mappings)).into_bytes())
}

pub(super) fn statm(look: &mut Look<'_, '_>, owner: Owner) -> Text {
    let sizes = look.sizes(look.kernel.process_of(owner)?)?;
    let Sizes { all, resident, resident_files, code, data, stack, .. } = sizes;
    Ok(format!("{all} {resident} {resident_files} {code} 0 {} 0\n", data + stack).into_bytes())
}
