//! The translation of images into frames and page tables.

use std::collections::HashMap;
use std::ops::Range;

use kvrm_machine::{ADDRESS_BITS, Image, PAGE_BYTES, Permissions, Region};
use kvrm_shaders::layout::{
    ENTRY_EXECUTE, ENTRY_FRAME, ENTRY_MAPPED, ENTRY_READ, ENTRY_WRITE, FRAME_WORDS, LEVEL_BITS,
    UNIFORM_LEVELS, UNIFORM_NODES, UNIFORM_PERMISSIONS,
};

/// The number of levels with which a page table covers the whole address space.
pub(crate) const LEVELS_MAX: u32 = (ADDRESS_BITS - PAGE_BYTES.ilog2()).div_ceil(LEVEL_BITS);

/// The contents of a frame as words.
pub(crate) type Words = [u64; FRAME_WORDS as usize];
/// The contents of a frame whose words are all 0.
pub(crate) const ZEROES: Words = [0; size_of::<Words>() / 8];

/// The number of entries of a node.
const ENTRIES: u64 = 1 << LEVEL_BITS;

/// The frames of images: their data and the nodes of their page tables. Frame 0 is zero; the uniform nodes follow it.
#[derive(Debug)]
pub(crate) struct Frames {
    pub(crate) words: Vec<Words>,
    /// The frames that hold code.
    pub(crate) executable: Vec<u32>,
}

/// The root of the page table of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    /// The entry that leads to the top node.
    pub(crate) entry: u32,
    /// The number of levels.
    pub(crate) levels: u32,
    /// The first page that the page table covers.
    pub(crate) window: u64,
    /// The number that frame 1 of the image has in [`Frames`].
    base: u32,
}

impl Root {
    /// Returns the number that a frame of the image has in [`Frames`]. Frame 0 is zero in both.
    pub(crate) const fn frame_of(&self, frame: u32) -> u32 {
        if frame == 0 { 0 } else { self.base + frame - 1 }
    }
}

impl Frames {
    pub(crate) fn new() -> Self {
        let mut words = vec![[0; FRAME_WORDS as usize]];
        for (level, flags) in uniform_nodes() {
            let below = if level == 1 { flags } else { uniform_entry(level - 1, flags) };
            words.push([u64::from(below) << 32 | u64::from(below); FRAME_WORDS as usize]);
        }
        Self { words, executable: Vec::new() }
    }

    /// Adds the frames and the page table of an image.
    pub(crate) fn add(&mut self, image: &Image) -> Root {
        let stretches: Vec<Region> = image.map().stretches().collect();
        let base = self.words.len() as u32;
        // Frame 0 of the image is zero and is the same as frame 0 here.
        for bytes in &image.frames()[1..] {
            let mut words = [0; FRAME_WORDS as usize];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
            self.words.push(words);
        }
        // Pages that lanes may map later have a place in the tree, but no nodes yet.
        let Range { start: window, end } = image.window();
        let mut levels = 1;
        while (end - window - 1) >> (LEVEL_BITS * levels) != 0 {
            levels += 1;
        }
        let root = Root { entry: 0, levels, window, base };
        let frame_of = |frame| root.frame_of(frame);
        let mut executable: Vec<u32> = Vec::new();
        for stretch in stretches.iter().filter(|stretch| stretch.permissions.execute) {
            match stretch.first_frame {
                Some(first) => {
                    let pages = (stretch.end_page - stretch.first_page) as u32;
                    executable.extend((first..first + pages).map(frame_of));
                }
                None => executable.push(0),
            }
        }
        self.executable.extend(executable);
        self.executable.sort_unstable();
        self.executable.dedup();

        let spans: Vec<Span> = stretches
            .iter()
            .map(|stretch| Span {
                first: stretch.first_page - window,
                end: stretch.end_page - window,
                flags: flags(stretch.permissions),
                frame: stretch.first_frame.map(frame_of),
            })
            .collect();
        let mut shared = uniform_nodes()
            .map(|(level, flags)| ((level, flags), uniform_entry(level, flags)))
            .collect::<HashMap<_, _>>();
        let entry = self.node(&spans, 0, levels, &mut shared);
        Root { entry, ..root }
    }

    /// Adds the tree of the `ENTRIES^level` pages from `first` on, and returns the entry that leads to it. Nodes of
    /// uniform stretches without data are in `shared`, by level and flags.
    fn node(&mut self, spans: &[Span], first: u64, level: u32, shared: &mut HashMap<(u32, u32), u32>) -> u32 {
        let end = first + (1 << (LEVEL_BITS * level));
        let inside: Vec<Span> =
            spans.iter().filter(|span| span.first < end && first < span.end).copied().collect();
        let [span, ..] = inside[..] else { return 0 };
        // Nodes of stretches without data are equal, so one node serves for all of them.
        let uniform = span.frame.is_none() && span.first <= first && end <= span.end;
        if level == 0 {
            let frame = span.frame.map_or(0, |frame| frame + (first - span.first) as u32);
            return frame << ENTRY_FRAME | span.flags;
        }
        if uniform && let Some(&entry) = shared.get(&(level, span.flags)) {
            return entry;
        }
        let node = self.words.len();
        self.words.push([0; FRAME_WORDS as usize]);
        for index in 0..ENTRIES {
            let child = first + (index << (LEVEL_BITS * (level - 1)));
            let entry = u64::from(self.node(&inside, child, level - 1, shared));
            self.words[node][index as usize / 2] |= entry << (32 * (index % 2));
        }
        let entry = (node as u32) << ENTRY_FRAME | ENTRY_MAPPED;
        if uniform {
            shared.insert((level, span.flags), entry);
        }
        entry
    }
}

/// Consecutive pages with the same permissions, and the frame of the first page if they have data.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u64,
    end: u64,
    flags: u32,
    frame: Option<u32>,
}

/// Returns the level of each uniform node and the flags of the pages below it, in the order of their frames.
fn uniform_nodes() -> impl Iterator<Item = (u32, u32)> {
    let of_level = |level| (0..UNIFORM_PERMISSIONS).map(move |bits| (level, bits | ENTRY_MAPPED));
    (1..=UNIFORM_LEVELS).flat_map(of_level)
}

/// Returns the entry that leads to the uniform node of a level for pages with these flags.
const fn uniform_entry(level: u32, flags: u32) -> u32 {
    let node = UNIFORM_NODES + (level - 1) * UNIFORM_PERMISSIONS + (flags & (UNIFORM_PERMISSIONS - 1));
    node << ENTRY_FRAME | ENTRY_MAPPED
}

/// Returns the level of a uniform node and the flags of the pages below it, or `None` if the frame is another one.
pub(crate) fn uniform_node(frame: u32) -> Option<(u32, u32)> {
    let index = frame.checked_sub(UNIFORM_NODES)?;
    let (level, bits) = (index / UNIFORM_PERMISSIONS + 1, index % UNIFORM_PERMISSIONS);
    (level <= UNIFORM_LEVELS).then_some((level, bits | ENTRY_MAPPED))
}

/// Returns the flags of an entry for a mapped page.
pub(crate) const fn flags(permissions: Permissions) -> u32 {
    let Permissions { read, write, execute } = permissions;
    ENTRY_MAPPED
        | if read { ENTRY_READ } else { 0 }
        | if write { ENTRY_WRITE } else { 0 }
        | if execute { ENTRY_EXECUTE } else { 0 }
}

const _: () = assert!(PAGE_BYTES == 8 * FRAME_WORDS as usize, "a frame holds a page");
