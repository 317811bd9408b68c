//! The findings of [`Executor::audit`](crate::Executor::audit).

use std::fmt;

use kvrm_arm64::Access;

/// A contradiction in the memory of lanes: a bug in KVRM, or a device that computes wrongly.
///
/// ```
/// use kvrm_machine::{Damage, Violation};
///
/// let violation = Violation::new(Damage::Orphan { place: 1 }).of_lane(2).at(0x1000);
/// assert!(violation.to_string().starts_with("lane 2, address 0x1000: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The lane in whose memory the damage is; `None` if it is in no single lane's.
    pub lane: Option<usize>,
    /// Whether the damage is in the snapshot that a reset of the lane restores.
    pub in_snapshot: bool,
    /// The damaged frame, if there is one.
    pub frame: Option<u32>,
    /// The guest address of the damage, if it has one.
    pub address: Option<u64>,
    /// The kind of damage.
    pub damage: Damage,
}

/// The kind of damage, with the numbers that show it.
///
/// Levels count from 0, which is the level of pages; nodes of the page table have higher levels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// More frames are in use than exist, or fewer than the image has.
    #[error("{used} frames are in use, expected from {shared}, the size of the image, to {capacity}")]
    FrameCount {
        /// The number of frames in use.
        used: u32,
        /// The number of frames of the image.
        shared: u32,
        /// The number of frames that exist.
        capacity: u32,
    },
    /// A frame of the image has changed.
    #[error("word {word} of a frame of the image is {is:#x} instead of {was:#x}")]
    ImageChanged {
        /// The index of the 8-byte word in the frame.
        word: usize,
        /// The value now.
        is: u64,
        /// The value when the machine was built.
        was: u64,
    },
    /// A frame has a place that another frame has, that is free, or that does not exist.
    #[error("the frame has the place {place:#x}, which is another frame's, free, or does not exist")]
    FramePlace {
        /// The place.
        place: u32,
    },
    /// A frame is neither in the pools nor on the host.
    #[error("the contents of the frame are neither on the device nor on the host")]
    FrameLost,
    /// A frame is in use, but in no lane's chain.
    #[error("the frame is in use, but it is in no lane's chain")]
    NotInChain,
    /// A chain leads to a frame that does not exist, or to a frame of the image.
    #[error(
        "the chain leads from frame {from:#x} to frame {to:#x}, but lanes have frames {first:#x} to {end:#x}"
    )]
    ChainLink {
        /// The frame that holds the link; 0 if it is the head of the chain.
        from: u32,
        /// The frame that the link leads to.
        to: u32,
        /// The first frame that lanes can have.
        first: u32,
        /// The frame after the last that lanes can have.
        end: u32,
    },
    /// A chain leads to a frame that is already in a chain, this one or another.
    #[error("the chain leads from frame {from:#x} to a frame that is already in the chain of lane {owner}")]
    ChainTwice {
        /// The frame that holds the link; 0 if it is the head of the chain.
        from: u32,
        /// The lane whose chain has the frame already.
        owner: usize,
    },
    /// The lane's last frame in use is not in its chain, or comes before the last frame that the snapshot uses.
    #[error(
        "the last frame in use is {tail:#x}, at place {place} of the chain, expected place {least} or later"
    )]
    ChainTail {
        /// The last frame in use.
        tail: u32,
        /// The place of that frame in the chain, counted from 1; 0 if it is not in the chain.
        place: u32,
        /// The number of frames of the chain that the snapshot uses.
        least: u32,
    },
    /// The page table has fewer levels than that of the image, or too many, or starts elsewhere.
    #[error(
        "the page table has {levels} levels and starts at page {window:#x}, expected at least {image_levels} levels, \
         no more than the address space needs, from page {image_window:#x}"
    )]
    Window {
        /// The number of levels.
        levels: u32,
        /// The first page.
        window: u64,
        /// The number of levels of the image's page table.
        image_levels: u32,
        /// The first page of the image's page table.
        image_window: u64,
    },
    /// An entry has undefined flags, or flags that contradict each other.
    #[error("the entry {entry:#x} at level {level} of the page table has invalid flags")]
    EntryFlags {
        /// The entry.
        entry: u32,
        /// The level that it leads to; pages are at level 0.
        level: u32,
    },
    /// An entry leads to a frame that does not exist.
    #[error(
        "the entry {entry:#x} at level {level} of the page table leads to a frame that does not exist: only \
         {used:#x} are in use"
    )]
    EntryFrame {
        /// The entry.
        entry: u32,
        /// The level that it leads to.
        level: u32,
        /// The number of frames in use.
        used: u32,
    },
    /// An entry leads to another frame than the image has at this place.
    #[error(
        "the entry {entry:#x} at level {level} of the page table differs from the image, expected {expected:#x}"
    )]
    EntryImage {
        /// The entry.
        entry: u32,
        /// The level that it leads to.
        level: u32,
        /// The entry of the image.
        expected: u32,
    },
    /// An entry leads to a frame of another lane.
    #[error("the entry {entry:#x} at level {level} of the page table leads to a frame of lane {owner}")]
    EntryForeign {
        /// The entry.
        entry: u32,
        /// The level that it leads to.
        level: u32,
        /// The lane that owns the frame.
        owner: usize,
    },
    /// An entry marks a shared frame as owned by the lane alone, or an owned frame as shared.
    #[error(
        "the entry {entry:#x} at level {level} of the page table marks the frame as {}, but the frame is at place {place} \
         of the chain, of which the snapshot uses {shared} and the lane {used}",
        if *owned { "owned" } else { "shared" }
    )]
    EntryOwner {
        /// The entry.
        entry: u32,
        /// The level that it leads to.
        level: u32,
        /// Whether the entry and all entries above it are marked as owned.
        owned: bool,
        /// The place of the frame in the chain, counted from 1.
        place: u32,
        /// The number of frames of the chain that the snapshot uses.
        shared: u32,
        /// The number of frames of the chain that the lane uses.
        used: u32,
    },
    /// Two entries of a page table lead to the same frame of the lane.
    #[error(
        "the entry {entry:#x} at level {level} of the page table leads to the same frame as another entry"
    )]
    EntryTwice {
        /// The entry.
        entry: u32,
        /// The level that it leads to.
        level: u32,
    },
    /// An entry for a node leads to a page, or an entry for a page to a node.
    #[error("the entry {entry:#x} leads to a {}", if *level == 0 { "node instead of a page" } else { "page instead of a node" })]
    EntryKind {
        /// The entry.
        entry: u32,
        /// The level that it should lead to.
        level: u32,
    },
    /// An entry leads to a frame that was allocated for another page.
    #[error(
        "the entry {entry:#x} at level {level} of the page table leads to a frame that was allocated for page {page:#x}"
    )]
    EntryPage {
        /// The entry.
        entry: u32,
        /// The level that it leads to.
        level: u32,
        /// The page for which the frame was allocated.
        page: u64,
    },
    /// A TLB entry has another frame than the page map, or is valid for an access that the page map does not permit.
    #[error("the TLB has frame {entry:#x} for {}, expected {}", access_name(*access), expected_frame(*expected))]
    TlbEntry {
        /// The access that the entry is valid for.
        access: Access,
        /// The frame of the entry. The highest bit marks a private frame of the lane.
        entry: u32,
        /// The frame that the page has; `None` if the page map does not permit the access.
        expected: Option<u32>,
    },
    /// The lane owns a frame that no entry leads to.
    #[error(
        "the lane uses the frame at place {place} of its chain, but no entry of its page table leads to it"
    )]
    Orphan {
        /// The place of the frame in the chain, counted from 1.
        place: u32,
    },
    /// The device and the page map of the host disagree on the mapping of a page.
    #[error("the page is mapped with flags {is:#x}, but the host has mapped it with {expected:#x}")]
    Mapping {
        /// The flags of the page's entry.
        is: u32,
        /// The flags that follow from the page map.
        expected: u32,
    },
    /// The lane's own count of written pages is wrong.
    #[error(
        "the lane has written {counted} pages and recorded {noted}; its limit is {allowed}, expected {max}"
    )]
    WrittenCount {
        /// The number of pages marked as written.
        counted: u32,
        /// The number that the lane has recorded.
        noted: u32,
        /// The limit on written pages that the lane has recorded.
        allowed: u32,
        /// The limit that the lane should have.
        max: u32,
    },
    /// The buffer for console output claims more bytes than it can hold.
    #[error("{waiting} bytes of console output are pending, in a buffer of {room}")]
    Console {
        /// The number of pending bytes.
        waiting: u32,
        /// The size of the buffer.
        room: u32,
    },
    /// The host has another copy of a word of the lane's state than the device.
    #[error("the host has {copy:#x} as word {column} of the lane's state, which is {is:#x}")]
    Copy {
        /// The number of the word.
        column: u32,
        /// The word on the device.
        is: u64,
        /// The copy of the host.
        copy: u64,
    },
    /// A frame refers to a code page that does not exist, or that belongs to another frame.
    #[error("the frame refers to code page {page} of {pages}, which belongs to {}", held.map_or("no frame".to_owned(), |held| format!("frame {held:#x}")))]
    CodePage {
        /// The code page.
        page: u32,
        /// The number of code pages.
        pages: u32,
        /// The frame that the code page belongs to.
        held: Option<u32>,
    },
    /// A code page belongs to a frame that does not refer to it.
    #[error("code page {page} belongs to the frame, which refers to {}", named.map_or("no code page".to_owned(), |named| format!("code page {named}")))]
    CodeOwner {
        /// The code page.
        page: u32,
        /// The code page that the frame refers to.
        named: Option<u32>,
    },
    /// Decoded code differs from the words of the page.
    #[error("the decoded instruction {index} of the page does not match its word {word:#010x}")]
    Code {
        /// The index of the instruction in the page, from 0.
        index: usize,
        /// The word in memory.
        word: u32,
    },
}

fn access_name(access: Access) -> &'static str {
    match access {
        Access::Read => "reads",
        Access::Write => "writes",
        Access::Execute => "fetches",
    }
}

fn expected_frame(frame: Option<u32>) -> String {
    frame.map_or("no entry, because the page map does not permit them".to_owned(), |frame| {
        format!("{frame:#x}")
    })
}

impl Violation {
    /// Creates a violation without lane, frame and address.
    #[must_use]
    pub const fn new(damage: Damage) -> Self {
        Self { lane: None, in_snapshot: false, frame: None, address: None, damage }
    }

    /// Returns the violation with its lane set.
    #[must_use]
    pub const fn of_lane(self, lane: usize) -> Self {
        Self { lane: Some(lane), ..self }
    }

    /// Returns the violation with its frame set.
    #[must_use]
    pub const fn of_frame(self, frame: u32) -> Self {
        Self { frame: Some(frame), ..self }
    }

    /// Returns the violation with its address set.
    #[must_use]
    pub const fn at(self, address: u64) -> Self {
        Self { address: Some(address), ..self }
    }

    /// Returns the violation marked as in the snapshot of the lane, or in its current state.
    #[must_use]
    pub const fn in_snapshot(self, in_snapshot: bool) -> Self {
        Self { in_snapshot, ..self }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lane, in_snapshot, frame, address, damage } = self;
        let snapshot = if *in_snapshot { " in the snapshot" } else { "" };
        let places = [
            lane.map(|lane| format!("lane {lane}{snapshot}")),
            frame.map(|frame| format!("frame {frame:#x}")),
            address.map(|address| format!("address {address:#x}")),
        ];
        let places: Vec<String> = places.into_iter().flatten().collect();
        if !places.is_empty() {
            write!(f, "{}: ", places.join(", "))?;
        }
        write!(f, "{damage}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_says_where_it_is() {
        let link = Damage::ChainLink { from: 7, to: 0x1c6940, first: 8, end: 0x142 };
        let link = Violation::new(link).of_lane(13).of_frame(7);
        let text = "lane 13, frame 0x7: the chain leads from frame 0x7 to frame 0x1c6940, but lanes have frames \
                    0x8 to 0x142";
        assert_eq!(link.to_string(), text, "the message has lane, frame and all numbers");
        let entry = Damage::EntryFlags { entry: 0x9c69_400d, level: 0 };
        let entry = Violation::new(entry).of_lane(13).at(0x1_0000).in_snapshot(true);
        assert!(
            entry.to_string().starts_with("lane 13 in the snapshot, address 0x10000: the entry"),
            "{entry}"
        );
        let count = Violation::new(Damage::FrameCount { used: 3, shared: 4, capacity: 5 });
        assert!(count.to_string().starts_with("3 frames"), "{count}");
    }
}
