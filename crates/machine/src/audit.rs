//! What [`Executor::audit`](crate::Executor::audit) finds.

use std::fmt;

/// Something in the memory of lanes that contradicts itself: a mistake in KVRM, or a device that computes wrongly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The lane whose memory it is in, if it is one lane's.
    pub lane: Option<usize>,
    /// Whether it is in what the lane goes back to when it is reset.
    pub in_snapshot: bool,
    /// The frame.
    pub frame: Option<u32>,
    /// The guest address that leads to it.
    pub address: Option<u64>,
    /// What is wrong.
    pub damage: Damage,
}

/// What is wrong, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// More frames are in use than there are, or fewer than the image has.
    #[error("{used} frames are in use, of {capacity}, of which the image has {shared}")]
    FrameCount {
        /// How many are in use.
        used: u32,
        /// How many of them are the image's.
        shared: u32,
        /// How many there are.
        capacity: u32,
    },
    /// A frame of the image has changed.
    #[error("word {word} of a frame of the image is {is:#x} instead of {was:#x}")]
    ImageChanged {
        /// The word, of 8 bytes.
        word: usize,
        /// What it is.
        is: u64,
        /// What it was when the machine was built.
        was: u64,
    },
    /// A frame is in use, but no lane has it.
    #[error("the frame is in use, but in the chain of no lane")]
    Lost,
    /// A chain leads to a frame that is not there, or that is the image's.
    #[error(
        "the chain leads from frame {from:#x} to frame {to:#x}, but frames {first:#x} to {end:#x} are those of lanes"
    )]
    ChainLink {
        /// Where the link is; 0 is the begin of the chain.
        from: u32,
        /// Where it leads.
        to: u32,
        /// The first frame that lanes can have.
        first: u32,
        /// The frame behind the last.
        end: u32,
    },
    /// A chain leads to a frame that is in a chain already, this one or another.
    #[error("the chain leads from frame {from:#x} to a frame that lane {owner} has already")]
    ChainTwice {
        /// Where the link is; 0 is the begin of the chain.
        from: u32,
        /// Who has it.
        owner: usize,
    },
    /// The last frame in use is not in the lane's chain, or comes before the last that the snapshot uses.
    #[error(
        "the last frame in use is {tail:#x}, which is number {place} of the chain; the snapshot uses {least}"
    )]
    ChainTail {
        /// The frame.
        tail: u32,
        /// Its place in the chain, counted from 1; 0 if it is not there.
        place: u32,
        /// How many frames of the chain the snapshot uses.
        least: u32,
    },
    /// The page table has another size or place than that of the image.
    #[error(
        "the page table has {levels} levels from page {window:#x} on, instead of {image_levels} from {image_window:#x} on"
    )]
    Window {
        /// Its levels.
        levels: u32,
        /// Its first page.
        window: u64,
        /// The levels of the image's.
        image_levels: u32,
        /// Its first page.
        image_window: u64,
    },
    /// An entry has flags that do not exist, or that contradict each other.
    #[error("the entry {entry:#x} at level {level} of the page table has flags that cannot be")]
    EntryFlags {
        /// The entry.
        entry: u32,
        /// The level of what it leads to; pages are at level 0.
        level: u32,
    },
    /// An entry leads to a frame that is not there.
    #[error(
        "the entry {entry:#x} at level {level} of the page table leads to a frame that is not there: {used:#x} are in use"
    )]
    EntryFrame {
        /// The entry.
        entry: u32,
        /// The level of what it leads to.
        level: u32,
        /// How many frames there are.
        used: u32,
    },
    /// An entry leads to a frame of the image that the image does not have there.
    #[error(
        "the entry {entry:#x} at level {level} of the page table should be {expected:#x}, as the image has it"
    )]
    EntryImage {
        /// The entry.
        entry: u32,
        /// The level of what it leads to.
        level: u32,
        /// What it should be.
        expected: u32,
    },
    /// An entry leads to a frame of another lane.
    #[error("the entry {entry:#x} at level {level} of the page table leads to a frame of lane {owner}")]
    EntryForeign {
        /// The entry.
        entry: u32,
        /// The level of what it leads to.
        level: u32,
        /// Whose frame it is.
        owner: usize,
    },
    /// An entry says that a frame is the lane's alone and it is shared, or the other way round.
    #[error(
        "the entry {entry:#x} at level {level} of the page table says {}, but the frame is number {place} of the chain, \
         where the snapshot uses {shared} and the lane {used}",
        if *owned { "that the frame is the lane's alone" } else { "that the frame is shared" }
    )]
    EntryOwner {
        /// The entry.
        entry: u32,
        /// The level of what it leads to.
        level: u32,
        /// What it says, with the entries above it.
        owned: bool,
        /// The place of the frame in the chain, counted from 1.
        place: u32,
        /// How many frames of the chain the snapshot uses.
        shared: u32,
        /// How many the lane uses.
        used: u32,
    },
    /// Two entries of a page table lead to the same frame of the lane.
    #[error(
        "the entry {entry:#x} at level {level} of the page table leads to a frame that another entry leads to"
    )]
    EntryTwice {
        /// The entry.
        entry: u32,
        /// The level of what it leads to.
        level: u32,
    },
    /// An entry for a node leads to a page, or the other way round.
    #[error("the entry {entry:#x} leads to a {}", if *level == 0 { "node instead of a page" } else { "page instead of a node" })]
    EntryKind {
        /// The entry.
        entry: u32,
        /// The level of what it should lead to.
        level: u32,
    },
    /// A frame says that it is for another page than the one that leads to it.
    #[error(
        "the entry {entry:#x} at level {level} of the page table leads to a frame that was taken for page {page:#x}"
    )]
    EntryPage {
        /// The entry.
        entry: u32,
        /// The level of what it leads to.
        level: u32,
        /// The page.
        page: u64,
    },
    /// The lane has taken a frame to which nothing leads.
    #[error(
        "the lane uses the frame, number {place} of its chain, but no entry of its page table leads to it"
    )]
    Orphan {
        /// The place of the frame in the chain, counted from 1.
        place: u32,
    },
    /// The device and the host do not agree on how a page is mapped.
    #[error("the page is mapped with flags {is:#x}, but the host has mapped it with {expected:#x}")]
    Mapping {
        /// The flags of its entry.
        is: u32,
        /// What they should be.
        expected: u32,
    },
    /// The number of pages that a lane has written is wrong.
    #[error("the lane has written {counted} pages, but counts {noted}, and may write {allowed} of {max}")]
    WrittenCount {
        /// How many there are.
        counted: u32,
        /// How many the lane has counted.
        noted: u32,
        /// How many it thinks that it may write.
        allowed: u32,
        /// How many it may write.
        max: u32,
    },
    /// More console output waits than there is room for.
    #[error("{waiting} bytes of console output wait, where there is room for {room}")]
    Console {
        /// How much waits.
        waiting: u32,
        /// How much may wait.
        room: u32,
    },
    /// A frame names a code page that is not there, or that holds another frame.
    #[error("the frame names code page {page} of {pages}, which holds {}", held.map_or("nothing".to_owned(), |held| format!("frame {held:#x}")))]
    CodePage {
        /// The code page.
        page: u32,
        /// How many there are.
        pages: u32,
        /// The frame that it holds.
        held: Option<u32>,
    },
    /// A code page holds a frame that does not name it.
    #[error("code page {page} holds the frame, which names {}", named.map_or("none".to_owned(), |named| format!("code page {named}")))]
    CodeOwner {
        /// The code page.
        page: u32,
        /// The code page that the frame names.
        named: Option<u32>,
    },
    /// Decoded code is not that of the words in the page.
    #[error("the decoded instruction {index} of the page is not that of its word {word:#010x}")]
    Code {
        /// Which instruction of the page, counted from 0.
        index: usize,
        /// The word in memory.
        word: u32,
    },
}

impl Violation {
    /// Something wrong that belongs to no lane, frame or address.
    #[must_use]
    pub const fn new(damage: Damage) -> Self {
        Self { lane: None, in_snapshot: false, frame: None, address: None, damage }
    }

    /// The same in a lane.
    #[must_use]
    pub const fn of_lane(self, lane: usize) -> Self {
        Self { lane: Some(lane), ..self }
    }

    /// The same of a frame.
    #[must_use]
    pub const fn of_frame(self, frame: u32) -> Self {
        Self { frame: Some(frame), ..self }
    }

    /// The same at an address.
    #[must_use]
    pub const fn at(self, address: u64) -> Self {
        Self { address: Some(address), ..self }
    }

    /// The same in what the lane goes back to when it is reset, or in what it has now.
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
        let text = "lane 13, frame 0x7: the chain leads from frame 0x7 to frame 0x1c6940, but frames 0x8 to 0x142 are \
                    those of lanes";
        assert_eq!(link.to_string(), text, "with all numbers");
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
