//! Images as frames and page tables.

use std::collections::HashMap;
use std::ops::Range;

use kvrm_machine::{Image, PAGE_BYTES, Permissions};
use kvrm_shaders::layout::{
    ENTRY_EXECUTE, ENTRY_FRAME, ENTRY_MAPPED, ENTRY_READ, ENTRY_WRITE, FRAME_WORDS, LEVEL_BITS,
};

/// A frame in words.
pub(crate) type Words = [u64; FRAME_WORDS as usize];

/// Entries of a node.
const ENTRIES: u64 = 1 << LEVEL_BITS;

/// The frames of images: data, and the nodes of their page tables. Frame 0 is zero.
#[derive(Debug)]
pub(crate) struct Frames {
    pub(crate) words: Vec<Words>,
    /// The frames that hold code.
    pub(crate) executable: Vec<u32>,
}

/// Where the page table of an image lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    /// The entry that leads to it.
    pub(crate) entry: u32,
    /// Its levels.
    pub(crate) levels: u32,
    /// The first page it covers.
    pub(crate) window: u64,
    /// The number of the image's frame 1.
    base: u32,
}

impl Root {
    /// The number of a frame of the image. Its frame 0 is zero, as ours.
    pub(crate) const fn frame_of(&self, frame: u32) -> u32 {
        if frame == 0 { 0 } else { self.base + frame - 1 }
    }
}

impl Frames {
    pub(crate) fn new() -> Self {
        Self { words: vec![[0; FRAME_WORDS as usize]], executable: Vec::new() }
    }

    /// Adds an image.
    pub(crate) fn add(&mut self, image: &Image) -> Root {
        let regions = image.regions();
        let base = self.words.len() as u32;
        // The image's own frame 0 is zero, as ours.
        for bytes in &image.frames()[1..] {
            let mut words = [0; FRAME_WORDS as usize];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
            self.words.push(words);
        }
        // What lanes may map later has no nodes yet, but its place in the tree.
        let Range { start: window, end } = image.map().span();
        let mut levels = 1;
        while (end - window - 1) >> (LEVEL_BITS * levels) != 0 {
            levels += 1;
        }
        let root = Root { entry: 0, levels, window, base };
        let frame_of = |frame| root.frame_of(frame);
        let mut executable: Vec<u32> = Vec::new();
        for region in regions.iter().filter(|region| region.permissions.execute) {
            match region.first_frame {
                Some(first) => {
                    let pages = (region.end_page - region.first_page) as u32;
                    executable.extend((first..first + pages).map(frame_of));
                }
                None => executable.push(0),
            }
        }
        self.executable.extend(executable);
        self.executable.sort_unstable();
        self.executable.dedup();

        let spans: Vec<Span> = regions
            .iter()
            .map(|region| Span {
                first: region.first_page - window,
                end: region.end_page - window,
                flags: flags(region.permissions),
                frame: region.first_frame.map(frame_of),
            })
            .collect();
        let mut shared = HashMap::new();
        let entry = self.node(&spans, 0, levels, &mut shared);
        Root { entry, ..root }
    }

    /// The entry for the `ENTRIES^level` pages from `first` on.
    fn node(&mut self, spans: &[Span], first: u64, level: u32, shared: &mut HashMap<(u32, u32), u32>) -> u32 {
        let end = first + (1 << (LEVEL_BITS * level));
        let inside: Vec<Span> =
            spans.iter().filter(|span| span.first < end && first < span.end).copied().collect();
        let [span, ..] = inside[..] else { return 0 };
        // Stretches without data look the same everywhere.
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

/// A run of pages with the same permissions, and the frame of the first if they have data.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u64,
    end: u64,
    flags: u32,
    frame: Option<u32>,
}

/// What an entry says of a mapped page.
pub(crate) const fn flags(permissions: Permissions) -> u32 {
    let Permissions { read, write, execute } = permissions;
    ENTRY_MAPPED
        | if read { ENTRY_READ } else { 0 }
        | if write { ENTRY_WRITE } else { 0 }
        | if execute { ENTRY_EXECUTE } else { 0 }
}

const _: () = assert!(PAGE_BYTES == 8 * FRAME_WORDS as usize, "a frame holds a page");
