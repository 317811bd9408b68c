//! The nodes of `/proc`. The inode number of a node says what it is, so a lane keeps nothing for it.

/// The bit that tells the numbers of nodes from those of inodes that exist.
const IS_NODE: u64 = 1 << 63;
const KIND_SHIFT: u32 = 61;
const TASK: u64 = 1 << 60;
const ID_SHIFT: u32 = 30;
/// IDs of processes and threads have 30 bits, as do indices.
const MASK: u64 = (1 << 30) - 1;

/// A process or thread: `/proc/ID`, or `/proc/PROCESS/task/ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) id: u32,
    /// Whether it is a thread in the directory `task` of its process.
    pub(super) is_task: bool,
}

/// A node of `/proc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A file, link or directory about the system, by its index in the table. Index 0 is `/proc` itself.
    System(usize),
    /// A file, link or directory about a process or thread, by its index in the table. Index 0 is its own directory.
    Process(Owner, usize),
    /// The link `fd/NUMBER`.
    Descriptor(Owner, u64),
    /// What `fd/NUMBER` leads to, if that is no inode: the open file itself.
    Opened(Owner, u64),
    /// The file `fdinfo/NUMBER`.
    DescriptorInfo(Owner, u64),
}

/// The number of `/proc` itself.
pub(super) const PROC: u64 = IS_NODE;

/// Returns whether a number is that of a node.
pub(super) const fn is_node(number: u64) -> bool {
    number & IS_NODE != 0
}

impl Node {
    /// Returns the node with an inode number, if it is that of a node.
    pub(super) const fn of(number: u64) -> Option<Self> {
        if !is_node(number) {
            return None;
        }
        let owner = Owner { id: (number >> ID_SHIFT & MASK) as u32, is_task: number & TASK != 0 };
        // Descriptors are those of a process, also among the nodes of a thread, and numbers below 2^29 suffice for all of them.
        let (index, is_opened) = (number & (MASK >> 1), number & (1 << 29) != 0);
        Some(match number >> KIND_SHIFT & 3 {
            0 => Self::System(index as usize),
            1 => Self::Process(owner, index as usize),
            2 if is_opened => Self::Opened(owner, index),
            2 => Self::Descriptor(owner, index),
            _ => Self::DescriptorInfo(owner, index),
        })
    }

    /// Returns the inode number.
    pub(super) const fn number(self) -> u64 {
        let (kind, owner, index) = match self {
            Self::System(index) => (0, Owner { id: 0, is_task: false }, index as u64),
            Self::Process(owner, index) => (1, owner, index as u64),
            Self::Descriptor(owner, number) => (2, owner, number),
            Self::Opened(owner, number) => (2, owner, number | 1 << 29),
            Self::DescriptorInfo(owner, number) => (3, owner, number),
        };
        let task = if owner.is_task { TASK } else { 0 };
        IS_NODE | kind << KIND_SHIFT | task | (owner.id as u64 & MASK) << ID_SHIFT | index & MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_tell_nodes_apart() {
        let mut all = vec![Node::System(0), Node::System(70)];
        for owner in [(2, false), (2, true), ((1 << 30) - 1, true)].map(|(id, is_task)| Owner { id, is_task })
        {
            all.extend([Node::Process(owner, 0), Node::Process(owner, 31)]);
            for number in [0, 1023, (1 << 20) - 1] {
                all.extend([Node::Descriptor(owner, number), Node::Opened(owner, number)]);
                all.push(Node::DescriptorInfo(owner, number));
            }
        }
        let numbers: std::collections::BTreeSet<u64> = all.iter().map(|node| node.number()).collect();
        assert_eq!(numbers.len(), all.len(), "each node has a number of its own");
        for node in all {
            assert_eq!(Node::of(node.number()), Some(node), "the number says which node it is");
        }
        assert_eq!(Node::of(1), None, "inodes have other numbers");
        assert_eq!(PROC, Node::System(0).number(), "the number of /proc");
    }
}
