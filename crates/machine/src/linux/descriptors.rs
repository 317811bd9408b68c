//! What a lane has open: numbers, what they stand for, and pipes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::errno::{EBADF, EINVAL, EMFILE, ENOENT, Errno};
use super::files::Number;
use crate::console::Stream;

/// How many descriptors a lane may have.
pub(super) const DESCRIPTORS_MAX: u64 = 1024;
/// How much a pipe holds.
pub(super) const PIPE_BYTES: usize = 65_536;

pub(super) const O_ACCMODE: u32 = 3;
pub(super) const O_WRONLY: u32 = 1;
pub(super) const O_RDWR: u32 = 2;
pub(super) const O_APPEND: u32 = 0o2000;
pub(super) const O_NONBLOCK: u32 = 0o4000;
pub(super) const O_CLOEXEC: u32 = 0o2_000_000;
pub(super) const O_PATH: u32 = 0o10_000_000;

/// What is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    Node(Number),
    Input,
    Output(Stream),
    PipeOut(u32),
    PipeIn(u32),
}

/// Names of a directory and what they stand for.
pub(super) type Listing = Arc<Vec<(Vec<u8>, Number)>>;

/// What `open` made; several descriptors may share it.
#[derive(Clone, Debug)]
pub(super) struct Description {
    pub(super) object: Object,
    pub(super) position: u64,
    pub(super) flags: u32,
    /// What a directory held when its reading began.
    pub(super) listing: Option<Listing>,
}

impl Description {
    pub(super) const fn new(object: Object, flags: u32) -> Self {
        Self { object, position: 0, flags, listing: None }
    }

    pub(super) const fn reads(&self) -> bool {
        self.flags & O_ACCMODE != O_WRONLY && self.flags & O_PATH == 0
    }

    pub(super) const fn writes(&self) -> bool {
        self.flags & O_ACCMODE != 0 && self.flags & O_PATH == 0
    }
}

/// A descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptor {
    pub(super) description: u32,
    pub(super) close_on_exec: bool,
}

/// What a lane has open.
#[derive(Clone, Debug)]
pub(super) struct Descriptors {
    descriptors: BTreeMap<u64, Descriptor>,
    descriptions: BTreeMap<u32, Description>,
    pipes: BTreeMap<u32, VecDeque<u8>>,
    /// The next name of a description or pipe.
    next: u32,
}

impl Descriptors {
    /// Console input, output and error output.
    pub(super) fn new() -> Self {
        let mut new = Self {
            descriptors: BTreeMap::new(),
            descriptions: BTreeMap::new(),
            pipes: BTreeMap::new(),
            next: 0,
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
        new.next = 3;
        new
    }

    fn name(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// The number that the next descriptor gets, at least `from`.
    pub(super) fn free(&self, from: u64) -> Result<u64, Errno> {
        if from >= DESCRIPTORS_MAX {
            return Err(EINVAL);
        }
        (from..DESCRIPTORS_MAX).find(|number| !self.descriptors.contains_key(number)).ok_or(EMFILE)
    }

    pub(super) fn add(&mut self, description: Description, close_on_exec: bool) -> Result<u64, Errno> {
        let number = self.free(0)?;
        let name = self.name();
        self.descriptions.insert(name, description);
        self.descriptors.insert(number, Descriptor { description: name, close_on_exec });
        Ok(number)
    }

    /// The two ends of a new pipe: for reading, for writing.
    pub(super) fn add_pipe(&mut self, flags: u32) -> Result<[u64; 2], Errno> {
        let reading = self.free(0)?;
        self.free(reading + 1).map_err(|_| EMFILE)?;
        let pipe = self.name();
        self.pipes.insert(pipe, VecDeque::new());
        let (status, close_on_exec) = (flags & O_NONBLOCK, flags & O_CLOEXEC != 0);
        let reading = self.add(Description::new(Object::PipeOut(pipe), status), close_on_exec)?;
        let writing = self.add(Description::new(Object::PipeIn(pipe), status | O_WRONLY), close_on_exec)?;
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

    /// Makes `to` stand for what `from` does; `to` must be closed.
    pub(super) fn duplicate(&mut self, from: u64, to: u64, close_on_exec: bool) -> Result<u64, Errno> {
        let description = self.descriptor(from)?.description;
        self.descriptors.insert(to, Descriptor { description, close_on_exec });
        Ok(to)
    }

    /// Closes a descriptor; gives what nobody has open any more.
    pub(super) fn close(&mut self, number: u64) -> Result<Option<Object>, Errno> {
        let Descriptor { description, .. } =
            self.descriptors.remove(&u64::from(number as u32)).ok_or(EBADF)?;
        if self.descriptors.values().any(|other| other.description == description) {
            return Ok(None);
        }
        let object = self.descriptions.remove(&description).ok_or(EBADF)?.object;
        if let Object::PipeIn(pipe) | Object::PipeOut(pipe) = object
            && !self.is_open(Object::PipeIn(pipe))
            && !self.is_open(Object::PipeOut(pipe))
        {
            self.pipes.remove(&pipe);
        }
        Ok(Some(object).filter(|object| !self.is_open(*object)))
    }

    /// Whether anybody has this open.
    pub(super) fn is_open(&self, object: Object) -> bool {
        self.descriptions.values().any(|description| description.object == object)
    }

    pub(super) fn pipe(&mut self, pipe: u32) -> Result<&mut VecDeque<u8>, Errno> {
        self.pipes.get_mut(&pipe).ok_or(ENOENT)
    }

    /// How many bytes wait in a pipe.
    pub(super) fn waiting(&self, pipe: u32) -> usize {
        self.pipes.get(&pipe).map_or(0, VecDeque::len)
    }
}
