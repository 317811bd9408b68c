//! The resource limits of a process.

use serde::{Deserialize, Serialize};

use super::descriptors::DESCRIPTORS_MAX;

/// The value of a limit that does not limit anything.
pub(super) const UNLIMITED: u64 = u64::MAX;
/// The number of resources that Linux knows.
pub(super) const RESOURCES: usize = 16;

/// The limit on the bytes of all message queues of POSIX together, unless a process sets another one, as on Linux.
const QUEUE_BYTES: u64 = 819_200;

/// A resource that the kernel of a lane limits. The others are only kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    /// Processor time, in seconds.
    ProcessorTime = 0,
    /// The size of files that are written, in bytes.
    FileBytes = 1,
    /// The private writable memory without the stack, in bytes.
    DataBytes = 2,
    /// The stack, in bytes.
    StackBytes = 3,
    CoreBytes = 4,
    /// The lowest number that no descriptor may have.
    OpenFiles = 7,
    /// The memory that is mapped, in bytes.
    MappedBytes = 9,
    /// The bytes of message queues of POSIX.
    QueueBytes = 12,
}

/// The limits of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limit {
    /// The limit that the kernel enforces.
    pub(super) soft: u64,
    /// The limit on the soft limit.
    pub(super) hard: u64,
}

/// The limits of a process on each resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limits([Limit; RESOURCES]);

impl Limits {
    /// Returns the limits of the first process. Those that the lane enforces anyway have a value; the rest are unlimited.
    pub(super) fn new(stack_bytes: u64) -> Self {
        let mut limits = [UNLIMITED; RESOURCES];
        limits[Resource::StackBytes as usize] = stack_bytes;
        limits[Resource::CoreBytes as usize] = 0;
        limits[Resource::OpenFiles as usize] = DESCRIPTORS_MAX;
        limits[Resource::QueueBytes as usize] = QUEUE_BYTES;
        Self(limits.map(|limit| Limit { soft: limit, hard: limit }))
    }

    /// Returns the limits by the number of the resource.
    pub(super) fn iter(&self) -> impl Iterator<Item = Limit> {
        self.0.iter().copied()
    }

    /// Returns the limits on the resource with a number, for changes; `None` if there is no such resource.
    pub(super) fn numbered(&mut self, number: u64) -> Option<&mut Limit> {
        self.0.get_mut(usize::try_from(number).ok()?)
    }

    /// Returns the limits on a resource.
    pub(super) const fn of(&self, resource: Resource) -> Limit {
        self.0[resource as usize]
    }

    /// Returns the soft limit on a resource.
    pub(super) const fn soft(&self, resource: Resource) -> u64 {
        self.of(resource).soft
    }

    /// Sets the soft limit on a resource.
    pub(super) const fn set_soft(&mut self, resource: Resource, soft: u64) {
        self.0[resource as usize].soft = soft;
    }
}
