//! The open file descriptions of a lane, and the objects that exist only while they are open. Processes of the lane share
//! them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::errno::{EBADF, Errno};
use super::files::InodeNumber;
use crate::console::Stream;

/// The capacity of a pipe.
pub(super) const PIPE_BYTES: usize = 65_536;
/// The size up to which a write to a pipe is not divided (`PIPE_BUF`).
pub(super) const PIPE_ATOMIC_BYTES: usize = 4096;

pub(super) const O_ACCMODE: u32 = 3;
pub(super) const O_WRONLY: u32 = 1;
pub(super) const O_RDWR: u32 = 2;
pub(super) const O_APPEND: u32 = 0o2000;
pub(super) const O_NONBLOCK: u32 = 0o4000;
pub(super) const O_CLOEXEC: u32 = 0o2_000_000;
pub(super) const O_PATH: u32 = 0o10_000_000;

/// The object that an open file description refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Object {
    Inode(InodeNumber),
    /// Console input.
    Input,
    /// Console output or error output.
    Output(Stream),
    /// The read end of the pipe with this ID.
    PipeReader(u32),
    /// The write end of the pipe with this ID.
    PipeWriter(u32),
}

/// The entries of a directory: names and inode numbers.
pub(super) type Listing = Arc<Vec<(Vec<u8>, InodeNumber)>>;

/// An open file description. Several descriptors may refer to the same one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Description {
    pub(super) object: Object,
    pub(super) position: u64,
    /// The file status flags and the access mode: `O_APPEND`, `O_NONBLOCK`, `O_ACCMODE`, `O_PATH`, `O_DIRECTORY`.
    pub(super) flags: u32,
    /// The entries of an open directory, as they were when `getdents64` first read it.
    #[serde(with = "crate::interned::optional")]
    pub(super) listing: Option<Listing>,
    /// The number of descriptors that refer to it, in all processes.
    users: u32,
}

impl Description {
    /// Creates a description to which no descriptor refers yet.
    pub(super) const fn new(object: Object, flags: u32) -> Self {
        Self { object, position: 0, flags, listing: None, users: 0 }
    }

    pub(super) const fn is_readable(&self) -> bool {
        self.flags & O_ACCMODE != O_WRONLY && self.flags & O_PATH == 0
    }

    pub(super) const fn is_writable(&self) -> bool {
        self.flags & O_ACCMODE != 0 && self.flags & O_PATH == 0
    }

    /// Returns whether calls wait until they can transfer something.
    pub(super) const fn does_wait(&self) -> bool {
        self.flags & O_NONBLOCK == 0
    }
}

/// A pipe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pipe {
    /// The bytes that were written and not yet read.
    pub(super) data: VecDeque<u8>,
    /// The number of open file descriptions of either end.
    pub(super) readers: u32,
    pub(super) writers: u32,
}

/// The open file descriptions of a lane, and its pipes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenFiles {
    descriptions: BTreeMap<u32, Description>,
    pipes: BTreeMap<u32, Pipe>,
    /// The next unused ID. Descriptions and pipes share one sequence.
    next_id: u32,
}

impl OpenFiles {
    /// Returns the descriptions 0 to 2: console input, output and error output, each with one user.
    pub(super) fn console() -> Self {
        let console = [
            (Object::Input, 0),
            (Object::Output(Stream::Output), O_WRONLY),
            (Object::Output(Stream::Error), O_WRONLY),
        ];
        let open = |(object, flags)| Description { users: 1, ..Description::new(object, flags) };
        let descriptions = (0..).zip(console.map(open)).collect();
        Self { descriptions, pipes: BTreeMap::new(), next_id: 3 }
    }

    /// Returns whether all ends of pipes have a pipe that counts them, and all IDs were given out. `users` has the number of
    /// descriptors of each description.
    pub(super) fn is_valid(&self, users: &BTreeMap<u32, u32>) -> bool {
        let ends = |end: fn(u32) -> Object| {
            let descriptions = &self.descriptions;
            move |pipe: u32| descriptions.values().filter(|open| open.object == end(pipe)).count() as u32
        };
        let (readers, writers) = (ends(Object::PipeReader), ends(Object::PipeWriter));
        let has_pipe = |description: &Description| match description.object {
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) => self.pipes.contains_key(&pipe),
            Object::Inode(_) | Object::Input | Object::Output(_) => true,
        };
        let counts = |(id, pipe): (&u32, &Pipe)| pipe.readers == readers(*id) && pipe.writers == writers(*id);
        let ids = self.descriptions.keys().chain(self.pipes.keys());
        self.descriptions.values().all(has_pipe)
            && self.descriptions.iter().all(|(id, open)| users.get(id) == Some(&open.users))
            && self.descriptions.len() == users.len()
            && self.pipes.iter().all(counts)
            && self.pipes.values().all(|pipe| pipe.data.len() <= PIPE_BYTES)
            && ids.max().is_none_or(|id| *id < self.next_id)
    }

    fn new_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    pub(super) fn get(&self, id: u32) -> Result<&Description, Errno> {
        self.descriptions.get(&id).ok_or(EBADF)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Result<&mut Description, Errno> {
        self.descriptions.get_mut(&id).ok_or(EBADF)
    }

    /// Adds a description without users and returns its ID.
    pub(super) fn add(&mut self, description: Description) -> u32 {
        let id = self.new_id();
        match description.object {
            Object::PipeReader(pipe) => self.pipes.entry(pipe).or_default().readers += 1,
            Object::PipeWriter(pipe) => self.pipes.entry(pipe).or_default().writers += 1,
            Object::Inode(_) | Object::Input | Object::Output(_) => {}
        }
        self.descriptions.insert(id, description);
        id
    }

    /// Adds a pipe and returns the IDs of its ends: the reader, then the writer.
    pub(super) fn add_pipe(&mut self, flags: u32) -> [u32; 2] {
        let (pipe, status) = (self.new_id(), flags & O_NONBLOCK);
        let ends = [(Object::PipeReader(pipe), status), (Object::PipeWriter(pipe), status | O_WRONLY)];
        ends.map(|(object, flags)| self.add(Description::new(object, flags)))
    }

    /// Counts another descriptor of a description.
    pub(super) fn share(&mut self, id: u32) {
        if let Some(description) = self.descriptions.get_mut(&id) {
            description.users += 1;
        }
    }

    /// Counts a descriptor less. Returns the object of the description if this was its last one, and no other description
    /// refers to the object.
    pub(super) fn release(&mut self, id: u32) -> Option<Object> {
        let description = self.descriptions.get_mut(&id)?;
        description.users -= 1;
        if description.users > 0 {
            return None;
        }
        let object = self.descriptions.remove(&id)?.object;
        if let Object::PipeReader(number) | Object::PipeWriter(number) = object
            && let Some(pipe) = self.pipes.get_mut(&number)
        {
            let end =
                if object == Object::PipeReader(number) { &mut pipe.readers } else { &mut pipe.writers };
            *end -= 1;
            if pipe.readers + pipe.writers == 0 {
                self.pipes.remove(&number);
            }
        }
        Some(object).filter(|object| !self.is_open(*object))
    }

    /// Returns whether an open file description refers to `object`.
    pub(super) fn is_open(&self, object: Object) -> bool {
        self.descriptions.values().any(|description| description.object == object)
    }

    pub(super) fn pipe(&self, pipe: u32) -> Result<&Pipe, Errno> {
        self.pipes.get(&pipe).ok_or(EBADF)
    }

    pub(super) fn pipe_mut(&mut self, pipe: u32) -> Result<&mut Pipe, Errno> {
        self.pipes.get_mut(&pipe).ok_or(EBADF)
    }
}
