//! The file descriptors of a lane, the open file descriptions they refer to, and pipes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::errno::{EBADF, EINVAL, EMFILE, ENOENT, Errno};
use super::files::InodeNumber;
use crate::console::Stream;

/// The limit on file descriptors of a lane; numbers are below it.
pub(super) const DESCRIPTORS_MAX: u64 = 1024;
/// The capacity of a pipe.
pub(super) const PIPE_BYTES: usize = 65_536;

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
}

impl Description {
    pub(super) const fn new(object: Object, flags: u32) -> Self {
        Self { object, position: 0, flags, listing: None }
    }

    pub(super) const fn is_readable(&self) -> bool {
        self.flags & O_ACCMODE != O_WRONLY && self.flags & O_PATH == 0
    }

    pub(super) const fn is_writable(&self) -> bool {
        self.flags & O_ACCMODE != 0 && self.flags & O_PATH == 0
    }
}

/// A file descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Descriptor {
    /// The ID of the open file description.
    pub(super) description: u32,
    pub(super) close_on_exec: bool,
}

/// The table of file descriptors of a lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Descriptors {
    descriptors: BTreeMap<u64, Descriptor>,
    descriptions: BTreeMap<u32, Description>,
    pipes: BTreeMap<u32, VecDeque<u8>>,
    /// The next unused ID. Descriptions and pipes share one sequence.
    next_id: u32,
}

impl Descriptors {
    /// Returns a table with descriptors 0 to 2: console input, output and error output.
    pub(super) fn new() -> Self {
        let mut new = Self {
            descriptors: BTreeMap::new(),
            descriptions: BTreeMap::new(),
            pipes: BTreeMap::new(),
            next_id: 0,
        };
        let console = [
            (Object::Input, 0),
            (Object::Output(Stream::Output), O_WRONLY),
            (Object::Output(Stream::Error), O_WRONLY),
        ];
        for (number, (object, flags)) in (0..).zip(console) {
            new.descriptions.insert(number, Description::new(object, flags));
            new.descriptors.insert(number.into(), Descriptor { description: number, close_on_exec: false });
        }
        new.next_id = 3;
        new
    }

    /// Returns whether all descriptors have a description, and all ends of pipes a pipe.
    pub(super) fn is_valid(&self) -> bool {
        let has_pipe = |description: &Description| match description.object {
            Object::PipeReader(pipe) | Object::PipeWriter(pipe) => self.pipes.contains_key(&pipe),
            Object::Inode(_) | Object::Input | Object::Output(_) => true,
        };
        let ids = self.descriptions.keys().chain(self.pipes.keys());
        self.descriptors.keys().all(|number| *number < DESCRIPTORS_MAX)
            && self.descriptors.values().all(|of| self.descriptions.contains_key(&of.description))
            && self.descriptions.values().all(has_pipe)
            && ids.max().is_none_or(|id| *id < self.next_id)
    }

    fn new_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Returns the lowest unused descriptor that is at least `from`.
    pub(super) fn lowest_free(&self, from: u64) -> Result<u64, Errno> {
        if from >= DESCRIPTORS_MAX {
            return Err(EINVAL);
        }
        (from..DESCRIPTORS_MAX).find(|number| !self.descriptors.contains_key(number)).ok_or(EMFILE)
    }

    pub(super) fn add(&mut self, description: Description, close_on_exec: bool) -> Result<u64, Errno> {
        let number = self.lowest_free(0)?;
        let id = self.new_id();
        self.descriptions.insert(id, description);
        self.descriptors.insert(number, Descriptor { description: id, close_on_exec });
        Ok(number)
    }

    /// Opens a pipe and returns its descriptors: the read end, then the write end.
    pub(super) fn add_pipe(&mut self, flags: u32) -> Result<[u64; 2], Errno> {
        let reading = self.lowest_free(0)?;
        self.lowest_free(reading + 1).map_err(|_| EMFILE)?;
        let pipe = self.new_id();
        self.pipes.insert(pipe, VecDeque::new());
        let (status, close_on_exec) = (flags & O_NONBLOCK, flags & O_CLOEXEC != 0);
        let reading = self.add(Description::new(Object::PipeReader(pipe), status), close_on_exec)?;
        let writing =
            self.add(Description::new(Object::PipeWriter(pipe), status | O_WRONLY), close_on_exec)?;
        Ok([reading, writing])
    }

    pub(super) fn descriptor(&mut self, number: u64) -> Result<&mut Descriptor, Errno> {
        self.descriptors.get_mut(&u64::from(number as u32)).ok_or(EBADF)
    }

    pub(super) fn get(&self, number: u64) -> Result<&Description, Errno> {
        let descriptor = self.descriptors.get(&u64::from(number as u32)).ok_or(EBADF)?;
        self.descriptions.get(&descriptor.description).ok_or(EBADF)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Result<&mut Description, Errno> {
        let descriptor = self.descriptors.get(&u64::from(number as u32)).ok_or(EBADF)?;
        self.descriptions.get_mut(&descriptor.description).ok_or(EBADF)
    }

    /// Makes the unused descriptor `to` refer to the open file description of `from`, and returns `to`.
    pub(super) fn duplicate(&mut self, from: u64, to: u64, close_on_exec: bool) -> Result<u64, Errno> {
        let description = self.descriptor(from)?.description;
        self.descriptors.insert(to, Descriptor { description, close_on_exec });
        Ok(to)
    }

    /// Closes a descriptor. Returns its object if no other description refers to that object.
    pub(super) fn close(&mut self, number: u64) -> Result<Option<Object>, Errno> {
        let Descriptor { description, .. } =
            self.descriptors.remove(&u64::from(number as u32)).ok_or(EBADF)?;
        if self.descriptors.values().any(|other| other.description == description) {
            return Ok(None);
        }
        let object = self.descriptions.remove(&description).ok_or(EBADF)?.object;
        if let Object::PipeWriter(pipe) | Object::PipeReader(pipe) = object
            && !self.is_open(Object::PipeWriter(pipe))
            && !self.is_open(Object::PipeReader(pipe))
        {
            self.pipes.remove(&pipe);
        }
        Ok(Some(object).filter(|object| !self.is_open(*object)))
    }

    /// Returns whether an open file description refers to `object`.
    pub(super) fn is_open(&self, object: Object) -> bool {
        self.descriptions.values().any(|description| description.object == object)
    }

    pub(super) fn pipe(&mut self, pipe: u32) -> Result<&mut VecDeque<u8>, Errno> {
        self.pipes.get_mut(&pipe).ok_or(ENOENT)
    }

    /// Returns the number of unread bytes in a pipe.
    pub(super) fn buffered_bytes(&self, pipe: u32) -> usize {
        self.pipes.get(&pipe).map_or(0, VecDeque::len)
    }
}
